r"""The running text of a LaTeX paper: paragraphs, formulas, and what stands within what."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from aisr_papers.citations import Entry
from aisr_papers.draft import Picture, Place
from aisr_papers.passages import Piece, flatten
from aisr_papers.readers.files import Files
from aisr_papers.readers.latex_commands import BOLD_MATH, DROPPED, PLAIN, TABULARS
from aisr_papers.readers.latex_formulas import ACCENTS, FORMULA, accented, formula, symbol, unknown_commands
from aisr_papers.readers.latex_stream import Stream
from aisr_papers.readers.latex_tokens import Token, Tokens, source, tokenize

# --- What is read of a paper before its references and citations have words.

MAX_CELLS = 20_000


class Reference(NamedTuple):
    r"""A \ref or the like, whose words are known when all labels are."""

    command: str
    labels: tuple[str, ...]
    place: Place


class Citation(NamedTuple):
    r"""A \cite or the like, whose words are known when the bibliography is."""

    command: str
    keys: tuple[str, ...]
    place: Place
    before: tuple["Item", ...] = ()
    after: tuple["Item", ...] = ()
    close: bool = False


Item = Piece | Reference | Citation
ContentT = TypeVar("ContentT")


class Block(NamedTuple):
    """A paragraph."""

    items: list[Item]
    headings: tuple[str, ...]


class Target(NamedTuple):
    """What a label names: `Section`, `Equation`, `Figure` or `Table`, and its number."""

    kind: str
    number: str


@dataclass
class Cell:
    items: list[Item] = field(default_factory=list)
    columns: int = 1
    rows: int = 1  # below 0: it stands in the last of the rows that it takes
    bold: bool = False


@dataclass
class Table:
    """The cells of a tabular, as they come."""

    rows: list[list[Cell]] = field(default_factory=lambda: [[Cell()]])
    depth: int = 0  # tabulars that are open within it
    cells: int = 1
    head: int | None = None  # rows of its head, where that is repeated on each page
    joints: dict[int, str] = field(default_factory=dict)  # column -> what joins it with the next one: r@{.}l
    taken: int = 0  # cells of this row that the last one takes in

    @property
    def cell(self) -> Cell:
        return self.rows[-1][-1]

    def add_cell(self) -> None:
        if self.taken:
            self.taken -= 1
            return
        self.cells += 1
        if self.cells <= MAX_CELLS:
            self.rows[-1].append(Cell())

    def add_row(self) -> None:
        self.taken = 0
        self.cells += 1
        if self.cells <= MAX_CELLS:
            self.rows.append([Cell()])

    def end_part(self, is_head: bool) -> None:
        """End a head or a foot of a table that goes over pages; the first head stays."""
        if is_head and self.head is None:
            self.head = len(self.rows)
        elif self.head is not None:
            del self.rows[self.head :]
        self.rows.append([Cell()])


@dataclass(eq=False)
class FloatParts:
    """What stands in a figure or table that is being read."""

    kind: Literal["figure", "table"]
    environment: str
    place: Place
    headings: tuple[str, ...]
    below: list[Item]
    number: str = ""  # as it is printed, empty before its caption
    captions: list[list[Item]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    notes: list[Item] = field(default_factory=list)
    # In order: pictures, tables and floats within it.
    content: list["Picture | Table | FloatParts"] = field(default_factory=list)
    caption_kind: Literal["figure", "table"] | None = None  # of its next caption, where that is not its own
    above_caption: int = 0  # how much of its content stands there

    @property
    def name(self) -> str:
        return f"{self.kind.capitalize()} {self.number or f'without a number ({self.place})'}"

    def all(self, kind: type[ContentT]) -> list[ContentT]:
        """Its content of a kind."""
        return [one for one in self.content if isinstance(one, kind)]


def join_words(items: Iterable[Item]) -> str:
    """Return the text among the items in one line."""
    return flatten(item for item in items if isinstance(item, Piece)).text


# --- Numbers of sections and floats, as LaTeX prints them.

ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
    (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
MOST = 9_999
NUMBER = re.compile(r"[-+]?\d{1,4}")
COUNTED = ("figure", "table", "equation")
SECTIONS = ("chapter", "section", "subsection", "subsubsection")
ROMAN_TABLES = ("IEEEtran", "ieeeconf", "IEEEconf")


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


# --- The reading of it, token by token.

END = "\0"  # a command that no source can hold: the end of an argument that is read by itself
MAX_FORMULAS = 10_000
MAX_WITHIN = 30  # arguments that are read within each other
DASHES = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("\u00a0", " "))
# A fraction behind a digit, and a digit behind a fraction or a power: 2$\frac{1}{2}$ is not 21/2.
TOUCHING = re.compile(r"\d\0\d+/\d|[\^/][-−]?\d+\0\d")
Handler = Callable[[Token], None]


class Run:
    """Reads a paper once: text and what is around it. Subclasses add a handler for each command that is more."""

    def __init__(self, files: Files, main: Path) -> None:
        self.files = files
        self.main = main
        self.stream = Stream(files)
        self.title: list[Item] = []
        self.blocks: list[Block] = []
        self.floats: list[FloatParts] = []
        self.labels: dict[str, Target] = {}
        self.works: dict[str, Entry] = {}
        self._items: list[Item] = []  # of what is being read: a paragraph, a cell, a caption
        self._footnotes: list[list[Item]] = []  # of the paragraph
        self._headings: list[tuple[int, str]] = []
        self._numbers: Counter[str] = Counter()
        self._here = Target("Section", "")
        self._environments: list[str] = []
        self._open: list[FloatParts] = []
        self._tables: list[Table] = []
        self._lone: FloatParts | None = None  # a tabular outside of floats, whose caption may come next
        self._captioned: FloatParts | None = None  # one that has its caption, and whose tabular and label may come next
        self._within = 0
        self._in_document = False  # behind \begin{document}
        self._begun_at = 0  # how many files are open within each other there; 0 before
        self._outer: dict[str, str] = {}  # what is counted within which section
        self._handlers: dict[str, Handler] = {
            "documentclass": self._class,
            "setcounter": self._set_counter,
            "addtocounter": self._set_counter,
            "numberwithin": self._count_within,
            "counterwithin": self._count_within,
            "counterwithout": self._count_within,
            "@addtoreset": self._count_within,
            "of@chapter": self._print_chapter,
        }
        self._handlers |= {f"{at}{form}": self._print_counter for form in FORMS for at in ("", "@")}

    def read(self) -> None:
        """Read the main file and what it puts in."""
        self.stream.open(self.main, Place(self.files.name(self.main), 1))
        # Without a \begin{document}, all is text.
        self._in_document = "\\begin{document}" not in self.files.peek_text(self.main)
        self._run()
        while self._open:
            self._close_float("the paper ends within it")
        self._end_paragraph()

    @property
    def _is_text(self) -> bool:
        """Whether what comes next is text of the paper: behind the preamble, or an argument."""
        return self._in_document or self._within > 0

    def _run(self) -> None:
        while (token := self.stream.next()) is not None:
            if token.kind == "command":
                if token.text == END:
                    return
                self._command(token)
            elif token.kind in ("text", "bracket"):
                self._add_text(token.text, token.place)
            elif token.kind == "parameter":  # of an address: http://a.org/x#1
                self._add_text(token.source, token.place)
            elif token.kind == "par":
                self._end_paragraph()
            elif token.kind == "cell":
                self._next_cell(token)
            elif token.kind == "math":
                self._math(token, "math", token.text)

    def _inline(self, tokens: Tokens, place: Place) -> list[Item]:
        """Return the items of an argument read by itself."""
        if self._within >= MAX_WITHIN:
            self.files.note_unread(place, f"what lies deeper than {MAX_WITHIN} arguments is left out")
            return []
        outer_items, self._items = self._items, []
        outer_tables, self._tables = self._tables, []
        self._within += 1
        self.stream.push((*tokens, Token("command", END, place)))
        self._run()
        self._within -= 1
        self._tables = outer_tables
        items, self._items = self._items, outer_items
        return items

    def _next_inline(self, token: Token) -> list[Item]:
        """Return the items of the next argument."""
        return self._inline(self.stream.argument(), token.place)

    def _tokens(self, text: str, token: Token) -> Tokens:
        """Return some source as if it stood where a token is, without the blank at the end of its line."""
        tokens = tokenize(text, token.place.file, self.files)[:-1]
        return tuple(one._replace(place=token.place) for one in tokens)

    def _add_text(self, text: str, place: Place) -> None:
        if self._is_text:
            for source_text, printed in DASHES:
                text = text.replace(source_text, printed)
            last = self._items[-1] if self._items else None
            if isinstance(last, Piece) and text[:1].isdigit() and TOUCHING.search(f"{last.text}\0{text}"):
                text = f" {text}"
            self._items.append(Piece(text, place))

    def _note_once(self, token: Token, why: str) -> None:
        """Note what is not understood; each command or environment once."""
        if self._in_document:
            self.files.note_once(token.place, why)

    def _end_paragraph(self) -> None:
        if self._within or self._tables:
            if self._items:
                self._items.append(Piece(" ", self._items[-1].place))
            return
        if self._open:
            self._items.append(Piece(" ", self._open[-1].place))
            return
        headings = self._path()
        if any(not isinstance(one, Piece) or one.text.strip() for one in self._items):
            self._lone = self._captioned = None
        if self._items:
            self.blocks.append(Block(self._items, headings))
            self._items = []
        self.blocks += [Block(items, headings) for items in self._footnotes]
        self._footnotes = []

    def _path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._headings)

    def _command(self, token: Token) -> None:
        name = token.text
        handler = self._handlers.get(name)
        if handler is not None:
            handler(token)
        elif name in DROPPED:
            self.stream.drop(DROPPED[name])
        elif name in ACCENTS:
            letters = join_words(self._next_inline(token))
            self._add_text(accented(name, letters[:1]) + letters[1:] if letters else "", token.place)
        elif (text := symbol(name)) is not None and name not in PLAIN:
            self._add_text(text, token.place)
        elif name.endswith("ref") and name not in PLAIN:  # \figref, \secref: a style's own
            self._handlers["autoref"](token)
        elif name not in PLAIN and name[-1:].isalpha():
            if "@" not in name:
                self._note_once(token, f"\\{name}: not known; what is in its braces is read as text")
            self.stream.option()

    def _math(self, token: Token, end_kind: str, end: str) -> None:
        """A formula up to its end; a sign without partner in its paragraph is left out."""
        tokens: list[Token] = []
        while (one := self.stream.next()) is not None:
            if one.kind == end_kind and one.text == end:
                if self._is_text:
                    self._add_text(self._formula(tokens, token), token.place)
                return
            tokens.append(one)
            again = one.kind == "command" and one.text == token.text and token.kind == "command"
            if one.kind == "par" or one.text == END or again:
                break
        self.files.note_unread(token.place, "a formula that does not end in its paragraph")
        self.stream.push(tokens)

    def _formula(self, tokens: Sequence[Token], token: Token) -> str:
        self._numbers["formula"] += 1
        if self._numbers["formula"] > MAX_FORMULAS:
            self._note_once(token, f"more than {MAX_FORMULAS} formulas; from here on they are left out")
            return FORMULA
        if self._tables and any(one.kind == "command" and one.text in BOLD_MATH for one in tokens):
            self._tables[-1].cell.bold = True
        text = source(tokens)
        for name in (one for one in unknown_commands(text) if one not in PLAIN):
            self._note_once(token, f"\\{name}: not known in formulas; what is in its braces is read as text")
        return formula(text)

    def _display(self, name: str, token: Token) -> None:
        """A formula in an environment such as `equation`."""
        tokens: list[Token] = []
        numbered = not name.endswith("*")
        self._numbers["equation"] += numbered
        while (one := self.stream.next()) is not None:
            if one.kind == "command" and one.text in ("end", "begin", "label"):
                argument = self.stream.word()
                if one.text == "end" and argument == name:
                    self._add_text(f" {self._formula(tokens, token)} ", token.place)
                    return
                if one.text == "label":
                    self.labels.setdefault(argument, Target("Equation", str(self._numbers["equation"])))
                    continue
                place = one.place
                tokens += [one, Token("open", "{", place), Token("text", argument, place), Token("close", "}", place)]
                if one.text == "begin" and argument == name:
                    break
                continue
            if one.kind == "command" and one.text == "\\" and numbered and name.startswith(("align", "gather")):
                self._numbers["equation"] += 1
            if one.kind == "par" or one.text == END:
                tokens.append(one)
                break
            if not (one.kind == "command" and one.text in ("nonumber", "notag")):
                tokens.append(one)
        self.files.note_unread(token.place, f"a formula ({name}) that does not end in its paragraph")
        self.stream.push(tokens)

    def _open_float(self, kind: Literal["figure", "table"], environment: str, place: Place) -> None:
        self._captioned = None
        parts = FloatParts(kind, environment, place, self._path(), self._items)
        self._items = parts.notes
        self._open.append(parts)

    def _close_float(self, why: str) -> None:
        parts = self._open.pop()
        self._items = parts.below
        self._tables.clear()
        if why:  # what stands in it may be half of the paper
            self.files.note_unread(parts.place, f"a {parts.kind} without its end: {why}")
            self.blocks.append(Block(parts.notes, self._path()))
            parts.notes = []
        self.stream.macros.pop("@captype", None)
        if parts.environment in TABULARS and not parts.number:
            self._lone = parts
        whole = self._open[-1] if self._open else None
        if whole and not parts.captions:  # LaTeX counts it by no letter: what it holds is the whole's
            whole.content += parts.content
            whole.labels += parts.labels
            whole.notes += parts.notes
        elif whole:
            whole.content.append(parts)
        else:
            self.floats.append(parts)

    def _next_cell(self, token: Token) -> None:
        if self._tables and not self._tables[-1].depth:
            self._tables[-1].add_cell()
            self._items = self._tables[-1].cell.items
        else:
            self._add_text(" ", token.place)

    # --- Numbers: \\setcounter, \\numberwithin, \\thetable, chapters, IEEE.

    def _class(self, token: Token) -> None:
        if self._begun_at:  # of a file that can be set alone
            self.stream.drop("omo")
            self.stream.skip_preamble()
            return
        self.stream.option()
        if self.stream.word() in ROMAN_TABLES:
            self.stream.push(self._tokens(r"\renewcommand{\thetable}{\Roman{table}}", token))
        self.stream.option()

    def _set_counter(self, token: Token) -> None:
        name, value = self.stream.word(), NUMBER.fullmatch(self.stream.word())
        if value is not None:
            before = self._numbers[name] if token.text == "addtocounter" else 0
            self._numbers[name] = max(min(before + int(value[0]), MOST), 0)

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
        """Return the number of the next figure or table, as it is printed."""
        self._numbers[kind] = min(self._numbers[kind] + 1, MOST)
        return self._printed(kind, place)

    def _printed(self, name: str, place: Place) -> str:
        r"""Return what \thetable and its kin print: LaTeX's own (see BUILT_IN), or what the paper makes of it."""
        return join_words(self._inline((Token("command", f"the{name}", place),), place))[:20]

    def _print_counter(self, token: Token) -> None:
        r"""\arabic{table}, and \@arabic\c@table within styles."""
        name = self.stream.word().removeprefix("\\c@")
        self._add_text(FORMS[token.text.lstrip("@")](self._numbers[name]), token.place)

    def _print_chapter(self, token: Token) -> None:
        """What leads the numbers of sections and floats in a book."""
        if self._numbers["chapter"]:
            self.stream.push(self._tokens("\\thechapter.", token))
