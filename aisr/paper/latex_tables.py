"""The cells of a LaTeX paper's tables, and the notes below them."""

import re

from aisr.paper.latex_floats import Table
from aisr.paper.latex_names import LONG, TABULARS
from aisr.paper.latex_run import Run
from aisr.paper.latex_tokens import Token, plain
from aisr.paper.passages import Piece

SPAN = re.compile(r"\b([rc])\s?=\s?(\d{1,2})\b")


class Tables(Run):
    """Reads what stands in tables."""

    def _open_table(self, name: str, token: Token) -> None:
        self._see()
        self._drop(TABULARS[name])
        if self._tables:
            self._tables[-1].depth += 1
            return
        if not self._open:  # a longtable has a caption of its own; another one stands between two sentences
            self._end_paragraph()
            self._open_float("table", name, token.place)
            if self.blocks and name not in LONG:  # what stands before it speaks of it
                items = self.blocks[-1][0]
                said = [place for place, one in enumerate(items) if not isinstance(one, Piece) or one.text.strip()]
                items.insert(said[-1] if said else 0, Piece("", token.place, (self._open[-1].name,)))
        self._new_table()

    def _begin_data(self, token: Token) -> None:
        r"""\startdata of AASTeX; its rows go on behind those of \tablehead."""
        if self._open and not self._tables:
            self._new_table()

    def _head(self, token: Token) -> None:
        r"""\tablehead{\colhead{a} & \colhead{b}} of AASTeX."""
        found = self.stream.argument()
        self._begin_data(token)
        self.stream.push([*found, Token("command", "tabularnewline", token.place)])

    def _head_within(self, token: Token) -> None:
        r"""\cutinhead{words}: a row of its own."""
        found = self.stream.argument()
        end = Token("command", "tabularnewline", token.place)
        self.stream.push([end, *found, end])

    def _end_data(self, token: Token) -> None:
        if self._open and self._tables:
            self._tables.pop()
            self._items = self._open[-1].notes

    def _note_text(self, token: Token) -> None:
        r"""\tablenotetext{a}{words}, and \tablecomments{words} without a mark."""
        self._end_data(token)
        mark = f"{self.stream.word()}: " if token.text == "tablenotetext" else ""
        said = self._inline(self.stream.argument(), token.place)
        self._items += [Piece(f" {mark}", token.place), *said, Piece(" ", token.place)]

    def _note_mark(self, token: Token) -> None:
        self._say(f"^{self.stream.word()}", token.place)

    def _repeated(self, token: Token) -> None:
        r"""The end of what a longtable sets on several pages: its first head stays, all else of it goes."""
        if self._tables and not self._tables[-1].depth:
            self._tables[-1].end_part(stays=token.text in ("endhead", "endfirsthead"))
            self._items = self._tables[-1].cell.items

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

    def _set_cell(self, token: Token) -> None:
        r"""\SetCell[r=2,c=3]{l} of tabularray."""
        spans = dict(SPAN.findall(plain(self.stream.option() or ())))
        self.stream.argument()
        if self._tables:
            self._tables[-1].cell.columns = _count(spans.get("c", "1"))
            self._tables[-1].cell.rows = _count(spans.get("r", "1"))

    def _multirow(self, token: Token) -> None:
        self.stream.option()
        rows = _count(self.stream.word())
        self._drop("omo")
        if self._tables:
            self._tables[-1].cell.rows = rows

    def _bold(self, token: Token) -> None:
        """Bold in a cell marks the best number; elsewhere it says nothing that is read."""
        if self._tables:
            self._tables[-1].cell.bold = True

    def _cell_of_lines(self, token: Token) -> None:
        self._drop("so")
        self._items += self._inline(self.stream.argument(), token.place)


def _count(said: str) -> int:
    return int(said) if said.isascii() and said.isdigit() and len(said) < 4 else 1
