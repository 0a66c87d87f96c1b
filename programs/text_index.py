"""Texts with what is counted of them once, whatever they are compared with: sentences, stems, BM25 index, vectors.

Many claims cite one paper. Whoever works on claims paper by paper has its tables made once; beyond that as many
indices are kept as `INDEX_BYTES` bytes hold.
"""

import logging
import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from threading import RLock
from typing import TypeVar

import bm25s
import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN
from cachetools import LRUCache, cached
from cachetools.keys import hashkey
from numpy.typing import NDArray

from aisr.programs.text import sentences
from aisr.programs.word_vectors import Vectors, embed

logging.getLogger("bm25s").setLevel(logging.WARNING)  # it logs each index that it builds
# Single characters too: "Corvid-2" and "2.3 points" differ in nothing else. It is worth 2.5 points of Hit@3 on
# the sample's train and dev, and so is b = 0.75 (paragraphs are short) against 0.4.
TOKEN = re.compile(r"\w+")
STOPWORDS = frozenset(STOPWORDS_EN)
INDEX_BYTES = 64 * 2**20  # bytes of the indices that are kept; the pages of an AVeriTeC claim may take 40 MB
BYTES_PER_CHARACTER = 60  # of an index with all its tables, about; measured on papers of 83 KB


@lru_cache(maxsize=1)
def stemmer() -> Stemmer.Stemmer:
    """Return the English stemmer, made once; it keeps the stems of some thousand words."""
    return Stemmer.Stemmer("english")


@lru_cache(maxsize=2**16)
def _stem(word: str) -> str:
    stem: str = stemmer().stemWord(word)
    return stem


def stemmed(texts: Sequence[str]) -> list[list[str]]:
    """Return the stems of each text, without stop words, in order; as `bm25s.tokenize`, which stems a text's words anew
    each time. Equal stems are mostly one object: a paper repeats its words."""
    return [[_stem(word) for word in TOKEN.findall(text.lower()) if word not in STOPWORDS] for text in texts]


def distinct_stems(text: str) -> set[str]:
    """Return the stems of a text, without stop words."""
    return {_stem(word) for word in set(TOKEN.findall(text.lower())) - STOPWORDS}


class TextIndex(tuple[str, ...]):
    """Some texts in order; a table is made when it is first needed."""

    @property
    def size(self) -> int:
        """Bytes of it with all its tables, about."""
        return BYTES_PER_CHARACTER * sum(map(len, self))

    @cached_property
    def stems(self) -> list[list[str]]:
        """The stems of each text."""
        return stemmed(self)

    @cached_property
    def bm25(self) -> bm25s.BM25 | None:
        """The BM25 index; None where the texts hold no word to rank by."""
        if not any(self.stems):
            return None  # nothing but stop words or signs
        index = bm25s.BM25()
        index.index(self.stems, show_progress=False)
        return index

    @cached_property
    def vectors(self) -> Vectors:
        """The vector of each text, scaled to length 1, a row each."""
        return embed(self)

    @cached_property
    def sentences(self) -> "TextIndex":
        """All sentences of the texts."""
        return TextIndex([sentence for parts in self._parts for sentence in parts])

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """The place of the text that each sentence stands in."""
        return np.array([place for place, parts in enumerate(self._parts) for _ in parts], dtype=np.int64)

    @cached_property
    def _parts(self) -> list[list[str]]:
        return [sentences(text) for text in self]


IndexT = TypeVar("IndexT", bound=TextIndex)


def index_of(texts: Sequence[str], kind: type[IndexT]) -> IndexT:
    """Return the index of texts: themselves where they are one of that kind, else one that is kept for a while."""
    return texts if isinstance(texts, kind) else _kept(kind, tuple(texts))


@cached(LRUCache(INDEX_BYTES, getsizeof=lambda index: index.size), key=hashkey, lock=RLock())
def _kept(kind: type[IndexT], texts: tuple[str, ...]) -> IndexT:
    return kind(texts)
