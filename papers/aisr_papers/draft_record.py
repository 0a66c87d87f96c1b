"""The records of the task `draft`: sentences of a paper, and what the rest of the paper says of them.

Importing this loads no DSPy, which a check without a language model does not need."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from aisr import UserError
from aisr.task import Prediction, SentenceRecord, Text


class DraftLabel(StrEnum):
    """A draft held against itself: one label a sentence."""

    SUPPORTED = "Supported"
    CONTRADICTED = "Contradicted"
    BEYOND = "Beyond the evidence"
    NOT_FOUND = "Not found"


DRAFT_LABELS = tuple(str(label) for label in DraftLabel)
# One line a label, in our words. They stand in the output field's description, where no optimizer rewrites them.
DRAFT_DEFINITIONS: dict[str, str] = {
    DraftLabel.SUPPORTED: "what is shown of the paper bears it out, or it states no finding",
    DraftLabel.CONTRADICTED: "a table, figure or passage that is shown states another value, direction or rank for the "
    "same thing",
    DraftLabel.BEYOND: "adds a cause, or states a finding for more than was tested",
    DraftLabel.NOT_FOUND: "nothing that is shown states or denies any part of it",
}


class JudgedSentence(BaseModel):
    """A sentence to judge, and its gold label (None where it is withheld)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    sentence: Text
    label: DraftLabel | None = None


class DraftRecord(SentenceRecord):
    """Sentences of a paper, where they stand, and what they are held against."""

    title: str = ""  # of the paper
    headings: tuple[str, ...] = ()  # above the first paragraph, the outermost first, if all are of one section
    before: str = ""  # the paragraph before theirs, or its end
    paragraph: Text  # their paragraphs
    after: str = ""  # the paragraph after theirs, or its beginning
    own_results: bool = False  # whether they may report findings that stand nowhere else
    # `evidence_bundle`: tables with caption and cells, captions and pictures of figures, passages of other sections,
    # each led by what the paper calls it.
    sentences: Annotated[list[JudgedSentence], Field(min_length=1)]  # those to judge

    @model_validator(mode="after")
    def _all_or_none_labelled(self) -> Self:
        if len({one.label is None for one in self.sentences}) > 1:
            raise UserError("sentences: some have a label and some have none; label all or none")
        return self

    @property
    def statements(self) -> list[str]:
        """The sentences."""
        return [one.sentence for one in self.sentences]

    @property
    def context(self) -> str:
        """The paragraph."""
        return self.paragraph

    @property
    def gold(self) -> list[list[str]] | None:
        """The gold label of each sentence, as a list of one; None where they are withheld."""
        labels = [one.label for one in self.sentences]
        return None if labels[0] is None else [[str(label)] for label in labels]


class DraftPrediction(Prediction):
    """A line of predictions: one label a sentence."""

    labels: list[Annotated[DraftLabel, Field(strict=False)]]

    @property
    def answer(self) -> list[str]:
        """The labels."""
        return [str(label) for label in self.labels]
