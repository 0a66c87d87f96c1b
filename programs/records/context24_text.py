"""Context24's second task: a claim, the full text of its paper, and the passages that say how it was found out.

Format: one claim a line, with the paper's paragraphs beside it (the organisers keep the papers in a file of their own).
"""

from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from aisr.programs.records.base import Prediction, Record, Text


class Snippet(NamedTuple):
    """A text that grounds a claim. verbatim: it stands in the paper so, but for what parsing did to blanks, ligatures
    and hyphens."""

    text: str
    verbatim: bool = True


class Grounding(NamedTuple):
    """What a program finds for a claim, the most telling first."""

    snippets: tuple[Snippet, ...]

    @property
    def texts(self) -> list[str]:
        return [snippet.text for snippet in self.snippets]


class Context24TextRecord(Record):
    """A claim and its paper. citekey and dataset: what the organisers call the paper and the collection; context: the
    gold snippets, of which a claim may have none; None where they are withheld."""

    claim: Text
    paragraphs: Annotated[list[str], Field(min_length=1)]
    citekey: str = ""
    dataset: str = ""
    context: list[str] | None = None

    @property
    def gold(self) -> tuple[str, ...] | None:
        """The gold snippets; None where they are withheld."""
        return None if self.context is None else tuple(self.context)


class GivenSnippet(BaseModel):
    """A snippet as a line of predictions holds it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    text: Text
    verbatim: bool


class Context24TextPrediction(Prediction):
    """A line of predictions: the snippets, the most telling first."""

    context: Annotated[list[GivenSnippet], Field(min_length=1)]

    @property
    def answer(self) -> Any:
        return Grounding(tuple(Snippet(one.text, one.verbatim) for one in self.context))
