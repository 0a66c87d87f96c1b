"""Flags on the sentences of a paper: what a line of `paper.jsonl` holds, and the evidence that a page shows beside."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, computed_field

from aisr.text import digest_texts
from aisr_papers.check.layout import Layout, read_layout
from aisr_papers.draft import Draft, Place
from aisr_papers.draft_record import DRAFT_DEFINITIONS, DraftLabel
from aisr_papers.recompute.recompute import MEANINGS

Kind = Literal["claim", "citation", "hidden", "statistics", "quote"]
JUDGED: tuple[Kind, ...] = ("claim", "citation")  # by a model
EXACT: tuple[Kind, ...] = ("statistics", "quote")  # without a model: no confidence, and no doubt of that kind
NOT_JUDGED = "not judged"  # what stands for a label where there is none
Level = Literal["error", "warning", "note"]
HIDDEN = "Hidden text"  # the label of a sentence that no reader of the paper would see
NO_REASON = "no reason"  # what the failure of a flag with a label begins with


class QuoteLabel(StrEnum):
    """What can be wrong with a quote."""

    MISQUOTED = "Misquoted"
    NOT_FOUND = "Quote not found"  # it may be from another edition


# Each label of a kind with a line on what it means. Of what a model judges, the first finds no fault.
LABELS: Mapping[Kind, Mapping[str, str]] = {
    "claim": {str(label): meaning for label, meaning in DRAFT_DEFINITIONS.items()},
    "citation": {
        "Supported": "the paper gives evidence that directly supports the claim",
        "Overstate": "the claim says more, or more strongly, than the paper supports",
        "Topical Match": "same topic, but the paper lacks the evidence that the claim needs",
        "Irrelevant": "the paper has no meaningful support relation to the claim",
    },
    "statistics": {str(label): meaning for label, meaning in MEANINGS.items()},
    "quote": {
        QuoteLabel.MISQUOTED: "the cited work words it otherwise",
        QuoteLabel.NOT_FOUND: "nothing in the cited work comes near to these words",
    },
    "hidden": {HIDDEN: "stands in the file, but no reader of the paper would see it; it was shown to no model"},
}
NEUTRAL = "Supported"  # the label that finds no fault


def level(kind: Kind, label: str | None) -> Level:
    """Return how bad a label is: what was recomputed or looked up, or what the paper itself contradicts, is an error;
    what else a model finds fault with a warning; what is not found or not judged a note."""
    if label is None or label == DraftLabel.NOT_FOUND:
        return "note"
    is_wrong = label == DraftLabel.CONTRADICTED or (kind in EXACT and label != QuoteLabel.NOT_FOUND)
    return "error" if is_wrong else "warning"


# --- The evidence of a flag, as the model read it.


class Piece(NamedTuple):
    """An item of evidence."""

    key: str  # "Table 3" or "P3"
    lines: tuple[str, ...]  # its text, and below that the rows of a table, one a line
    picture: str | None = None  # its file below the draft's folder, unchecked


class Mark(NamedTuple):
    """A line of evidence that stands out."""

    piece: int  # from 0
    line: int  # from 0
    place: int = 0  # of a piece that the program named, its place among these, from 1; 0: nearest in its words
    columns: tuple[int, ...] = ()  # of a row of a table the cells that decide, from 0


BETWEEN = re.compile(r" \|(?: |$)")  # cells of a row
BOLD = re.compile(r"\*\*(.*)\*\*")  # a cell, as a model is shown that it is printed so


@lru_cache(maxsize=64)  # of one table there may be many reasons
def layout_of(piece: Piece) -> Layout:
    """Return the table in a piece of evidence."""
    return read_layout(list(map(split_cells, piece.lines[1:])))


def split_cells(line: str) -> list[str]:
    """Return the cells of a row, without marks of bold; an empty cell has no blank at the line's ends."""
    cells = BETWEEN.split(f" {line}" if line.startswith("| ") else line)
    return [bold[1] if (bold := BOLD.fullmatch(cell)) else cell for cell in cells]


# --- Why a sentence is flagged.


@dataclass(frozen=True)
class NamedPlace:
    """Where a reason stands, by the names that the paper gives."""

    name: str  # `Table 3`, or the section or key of a passage
    row: str = ""  # the section that the row stands in, and its own names
    column: str = ""  # what stands above the cells

    def __str__(self) -> str:
        beside = ", ".join(filter(None, (self.row, self.column)))
        return f"{self.name}: {beside}" if beside else self.name


def name_place(piece: Piece, mark: Mark) -> NamedPlace:
    """Return the names of a marked line of a piece."""
    layout = layout_of(piece)
    row = mark.line - 1
    # A section, or a note below the table, is what is quoted, and has no name besides.
    names = layout.beside[row] if row in layout.beside and len({*layout.rows[row]} - {""}) > 1 else ()
    above = [layout.above(column) for column in mark.columns if column]
    columns = [" ".join(filter(None, dict.fromkeys(heads))) for heads in above]
    return NamedPlace(piece.key, ", ".join(filter(None, dict.fromkeys(names))), " / ".join(columns))


@dataclass(frozen=True)
class Reason:
    """What the evidence has instead of what a sentence states, and where."""

    text: str  # in words
    quote: str = ""  # the words, or the cell, as the evidence shows them
    place: NamedPlace | None = None  # where these stand; None where there is no place, or a model's was not confirmed
    mark: Annotated[Mark | None, Field(exclude=True)] = None  # of `place`, among the pieces of the flag

    def __str__(self) -> str:
        """In words, with the place where the text does not name it."""
        where = f" [{self.place}]" if self.place and self.place.name not in self.text else ""
        return f"{self.text}{where}"


# --- The flag.


@dataclass(frozen=True)
class MarkedLine:
    """A line of evidence that decided, or is nearest in its words."""

    key: str  # of its piece
    text: str
    named: int | None  # the place among the pieces that the program named, from 1


@dataclass(frozen=True)
class Flag:
    """What is reported of one sentence, or of one citation in it: a fault, or that none was found, or neither. All but
    the fields that are excluded is a line of `paper.jsonl`."""

    kind: Kind
    file: str  # as editors and CI find it, see `file_path`
    line: int | None  # from 1, where the file has lines
    page: int | None  # from 1, where it has pages
    paragraph: str | None  # of a Word file, which has neither: heading and paragraph
    sentence: str
    statement: str  # what was judged, which of a citation may be a part of the sentence
    label: str | None  # None where it was not judged, for the reason `failed`
    position: Annotated[tuple[int, int], Field(exclude=True)] = (0, 0)  # of paragraph and sentence in the draft
    confidence: float | None = None  # how likely the label is, in 0-1; None where the LM gives no probabilities
    failed: str | None = None  # why it was not judged, or has no reason
    work: str | None = None  # key of the cited work
    reasons: tuple[Reason, ...] = ()
    dismissed: bool = False  # a reader wants to see this flag no more
    pieces: Annotated[tuple[Piece, ...], Field(exclude=True)] = ()
    marks: Annotated[tuple[Mark, ...], Field(exclude=True)] = ()
    subject: Annotated[str, Field(exclude=True)] = ""  # a digest of what it rests on: nearest lines, a cited work

    @computed_field  # type: ignore[prop-decorator]
    @property
    def level(self) -> Level | None:
        """How bad it is, see `level`; None where no fault was found."""
        return None if self.neutral else level(self.kind, self.label)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def evidence(self) -> list[MarkedLine]:
        """The lines of evidence that stand out."""
        marked = [(self.pieces[mark.piece], mark) for mark in self.marks]
        return [MarkedLine(piece.key, piece.lines[mark.line], mark.place or None) for piece, mark in marked]

    @property
    def neutral(self) -> bool:
        """Whether the label finds no fault."""
        return self.label == NEUTRAL

    @property
    def meaning(self) -> str:
        """What the label means, in a line; empty where there is none."""
        return LABELS[self.kind][self.label] if self.label else ""

    @property
    def digest(self) -> str:
        """What a dismissed flag is known by, until its sentence changes, or what it rests on."""
        return digest_texts([self.kind, self.work or "", self.sentence, self.statement, self.subject])

    @property
    def folded(self) -> bool:
        """Whether it is no fault, but worth a look where there is time: the paper neither states nor denies it."""
        return self.label == DraftLabel.NOT_FOUND

    @property
    def doubtful(self) -> bool:
        """Whether a reader should look at it: it found fault, or there is no label; and nobody dismissed it."""
        return not self.neutral and not self.folded and not self.dismissed

    @property
    def within(self) -> str:
        """Where it is in a file without lines: `page 3`, `Results, paragraph 3`; empty for lines."""
        return Place("", self.line, self.page, self.paragraph or "").within

    @property
    def why(self) -> str:
        """The reasons in words."""
        return "; ".join(filter(None, map(str, self.reasons)))


def label_words(flag: Flag) -> str:
    """Return the label of a flag and how sure it is: `Contradicted 83 %`."""
    sure = "" if flag.confidence is None else f" {flag.confidence:.0%}".replace("%", " %")
    return f"{flag.label}{sure}" if flag.label else NOT_JUDGED


def make_flag(
    draft: Draft, kind: Kind, position: tuple[int, int], statement: str, label: str | None, **fields: Any
) -> Flag:
    """Return a flag on a sentence of a draft. fields: further ones of `Flag`."""
    flagged = draft.sentence(position)
    place = flagged.place
    where = (file_path(draft.folder, place), place.line, place.page, place.paragraph or None)
    return Flag(kind, *where, flagged.text, statement, label, position, **fields)


def file_path(folder: Path, place: Place) -> str:
    """Return the file of a place as editors and CI find it: from the current folder where it is below that, else from
    the paper's folder. With slashes, and without the path of this machine."""
    file, here = (folder / place.file).resolve(), Path.cwd()
    return (file.relative_to(here) if file.is_relative_to(here) else Path(place.file)).as_posix()


def hidden_flags(draft: Draft) -> list[Flag]:
    """Return a flag on each sentence that the file holds and no reader sees."""
    placed = draft.placed_sentences()
    return [make_flag(draft, "hidden", place, sentence.text, HIDDEN) for place, sentence in placed if sentence.hidden]


def sort_flags(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """Return flags in the paper's order; those on one sentence as they came."""
    return tuple(sorted(flags, key=lambda one: one.position))


def doubt(flag: Flag) -> tuple[int, float]:
    """Return what sorts flags, the most doubtful first: what was decided without a model; what is contradicted, then
    other faults, of both those with a confirmed reason first, the surest first; what was not judged; what was not found
    in the paper; what no fault was found with, the least sure first; and what was dismissed."""
    sure = 0.0 if flag.confidence is None else flag.confidence
    if flag.dismissed:
        return 7, 0
    if flag.level is None:
        return 6, 1.0 if flag.confidence is None else sure
    if flag.kind in EXACT:
        return 0, 0
    if flag.kind == "hidden":
        return 1, 0
    if flag.label is None:
        return 4, 0
    is_unconfirmed = all(one.place is None for one in flag.reasons)
    return {"error": 2, "warning": 3, "note": 5}[flag.level], is_unconfirmed - sure
