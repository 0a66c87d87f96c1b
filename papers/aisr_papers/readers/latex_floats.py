"""Figures and tables of a LaTeX paper: captions, labels, pictures, cells, notes, and the numbers that they get."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from aisr_papers.draft import Picture, Place
from aisr_papers.passages import Piece
from aisr_papers.readers.files import Files, parse_count
from aisr_papers.readers.latex_commands import LONG, TABULARS
from aisr_papers.readers.latex_run import FloatParts, Run, Table, join_words
from aisr_papers.readers.latex_tokens import Token, source

ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
    (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
MOST = 9_999
NUMBER = re.compile(r"[-+]?\d{1,4}")
COUNTED = ("figure", "table", "equation")
SECTIONS = ("chapter", "section", "subsection", "subsubsection")
ROMAN_TABLES = ("IEEEtran", "ieeeconf", "IEEEconf")
PAGE = re.compile(r"\bpage\s{0,9}=\s{0,9}(\d{1,4})\b")
SETTINGS = re.compile(r"\b(caption|label)\s?=\s?\{([^{}]{1,2000})\}")


def roman(number: int) -> str:
    """XIV for 14; empty for 0."""
    text = ""
    for value, letters in ROMAN:
        text += letters * (number // value)
        number %= value
    return text


def letter(number: int) -> str:
    """C for 3; empty for 0 and behind Z."""
    return chr(ord("A") + number - 1) if 0 < number <= 26 else ""


FORMS: Mapping[str, Callable[[int], str]] = {
    "arabic": str,
    "Roman": roman,
    "roman": lambda number: roman(number).lower(),
    "Alph": letter,
    "alph": lambda number: letter(number).lower(),
}


class Floats(Run):
    """Reads figures and tables."""

    def __init__(self, files: Files, main: Path) -> None:
        super().__init__(files, main)
        self._outer: dict[str, str] = {}  # what is counted within which section
        self._picture_folders: tuple[str, ...] = ("",)
        self._handlers |= {
            "caption": self._caption,
            "tablecaption": self._caption,
            "captionof": self._caption_of,
            "subcaption": self._subcaption,
            "subfloat": self._subfloat,
            "subfigure": self._subfloat,
            "subcaptionbox": self._subfloat,
            "label": lambda token: self._label(self.stream.word()),
            "includegraphics": self._picture,
            "graphicspath": self._set_picture_folders,
            "tablehead": self._head,
            "startdata": self._begin_data,
            "enddata": self._end_data,
            "tablenotetext": self._note_text,
            "tablecomments": self._note_text,
            "tablerefs": self._note_text,
            "endhead": self._repeated_part,
            "endfirsthead": self._repeated_part,
            "endfoot": self._repeated_part,
            "endlastfoot": self._repeated_part,
            "multicolumn": self._multicolumn,
            "multirow": self._multirow,
            "makecell": self._cell_of_lines,
            "shortstack": self._cell_of_lines,
            "thead": self._cell_of_lines,
            "\\": self._next_row,
            "tabularnewline": self._next_row,
            "cr": self._next_row,
            "documentclass": self._class,
            "setcounter": self._set_counter,
            "addtocounter": self._set_counter,
            "stepcounter": self._step_counter,
            "refstepcounter": self._step_counter,
            "numberwithin": self._count_within,
            "counterwithin": self._count_within,
            "counterwithout": self._count_within,
            "@addtoreset": self._count_within,
            "of@chapter": self._print_chapter,
        }
        self._handlers |= {f"{at}{form}": self._print_counter for form in FORMS for at in ("", "@")}

    # --- Numbers as LaTeX counts and prints them: \setcounter, \numberwithin, \renewcommand{\thetable}, chapters, IEEE.

    def _class(self, token: Token) -> None:
        self.stream.option()
        if self.stream.word() in ROMAN_TABLES:
            self.stream.push(self._tokens(r"\renewcommand{\thetable}{\Roman{table}}", token))
        self.stream.option()

    def _set_counter(self, token: Token) -> None:
        name, value = self.stream.word(), NUMBER.fullmatch(self.stream.word())
        if value is not None:
            before = self._numbers[name] if token.text == "addtocounter" else 0
            self._numbers[name] = max(min(before + int(value[0]), MOST), 0)

    def _step_counter(self, token: Token) -> None:
        name = self.stream.word()
        self._numbers[name] = min(self._numbers[name] + 1, MOST)

    def _count_within(self, token: Token) -> None:
        r"""\numberwithin{table}{section}, \counterwithin and \@addtoreset."""
        self.stream.star()
        self.stream.option()
        name, outer = self.stream.word(), self.stream.word()
        if name not in COUNTED or outer not in SECTIONS:
            return
        self._outer[name] = "" if token.text == "counterwithout" else outer
        lead = "" if token.text == "counterwithout" else f"\\the{outer}."
        if token.text != "@addtoreset":
            definition = f"\\renewcommand{{\\the{name}}}{{{lead}\\arabic{{{name}}}}}"
            self.stream.push(self._tokens(definition, token))

    def _restart_counters(self, section: str) -> None:
        """Begin again at 1 what is counted within a section or chapter."""
        for name in COUNTED:
            if self._outer.get(name) == section or (section == "chapter" and name not in self._outer):
                self._numbers[name] = 0

    def _next_number(self, kind: str, place: Place) -> str:
        """The number of the next figure or table, as it is printed."""
        self._numbers[kind] = min(self._numbers[kind] + 1, MOST)
        return self._printed(kind, place)

    def _printed(self, name: str, place: Place) -> str:
        r"""What \thetable and its kin print: LaTeX's own (see BUILT_IN), or what the paper makes of it."""
        return join_words(self._inline((Token("command", f"the{name}", place),), place))[:20]

    def _print_counter(self, token: Token) -> None:
        r"""\arabic{table}, and \@arabic\c@table within styles."""
        name = self.stream.word().removeprefix("\\c@")
        self._add_text(FORMS[token.text.lstrip("@")](self._numbers[name]), token.place)

    def _print_chapter(self, token: Token) -> None:
        """What leads the numbers of sections and floats in a book."""
        if self._numbers["chapter"]:
            self.stream.push(self._tokens("\\thechapter.", token))

    # --- The cells of tables, and the notes below them.

    def _open_table(self, name: str, token: Token) -> None:
        self._end_hiding()
        option = source(self.stream.option() or ()) if name in ("talltblr", "longtblr") else ""
        self._drop(TABULARS[name])
        if self._tables:
            self._tables[-1].depth += 1
            return
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

    def _new_table(self) -> None:
        table = Table()
        self._open[-1].tables.append(table)
        self._tables.append(table)
        self._items = table.cell.items

    def _begin_data(self, token: Token) -> None:
        r"""\startdata of AASTeX; its rows go on behind those of \tablehead."""
        if self._open and not self._tables:
            self._new_table()

    def _head(self, token: Token) -> None:
        r"""\tablehead{\colhead{a} & \colhead{b}} of AASTeX."""
        head = self.stream.argument()
        self._begin_data(token)
        self.stream.push([*head, Token("command", "tabularnewline", token.place)])

    def _end_data(self, token: Token) -> None:
        if self._open and self._tables:
            self._tables.pop()
            self._items = self._open[-1].notes

    def _note_text(self, token: Token) -> None:
        r"""\tablenotetext{a}{words}, and \tablecomments{words} without a mark."""
        self._end_data(token)
        mark = f"{self.stream.word()}: " if token.text == "tablenotetext" else ""
        note = self._next_inline(token)
        self._items += [Piece(f" {mark}", token.place), *note, Piece(" ", token.place)]

    def _repeated_part(self, token: Token) -> None:
        r"""The end of what a longtable sets on several pages: its first head stays, all else of it goes."""
        if self._tables and not self._tables[-1].depth:
            self._tables[-1].end_part(is_head=token.text in ("endhead", "endfirsthead"))
            self._items = self._tables[-1].cell.items

    def _next_row(self, token: Token) -> None:
        self._drop("so")
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
        rows = parse_count(self.stream.word())
        self._drop("omo")
        if self._tables:
            self._tables[-1].cell.rows = rows

    def _cell_of_lines(self, token: Token) -> None:
        self._drop("so")
        self._items += self._next_inline(token)

    # --- Captions, labels and pictures.

    def _caption(self, token: Token) -> None:
        starred = self.stream.star()
        self.stream.option()
        caption = self._next_inline(token)
        if not self._open:
            self.files.note_unread(token.place, "a caption outside of a figure or table")
            return
        parts = self._open[-1]
        if parts.number and parts.environment in LONG:
            return  # the head of its next page
        if len(self._open) == 1 and not starred and parts.number:
            parts = self._second_float(parts)
        if len(self._open) == 1 and not starred:
            parts.number = self._next_number(parts.kind, token.place)
        parts.captions.append(caption)
        parts.before_caption = tuple(map(len, parts.content))

    def _second_float(self, first: FloatParts) -> FloatParts:
        """A second float in the same environment. Where the first has its caption below, what follows that is of the
        second."""
        second = FloatParts(first.kind, first.environment, first.place, first.headings, first.below)
        if any(first.before_caption):
            first.split(first.before_caption, second)
        self.floats.append(first)
        self._open[-1] = second
        self._items = second.notes
        return second

    def _caption_of(self, token: Token) -> None:
        self.stream.star()
        self.stream.argument()
        self._caption(token)

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
        whole.split((0, 0, len(whole.within), 0), part)

    def _label(self, name: str) -> None:
        if self._open:
            self._open[-1].labels.append(name)
        elif self._in_document:
            self.labels.setdefault(name, self._here)

    def _picture(self, token: Token) -> None:
        self.stream.star()
        options = ",".join(source(one) for one in (self.stream.option(), self.stream.option()) if one)
        name = self.stream.word()
        if not self._is_text:
            return
        if not self._open:
            self.files.note_unread(token.place, f"{name[:80]!a}: a picture outside of a figure")
            return
        file = self.files.find_picture(name, token.place, self._picture_folders)
        page = PAGE.search(options)
        if file is not None:
            self._open[-1].pictures.append(Picture(file, int(page[1]) if page else 1))

    def _set_picture_folders(self, token: Token) -> None:
        folders = re.findall(r"[^{}]+", self.stream.word())
        self._picture_folders = ("", *(folder.strip() for folder in folders[:20] if folder.strip()))
