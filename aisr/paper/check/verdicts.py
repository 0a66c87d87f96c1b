"""What is thought of each sentence of a paper, at its place, with the evidence that it is held against.

Which flags of a review are those that readers dismissed before.
"""

import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Literal, NamedTuple

from aisr.base.files import digest_file, digest_texts
from aisr.corrections.corrections import Correction
from aisr.paper.draft import Draft, Place, Sentence
from aisr.paper.readers.figures import Limits
from aisr.paper.recompute.numbers import MEANINGS
from aisr.programs.draft.record import DraftLabel
from aisr.programs.errors import UserError
from aisr.programs.records import Record
from aisr.programs.track1.record import ClaimLabel

# What a first look doubts, as a second one, at the whole paper, would name it.
IN_DRAFTS: dict[ClaimLabel, DraftLabel] = {
    ClaimLabel.CAUSAL: DraftLabel.BEYOND,
    ClaimLabel.ENTITY: DraftLabel.NOT_FOUND,
    ClaimLabel.SCOPE: DraftLabel.BEYOND,
    ClaimLabel.CONTRADICTION: DraftLabel.CONTRADICTED,
}

# --- Where a verdict stands, as files for other programs name it.


def path(folder: Path, place: Place) -> str:
    """The file of a place as editors and CI find it: from the current folder where it is below that, else from the
    paper's folder. With slashes, and without the path of this machine."""
    file = (folder / place.file).resolve()
    here = Path.cwd()
    return (file.relative_to(here) if file.is_relative_to(here) else Path(place.file)).as_posix()


Kind = Literal["claim", "citation", "hidden", "arithmetic", "quote"]
EXACT: tuple[Kind, ...] = ("arithmetic", "quote")  # found without a model: no confidence, and no doubt of that kind
Level = Literal["error", "warning", "note"]
HIDDEN = "Hidden text"  # the label of a sentence that no reader of the paper would see
HIDDEN_MEANS = "stands in the file, but no reader of the paper would see it; it was shown to no model"


class QuoteLabel(StrEnum):
    """What can be wrong with a quote."""

    MISQUOTED = "Misquoted"
    NOT_FOUND = "Quote not found"  # it may be from another edition


class Labels(NamedTuple):
    """The labels of one kind of verdict: the one that finds no fault, and a line of meaning for each."""

    neutral: str
    meanings: Mapping[str, str]


LABELS: Mapping[Kind, Labels] = {
    "arithmetic": Labels("", {str(label): meaning for label, meaning in MEANINGS.items()}),
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


class Piece(NamedTuple):
    """An item of evidence as the model read it. key: "Table 3" or "P3"; lines: its text, and below that the rows of a
    table, one a line; picture: its file below the draft's folder, unchecked."""

    key: str
    lines: tuple[str, ...]
    picture: str | None = None


class Mark(NamedTuple):
    """A line of evidence that stands out: piece and line count from 0; place: of a piece that the program named, its
    place among these, from 1; 0 for a line that is nearest to the sentence in its words; columns: of a row of a table
    the cells that something was recomputed from, from 0."""

    piece: int
    line: int
    place: int = 0
    columns: tuple[int, ...] = ()


class Subject(NamedTuple):
    """What a verdict is about, as its task has it, so that it can be corrected: the record without its pictures, which
    statement of it, from 0, and as it stands there; the digest of that and its evidence; program: the digest of a
    compiled one."""

    task: str
    record: Record
    statement: int
    sentence: str
    digest: str
    program: str | None = None


class Dismissed(NamedTuple):
    """That a reader wants to see a flag no more, who and why; when in ISO 8601."""

    why: str
    who: str
    when: str


class Verdict(NamedTuple):
    """What is thought of one sentence, or of one citation in it.

    paragraph and sentence: positions in the draft and in the paragraph; statement: what was judged, which of a citation
    may be a part of the sentence; label: None where it was not judged, for the reason `failure`; confidence: how likely
    the label is, in 0-1, None where the LM gives no probabilities; work: key of the cited work; signs: words behind the
    cues, by the cue; why: what was computed or found instead, where no model judged;
    subject: what can be corrected; flag: a digest of sentence and evidence, by which a dismissed flag is known again;
    dismissed: where it is; first: what a first look said, where this is the verdict of a second one; meaning: of the
    label, in the words of the task that gave it, where two tasks give verdicts of this kind.
    """

    kind: Kind
    paragraph: int
    sentence: int
    statement: str
    label: str | None
    neutral: bool = False
    confidence: float | None = None
    failure: str | None = None
    work: str | None = None
    evidence: tuple[Piece, ...] = ()
    marks: tuple[Mark, ...] = ()
    signs: Mapping[str, list[str]] = {}
    why: str = ""
    subject: Subject | None = None
    flag: str = ""
    dismissed: Dismissed | None = None
    first: str | None = None
    meaning: str = ""

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
        """Whether a reader should look at it: it found fault, or there is no verdict; and nobody dismissed it."""
        return not self.neutral and not self.folded and self.dismissed is None


@dataclass(frozen=True)
class Review:
    """A paper and all verdicts on it, in its own order.

    labels: of each kind that was judged; worth: what the verdicts are worth, and more of it; skipped, missing: see
    `aisr.paper.check.checks.Checks`; stopped: the limit that ended the judging early; pictures: the pictures that
    could not be shown to a model, with the reason.
    """

    draft: Draft
    lm: str
    verdicts: tuple[Verdict, ...]
    labels: Mapping[Kind, Labels]
    worth: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)
    stopped: str | None = None
    pictures: Mapping[str, str] = field(default_factory=dict)

    def meaning(self, verdict: Verdict) -> str:
        """What the label of a verdict means, in a line; empty where there is none."""
        labels = self.labels.get(verdict.kind)
        return verdict.meaning or (labels.meanings.get(verdict.label or "", "") if labels else "")

    def sentence(self, verdict: Verdict) -> Sentence:
        """The sentence of the draft that a verdict is about."""
        return self.draft.paragraphs[verdict.paragraph].sentences[verdict.sentence]

    def place(self, verdict: Verdict) -> Place:
        """Where that stands."""
        return self.sentence(verdict).place

    def counts(self) -> dict[str, int]:
        """How often each label was given, the commonest first; what was not judged under "not judged", and what readers
        dismissed under "dismissed", at the end."""
        found = Counter(DISMISSED if one.dismissed else one.label or NOT_JUDGED for one in self.verdicts)
        return dict(sorted(found.items(), key=lambda pair: (pair[0] == DISMISSED, -pair[1])))

    @property
    def dismissed(self) -> list[Verdict]:
        """The flags that readers want to see no more."""
        return [one for one in self.verdicts if one.dismissed]

    @property
    def unjudged(self) -> int:
        """How many verdicts are wanting."""
        return sum(one.label is None for one in self.verdicts)

    def by_doubt(self) -> list[int]:
        """Positions of the verdicts, the most doubtful first: what was found without a model; what is contradicted, the
        surest first; other faults, the surest first; what was not judged; what was not found in the paper; what nothing
        was found wrong with, the least sure first; and what was dismissed. Equals, and what has no confidence, in the
        paper's order, the latter behind."""
        return sorted(range(len(self.verdicts)), key=lambda place: _doubt(self.verdicts[place]))


NOT_JUDGED, DISMISSED = "not judged", "dismissed"


def _doubt(verdict: Verdict) -> tuple[int, float]:
    sure = 0.0 if verdict.confidence is None else verdict.confidence
    if verdict.dismissed:
        return 7, 0
    if verdict.neutral:
        return 6, 1.0 if verdict.confidence is None else sure
    if verdict.kind in EXACT:
        return 0, 0
    if verdict.kind == "hidden":
        return 1, 0
    if verdict.label is None:
        return 4, 0
    return {"error": 2, "warning": 3, "note": 5}[verdict.level], -sure


def hidden(draft: Draft) -> list[Verdict]:
    """A verdict on each sentence that the file holds and no reader sees."""
    return [
        Verdict("hidden", number, position, sentence.text, HIDDEN)
        for number, paragraph in enumerate(draft.paragraphs)
        for position, sentence in enumerate(paragraph.sentences)
        if sentence.hidden
    ]


def in_order(verdicts: list[Verdict]) -> tuple[Verdict, ...]:
    """Verdicts in the paper's order; those on one sentence as they came."""
    return tuple(sorted(verdicts, key=lambda one: (one.paragraph, one.sentence)))


MOST_BYTES = Limits().bytes  # of a picture; none that is larger is shown to a model


def marked(review: Review, known: Mapping[str, Correction]) -> Review:
    """The review with the digest of each flag, and with those marked that were dismissed. known: by these digests.

    Of the pictures those are read that a flag shows, also where nothing is dismissed yet: a flag is dismissed by the
    digest that the page of its first review has.
    """
    shown = {piece.picture for one in review.verdicts if _is_flag(one) for piece in one.evidence if piece.picture}
    files = {
        path: picture.file
        for one in review.draft.floats.values()
        for picture in one.pictures
        # A part of a PDF page is one of the paper itself, of which any edit changes the file.
        if picture.box is None and picture.file.is_relative_to(review.draft.folder)
        if (path := picture.path(review.draft.folder)) in shown
    }
    pictures = {path: digest_file(file) for path, file in files.items() if _is_readable(file)}
    held: dict[Piece, str] = {}  # one table may be held against many sentences
    return replace(review, verdicts=tuple(_marked(one, pictures, known, held) for one in review.verdicts))


def _is_flag(verdict: Verdict) -> bool:
    return not verdict.neutral and verdict.label is not None


def _is_readable(file: Path) -> bool:
    """Whether it is a file, and one that could be a figure by its size."""
    try:
        found = file.stat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size <= MOST_BYTES


def _marked(
    verdict: Verdict, pictures: Mapping[str, str], known: Mapping[str, Correction], held: dict[Piece, str]
) -> Verdict:
    if not _is_flag(verdict):
        return verdict
    shown = [pictures.get(piece.picture, "") for piece in verdict.evidence if piece.picture]
    what = (
        [verdict.subject.digest]
        if verdict.subject
        else [verdict.statement, *(_held(one, held) for one in verdict.evidence)]
    )
    flag = digest_texts([verdict.kind, verdict.work or "", *what, *shown])
    found = known.get(flag)
    gone = Dismissed(found.dismissed or "", found.who, found.when.isoformat()) if found else None
    return verdict._replace(flag=flag, dismissed=gone)


def _held(piece: Piece, held: dict[Piece, str]) -> str:
    if piece not in held:
        held[piece] = digest_texts([piece.key, *piece.lines])
    return held[piece]


# --- `--fail-on`: which verdicts make the command fail.


def failing_labels(wanted: Sequence[str], known: Sequence[str]) -> set[str]:
    """The labels of --fail-on, whatever their case; `arithmetic` and `quote` are all labels of that
    kind, and a label of the first look stands for that of the second as well. Raises UserError for what is none."""
    found = [label for kind in EXACT for label in LABELS[kind].meanings]
    labels = {label.lower(): {label} for label in [*known, *found, HIDDEN]}
    labels |= {kind: set(LABELS[kind].meanings) for kind in EXACT}
    for first, second in IN_DRAFTS.items():
        if second in known:  # the second look's word for what the first one doubts
            labels.setdefault(first.lower(), set()).add(str(second))
    unknown = [label for label in wanted if label.lower() not in labels]
    if unknown:
        raise UserError(
            f"--fail-on {unknown[0]!r}: no such label; one of: {', '.join([*known, HIDDEN, *EXACT, *found])}"
        )
    return {label for one in wanted for label in labels[one.lower()]}


def failing_verdicts(review: Review, labels: set[str], above: float) -> list[Verdict]:
    """The verdicts with one of the labels whose confidence is at least `above`, in 0-1. One without a known confidence
    counts: a gate that cannot tell does not open. One that a reader dismissed does not."""
    return [
        one
        for one in review.verdicts
        if one.label in labels and not one.dismissed and (one.confidence is None or one.confidence >= above)
    ]
