"""What one task consists of: commands, optimizers, reports and the MLflow registry work on a `Task` and know no task by
name.

`Task` has what every task says, and hooks with defaults. `LabelTask` is a task whose answers are labels: label weights,
confusion matrix and F1 by label rest on it, and a ranking or a text goes without.
`aisr.programs.sentence_tasks.SentenceTask` labels sentences that are judged by one evidence bundle.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple

import dspy
from pydantic import BaseModel, ConfigDict, ValidationError
from typing_extensions import TypeVar

from aisr.base.errors import UserError
from aisr.metrics.scores import Scores, Tally, tally_statements
from aisr.programs.program import Program
from aisr.programs.records import LabelPrediction, Prediction, Record, explain
from aisr.programs.shared_evidence import claim_key
from aisr.programs.submission import Submission

RecordT = TypeVar("RecordT", bound=Record, default=Any)
GoldT = TypeVar("GoldT", default=Any)
AnswerT = TypeVar("AnswerT", default=Any)
Answer = Any  # an answer of a task that is not known


class Exhibit(BaseModel):
    """One piece of evidence beside an answer: an item of a bundle, or a paragraph of a cited paper."""

    model_config = ConfigDict(extra="forbid")
    key: str  # "table 1" or "P12"
    text: str  # with the rows of a table on lines behind it, as `aisr.programs.text.ROW` begins them
    picture: str | None = None  # the path that the record gives, unchecked
    shown: bool = True  # whether the model could read it
    gold: bool = False  # whether it is gold evidence
    chosen: int = 0  # its place in the predicted evidence, from 1, or 0


class Query(NamedTuple):
    """What evidence is retrieved for, and where."""

    claim: str
    paragraphs: Mapping[str, str]  # the text of each paragraph by its id
    gold: Sequence[str]  # the ids of the gold paragraphs
    questions: Sequence[str] = ()  # gold questions about the claim


class Task(ABC, Generic[RecordT, GoldT, AnswerT]):
    """What one task consists of; `programs/registry.py` has an instance of each by its name."""

    name: str  # as `--task` takes it: lower-case letters, digits and dashes
    place: str = ""  # where a task of another package was imported from, `package.module:TASK`; `find_task` sets it
    record: type[RecordT]  # a line of its inputs; `gold` is the gold answer
    prediction: type[Prediction]  # a line of its predictions
    program: type[Program]  # the class of its programs, which has their options
    parts: ClassVar[Mapping[str, str]]  # of its score, as a person reads them: "pem" -> "paragraph exact match"
    submission: Submission[RecordT, AnswerT] = Submission("predictions.jsonl")  # the file that its server takes

    @abstractmethod
    def score(self, gold: Sequence[GoldT], answers: Sequence[AnswerT | None]) -> Scores:
        """The scores of a corpus; None for a record that failed."""

    @abstractmethod
    def answer(self, prediction: dspy.Prediction) -> AnswerT:
        """The answer of a program, in the form that `score` and `prediction.line` take."""

    @abstractmethod
    def text(self, record: RecordT) -> str:
        """The claim of a record, of which near-duplicates are found across splits."""

    def feedback(self, gold: GoldT, answer: AnswerT) -> str:
        """What is wrong with an answer, in a few sentences, for an optimizer that reflects."""
        return f"Said {answer}; right is {gold}."

    def shared_keys(self, record: RecordT) -> set[str]:
        """What a record must not have in common with another across a split, "kind:value" each (see
        `aisr.programs.shared_evidence`)."""
        return {claim_key(self.text(record))}

    def long_texts(self, record: RecordT) -> Sequence[str]:
        """The texts that a record is judged by, of which near-duplicates are found across splits."""
        return ()

    def stratum(self, gold: GoldT) -> str:
        """What splits keep in proportion, a word a record."""
        return ""

    def exhibits(self, record: RecordT, example: dspy.Example, answer: AnswerT | None) -> list[Exhibit]:
        """The pieces of evidence of a record, as a person reads them beside an answer."""
        return []

    def query(self, record: RecordT) -> Query | None:
        """What evidence is retrieved for; None for a task that retrieves no paragraphs."""
        return None

    def balance_key(self, gold: GoldT) -> str:
        """What demos and subsets of dev are balanced by, a word a record."""
        return self.stratum(gold)

    @property
    def labelled(self) -> "LabelTask[RecordT, GoldT, AnswerT]":
        """The task as one with labels. Raises UserError for one without."""
        raise UserError(f"{self.name} has no labels, which this needs")

    def build(self, options: Mapping[str, Any]) -> Program:
        """The uncompiled program. Raises UserError for an option that it does not have, or that cannot be."""
        known = self.program.Options.model_fields
        for name in options:
            if name not in known:
                raise UserError(f"{self.name}: no option {name[:80]!r}; options: {', '.join(known)}")
        try:
            return self.program(**options)
        except ValidationError as error:
            raise UserError(f"{self.name}: {explain(error)}") from error


class LabelTask(Task[RecordT, GoldT, AnswerT]):
    """A task whose answers are labels. The defaults are those of one label a record, its gold and its answer alike."""

    prediction: type[Prediction] = LabelPrediction
    definitions: Mapping[str, str]  # a line a label
    parts: ClassVar[Mapping[str, str]] = {"macro_f1": "macro-F1", "exact": "accuracy"}
    names_evidence: bool = False  # whether an answer names evidence that goes with its label; one statement a record
    f1_share: float = 0.5  # of macro-F1 in the ranking score beside exact match, in 0-1

    @property
    def labels(self) -> tuple[str, ...]:
        """Those of its programs, the neutral one first."""
        return self.program.labels

    @property
    def neutral(self) -> str:
        """The label of a statement that nothing is wrong with."""
        return self.labels[0]

    @property
    def labelled(self) -> "LabelTask[RecordT, GoldT, AnswerT]":
        """The task itself."""
        return self

    def text(self, record: RecordT) -> str:
        """The field of a record that its programs are asked about."""
        return str(getattr(record, self.program.statement))

    def gold_labels(self, gold: GoldT) -> Sequence[Sequence[str]]:
        """The gold labels of each statement of a record, the primary one first."""
        return [[str(gold)]]

    def statements(self, example: dspy.Example) -> list[str]:
        """The text of each statement of an example."""
        content = example[self.program.statement]
        return list(content) if isinstance(content, list) else [str(content)]

    def evidence(self, example: dspy.Example) -> str:
        """The evidence that all statements of an example are judged by."""
        return str(example.get("evidence", ""))

    def evidence_right(self, gold: GoldT, ids: Sequence[str]) -> bool:
        """Whether evidence ids are right, where the label is, in a task that names evidence."""
        return True

    def answer_right(self, gold: GoldT, answer: AnswerT | None) -> bool | None:
        """Whether an answer would count if its label were right; None where all would."""
        return None

    def score(self, gold: Sequence[GoldT], answers: Sequence[AnswerT | None]) -> Scores:
        """The mean of macro-F1 and accuracy."""
        predicted = [None if answer is None else [str(answer)] for answer in answers]
        tally: Tally = tally_statements([self.gold_labels(one) for one in gold], predicted, self.labels)
        return tally

    def answer(self, prediction: dspy.Prediction) -> AnswerT:
        """The label."""
        label: AnswerT = prediction.label
        return label

    def label_answer(self, labels: Sequence[str], evidence_ids: Sequence[str]) -> AnswerT:
        """The answer of labels, one a statement, and of evidence ids in a task that names some."""
        label: Any = labels[0]
        return label  # type: ignore[no-any-return]

    def feedback(self, gold: GoldT, answer: AnswerT) -> str:
        """The right label with its definition."""
        if answer == gold:
            return "The label is right."
        return f"Said {answer}; right is {gold} ({self.definitions[str(gold)]})."

    def first_labels(self, gold: GoldT) -> list[str]:
        """The primary gold label of each statement of a record."""
        return [labels[0] for labels in self.gold_labels(gold)]

    def balance_key(self, gold: GoldT) -> str:
        """The labels of a record."""
        return " ".join(sorted(set(self.first_labels(gold))))

    def stratum(self, gold: GoldT) -> str:
        """The rarest label of a record: its first other than the neutral one, or that."""
        return next((label for label in self.first_labels(gold) if label != self.neutral), self.neutral)
