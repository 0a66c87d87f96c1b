"""AVeriTeC's records: a claim, what is known of it, and the pages that it is checked against, in passages.

Format: the public files of the data set (Schlichtkrull et al. 2023), and those of the FEVER workshop's shared task of
2024 for predictions.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from aisr.base.errors import UserError
from aisr.base.jsonl import explain, valid_texts
from aisr.metrics.averitec import ClaimGold, FactCheck, Pair, Question, Verdict, of_questions
from aisr.programs.records import Prediction, Record, Text
from aisr.programs.retrieval import RANK_CONSTANT, Matcher, bm25, indexed, order
from aisr.programs.text import sentences, words


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


# --- Passages

WORDS = 80  # of a passage, at most: about as long as a good answer that quotes it


class Passage(NamedTuple):
    """A piece of a page."""

    url: str
    text: str


Passages = Mapping[str, Passage]  # by their ids


def pieces(text: str) -> list[str]:
    """Return a text in pieces of whole sentences, `WORDS` words at most; a longer sentence is cut."""
    parts: list[str] = []
    current: list[str] = []
    for sentence in sentences(text):
        split = words(sentence)
        for begin in range(0, len(split), WORDS):
            more = split[begin : begin + WORDS]
            if current and len(current) + len(more) > WORDS:
                parts.append(" ".join(current))
                current = []
            current += more
    return [*parts, " ".join(current)] if current else parts


def passages_of(documents: Iterable[Document]) -> dict[str, Passage]:
    """Return the passages of documents, in their order: `D3.2` is the second of the third document. A passage that is
    there already, word for word, is left out."""
    passages: dict[str, Passage] = {}
    seen: set[str] = set()
    for number, document in enumerate(documents, start=1):
        for part, text in enumerate(pieces(document.text), start=1):
            if text not in seen:
                seen.add(text)
                passages[f"D{number}.{part}"] = Passage(document.url, text)
    return passages


def best_passages(passages: Passages, queries: Sequence[str], count: int, match: Matcher) -> dict[str, Passage]:
    """Return up to `count` passages, best first: rankings by each of the queries, joined by reciprocal rank fusion
    (Cormack et al. 2009)."""
    keys = list(passages)
    texts = [passage.text for passage in passages.values()]
    total = np.zeros(len(texts))
    for query in queries if texts else ():
        places = np.empty(len(texts))
        places[order(match(query, texts))] = np.arange(len(texts))
        total += 1 / (RANK_CONSTANT + 1 + places)
    return {keys[place]: passages[keys[place]] for place in order(total)[:count]}


# --- The organisers' pages


def _joined(value: object) -> object:
    """The organisers have the text of a page as a list of lines."""
    return " ".join(value) if isinstance(value, list) and all(isinstance(line, str) for line in value) else value


class _Page(BaseModel):
    """A line of their files. Its `type`, which says of some pages that they are gold, is not read."""

    model_config = ConfigDict(extra="ignore")

    url: str = ""
    url2text: Annotated[str, BeforeValidator(_joined)]


def pages(file: Path) -> Iterator[Document]:
    """Yield the pages of a claim's file. Raises UserError, naming the line, for one that is no page."""
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _page(line, f"{file}:{number}")
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; expected the pages of a claim, a JSON object a line") from error


def _page(line: bytes, where: str) -> Document:
    try:
        page = _Page.model_validate(valid_texts(json.loads(line)))
    except ValidationError as error:
        raise UserError(f"{where}: {explain(error)}; expected a page with url and url2text") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: not JSON ({error}); expected a page with url and url2text") from error
    return Document(url=page.url, text=page.url2text)


def excerpts(claim: str, documents: Iterable[Document], count: int) -> list[Document]:
    """Return excerpts of pages, in their order: the `count` passages that match a claim best by BM25, each with the
    one before it and the one after it on its page. Those that touch are one excerpt."""
    urls: list[str] = []
    texts: list[str] = []
    seen: set[str] = set()
    for page in documents:
        new = [text for text in pieces(page.text) if text not in seen]
        seen.update(new)
        texts += new
        urls += [page.url] * len(new)
    best = [int(place) for place in order(bm25(claim, texts))[:count]] if texts else []
    indexed.cache_clear()  # of the next claim there are as many pages again
    kept = sorted(
        {
            near
            for place in best
            for near in (place - 1, place, place + 1)
            if 0 <= near < len(texts) and urls[near] == urls[place]
        }
    )
    parts: list[tuple[str, list[str]]] = []
    for before, place in zip([-2, *kept], kept, strict=False):
        if place == before + 1 and urls[place] == urls[before]:
            parts[-1][1].append(texts[place])
        else:
            parts.append((urls[place], [texts[place]]))
    return [Document(url=url, text=" ".join(part)) for url, part in parts]
