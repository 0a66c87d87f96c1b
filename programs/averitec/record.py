"""AVeriTeC's records: a claim and what is known of it, gold questions with their answers, and the label.

Format: the public files of the data set (Schlichtkrull et al. 2023), and those of the FEVER workshop's shared task of
2024 for predictions.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Any, ClassVar, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from aisr.base.errors import UserError
from aisr.programs.records import Prediction, Record, Text


class Verdict(StrEnum):
    """AVeriTeC: one label a claim, spelt as its files spell them."""

    SUPPORTED = "Supported"
    REFUTED = "Refuted"
    NOT_ENOUGH = "Not Enough Evidence"
    CONFLICTING = "Conflicting Evidence/Cherrypicking"


VERDICTS = tuple(str(label) for label in Verdict)
# One line a label, in our words. They stand in the output field's description, where no optimizer rewrites them.
VERDICT_DEFINITIONS: dict[str, str] = {
    Verdict.SUPPORTED: "the evidence shows that the claim is true",
    Verdict.REFUTED: "the evidence shows that the claim is false",
    Verdict.NOT_ENOUGH: "the evidence neither supports nor refutes the claim",
    Verdict.CONFLICTING: "some evidence supports and some refutes it, or it is true but leaves out what matters",
}

STORE = r"^(?:[\w-][\w.-]*/)*[0-9a-f]{16}\.db$"
MOST_PAIRS = 10  # question-answer pairs that the scorer looks at
NO_ANSWER = "No answer could be found."


def _as_list(value: Any) -> Any:
    """The official scorer takes an answer that stands alone."""
    return value if isinstance(value, list) or value is None else [value]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Answer(_Part):
    """An answer to a question. A Boolean one ("Yes", "No") has its explanation beside it."""

    answer: str
    answer_type: str = "Extractive"
    boolean_explanation: str | None = None
    source_url: str | None = None

    @model_validator(mode="after")
    def _explained(self) -> Self:
        if self.answer_type == "Boolean" and self.boolean_explanation is None:
            raise UserError('boolean_explanation: missing beside a Boolean answer; expected a text, or "" for none')
        return self


class Question(_Part):
    """A question and its answers; none where there is none."""

    question: str
    answers: Annotated[list[Answer], BeforeValidator(_as_list)] = []


class Document(_Part):
    """A page of the collection that a claim is checked against."""

    url: str
    text: str


class Checked(NamedTuple):
    """The gold of a claim."""

    label: str
    questions: tuple[Question, ...]
    claim_types: Sequence[str] = ()
    justification: str = ""


class Pair(NamedTuple):
    """A question, its answer, and the page that the answer rests on. filled: nobody asked it or answered it, the
    passage was put there to fill the list up."""

    question: str
    answer: str
    url: str = ""
    filled: bool = False


class FactCheck(NamedTuple):
    """What a program makes of a claim: the label, and the evidence for it, at most `MOST_PAIRS` pairs."""

    label: str
    evidence: tuple[Pair, ...]


class Evidence(NamedTuple):
    """Evidence as the scorer compares it."""

    strings: tuple[str, ...]  # a question with one of its answers each, in order
    questions: tuple[str, ...]  # alone, in order


def of_questions(questions: Sequence[Question] | None, alone: Iterable[str] = ()) -> Evidence:
    """Gold evidence, and predictions in the paper's format. alone: strings without a question, which come behind; where
    there are no questions (None), they stand in for them."""
    strings = []
    for each in questions or ():
        if not each.answers:
            strings.append(f"{each.question} {NO_ANSWER}")
        for answer in each.answers:
            more = f". {answer.boolean_explanation}" if answer.answer_type == "Boolean" else ""
            strings.append(f"{each.question} {answer.answer}{more}")
    strings += alone
    return Evidence(tuple(strings), tuple(strings if questions is None else (each.question for each in questions)))


def of_pairs(pairs: Sequence[Pair]) -> Evidence:
    """Predictions in the format of 2024."""
    strings = (f"{pair.question} {pair.answer}" for pair in pairs)
    return Evidence(tuple(strings), tuple(pair.question for pair in pairs))


class AveritecRecord(Record):
    """A claim to check. claim_id: its place in the organisers' file, from 0, which names its document collection;
    documents: the collection itself, or the best excerpts of it; store: the file with all of it, which is called by its
    digest, as a path below the folder that pictures would be in (see `aisr.programs.averitec.documents`)."""

    converter: ClassVar[str] = "aisr.programs.averitec.convert {file} --documents knowledge_store --out records.jsonl"
    claim_id: int | None = Field(default=None, ge=0)
    claim: Text
    speaker: str | None = None
    claim_date: str | None = None
    location_ISO_code: str | None = None  # noqa: N815  # the files call it so
    reporting_source: str | None = None
    original_claim_url: str | None = None
    documents: list[Document] | None = None
    store: Annotated[str | None, Field(pattern=STORE)] = None
    label: Verdict | None = None
    questions: list[Question] | None = None
    claim_types: Sequence[str] = ()
    justification: str = ""

    @model_validator(mode="after")
    def _evidence_beside_a_label(self) -> Self:
        if self.label is not None and not self.questions:
            raise UserError("questions: none beside a label; expected the gold questions with their answers")
        return self

    @property
    def gold(self) -> Checked | None:
        """The gold label and evidence; None where they are withheld."""
        if self.label is None:
            return None
        return Checked(str(self.label), tuple(self.questions or ()), self.claim_types, self.justification)


class GivenPair(_Part):
    """A pair as a file of predictions holds it."""

    question: str
    answer: str
    url: str = ""
    filled: bool = False


class AveritecPrediction(Prediction):
    """A line of predictions: the label and the evidence."""

    label: Annotated[Verdict, Field(strict=False)]
    evidence: list[GivenPair]

    @property
    def answer(self) -> FactCheck:
        pairs = tuple(Pair(**pair.model_dump()) for pair in self.evidence)
        return FactCheck(str(self.label), pairs)

    @staticmethod
    def line(answer: FactCheck | Checked) -> dict[str, Any]:
        """Gold has the strings that the scorer compares; a pair says whether it is filled in where it is."""
        if isinstance(answer, Checked):
            return {"label": answer.label, "evidence": list(of_questions(answer.questions).strings)}
        pairs = [pair._asdict() for pair in answer.evidence]
        return {
            "label": answer.label,
            "evidence": [{key: value for key, value in pair.items() if key != "filled" or value} for pair in pairs],
        }
