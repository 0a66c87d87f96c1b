r"""The running text of a LaTeX paper: paragraphs, formulas, and what stands within what."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from aisr.paper.citations import Entry
from aisr.paper.draft import Place
from aisr.paper.passages import Piece
from aisr.paper.readers.files import Files
from aisr.paper.readers.latex_floats import Item, Parts, Table, words
from aisr.paper.readers.latex_macros import Stream
from aisr.paper.readers.latex_tokens import (
    ACCENTS,
    BOLD_MATH,
    DROPPED,
    FORMULA,
    PLAIN,
    Token,
    accented,
    formula,
    plain,
    symbol,
)

END = "\0"  # a command that no source can hold: the end of an argument that is read by itself
MAX_FORMULAS = 10_000
MAX_WITHIN = 30  # arguments that are read within each other
PRINTED = str.maketrans({"\u00a0": " "})
DASHES = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"))


class Target(NamedTuple):
    """What a label names: `Section`, `Equation`, `Figure` or `Table`, and its number."""

    kind: str
    number: str


class Run:
    """Reads a paper once. blocks: paragraphs with their headings, and whether they are hidden from a reader; floats,
    labels and works: as they are found."""

    def __init__(self, files: Files, main: Path) -> None:
        self.files = files
        self.main = main
        self.stream = Stream(files)
        self.title: list[Item] = []
        self.blocks: list[tuple[list[Item], tuple[str, ...], bool]] = []
        self.floats: list[Parts] = []
        self.labels: dict[str, Target] = {}
        self.works: dict[str, Entry] = {}
        self._items: list[Item] = []  # of what is being read: a paragraph, a cell, a caption
        self._notes: list[list[Item]] = []  # footnotes of the paragraph
        self._headings: list[tuple[int, str]] = []
        self._numbers: Counter[str] = Counter()
        self._outer: dict[str, str] = {}  # what is counted within which section
        self._roman_tables = False
        self._appendix = False
        self._here = Target("Section", "")
        self._environments: list[str] = []
        self._open: list[Parts] = []
        self._tables: list[Table] = []
        self._within = 0
        self._depth = 0  # braces that are open
        self._unseen: tuple[int, int, list[Item]] | None = None  # since when text is hidden, and what it interrupts
        self._hidden: list[list[Item]] = []  # in the paragraph
        self._whites: set[str] = set()
        self._folders: tuple[str, ...] = ("",)
        self._reading = False  # behind \begin{document}
        self._unknown: set[str] = set()
        self._commands = self._handlers()

    def read(self) -> None:
        """Read the main file and what it puts in."""
        place = Place(self.files.name(self.main), 1)
        self.stream.open(self.main, place)
        self._reading = not self._begins(place)
        self._run()
        while self._open:
            self._close_float("the paper ends within it")
        self._end_paragraph()

    def _begins(self, place: Place) -> bool:
        r"""Whether there is a \begin{document}; without one, all is text."""
        text = self.files.again(self.main)
        return "\\begin{document}" in text

    def _run(self) -> None:
        while (token := self.stream.next()) is not None:
            if token.kind == "command":
                if token.text == END:
                    return
                self._command(token)
            elif token.kind in ("text", "bracket"):
                self._say(token.text, token.place)
            elif token.kind == "open":
                self._depth += 1
            elif token.kind == "close":
                self._depth -= 1
                self._leave_group()
            elif token.kind == "par":
                self._end_paragraph()
            elif token.kind == "cell":
                self._next_cell(token)
            elif token.kind == "math":
                self._math(token, lambda one: one.kind == "math" and one.text == token.text)

    def _inline(self, found: tuple[Token, ...], place: Place) -> list[Item]:
        """An argument read by itself."""
        if self._within >= MAX_WITHIN:
            self.files.refuse(place, f"what lies deeper than {MAX_WITHIN} arguments is left out")
            return []
        kept, self._items = self._items, []
        tables, self._tables = self._tables, []
        self._within += 1
        hidden = self._unseen
        self.stream.push((*found, Token("command", END, place)))
        self._run()
        if self._unseen is not hidden:
            self._see()
        self._within -= 1
        self._tables = tables
        items, self._items = self._items, kept
        return items

    def _say(self, text: str, place: Place) -> None:
        if self._reading or self._within:
            for typed, printed in DASHES:
                text = text.replace(typed, printed)
            self._items.append(Piece(text.translate(PRINTED), place))

    def _note(self, token: Token, why: str) -> None:
        """Note what is not understood; each command or environment once."""
        if why not in self._unknown and self._reading:
            self._unknown.add(why)
            self.files.refuse(token.place, why)

    def _hide(self, place: Place, why: str, group: int = 0) -> None:
        """What comes next in this group of braces and this environment is hidden. Cells of tables are not: white on
        colour is common there."""
        if self._unseen is None and not self._tables and (self._reading or self._within):
            self.files.refuse(place, f"{why}; what no reader sees is marked as hidden, and no model is asked about it")
            self._unseen = self._depth + group, len(self._environments), self._items
            self._items = []

    def _see(self) -> None:
        """The hidden text ends."""
        if self._unseen is not None:
            self._hidden.append(self._items)
            self._items = self._unseen[2]
            self._unseen = None

    def _leave_group(self) -> None:
        if self._unseen and (self._depth < self._unseen[0] or len(self._environments) < self._unseen[1]):
            self._see()

    def _end_paragraph(self) -> None:
        if self._within or self._tables:
            if self._items:
                self._items.append(Piece(" ", self._items[-1].place))
            return
        if self._open and self._open[-1].environment.startswith("\\"):
            self._close_float("")
        if self._open:
            self._items.append(Piece(" ", self._open[-1].place))
            return
        headings, unseen = self._path(), self._unseen
        self._see()
        if self._items:
            self.blocks.append((self._items, headings, False))
            self._items = []
        self.blocks += [(note, headings, False) for note in self._notes]
        self.blocks += [(found, headings, True) for found in self._hidden]
        self._notes, self._hidden = [], []
        if unseen is not None:
            self._unseen = unseen[0], unseen[1], self._items
            self._items = []

    def _path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._headings)

    def _command(self, token: Token) -> None:
        name = token.text
        handler = self._commands.get(name)
        if handler is not None:
            handler(token)
        elif name in DROPPED:
            self._drop(DROPPED[name])
        elif name in ACCENTS:
            letter = self._inline(self.stream.argument(), token.place)
            letters = words(one for one in letter if isinstance(one, Piece))
            self._say(accented(name, letters[:1]) + letters[1:] if letters else "", token.place)
        elif (said := symbol(name)) is not None and name not in PLAIN:
            self._say(said, token.place)
        elif name not in PLAIN and name[-1:].isalpha():
            if "@" not in name:
                self._note(token, f"\\{name}: not known; what is in its braces is read as text")
            self.stream.option()

    def _drop(self, pattern: str) -> None:
        for kind in pattern:
            if kind == "s":
                self.stream.star()
            elif kind == "o":
                self.stream.option()
            elif kind == "m":
                self.stream.argument()
            elif kind == "p":
                self.stream.blanks()
                token = self.stream.peek()
                if token is not None and token.text.startswith("("):
                    self.stream.raw()
                    rest = token.text.partition(")")[2]
                    self.stream.push([token._replace(text=rest)] if rest else [])
                self.stream.argument()

    def _handlers(self) -> dict[str, Callable[[Token], None]]:
        """What reads each command that is more than text. The readers of a paper's parts add theirs."""
        return {}

    def _math(self, token: Token, ends: Callable[[Token], bool]) -> None:
        """A formula up to its end; a sign without partner in its paragraph is left out."""
        found: list[Token] = []
        while (one := self.stream.next()) is not None:
            if ends(one):
                if self._reading or self._within:
                    self._say(self._formula(found, token), token.place)
                return
            again = one.kind == "command" and one.text == token.text and token.kind == "command"
            if one.kind == "par" or one.text == END or again:
                found.append(one)
                break
            found.append(one)
        self.files.refuse(token.place, "a formula that does not end in its paragraph")
        self.stream.push(found)

    def _formula(self, found: Sequence[Token], token: Token) -> str:
        self._numbers["formula"] += 1
        if self._numbers["formula"] > MAX_FORMULAS:
            self._note(token, f"more than {MAX_FORMULAS} formulas; from here on they are left out")
            return FORMULA
        if self._tables and any(one.kind == "command" and one.text in BOLD_MATH for one in found):
            self._tables[-1].cell.bold = True
        return formula(plain(found))

    def _display(self, name: str, token: Token) -> None:
        found: list[Token] = []
        if not name.endswith("*"):
            self._numbers["equation"] += 1
        while (one := self.stream.next()) is not None:
            if one.kind == "command" and one.text in ("end", "begin", "label"):
                said = self.stream.word()
                if one.text == "end" and said == name:
                    self._say(f" {self._formula(found, token)} ", token.place)
                    return
                if one.text == "label":
                    self.labels.setdefault(said, Target("Equation", str(self._numbers["equation"])))
                    continue
                place = one.place
                found += [one, Token("open", "{", place), Token("text", said, place), Token("close", "}", place)]
                if one.text == "begin" and said == name:
                    break
                continue
            if (
                one.text == "\\"
                and not name.endswith("*")
                and one.kind == "command"
                and name.startswith(("align", "gather"))
            ):
                self._numbers["equation"] += 1
            if one.kind == "par" or one.text == END:
                found.append(one)
                break
            if not (one.kind == "command" and one.text in ("nonumber", "notag")):
                found.append(one)
        self.files.refuse(token.place, f"a formula ({name}) that does not end in its paragraph")
        self.stream.push(found)

    def _open_float(self, kind: Literal["figure", "table"], environment: str, place: Place) -> None:
        self._see()
        parts = Parts(kind, environment, place, self._path(), self._items)
        self._items = parts.notes
        self._open.append(parts)

    def _close_float(self, why: str) -> None:
        self._see()
        parts = self._open.pop()
        self._items = parts.below
        self._tables.clear()
        if why:  # what stands in it may be half of the paper
            self.files.refuse(parts.place, f"a {parts.kind} without its end: {why}")
            self.blocks.append((parts.notes, self._path(), False))
            parts.notes = []
        if self._open and not parts.captions:  # LaTeX gives it no letter: what it holds is the whole's
            self._open[-1].take(parts)
        elif self._open:
            self._open[-1].within.append(parts)
        else:
            self.floats.append(parts)

    def _next_cell(self, token: Token) -> None:
        if self._tables and not self._tables[-1].depth:
            self._tables[-1].add_cell()
            self._items = self._tables[-1].cell.items
        else:
            self._say(" ", token.place)
