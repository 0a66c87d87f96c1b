"""AVeriTeC's records: a claim and what is known of it, gold questions with their answers, and the label.

Format: the public files of the data set (Schlichtkrull et al. 2023), and those of the FEVER workshop's shared task of
2024 for predictions.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from aisr.base.errors import UserError
from aisr.programs.records import Prediction, Record, Text

Verdict = Literal["Supported", "Refuted", "Not Enough Evidence", "Conflicting Evidence/Cherrypicking"]
VERDICTS: tuple[str, ...] = get_args(Verdict)
COMMONEST = "Refuted"  # of the labels of the public data
MOST_PAIRS = 10  # question-answer pairs that the scorer looks at
NO_ANSWER = "No answer could be found."
UNANSWERABLE = "Unanswerable"  # the type of an answer whose text is the same for many questions


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

    @property
    def text(self) -> str:
        """The answer as the scorer compares it: a Boolean one with its explanation."""
        return f"{self.answer}. {self.boolean_explanation}" if self.answer_type == "Boolean" else self.answer


class Question(_Part):
    """A question and its answers, of which there may be none. The official scorer takes an answer that stands alone."""

    question: str
    answers: Annotated[
        list[Answer], BeforeValidator(lambda value: value if isinstance(value, list) or value is None else [value])
    ] = []


class Document(_Part):
    """A page that a claim is checked against, or an excerpt of one."""

    url: str
    text: str


class Pair(_Part):
    """A question, its answer, and the page that the answer rests on. filled: nobody asked it or answered it, the
    passage was put there to fill the list up."""

    question: str
    answer: str
    url: str = ""
    filled: bool = False


class ClaimGold(NamedTuple):
    """The gold of a claim."""

    label: str
    questions: tuple[Question, ...]
    claim_types: Sequence[str] = ()
    justification: str = ""


class FactCheck(NamedTuple):
    """The answer to a claim: the label, and the evidence for it, at most `MOST_PAIRS` pairs."""

    label: str
    evidence: tuple[Pair, ...]


class Evidence(NamedTuple):
    """Evidence as the scorer compares it."""

    strings: tuple[str, ...]  # a question with one of its answers each, in order
    questions: tuple[str, ...]  # alone, in order


def of_questions(questions: Sequence[Question] | None, alone: Iterable[str] = ()) -> Evidence:
    """Return the strings of gold evidence, and of predictions in the paper's format. alone: strings without a question,
    which come behind; where there are no questions (None), they stand in for them."""
    strings = []
    for each in questions or ():
        strings += [f"{each.question} {answer.text}" for answer in each.answers] or [f"{each.question} {NO_ANSWER}"]
    strings += alone
    return Evidence(tuple(strings), tuple(strings if questions is None else (each.question for each in questions)))


def of_pairs(pairs: Sequence[Pair]) -> Evidence:
    """Return the strings of predictions in the format of 2024."""
    strings = (f"{pair.question} {pair.answer}" for pair in pairs)
    return Evidence(tuple(strings), tuple(pair.question for pair in pairs))


class AveritecRecord(Record):
    """A claim to check. claim_id: its place in the organisers' file, from 0, which names its file of pages; documents:
    these pages, or the best excerpts of them."""

    converter: ClassVar[str] = "aisr.programs.averitec.convert {file} --documents knowledge_store --out records.jsonl"
    claim_id: int | None = Field(default=None, ge=0)
    claim: Text
    speaker: str | None = None
    claim_date: str | None = None
    location_ISO_code: str | None = None  # noqa: N815  # the files call it so
    reporting_source: str | None = None
    original_claim_url: str | None = None
    documents: list[Document] | None = None
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
    def gold(self) -> ClaimGold | None:
        """The gold label and evidence; None where they are withheld."""
        if self.label is None:
            return None
        return ClaimGold(self.label, tuple(self.questions or ()), self.claim_types, self.justification)


class AveritecPrediction(Prediction):
    """A line of predictions: the label and the evidence."""

    label: Verdict
    evidence: list[Pair]

    @property
    def answer(self) -> FactCheck:
        return FactCheck(self.label, tuple(self.evidence))

    @staticmethod
    def line(answer: FactCheck | ClaimGold) -> dict[str, Any]:
        """Gold has the strings that the scorer compares; a pair says whether it is filled in where it is."""
        if isinstance(answer, ClaimGold):
            return {"label": answer.label, "evidence": list(of_questions(answer.questions).strings)}
        pairs = [pair.model_dump() for pair in answer.evidence]
        return {
            "label": answer.label,
            "evidence": [{key: value for key, value in pair.items() if key != "filled" or value} for pair in pairs],
        }
