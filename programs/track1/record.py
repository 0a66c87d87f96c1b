"""Track 1's records: a claim paragraph, split into sentences, and its evidence bundle.

Format: guidelines, section 1 ("Train-Dev Data Format") and the remarks on what is withheld at test time.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from aisr.base.errors import UserError
from aisr.programs.records import Prediction, SentenceRecord, Text


class ClaimLabel(StrEnum):
    """Track 1: one label a sentence."""

    SUPPORTED = "Supported"
    CAUSAL = "Unsupported Causal Mechanistic"
    ENTITY = "Unsupported Entity"
    SCOPE = "Scope Overgeneralization"
    CONTRADICTION = "Contradiction"


CLAIM_LABELS = tuple(str(label) for label in ClaimLabel)
# One line a label, in our words. They stand in the output field's description, where no optimizer rewrites them.
CLAIM_DEFINITIONS: dict[str, str] = {
    ClaimLabel.SUPPORTED: "the evidence adequately supports the sentence",
    ClaimLabel.CAUSAL: "adds a cause or mechanism that the evidence does not show",
    ClaimLabel.ENTITY: "names a dataset, metric, model, baseline or similar that the evidence does not contain",
    ClaimLabel.SCOPE: "extends a finding beyond the scope that the evidence covers",
    ClaimLabel.CONTRADICTION: "directly conflicts with the evidence",
}


def _none_if_empty(value: Any) -> Any:
    """An empty list of types is a withheld one: a sentence always has at least one label (guidelines, section 1)."""
    return None if value == [] else value


class SentenceLabel(BaseModel):
    """One sentence of a paragraph and its gold labels (None where they are withheld)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    sentence: str
    types: Annotated[list[ClaimLabel] | None, BeforeValidator(_none_if_empty)] = None


class Track1Record(SentenceRecord):
    """Track 1: a claim paragraph, split into sentences, and its evidence bundle."""

    claim_text: Text
    sentence_label: Annotated[list[SentenceLabel], Field(min_length=1)]

    @model_validator(mode="after")
    def _all_or_none_labelled(self) -> Self:
        if len({sentence.types is None for sentence in self.sentence_label}) > 1:
            raise UserError("sentence_label: some sentences have types and some have none; label all or none")
        return self

    @property
    def statements(self) -> list[str]:
        """The sentences."""
        return [sentence.sentence for sentence in self.sentence_label]

    @property
    def context(self) -> str:
        """The paragraph."""
        return self.claim_text

    @property
    def gold(self) -> list[list[str]] | None:
        """The gold labels of each sentence, the primary one first; None where they are withheld."""
        types = [sentence.types for sentence in self.sentence_label]
        return None if types[0] is None else [[str(label) for label in labels or ()] for labels in types]


class Track1Prediction(Prediction):
    """A line of `track1_pred.jsonl`: one label a sentence."""

    labels: list[Annotated[ClaimLabel, Field(strict=False)]]

    @property
    def answer(self) -> list[str]:
        return [str(label) for label in self.labels]

    @staticmethod
    def line(answer: Sequence[str]) -> dict[str, Any]:
        return {"labels": list(answer)}
