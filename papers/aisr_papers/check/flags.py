"""Flags on the sentences of a paper, each with its place and the evidence that it is held against; how two on one
sentence become one, and which make `--fail-on` fail."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from aisr import UserError
from aisr.text import pluralize
from aisr_papers.draft import Draft, Place, Sentence
from aisr_papers.draft_record import DraftLabel
from aisr_papers.recompute.facts import MEANINGS
from aisr_papers.recompute.grid import Layout, read_layout
from aisr_papers.recompute.recompute import PlacedFact

Kind = Literal["claim", "citation", "hidden", "statistics", "quote"]
EXACT: tuple[Kind, ...] = ("statistics", "quote")  # without a model: no confidence, and no doubt of that kind
Level = Literal["error", "warning", "note"]
HIDDEN = "Hidden text"  # the label of a sentence that no reader of the paper would see
HIDDEN_MEANS = "stands in the file, but no reader of the paper would see it; it was shown to no model"


class QuoteLabel(StrEnum):
    """What can be wrong with a quote."""

    MISQUOTED = "Misquoted"
    NOT_FOUND = "Quote not found"  # it may be from another edition


class Labels(NamedTuple):
    """The labels of one kind of flag."""

    neutral: str  # the one that finds no fault
    meanings: Mapping[str, str]  # a line for each


NO_REASON = "no reason"  # what the failure of a flag with a label begins with
LABELS: Mapping[Kind, Labels] = {
    "statistics": Labels("", {str(label): meaning for label, meaning in MEANINGS.items()}),
    "quote": Labels(
        "",
        {
            QuoteLabel.MISQUOTED: "the cited work words it otherwise",
            QuoteLabel.NOT_FOUND: "nothing in the cited work comes near to these words",
        },
    ),
}


def level(kind: Kind, label: str) -> Level:
    """How bad a label is."""
    if label == DraftLabel.NOT_FOUND:
        return "note"
    return (
        "error" if label == DraftLabel.CONTRADICTED or (kind in EXACT and label != QuoteLabel.NOT_FOUND) else "warning"
    )


CELLS = " | "  # between the cells of a row of a table
BETWEEN = re.compile(r" \|(?: |$)")
BOLD = re.compile(r"\*\*(.*)\*\*")  # a cell, as a model is shown that it is printed so


class Piece(NamedTuple):
    """An item of evidence as the model read it."""

    key: str  # "Table 3" or "P3"
    lines: tuple[str, ...]  # its text, and below that the rows of a table, one a line
    picture: str | None = None  # its file below the draft's folder, unchecked


class Mark(NamedTuple):
    """A line of evidence that stands out."""

    piece: int  # from 0
    line: int  # from 0
    place: int = 0  # of a piece that the program named, its place among these, from 1; 0: nearest in its words
    columns: tuple[int, ...] = ()  # of a row of a table the cells that decide, from 0


class Reason(NamedTuple):
    """Why a sentence is flagged: what the evidence has instead, and where."""

    text: str  # in words; empty where a check has nothing but its label
    quote: str = ""  # the words, or the cell, as the evidence shows them
    mark: Mark | None = None  # where these stand; None where there is no place, or a model's was not confirmed
    label: str = ""  # of the check that gives this reason, where the label of another leads the flag
    confidence: float | None = None  # how likely that label is, in 0-1


class Flag(NamedTuple):
    """What is reported of one sentence, or of one citation in it: a fault, or that none was found, or neither."""

    kind: Kind
    paragraph: int  # its position in the draft
    sentence: int  # its position in the paragraph
    statement: str  # what was judged, which of a citation may be a part of the sentence
    label: str | None  # None where it was not judged, for the reason `failure`
    neutral: bool = False
    confidence: float | None = None  # how likely the label is, in 0-1; None where the LM gives no probabilities
    failure: str | None = None
    work: str | None = None  # key of the cited work
    evidence: tuple[Piece, ...] = ()
    marks: tuple[Mark, ...] = ()
    reasons: tuple[Reason, ...] = ()
    subject: str = ""  # a digest of what a model judged and of all that there was to judge it by
    digest: str = ""  # a digest of sentence and evidence, by which a dismissed flag is known again
    dismissed: bool = False  # a reader wants to see this flag no more

    @property
    def level(self) -> Level:
        """How bad it is: what was recomputed or looked up, or what the paper itself contradicts, is an error; what else
        a model finds fault with a warning; what is not found or not judged a note."""
        return "note" if self.label is None else level(self.kind, self.label)

    @property
    def folded(self) -> bool:
        """Whether it is no fault, but worth a look where there is time: the paper neither states nor denies it."""
        return self.label == DraftLabel.NOT_FOUND

    @property
    def doubtful(self) -> bool:
        """Whether a reader should look at it: it found fault, or there is no flag; and nobody dismissed it."""
        return not self.neutral and not self.folded and not self.dismissed


@dataclass(frozen=True)
class Review:
    """A paper and all flags on it, in its own order."""

    draft: Draft
    lm: str
    flags: tuple[Flag, ...]
    labels: Mapping[Kind, Labels]  # of each kind that was judged
    reliability: tuple[str, ...] = ()  # what the flags are worth, and in `details` more of it
    details: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)  # see `aisr_papers.check.checks.Checks`
    missing: Mapping[str, int] = field(default_factory=dict)
    stopped: str | None = None  # the limit that ended the judging early
    pictures: Mapping[str, str] = field(default_factory=dict)  # those that could not be shown to a model -> the reason
    recomputed: tuple[PlacedFact, ...] = ()  # all statements that were, also what holds and what is not decided

    def meaning(self, flag: Flag) -> str:
        """What the label of a flag means, in a line; empty where there is none."""
        labels = self.labels.get(flag.kind)
        return labels.meanings.get(flag.label or "", "") if labels else ""

    def sentence(self, flag: Flag) -> Sentence:
        """The sentence of the draft that a flag is about."""
        return self.draft.paragraphs[flag.paragraph].sentences[flag.sentence]

    def place(self, flag: Flag) -> Place:
        """Where that stands."""
        return self.sentence(flag).place

    def file(self, flag: Flag) -> str:
        """Its file as editors and CI find it, see `file_path`."""
        return file_path(self.draft.folder, self.place(flag))

    def counts(self) -> dict[str, int]:
        """How often each label was given, the commonest first; what was not judged under "not judged", and what readers
        dismissed under "dismissed", at the end."""
        counts = Counter(DISMISSED if one.dismissed else one.label or NOT_JUDGED for one in self.flags)
        return dict(sorted(counts.items(), key=lambda pair: (pair[0] == DISMISSED, -pair[1])))

    @property
    def dismissed(self) -> list[Flag]:
        """The flags that readers want to see no more."""
        return [one for one in self.flags if one.dismissed]

    @property
    def unjudged(self) -> int:
        """How many flags are wanting."""
        return sum(one.label is None for one in self.flags)

    def by_doubt(self) -> list[int]:
        """Positions of the flags, the most doubtful first: what was decided without a model; what is contradicted,
        then other faults, of both those with a confirmed reason first, the surest first; what was not judged; what was
        not found in the paper; what no fault was found with, the least sure first; and what was dismissed. Equals, and
        what has no confidence, in the paper's order, the latter behind."""
        return sorted(range(len(self.flags)), key=lambda place: _doubt(self.flags[place]))


LEAST_READ = 0.9  # of the words of a source; below it, what was lost comes first


def lost_words(draft: Draft) -> list[str]:
    """Where much of a source is not in the draft: how much, then its longest stretches; nothing elsewhere."""
    read = draft.coverage
    if read is None or read.share >= LEAST_READ:
        return []
    stretches = [f"{one.place}: {pluralize(one.length, 'word')}: {one.text} …" for one in read.missing]
    return [f"Only {int(100 * read.share)} % of the {read.words:,} words of the paper could be read", *stretches]


NOT_JUDGED, DISMISSED = "not judged", "dismissed"


def _doubt(flag: Flag) -> tuple[int, float]:
    sure = 0.0 if flag.confidence is None else flag.confidence
    if flag.dismissed:
        return 7, 0
    if flag.neutral:
        return 6, 1.0 if flag.confidence is None else sure
    if flag.kind in EXACT:
        return 0, 0
    if flag.kind == "hidden":
        return 1, 0
    if flag.label is None:
        return 4, 0
    unconfirmed = all(one.mark is None for one in flag.reasons)
    return {"error": 2, "warning": 3, "note": 5}[flag.level], unconfirmed - sure


def file_path(folder: Path, place: Place) -> str:
    """The file of a place as editors and CI find it: from the current folder where it is below that, else from the
    paper's folder. With slashes, and without the path of this machine."""
    file = (folder / place.file).resolve()
    here = Path.cwd()
    return (file.relative_to(here) if file.is_relative_to(here) else Path(place.file)).as_posix()


def hidden_flags(draft: Draft) -> list[Flag]:
    """A flag on each sentence that the file holds and no reader sees."""
    return [
        Flag("hidden", number, position, sentence.text, HIDDEN)
        for number, paragraph in enumerate(draft.paragraphs)
        for position, sentence in enumerate(paragraph.sentences)
        if sentence.hidden
    ]


def sort_flags(flags: list[Flag]) -> tuple[Flag, ...]:
    """Flags in the paper's order; those on one sentence as they came."""
    return tuple(sorted(flags, key=lambda one: (one.paragraph, one.sentence)))


# --- Reasons as other programs and lines show them.


class ReasonPlace(NamedTuple):
    """Where a reason stands, by the names that the paper gives."""

    name: str  # `Table 3`, or the section or key of a passage
    row: str = ""  # the section that the row stands in, and its own names
    column: str = ""  # what stands above the cells

    def __str__(self) -> str:
        beside = ", ".join(filter(None, (self.row, self.column)))
        return f"{self.name}: {beside}" if beside else self.name


def reason_place(flag: Flag, reason: Reason) -> ReasonPlace | None:
    """Where a reason of a flag stands; None where it has no place."""
    mark = reason.mark
    if mark is None:
        return None
    piece = flag.evidence[mark.piece]
    layout = layout_of(piece)
    place = mark.line - 1
    # A section, or a note below the table, is what is quoted, and has no name besides.
    names = layout.beside[place] if place in layout.beside and len({*layout.rows[place]} - {""}) > 1 else ()
    above = [layout.above(column) for column in mark.columns if column]
    columns = [" ".join(filter(None, dict.fromkeys(heads))) for heads in above]
    return ReasonPlace(piece.key, ", ".join(filter(None, dict.fromkeys(names))), " / ".join(columns))


@lru_cache(maxsize=64)  # of one table there may be many reasons
def layout_of(piece: Piece) -> Layout:
    """The table in a piece of evidence."""
    return read_layout(list(map(_cells, piece.lines[1:])))


def _cells(line: str) -> list[str]:
    """The cells of a row of a table, as a line of a piece has it, without marks of bold; an empty cell has no blank at
    the line's ends."""
    cells = BETWEEN.split(f" {line}" if line.startswith("| ") else line)
    return [bold[1] if (bold := BOLD.fullmatch(cell)) else cell for cell in cells]


def reasons_as_data(flag: Flag) -> list[dict[str, Any]]:
    """The reasons of a flag as JSON holds them: text, quote, place (name, row, column), label and confidence of
    another check; what is empty is left out."""
    data = []
    for one in flag.reasons:
        place = reason_place(flag, one)
        names = {key: value for key, value in place._asdict().items() if value} if place else None
        sure = None if one.confidence is None else round(one.confidence, 4)
        fields = {"label": one.label, "confidence": sure, "text": one.text, "quote": one.quote, "place": names}
        data.append({key: value for key, value in fields.items() if value not in ("", None)})
    return data


def reason_words(flag: Flag) -> str:
    """The reasons of a flag in words, each with its place where the text does not name it."""
    return "; ".join(filter(None, (_in_words(flag, one) for one in flag.reasons)))


def _in_words(flag: Flag, reason: Reason) -> str:
    place = reason_place(flag, reason)
    where = f" [{place}]" if place and place.name not in reason.text else ""
    return ": ".join(filter(None, (label_words(reason), f"{reason.text}{where}".strip())))


def label_words(judged: Flag | Reason) -> str:
    """A label and how sure it is: `Contradicted 83 %`; empty where there is none."""
    sure = "" if judged.confidence is None else f" {judged.confidence:.0%}".replace("%", " %")
    return f"{judged.label}{sure}" if judged.label else ""


# --- One sentence, one flag.

ANOTHER = "the verdict of another check of this sentence"  # that gives no reason
LEADING: tuple[Kind, ...] = (*EXACT, "hidden", "claim")  # of checks that are equally bad, what leads: the surest first


def merge_flags(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The flags with those on one sentence made one, which has the reasons of all. The worst label leads, and of
    equals the one of the surest check; each other label is named in its reason. A flag on a citation stays its own:
    it is about another work; so does what was not judged: the same command goes on there."""
    groups: dict[object, list[Flag]] = {}
    for number, one in enumerate(flags):
        alone = one.kind == "citation" or one.label is None
        groups.setdefault(number if alone else (one.paragraph, one.sentence), []).append(one)
    return tuple(_merge(group) for group in groups.values())


def _merge(group: Sequence[Flag]) -> Flag:
    if len(group) == 1:
        return group[0]
    merged, *others = sorted(
        group, key=lambda one: (one.neutral or one.folded, one.level != "error", LEADING.index(one.kind))
    )
    for other in others:
        merged = _with_reasons_of(merged, other)
    return merged


def _with_reasons_of(lead: Flag, other: Flag) -> Flag:
    """A flag with evidence, marks and reasons of another on its sentence."""
    evidence = tuple(dict.fromkeys((*lead.evidence, *other.evidence)))
    places = [evidence.index(piece) for piece in other.evidence]

    def move(mark: Mark) -> Mark:
        return mark._replace(piece=places[mark.piece])

    by = ("", None) if other.label == lead.label else (other.label or "", other.confidence)
    stated = other.reasons or [Reason(ANOTHER if by[0] else "")]
    reasons = [Reason(one.text, one.quote, one.mark and move(one.mark), *by) for one in stated]
    return lead._replace(
        evidence=evidence,
        # A line that is only like the sentence says nothing beside a reason.
        marks=(*lead.marks, *(map(move, other.marks) if other.reasons else ())),
        reasons=(*lead.reasons, *reasons),
        work=lead.work or other.work,
        failure=lead.failure or other.failure,
        dismissed=lead.dismissed or other.dismissed,
    )


# --- `--fail-on`: which flags make the command fail.


def failing_labels(wanted: Sequence[str], known: Sequence[str]) -> set[str]:
    """The labels of --fail-on, whatever their case; `statistics` and `quote` are all labels of that kind. Raises
    UserError for what is none."""
    exact = [label for kind in EXACT for label in LABELS[kind].meanings]
    labels = {label.lower(): {label} for label in [*known, *exact, HIDDEN]}
    labels |= {kind: set(LABELS[kind].meanings) for kind in EXACT}
    unknown = [label for label in wanted if label.lower() not in labels]
    if unknown:
        raise UserError(
            f"--fail-on {unknown[0]!r}: no such label; one of: {', '.join([*known, HIDDEN, *EXACT, *exact])}"
        )
    return {label for one in wanted for label in labels[one.lower()]}


def failing_flags(review: Review, labels: set[str], above: float) -> list[Flag]:
    """The flags with one of the labels, be it in a reason, whose confidence is at least `above`, in 0-1. One without
    a known confidence counts: a gate that cannot tell does not open. One that a reader dismissed does not."""

    def fails(one: Flag | Reason) -> bool:
        return one.label in labels and (one.confidence is None or one.confidence >= above)

    return [one for one in review.flags if not one.dismissed and (fails(one) or any(map(fails, one.reasons)))]
