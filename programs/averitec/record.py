"""AVeriTeC's records: a claim, what is known of it, and the pages that it is checked against, in passages.

Format: the public files of the data set (Schlichtkrull et al. 2023), and those of the FEVER workshop's shared task of
2024 for predictions.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from aisr.base.errors import UserError
from aisr.metrics.averitec import ClaimGold, FactCheck, Pair, Question, Verdict
from aisr.programs.records import Prediction, Record, Text
from aisr.programs.retrieval import RANK_CONSTANT, Matcher, order, places
from aisr.programs.text import pieces


def _joined(text: object) -> object:
    """The organisers have the text of a page as a list of lines."""
    return " ".join(text) if isinstance(text, list) and all(isinstance(line, str) for line in text) else text


class Document(BaseModel):
    """A page that a claim is checked against, or an excerpt of one; `url2text` is what the organisers call its text."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    url: str
    text: Annotated[str, BeforeValidator(_joined)] = Field(validation_alias=AliasChoices("text", "url2text"))


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
        return ClaimGold(
            label=self.label,
            questions=self.questions or [],
            claim_types=self.claim_types,
            justification=self.justification,
        )


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
            return {"label": answer.label, "evidence": list(answer.compared.strings)}
        evidence = [pair.model_dump(exclude=None if pair.filled else {"filled"}) for pair in answer.evidence]
        return {"label": answer.label, "evidence": evidence}


# --- Passages

WORDS = 80  # of a passage, at most: about as long as a good answer that quotes it


class Passage(NamedTuple):
    """A piece of a page."""

    url: str
    text: str


Passages = Mapping[str, Passage]  # by their ids


def passages_of(documents: Iterable[Document]) -> dict[str, Passage]:
    """Return the passages of documents, in their order: `D3.2` is the second of the third document. A passage that is
    there already, word for word, is left out."""
    passages: dict[str, Passage] = {}
    seen: set[str] = set()
    for number, document in enumerate(documents, start=1):
        for part, text in enumerate(pieces(document.text, WORDS), start=1):
            if text not in seen:
                seen.add(text)
                passages[f"D{number}.{part}"] = Passage(document.url, text)
    return passages


def best_passages(passages: Passages, queries: Sequence[str], count: int, match: Matcher) -> dict[str, Passage]:
    """Return up to `count` passages, best first: rankings by each of the queries, joined by reciprocal rank fusion
    (Cormack et al. 2009)."""
    if not passages:
        return {}
    keys = list(passages)
    texts = [passage.text for passage in passages.values()]
    total = np.sum([1 / (RANK_CONSTANT + 1 + places(match(query, texts))) for query in queries], axis=0)
    return {keys[place]: passages[keys[place]] for place in order(total)[:count]}
