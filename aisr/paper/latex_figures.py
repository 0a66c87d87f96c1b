"""Figures and tables of a LaTeX paper, with their captions, labels, pictures and cells."""

import re

from aisr.paper.draft import Picture
from aisr.paper.latex_floats import Parts, Table
from aisr.paper.latex_macros import plain
from aisr.paper.latex_names import (
    TABULARS,
)
from aisr.paper.latex_run import Run
from aisr.paper.latex_tokens import Token

PAGE = re.compile(r"\bpage\s{0,9}=\s{0,9}(\d{1,4})\b")


class Figures(Run):
    """Reads what makes figures and tables."""

    def _caption(self, token: Token) -> None:
        starred = self.stream.star()
        self.stream.option()
        said = self._inline(self.stream.argument(), token.place)
        if not self._open:
            self.files.refuse(token.place, "a caption outside of a figure or table")
            return
        parts = self._open[-1]
        if len(self._open) == 1 and not starred and parts.number:
            parts = self._beside(parts)
        if len(self._open) == 1 and not starred:
            self._numbers[parts.kind] += 1
            parts.number = str(self._numbers[parts.kind])
        parts.captions.append(said)
        parts.before_caption = tuple(map(len, parts.content))

    def _beside(self, first: Parts) -> Parts:
        """A second float in the same environment. Where the first has its caption below, what follows that is of the
        second."""
        second = Parts(first.kind, first.environment, first.place, first.headings, first.below)
        if any(first.before_caption):
            first.part_at(first.before_caption, second)
        self.floats.append(first)
        self._open[-1] = second
        self._items = second.notes
        return second

    def _caption_of(self, token: Token) -> None:
        self.stream.star()
        kind = self.stream.word()
        if not self._open and kind in ("figure", "table"):
            environment = self._environments[-1] if self._environments else ""
            self._open_float("table" if kind == "table" else "figure", f"\\{environment}", token.place)
        self._caption(token)

    def _subfloat(self, token: Token) -> None:
        r"""\subfloat[caption]{picture}, and \subcaptionbox{caption}{picture}."""
        if not self._open:
            return
        self._open_float(self._open[-1].kind, token.text, token.place)
        self.stream.star()
        said = self.stream.argument() if token.text == "subcaptionbox" else self.stream.option()
        self.stream.option()
        caption = self._inline(said or (), token.place)
        self._open[-1].captions.append(caption)
        self._items += self._inline(self.stream.argument(), token.place)
        self._close_float("")

    def _subcaption(self, token: Token) -> None:
        """The caption of a part of a figure; where none is open, what stands before it becomes one."""
        if len(self._open) != 1:
            self._caption(token)
            return
        whole = self._open[-1]
        self._open_float(whole.kind, token.text, token.place)
        self._caption(token)
        part = self._open[-1]
        self._close_float("")
        whole.part_at((0, 0, len(whole.within), 0), part)

    def _label(self, name: str) -> None:
        if self._open:
            self._open[-1].labels.append(name)
        elif self._reading:
            self.labels.setdefault(name, self._here)

    def _picture(self, token: Token) -> None:
        self.stream.star()
        options = [plain(one) for one in (self.stream.option(), self.stream.option()) if one]
        name = self.stream.word()
        if not self._reading and not self._within:
            return
        if not self._open:
            self.files.refuse(token.place, f"{name[:80]!a}: a picture outside of a figure")
            return
        file = self.files.picture(name.strip('"'), token.place, self._folders)
        page = PAGE.search(",".join(options))
        if file is not None:
            self._open[-1].pictures.append(Picture(file, int(page[1]) if page else 1))

    def _picture_folders(self, token: Token) -> None:
        folders = re.findall(r"[^{}]+", plain(self.stream.argument()))
        self._folders = ("", *(folder.strip() for folder in folders[:20] if folder.strip()))

    def _open_table(self, name: str, token: Token) -> None:
        self._see()
        self._drop(TABULARS[name])
        if self._tables:
            self._tables[-1].depth += 1
        elif name == "longtable" and not self._open:
            self._open_float("table", name, token.place)
            self._new_table()
        elif self._open:
            self._new_table()
        else:
            self.files.refuse(token.place, f"a {name} outside of a table with a caption")
            self._open_float("table", name, token.place)
            self._new_table()

    def _new_table(self) -> None:
        table = Table()
        self._open[-1].tables.append(table)
        self._tables.append(table)
        self._items = table.cell.items

    def _next_row(self, token: Token) -> None:
        self._drop("so")
        if self._tables and not self._tables[-1].depth:
            self._tables[-1].add_row()
            self._items = self._tables[-1].cell.items
        else:
            self._say(" ", token.place)

    def _multicolumn(self, token: Token) -> None:
        columns = _count(self.stream.word())
        self.stream.argument()
        if self._tables:
            self._tables[-1].cell.columns = columns

    def _multirow(self, token: Token) -> None:
        self.stream.option()
        rows = _count(self.stream.word())
        self._drop("omo")
        if self._tables:
            self._tables[-1].cell.rows = rows

    def _cell_of_lines(self, token: Token) -> None:
        self._drop("so")
        self._items += self._inline(self.stream.argument(), token.place)


def _count(said: str) -> int:
    return int(said) if said.isascii() and said.isdigit() and len(said) < 4 else 1
