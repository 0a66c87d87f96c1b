"""The ways to rank a paper's paragraphs for a claim, by their names: BM25 over stemmed words (Robertson et al. 1995),
nearness by embeddings, and both fused.

A matcher takes a claim and the paragraphs and gives each a score, higher being better; scores of different matchers
are not comparable, so they are fused by rank.
"""

import logging
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from aisr.programs.errors import UserError
from aisr.programs.text.units import sentences

logging.getLogger("bm25s").setLevel(logging.WARNING)  # it asks for all that it could say, each index built among it
# Single characters too: "Corvid-2" and "2.3 points" are told apart by nothing else. It is worth 2.5 points of Hit@3 on
# the sample's train and dev, and so is b = 0.75 (paragraphs are short) against 0.4.
WORD = r"(?u)\b\w+\b"
PAPERS = 256  # whose indices and embeddings are kept: many claims cite the same paper


def bm25(claim: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """The BM25 score of each text, shape (texts,); 0 everywhere where no word of the claim occurs."""
    index = indexed(tuple(texts))
    (stems,) = stemmed([claim])
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


def stemmed(texts: Sequence[str]) -> list[list[str]]:
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


BUILT_IN = "wordllama"

Vectors = NDArray[np.float64]
Embed = Callable[[Sequence[str]], Any]  # texts, none of them empty, to an array with a row for each


def dense(claim: str, texts: Sequence[str], embed: Embed) -> Vectors:
    """The cosine of the claim and each text, shape (texts,), -1 to 1. Raises what `embed` raises."""
    return np.asarray(embedded(tuple(texts), embed) @ normed(embed, [claim])[0])


def built_in(texts: Sequence[str]) -> Any:
    """Embeddings by `wordllama`, whose package carries its model: static word vectors, no network."""
    return _wordllama().embed(list(texts))


@lru_cache(maxsize=1)
def _wordllama() -> Any:
    root, handlers = logging.getLogger(), list(logging.getLogger().handlers)
    level = root.level
    import wordllama

    root.handlers[:], root.level = handlers, level  # its import sets up logging for the whole process
    # It looks for its tokenizer in a folder of the wrong name, and would then fetch it from the web; this is where both
    # of its files are.
    package = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=package, disable_download=True)


@lru_cache(maxsize=PAPERS)
def embedded(texts: tuple[str, ...], embed: Embed) -> Vectors:
    """The embeddings of texts, a row of length 1 each."""
    return normed(embed, texts)


def normed(embed: Embed, texts: Sequence[str]) -> Vectors:
    """The embeddings of texts, scaled to length 1, a row each."""
    # An empty text would have no direction; a provider refuses it.
    rows = np.asarray(embed([text or " " for text in texts]), dtype=np.float64)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


Scores = NDArray[np.float64]
Matcher = Callable[[str, Sequence[str]], Scores]

DEFAULT = "bm25"
RANK_CONSTANT = 60  # of reciprocal rank fusion (Cormack et al. 2009)
NAME_OR_NUMBER = re.compile(r"\b(?=\w*[A-Z])[\w-]{2,}\b|\d+(?:\.\d+)?")
SPEC = re.compile(r"([a-z0-9-]+)(?::([A-Za-z0-9][\w./-]*))?")


class _Way(NamedTuple):
    """make: the matcher, given what embeds texts; embeds: whether it uses that."""

    make: Callable[[Embed], Matcher]
    embeds: bool = False


def order(scores: Scores) -> NDArray[np.int64]:
    """Places of the texts, best first; equals in document order."""
    return np.argsort(-scores, kind="stable")


def fused(*matchers: Matcher) -> Matcher:
    """Reciprocal rank fusion: a text counts by its places in all rankings."""

    def match(claim: str, texts: Sequence[str]) -> Scores:
        return np.asarray(sum(1 / (RANK_CONSTANT + 1 + _places(one(claim, texts))) for one in matchers))

    return match


def names_and_numbers(matcher: Matcher) -> Matcher:
    """The same for the names and numbers of the claim alone; for the whole claim where it has none."""

    def match(claim: str, texts: Sequence[str]) -> Scores:
        return matcher(" ".join(NAME_OR_NUMBER.findall(claim)) or claim, texts)

    return match


WAYS: dict[str, _Way] = {
    "bm25": _Way(lambda embed: bm25),
    "dense": _Way(lambda embed: partial(dense, embed=embed), embeds=True),
    "hybrid": _Way(lambda embed: fused(bm25, partial(dense, embed=embed)), embeds=True),
}


def matcher(spec: str, embed: Embed | None = None) -> Matcher:
    """The matcher of a spec: a name of `WAYS`, with an embedding model behind a colon where it uses one
    (`hybrid:openai/text-embedding-3-small`; without, the built-in one).

    embed: what asks that model, if it is not the built-in one. Raises UserError for any other spec, and where nobody
    asks the model.
    """
    return _parsed(spec)[0].make(embedder(spec, embed))


def embedder(spec: str, embed: Embed | None = None) -> Embed:
    """What embeds texts for a spec: `embed` where that names a model, else the built-in one. Raises UserError where it
    names one and nobody asks it."""
    model = _parsed(spec)[1]
    if model and embed is None:
        raise UserError(f"retriever {spec!r}: nobody was said to ask {model}; see aisr/lm/embeddings.py")
    return embed if embed is not None and model else built_in


def embedding_model(spec: str) -> str | None:
    """The embedding model that has to be asked for a spec; None where there is none, or it is the built-in one. Raises
    ValueError for what is no spec."""
    return _parsed(spec)[1]


def _parsed(spec: str) -> tuple[_Way, str | None]:
    found = SPEC.fullmatch(spec)
    way = WAYS.get(found[1]) if found else None
    if found is None or way is None:
        raise UserError(f"retriever {spec!r}; one of: {', '.join(WAYS)}; those that embed take a model, hybrid:MODEL")
    if found[2] and not way.embeds:
        raise UserError(f"retriever {spec!r}: {found[1]} embeds nothing, so no model belongs behind it")
    return way, None if found[2] == BUILT_IN else found[2]


def _places(scores: Scores) -> NDArray[np.int64]:
    """The place of each text in the ranking, from 0."""
    places = np.empty(len(scores), dtype=np.int64)
    places[order(scores)] = np.arange(len(scores))
    return places
