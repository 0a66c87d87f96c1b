"""The documents that a claim is checked against, cut into passages of which some are found by claim and questions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from aisr.programs.records.averitec import Document
from aisr.programs.retrieval.retrievers import RANK_CONSTANT, Matcher, order
from aisr.programs.text.sentences import sentences, words

WORDS = 80  # of a passage, at most: about as long as a good answer that quotes it


class Passage(NamedTuple):
    """A piece of a page."""

    url: str
    text: str


class Collection(Protocol):
    """The passages of a claim's documents."""

    def best(self, queries: Sequence[str], count: int, match: Matcher) -> dict[str, Passage]:
        """Up to `count` passages by their ids, best first: rankings by each of the queries, fused by rank."""

    def read(self, keys: Iterable[str]) -> dict[str, Passage]:
        """Passages by their ids, in the order given."""


class Held(NamedTuple):
    """A collection in memory: passages by their ids, in document order."""

    passages: Mapping[str, Passage]

    def best(self, queries: Sequence[str], count: int, match: Matcher) -> dict[str, Passage]:
        """See `Collection`."""
        keys = list(self.passages)
        texts = [passage.text for passage in self.passages.values()]
        chosen = [keys[place] for place in fused_ranking(queries, texts, match)[:count]]
        return self.read(chosen)

    def read(self, keys: Iterable[str]) -> dict[str, Passage]:
        """See `Collection`."""
        return {key: self.passages[key] for key in keys}


def held(documents: Iterable[Document]) -> Held:
    """The passages of documents: `D3.2` is the second of the third document. One that is there already, word for word,
    is left out."""
    found: dict[str, Passage] = {}
    seen: set[str] = set()
    for number, document in enumerate(documents, start=1):
        for part, text in enumerate(pieces(document.text), start=1):
            if text not in seen:
                seen.add(text)
                found[f"D{number}.{part}"] = Passage(document.url, text)
    return Held(found)


def pieces(text: str) -> list[str]:
    """A text in pieces of whole sentences, `WORDS` words at most; a longer sentence is cut."""
    found: list[str] = []
    current: list[str] = []
    for sentence in sentences(text):
        split = words(sentence)
        for begin in range(0, len(split), WORDS):
            more = split[begin : begin + WORDS]
            if current and len(current) + len(more) > WORDS:
                found.append(" ".join(current))
                current = []
            current += more
    return [*found, " ".join(current)] if current else found


def fused_ranking(queries: Sequence[str], texts: Sequence[str], match: Matcher) -> list[int]:
    """Places of texts, best first, by reciprocal rank fusion over the queries (Cormack et al. 2009)."""
    total = np.zeros(len(texts))
    for query in queries if texts else ():
        places = np.empty(len(texts))
        places[order(match(query, texts))] = np.arange(len(texts))
        total += 1 / (RANK_CONSTANT + 1 + places)
    return [int(place) for place in order(total)]
