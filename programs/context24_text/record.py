"""Context24's second task: a claim, the full text of its paper, and the passages on the method behind it.

Format: one claim a line, with the paper's paragraphs beside it (the organisers keep the papers in a file of their own).
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from aisr.programs.records import Prediction, Record, Text


class Context24TextRecord(Record):
    """A claim and its paper. citekey and dataset: what the organisers call the paper and the collection; context: the
    gold snippets, of which a claim may have none; None where they are withheld."""

    converter: ClassVar[str] = "aisr.programs.context24_text.convert {file} --papers fulltexts.json --out records.jsonl"
    claim: Text
    paragraphs: Annotated[list[str], Field(min_length=1)]
    citekey: str = ""
    dataset: str = ""
    context: list[str] | None = None

    @property
    def gold(self) -> tuple[str, ...] | None:
        """The gold snippets; None where they are withheld."""
        return None if self.context is None else tuple(self.context)


class Context24TextPrediction(Prediction):
    """A line of predictions: the snippets, the most telling first."""

    context: Annotated[list[Text], Field(min_length=1)]

    @property
    def answer(self) -> tuple[str, ...]:
        return tuple(self.context)

    @staticmethod
    def line(answer: Sequence[str]) -> dict[str, Any]:
        return {"context": list(answer)}
