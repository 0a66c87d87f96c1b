"""A task is one value: everything above this package is written against `Task` and knows no task by name.

Beside it stand the parts of that value: `Exhibit`, a piece of evidence as a person is shown it; `Judgements`, what a
task adds whose answers are labels (the decision layer, its cues, the confusion matrix and F1 by label rest on it, and a
ranking or a text goes without); `Submission`, the file that an evaluation server takes; `Correctable`, what makes
labelled records of a person's corrections.
"""

import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol

import dspy
from pydantic import BaseModel, ConfigDict
from typing_extensions import TypeVar

from aisr.base.files import digest_texts, replacing
from aisr.metrics.scores import Scores
from aisr.programs.base import Judge
from aisr.programs.errors import UserError
from aisr.programs.images import KINDS
from aisr.programs.records import EvidenceItem, Prediction, Record


class Exhibit(BaseModel):
    """One piece of evidence: an item of a bundle, or a paragraph of a cited paper.

    key: "table 1" or "P12"; picture: the path that the record gives, unchecked; shown: whether the model could read it;
    gold: whether it is gold evidence; chosen: its place in the predicted evidence, from 1, or 0.
    """

    model_config = ConfigDict(extra="forbid")
    key: str
    text: str
    picture: str | None = None
    shown: bool = True
    gold: bool = False
    chosen: int = 0


def of_bundle(bundle: Sequence[EvidenceItem]) -> list[Exhibit]:
    """The items of an evidence bundle, numbered by kind as the prompt numbers them."""
    numbers: Counter[str] = Counter()
    found = []
    for item in bundle:
        kind = KINDS[item.type]
        numbers[kind] += 1
        words = " ".join(f"{item.text} {item.caption}".split())
        found.append(Exhibit(key=f"{kind} {numbers[kind]}", text=words, picture=item.img_path))
    return found


@dataclass(frozen=True)
class Judgements:
    """Labels, and where they stand in records.

    neutral: the label of a statement that nothing is wrong with; definitions: a line a label;
    allowed: the gold labels of each statement of a record, the first of them first;
    statements and grounds: the text of each statement of an example, and the evidence that all are held against;
    evidence_right: whether evidence ids are right, where the label is; None for a task that names none. The records of
    a task that names some have one statement each;
    answer_right: the same where evidence does not depend on the label, of a whole answer: whether it would count if its
    label were right; f1_share: what macro-F1 counts in the ranking score beside exact match, in 0-1.
    """

    labels: tuple[str, ...]
    neutral: str
    definitions: Mapping[str, str]
    allowed: Callable[[Any], Sequence[Sequence[str]]]
    statements: Callable[[dspy.Example], list[str]]
    grounds: Callable[[dspy.Example], str]
    evidence_right: Callable[[Any, Sequence[str]], bool] | None = None
    answer_right: Callable[[Any, Any], bool] | None = None
    f1_share: float = 0.5

    def said(self, gold: Any) -> list[str]:
        """The first gold label of each statement of a record."""
        return [types[0] for types in self.allowed(gold)]

    def kinds(self, gold: Any) -> str:
        """The labels of a record as one word: what demos and subsets of dev are balanced by."""
        return " ".join(sorted(set(self.said(gold))))

    def fault(self, gold: Any) -> str:
        """The rarest thing about a record: its first label other than the neutral one, or that."""
        return next((label for label in self.said(gold) if label != self.neutral), self.neutral)


def wrong_number(wanted: int, answer: Sequence[str]) -> str | None:
    """What is wrong with the number of labels of a record with so many statements; None where it is right."""
    return None if len(answer) == wanted else f"{len(answer)} labels for {wanted} sentences; one label a sentence"


def wrong_labels(gold: Sequence[Sequence[str]], answer: Sequence[str], definitions: Mapping[str, str]) -> str:
    """One sentence for each wrong label, for an optimizer that reflects."""
    wrong = [
        f"Sentence {k}: said {label}; right is {' or '.join(types)} ({definitions[types[0]]})."
        for k, (types, label) in enumerate(zip(gold, answer, strict=True), start=1)
        if label not in types
    ]
    return " ".join(wrong) or "Every sentence is labelled right."


TRACK_FILES = frozenset({"track1_pred.jsonl", "track2_pred.jsonl"})  # of the shared task: one zip may hold both
# Entries of a zip carry a date; a fixed one makes the same predictions give the same file.
DATE = (2026, 1, 1, 0, 0, 0)


class Submission(Protocol):
    """Writes what a task's server takes. file: the name that its content goes by there."""

    @property
    def file(self) -> str: ...

    def write(self, lines: Sequence[dict[str, Any]], out: Path) -> None:
        """Write checked lines, in the order of the test inputs. Raises UserError where `out` holds something else."""


@dataclass(frozen=True)
class FlatZip:
    """A flat zip of JSON Lines files, one a track, as the shared task's server takes it.

    beside: the files of other tracks, which a zip that is there already keeps, so that one zip can hold all.
    """

    file: str
    beside: frozenset[str] = frozenset()

    def write(self, lines: Sequence[dict[str, Any]], out: Path) -> None:
        content = {self.file: "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()}
        if out.exists():
            content |= _kept(out, self.beside - {self.file})
        with replacing(out) as new, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as file:
            for name in sorted(content):
                file.writestr(zipfile.ZipInfo(name, DATE), content[name], zipfile.ZIP_DEFLATED)


def _kept(out: Path, names: frozenset[str]) -> dict[str, bytes]:
    """Those files of a zip that have these names. Raises UserError where they cannot be read."""
    found: dict[str, bytes] = {}
    name = ""
    try:
        with zipfile.ZipFile(out) as old:
            for name in sorted(names & set(old.namelist())):
                found[name] = old.read(name)
    # What Python raises at one that is torn, encrypted, or packed in a way that it does not know.
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        what = f", and its {name} cannot be read ({error})" if name else " and is no zip"
        raise UserError(f"{out} is there already{what}; choose another --out") from error
    return found


class Said(NamedTuple):
    """What a person says of a statement: its label, and the ids of the evidence that shows it."""

    label: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Correctable:
    """Where in a record what people correct stands.

    statements and evidence: the texts of a record that are judged, and those that each of them is held against;
    said: the label of each statement in an answer;
    around: what else of a record is judged with them, such as the paragraph that they stand in;
    bare: a record without its labels; labelled: the same with what people say of its statements by their number, from
    0, in the place of its own labels; statements that neither has a label for are left out. Raises ValueError where the
    record does not take it;
    nameable: the ids of evidence that may be named, in the record's order; most: how many at most; 0: none are.
    """

    statements: Callable[[Any], Sequence[str]]
    evidence: Callable[[Any], Sequence[str]]
    said: Callable[[Any], Sequence[str]]
    bare: Callable[[Any], Any]
    labelled: Callable[[Any, Mapping[int, Said]], Any]
    around: Callable[[Any], str] = lambda record: ""
    nameable: Callable[[Any], Sequence[str]] = lambda record: ()
    most: int = 0

    def digests(self, record: Any) -> list[str]:
        """For each statement one of its words and of its evidence: another where either changes, and the same where
        something else in the record does."""
        evidence = digest_texts(self.evidence(record))  # once, however many statements a record has
        return [digest_texts([statement, evidence]) for statement in self.statements(record)]

    def content(self, record: Any) -> str:
        """A digest of all that is judged, and of all that it is held against."""
        return digest_texts([*self.statements(record), "", *self.evidence(record), "", self.around(record)])


RecordT = TypeVar("RecordT", bound=Record, default=Any)
GoldT = TypeVar("GoldT", default=Any)
AnswerT = TypeVar("AnswerT", default=Any)
Answer = Any  # whatever a task's `answer` gives: where the task is not known, neither is this


class Sources(NamedTuple):
    """What a draft must be faithful to, as files: evidence that a paragraph reports on, or a cited paper."""

    evidence: Sequence[Path] = ()
    paper: Path | None = None


class Searched(NamedTuple):
    """What is looked for in what: a claim, the paragraphs of a paper by their ids, the ids of the gold ones, and the
    gold questions about the claim, where a task has such."""

    claim: str
    paragraphs: Mapping[str, str]
    gold: Sequence[str]
    questions: Sequence[str] = ()


@dataclass(frozen=True)
class Task(Generic[RecordT, GoldT, AnswerT]):
    """What one task consists of.

    record and prediction: a line of its inputs, and of its predictions; judge: the class of its programs, which has
    their options;
    parts: what its score is made of, name -> how a person reads it ("pem" -> "paragraph exact match");
    score: gold and answers (None: a record that failed) -> how the corpus did;
    answer: what a program's prediction says, in the form that `score` and `line` take;
    problem: what the evaluator would refuse in an answer to a record, or None; fallback: the commonest answer, for
    whoever asks to have a failed record filled in; feedback: what is wrong with an answer, for an optimizer that
    reflects; exhibits: the pieces of evidence of a record, as a person is shown them beside an answer;
    shares: what a record must not have in common with another across a split, "kind:value" each (see
    `aisr.programs.shared_evidence`); text: its claim, and rests_on: the texts that it is judged by, of both of which
    near-duplicates are found; stratum: what splits keep in proportion, a word a record;
    submission: what writes the file that its server takes; judgements: where its answers are labels;
    sentences: how many a record has, where splits may be resampled by that; draft: a text of one's own as a record;
    searched: what is looked for in which paragraphs, where evidence is retrieved; beside: what a submission says of a
    record beside its answer; converter: what makes records of the organisers' own files, where these have another form,
    a module with its arguments and `{file}` for their claims; floor: what would be answered to an example without any
    LM, for a score that should never be read without that; correctable: where people can correct its verdicts.
    """

    name: str
    record: type[RecordT]
    prediction: type[Prediction]
    judge: type[Judge]
    parts: Mapping[str, str]
    score: Callable[[Sequence[GoldT], Sequence[AnswerT | None]], Scores]
    answer: Callable[[dspy.Prediction], AnswerT]
    line: Callable[[AnswerT], dict[str, Any]]
    problem: Callable[[RecordT, AnswerT], str | None]
    feedback: Callable[[GoldT, AnswerT], str]
    fallback: Callable[[RecordT], AnswerT]
    exhibits: Callable[[RecordT, dspy.Example, AnswerT | None], list[Exhibit]]
    shares: Callable[[RecordT], set[str]]
    text: Callable[[RecordT], str]
    stratum: Callable[[GoldT], str]
    submission: Submission
    judgements: Judgements | None = None
    sentences: Callable[[RecordT], int] | None = None
    rests_on: Callable[[RecordT], Sequence[str]] = lambda record: ()
    draft: Callable[[str, Sources], RecordT] | None = None
    searched: Callable[[RecordT], Searched] | None = None
    beside: Callable[[RecordT], dict[str, Any]] = lambda record: {}
    converter: str = ""
    floor: Callable[[dspy.Example], AnswerT] | None = None
    correctable: Correctable | None = None

    @property
    def labelled(self) -> Judgements:
        """The labels of a task that has some. Raises UserError for one that has none."""
        if self.judgements is None:
            raise UserError(f"{self.name} has no labels, which this needs")
        return self.judgements

    @property
    def names_evidence(self) -> bool:
        """Whether an answer names evidence that goes with its label."""
        return self.judgements is not None and self.judgements.evidence_right is not None

    def kinds(self, gold: GoldT) -> str:
        """What demos and subsets of dev are balanced by: the labels of a record, or its stratum."""
        return self.judgements.kinds(gold) if self.judgements else self.stratum(gold)

    def build(self, options: Mapping[str, Any]) -> Judge:
        """The uncompiled program. Raises UserError for an option that it does not have, or that cannot be."""
        try:
            return self.judge(**options)
        except UserError as error:
            raise UserError(f"{self.name}: {error}") from error
