"""Figures and tables of a LaTeX paper: captions, labels, pictures, cells and notes."""

import re
from pathlib import Path
from typing import Literal

from aisr_papers.draft import Picture
from aisr_papers.passages import Piece
from aisr_papers.readers.files import Files, parse_count
from aisr_papers.readers.latex_commands import LONG, TABULARS
from aisr_papers.readers.latex_run import FloatParts, Item, Run, Table, join_words
from aisr_papers.readers.latex_tokens import BALANCED, IN_BRACES, Token, source

PAGE = re.compile(r"\bpage\s{0,9}=\s{0,9}(\d{1,4})\b")
Kind = Literal["figure", "table"]
KINDS: dict[str, Kind] = {"figure": "figure", "table": "table"}
CAPTION_KIND = re.compile(r"\btype\*?\s*=\s*\{?(figure|table)\b")
BLOCK = re.compile(r"(\d{0,2})-(\d{0,2})")
CELL_SPANS = re.compile(r"\b([rc])\s*=\s*(\d{1,2})")
CLOSERS = (")", "]")  # between two columns, they end the first
# Of the columns that a tabular declares: *{2}{…}, and what stands between two, beside one, or is one.
REPEATED = re.compile(rf"\*\s?\{{(\d+)\}}\s?{IN_BRACES}")
COLUMN = re.compile(rf"[@!]\s?\{{(?P<between>{BALANCED})\}}|[<>]\s?{IN_BRACES}|[A-Za-z](?:\[[^\]]*+\]|{IN_BRACES})*+")
LONGEST_COLUMNS = 2_000  # characters
# Tables that are made of files, or otherwise than by an environment, with their arguments.
UNREAD_TABLES = {
    "csvautotabular": "om", "csvautobooktabular": "om", "csvreader": "ommm", "pgfplotstabletypeset": "om",
    "DTLdisplaydb": "om", "ctable": "ommm", "halign": "m", "valign": "m",
}  # fmt: skip
SETTINGS = re.compile(r"\b(caption|label)\s?=\s?\{([^{}]{1,2000})\}")


class Floats(Run):
    """Reads figures and tables."""

    def __init__(self, files: Files, main: Path) -> None:
        super().__init__(files, main)
        self._picture_folders: tuple[str, ...] = ("",)
        self._outer_caption: tuple[int, Kind] | None = None  # how many environments are open where it was said, and it
        self._handlers |= {
            "caption": self._caption,
            "captionof": self._caption_of,
            "captionsetup": self._set_caption,
            "Block": self._block_of_cells,
            "SetCell": self._set_cell,
            "subcaption": self._subcaption,
            "subfloat": self._subfloat,
            "subfigure": self._subfloat,
            "subcaptionbox": self._subfloat,
            "label": lambda token: self._label(self.stream.word()),
            "includegraphics": self._picture,
            "graphicspath": self._set_picture_folders,
            "startdata": self._begin_data,
            "enddata": self._end_data,
            "endhead": self._repeated_part,
            "endfirsthead": self._repeated_part,
            "endfoot": self._repeated_part,
            "endlastfoot": self._repeated_part,
            "multicolumn": self._multicolumn,
            "multirow": self._multirow,
            "makecell": self._cell_of_lines,
            "shortstack": self._cell_of_lines,
            "thead": self._cell_of_lines,
            **dict.fromkeys(UNREAD_TABLES, self._unread_table),
            "\\": self._next_row,
        }

    # --- The cells of tables, and the notes below them.

    def _open_table(self, name: str, token: Token) -> None:
        option = source(self.stream.option() or ()) if name in ("talltblr", "longtblr") else ""
        before, _, after = TABULARS[name].rpartition("m")
        self.stream.drop(before)
        columns = self.stream.argument()
        self.stream.drop(after)
        if self._tables:
            self._tables[-1].depth += 1
            return
        joints = {} if name.endswith("tblr") else self._joints(source(columns), token)
        waiting, self._captioned = self._captioned, None
        if not self._open and waiting is not None and waiting.kind == "table" and not waiting.all(Table):
            self._end_paragraph()
            self._open_again(waiting, name)
        if not self._open:  # a longtable has a caption of its own; another one stands between two sentences
            self._end_paragraph()
            self._open_float("table", name, token.place)
            if self.blocks and name not in LONG:  # what stands before it speaks of it
                items = self.blocks[-1].items
                texts = [place for place, one in enumerate(items) if not isinstance(one, Piece) or one.text.strip()]
                items.insert(texts[-1] if texts else 0, Piece("", token.place, (self._open[-1].name,)))
        for key, text in SETTINGS.findall(option):  # of tabularray, which R's modelsummary writes
            if key == "label":
                self._label(text)
            else:
                self.stream.push(self._tokens(f"{{{text}}}", token))
                self._caption(token)
        self._new_table()
        self._tables[-1].joints = joints

    def _joints(self, columns: str, token: Token) -> dict[int, str]:
        """Column -> what is printed between it and the next one and may make one of two: the point of r@{.}l, nothing
        of r@{}l."""
        columns = REPEATED.sub(lambda match: match[2] * parse_count(match[1], 0, 2), columns[:LONGEST_COLUMNS])
        joints: dict[int, str] = {}
        between: str | None = None
        count = 0
        for column in COLUMN.finditer(columns[:LONGEST_COLUMNS]):
            if column[0][0] in "@!":
                between = column["between"]
            elif column[0][0].isalpha():
                if between is not None and count:
                    text = join_words(self._inline(self._tokens(between, token), token.place))
                    if text and text not in CLOSERS:
                        joints[count - 1] = (
                            f"{between[: between[0].isspace()]}{text}{between[-1:] if between[-1].isspace() else ''}"
                        )
                    elif not between:
                        joints[count - 1] = ""
                between = None
                count += 1
        return joints

    def _new_table(self) -> None:
        table = Table()
        self._open[-1].content.append(table)
        self._tables.append(table)
        self._items = table.cell.items

    def _begin_data(self, token: Token) -> None:
        r"""\startdata of AASTeX; its rows go on behind those of \tablehead."""
        if self._open and not self._tables:
            self._new_table()

    def _end_data(self, token: Token) -> None:
        if self._open and self._tables:
            self._tables.pop()
            self._items = self._open[-1].notes

    def _repeated_part(self, token: Token) -> None:
        r"""The end of what a longtable sets on several pages: its first head stays, all else of it goes."""
        if self._tables and not self._tables[-1].depth:
            self._tables[-1].end_part(is_head=token.text in ("endhead", "endfirsthead"))
            self._items = self._tables[-1].cell.items

    def _unread_table(self, token: Token) -> None:
        """List a table that is made of a file, or by TeX's own commands."""
        self.stream.drop(UNREAD_TABLES[token.text])
        self.files.note_unread(token.place, f"\\{token.text}: a table in a form that is not read")

    def _next_row(self, token: Token) -> None:
        self.stream.drop("so")
        if self._tables and not self._tables[-1].depth:
            self._tables[-1].add_row()
            self._items = self._tables[-1].cell.items
        else:
            self._add_text(" ", token.place)

    def _multicolumn(self, token: Token) -> None:
        columns = parse_count(self.stream.word())
        self.stream.argument()
        if self._tables:
            self._tables[-1].cell.columns = columns

    def _multirow(self, token: Token) -> None:
        self.stream.option()
        rows = self.stream.word()
        self.stream.drop("omo")
        if self._tables:
            count = parse_count(rows.removeprefix("-"))
            self._tables[-1].cell.rows = -count if rows.startswith("-") else count

    def _take_cells(self, rows: int, columns: int) -> None:
        """Make the cell one of several rows and columns, whose other cells stand in the source."""
        if self._tables and not self._tables[-1].depth:
            table = self._tables[-1]
            table.cell.rows, table.cell.columns, table.taken = max(rows, 1), max(columns, 1), max(columns, 1) - 1

    def _block_of_cells(self, token: Token) -> None:
        r"""\Block[l]{2-1}{words} of nicematrix."""
        self.stream.option()
        spans = BLOCK.fullmatch(self.stream.word())
        self.stream.drop("o")
        words = self._next_inline(token)
        if spans is not None:
            self._take_cells(parse_count(spans[1]), parse_count(spans[2]))
        self._items += words

    def _set_cell(self, token: Token) -> None:
        r"""\SetCell[r=2]{c} of tabularray."""
        spans = dict(CELL_SPANS.findall(source(self.stream.option() or ())))
        self.stream.argument()
        self._take_cells(parse_count(spans.get("r", "")), parse_count(spans.get("c", "")))

    def _cell_of_lines(self, token: Token) -> None:
        self.stream.drop("so")
        self._items += self._next_inline(token)

    # --- Captions, labels and pictures.

    def _caption(self, token: Token, declared: Kind | None = None) -> None:
        starred = self.stream.star()
        self.stream.option()
        caption = self._next_inline(token)
        kind = self._caption_kind() if declared is None else declared
        if not self._open:
            self._caption_outside(kind, caption, token)
            return
        parts = self._open[-1]
        if parts.number and parts.environment in LONG:
            return  # the head of its next page
        if len(self._open) == 1:  # else of a part, whose letter follows from its place
            if not starred and parts.number:
                parts = self._second_float(parts)
            if kind is not None:
                parts.kind = kind
                self._sort_content(parts)
            if not starred:
                parts.number = self._next_number(parts.kind, token.place)
        parts.captions.append(caption)
        parts.above_caption = len(parts.content)

    def _sort_content(self, parts: FloatParts) -> None:
        """Give a table and a figure of one environment, with captions in any order, what is theirs."""
        other = self.floats[-1] if self.floats else parts
        if other.place == parts.place and {other.kind, parts.kind} == {"figure", "table"}:
            table, figure = (parts, other) if parts.kind == "table" else (other, parts)
            tables, pictures = figure.all(Table), table.all(Picture)
            table.content = [*tables, *(one for one in table.content if not isinstance(one, Picture))]
            figure.content = [*pictures, *(one for one in figure.content if not isinstance(one, Table))]

    def _caption_kind(self) -> Kind | None:
        r"""Return what the next caption is of, where that was said: by \captionsetup{type=…}, \@captype, or by the
        environment that it stands in."""
        typed = self.stream.macros.pop("@captype", None)
        parts = self._open[-1] if self._open else None
        outer, depth = self._outer_caption, len(self._environments)
        if typed is not None:
            return KINDS.get(source(typed.body))
        if parts is not None:
            return parts.caption_kind or next((kind for kind in KINDS.values() if kind in parts.environment), None)
        return outer[1] if outer is not None and depth >= outer[0] else None

    def _caption_outside(self, kind: Kind | None, caption: list[Item], token: Token) -> None:
        """A caption outside of floats: of the tabular before it, or of what comes next."""
        if kind is None:
            self.files.note_unread(token.place, "a caption outside of a figure or table")
            return
        lone = self._lone
        if kind == "table" and lone is not None:
            parts = lone
        else:
            parts = FloatParts(kind, token.text, token.place, self._path(), [])
            self.floats.append(parts)
        parts.number = self._next_number(kind, token.place)
        parts.captions.append(caption)
        self._lone, self._captioned = None, parts

    def _open_again(self, parts: FloatParts, environment: str) -> None:
        """Go on with a float whose caption came first."""
        self.floats.remove(parts)
        parts.environment, parts.below = environment, self._items
        self._items = parts.notes
        self._open.append(parts)

    def _set_caption(self, token: Token) -> None:
        r"""\captionsetup{type=table}, which says what the captions of a figure, or of what is no float, are of."""
        self.stream.star()
        self.stream.option()
        match = CAPTION_KIND.search(self.stream.word())
        if match is not None and self._open:
            self._open[-1].caption_kind = KINDS[match[1]]
        elif match is not None and self._in_document:
            self._outer_caption = len(self._environments), KINDS[match[1]]

    def _second_float(self, first: FloatParts) -> FloatParts:
        """Return a second float in the same environment. Where the first has its caption below, what follows that is of
        the second."""
        second = FloatParts(first.kind, first.environment, first.place, first.headings, first.below)
        if first.above_caption:
            second.content = first.content[first.above_caption :]
            del first.content[first.above_caption :]
        self.floats.append(first)
        self._open[-1] = second
        self._items = second.notes
        return second

    def _caption_of(self, token: Token) -> None:
        self.stream.star()
        self._caption(token, KINDS.get(self.stream.word()))

    def _subfloat(self, token: Token) -> None:
        r"""\subfloat[caption]{picture}, and \subcaptionbox{caption}{picture}."""
        if not self._open:
            return
        self._open_float(self._open[-1].kind, token.text, token.place)
        self.stream.star()
        caption = self.stream.argument() if token.text == "subcaptionbox" else self.stream.option()
        self.stream.option()
        items = self._inline(caption or (), token.place)
        self._open[-1].captions.append(items)
        self._items += self._next_inline(token)
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
        part.content = [one for one in whole.content if not isinstance(one, FloatParts)]
        whole.content = list(whole.all(FloatParts))

    def _label(self, name: str) -> None:
        if self._open:
            self._open[-1].labels.append(name)
        elif self._captioned is not None:
            self._captioned.labels.append(name)
        elif self._in_document:
            self.labels.setdefault(name, self._here)

    def _picture(self, token: Token) -> None:
        self.stream.star()
        options = ",".join(source(one) for one in (self.stream.option(), self.stream.option()) if one)
        name = self.stream.word()
        if not self._is_text:
            return
        parts = self._open[-1] if self._open else self._captioned
        if parts is None:
            self.files.note_unread(token.place, f"{name[:80]!a}: a picture outside of a figure")
            return
        file = self.files.find_picture(name, token.place, self._picture_folders)
        page = PAGE.search(options)
        if file is not None:
            parts.content.append(Picture(file, int(page[1]) if page else 1))

    def _set_picture_folders(self, token: Token) -> None:
        folders = re.findall(r"[^{}]+", self.stream.word())
        self._picture_folders = ("", *(folder.strip() for folder in folders[:20] if folder.strip()))
