"""A task is one value: everything above this room is written against `Task` and knows no task by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple

import dspy
from typing_extensions import TypeVar

from aisr.metrics.scores import Scores
from aisr.programs.errors import UserError
from aisr.programs.judges.contract import Program
from aisr.programs.records.base import Prediction, Record
from aisr.tasks.correctable import Correctable
from aisr.tasks.exhibit import Exhibit
from aisr.tasks.judgements import Judgements
from aisr.tasks.submission import Submission

RecordT = TypeVar("RecordT", bound=Record, default=Any)
GoldT = TypeVar("GoldT", default=Any)
AnswerT = TypeVar("AnswerT", default=Any)
Answer = Any  # whatever a task's `answer` gives: where the task is not known, neither is this
Options = Mapping[str, Any]


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

    record and prediction: a line of its inputs, and of its predictions; program: what builds its uncompiled program,
    option_types: the options of that and their types;
    parts: what its score is made of, name -> how a person reads it ("pem" -> "paragraph exact match");
    score: gold and answers (None: a record that failed) -> how the corpus did;
    answer: what a program's prediction says, in the form that `score` and `line` take;
    problem: what the evaluator would refuse in an answer to a record, or None; fallback: the commonest answer, for
    whoever asks to have a failed record filled in; feedback: what is wrong with an answer, for an optimizer that
    reflects; exhibits: the pieces of evidence of a record, as a person is shown them beside an answer;
    shares: what a record must not have in common with another across a split, "kind:value" each (see
    `aisr.tasks.shared_evidence`); text: its claim, and rests_on: the texts that it is judged by, of both of which
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
    program: Callable[..., Program]
    option_types: Mapping[str, type]
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

    def build(self, options: Options) -> Program:
        """The uncompiled program. Raises UserError for an option that it does not have."""
        unknown = set(options) - set(self.option_types)
        if unknown:
            raise UserError(f"{self.name} has no option {sorted(unknown)[0]!r}; it has {', '.join(self.option_types)}")
        for name, value in options.items():
            wanted = self.option_types[name]
            if not isinstance(value, wanted):
                raise UserError(f"option {name} is {value!r}; expected {wanted.__name__}")
        return self.program(**options)
