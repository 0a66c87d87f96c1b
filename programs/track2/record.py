"""Track 2's records: an atomic claim and the full text of the cited paper, paragraph by paragraph.

Format: guidelines, section 1 ("Train-Dev Data Format") and the remarks on what is withheld at test time.
"""

from collections import Counter
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, model_validator

from aisr.base.errors import UserError
from aisr.programs.records import Prediction, Record, Text


class CitationLabel(StrEnum):
    """Track 2: one label a claim."""

    SUPPORTED = "Supported"
    OVERSTATE = "Overstate"
    TOPICAL = "Topical Match"
    IRRELEVANT = "Irrelevant"


CITATION_LABELS = tuple(str(label) for label in CitationLabel)
EVIDENCE_K = 3  # "a ranked list of up to k = 3 evidence paragraph IDs" (guidelines, section 1)
# One line a label, in our words. They stand in the output field's description, where no optimizer rewrites them.
CITATION_DEFINITIONS: dict[str, str] = {
    CitationLabel.SUPPORTED: "the paper gives evidence that directly supports the claim",
    CitationLabel.OVERSTATE: "the claim says more, or more strongly, than the paper supports",
    CitationLabel.TOPICAL: "same topic, but the paper lacks the evidence that the claim needs",
    CitationLabel.IRRELEVANT: "the paper has no meaningful support relation to the claim",
}

LONGEST_ID = 1000  # characters of a paragraph's id, which stands in the prompt


class Citation(NamedTuple):
    """A Track 2 judgement, gold or predicted: the label and the evidence paragraph ids, best first."""

    label: str
    evidence_para_ids: list[str]


class Track2Record(Record):
    """Track 2: an atomic claim and the full text of the cited paper, paragraph by paragraph."""

    claim_text: Text
    cited_paper_full_text: Annotated[list[dict[str, str]], Field(min_length=1)]
    evidence_para_ids: list[str] | None = None
    evidence_texts: dict[str, str] | None = None
    label: CitationLabel | None = None

    @model_validator(mode="after")
    def _ids_are_unique_and_known(self) -> Self:
        ids = [key for paragraph in self.cited_paper_full_text for key in paragraph]
        if not ids:
            raise UserError("cited_paper_full_text: no paragraph in there; expected at least one, as {id: text}")
        odd = next((key for key in ids if not key.isprintable() or not 1 <= len(key) <= LONGEST_ID), None)
        if odd is not None:
            raise UserError(
                f"cited_paper_full_text: paragraph id {odd[:80]!r}; expected one line of 1 to {LONGEST_ID} printable "
                "characters"
            )
        known = Counter(ids)
        if len(ids) != len(known):
            twice = min(key for key, count in known.items() if count > 1)
            raise UserError(f"cited_paper_full_text: paragraph id {twice!r} stands there more than once")
        if self.label is not None and self.evidence_para_ids is None:
            raise UserError(
                "evidence_para_ids: missing beside a label; expected a list, empty where nothing is evidence"
            )
        unknown = next((key for key in self.evidence_para_ids or () if key not in known), None)
        if unknown is not None:
            raise UserError(f"evidence_para_ids: {unknown[:80]!r} is no paragraph of cited_paper_full_text")
        return self

    @property
    def paragraphs(self) -> dict[str, str]:
        """Paragraph id -> text, in document order."""
        return {key: text for paragraph in self.cited_paper_full_text for key, text in paragraph.items()}

    @property
    def gold(self) -> Citation | None:
        """The gold judgement; None where it is withheld."""
        return None if self.label is None else Citation(str(self.label), list(self.evidence_para_ids or []))


class Track2Prediction(Prediction):
    """A line of `track2_pred.jsonl`: the label and up to three evidence paragraphs, best first."""

    label: Annotated[CitationLabel, Field(strict=False)]
    evidence_para_ids: list[str]

    @property
    def answer(self) -> Citation:
        return Citation(str(self.label), self.evidence_para_ids)

    @staticmethod
    def line(answer: Citation) -> dict[str, Any]:
        return {"label": answer.label, "evidence_para_ids": list(answer.evidence_para_ids)}
