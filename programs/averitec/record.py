"""AVeriTeC's records: a claim and what is known of it, gold questions with their answers, and the label.

Format: the public files of the data set (Schlichtkrull et al. 2023), and those of the FEVER workshop's shared task of
2024 for predictions.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from aisr.base.errors import UserError
from aisr.metrics.averitec import ClaimGold, FactCheck, Pair, Question, Verdict, of_questions
from aisr.programs.records import Prediction, Record, Text


class Document(BaseModel):
    """A page that a claim is checked against, or an excerpt of one."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    url: str
    text: str


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
