"""BM25 over stemmed words (Robertson et al. 1995): how well each of a paper's paragraphs matches a claim."""

import logging
from collections.abc import Sequence
from functools import lru_cache

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from aisr.programs.text.sentences import sentences

logging.getLogger("bm25s").setLevel(logging.WARNING)  # it asks for all that it could say, each index built among it
# Single characters too: "Corvid-2" and "2.3 points" are told apart by nothing else. It is worth 2.5 points of Hit@3 on
# the sample's train and dev, and so is b = 0.75 (paragraphs are short) against 0.4.
WORD = r"(?u)\b\w+\b"
PAPERS = 256  # whose indices are kept: many claims cite the same paper


def bm25(claim: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """The BM25 score of each text, shape (texts,); 0 everywhere where no word of the claim occurs."""
    index = indexed(tuple(texts))
    (stems,) = words([claim])
    known = [word for word in stems if index is not None and word in index.vocab_dict]
    if index is None or not known:
        return np.zeros(len(texts))
    return np.asarray(index.get_scores(known), dtype=np.float64)


def best_sentence(claim: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """The BM25 score of each text's best sentence among all sentences of all texts, shape (texts,)."""
    parts, owner = split_sentences(tuple(texts))
    scores = np.zeros(len(texts))
    if not parts:
        return scores
    np.maximum.at(scores, owner, bm25(claim, parts))
    return scores


@lru_cache(maxsize=PAPERS)
def split_sentences(texts: tuple[str, ...]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The sentences of all texts, and for each the place of the text that it stands in."""
    split = [sentences(text) for text in texts]
    owner = [place for place, found in enumerate(split) for _ in found]
    return tuple(sentence for found in split for sentence in found), np.array(owner, dtype=np.int64)


@lru_cache(maxsize=1)
def stemmer() -> Stemmer.Stemmer:
    """The English stemmer, made once."""
    return Stemmer.Stemmer("english")


def words(texts: Sequence[str]) -> list[list[str]]:
    """The stems of each text, without stop words, in order."""
    split: list[list[str]] = bm25s.tokenize(
        list(texts), stopwords="en", stemmer=stemmer(), token_pattern=WORD, show_progress=False, return_ids=False
    )
    return split


@lru_cache(maxsize=PAPERS)
def indexed(texts: tuple[str, ...]) -> bm25s.BM25 | None:
    """The BM25 index of texts; None where they hold no word to rank by."""
    found = bm25s.tokenize(list(texts), stopwords="en", stemmer=stemmer(), token_pattern=WORD, show_progress=False)
    if not found.vocab:
        return None  # nothing but stop words or signs
    index = bm25s.BM25()
    index.index(found, show_progress=False)
    return index
