"""What can be counted about a claim and each paragraph of a paper that may decide it, with names that a person reads.

Most of it compares the two in words; the rest is where evidence tends to stand in a paper at all: its opening, its
summaries, paragraphs of its own findings rather than of its methods or of other people's work.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from aisr.programs.retrieval.bm25 import best_sentence, bm25, split_sentences, words
from aisr.programs.retrieval.embeddings import Embed, built_in, dense, embedded, normed
from aisr.programs.retrieval.rare_words import BY_RARITY, SHARE, rare_words
from aisr.programs.retrieval.standing import (
    METHOD,
    METHODS,
    NAME,
    NUMBER,
    OPENING,
    Values,
    rate,
    share,
    standing,
    towards,
)

FEATURES = (
    "BM25",
    "BM25 against the best paragraph's",
    "place by BM25, on a log scale",
    "first by BM25, second half as much, and so on",
    "BM25 of the best sentence",
    "place by the best sentence, on a log scale",
    "first by the best sentence, second half as much, and so on",
    "word vectors",
    "first by word vectors, second half as much, and so on",
    "word vectors of the best sentence",
    "first by the best sentence's word vectors, second half as much, and so on",
    "word vectors of the claim and its three best paragraphs together",
    "share of the claim's words, rare ones counting more",
    "share of them in two neighbouring sentences",
    "likeness of the best sentence in rare words",
    BY_RARITY,
    SHARE,
    "share of the claim's word pairs",
    "share of the claim's numbers",
    "share of the claim's names",
    "BM25 of the paragraph before",
    "BM25 of the paragraph behind",
    "length",
    "under 60 characters",
    "caption of a figure or table",
    OPENING,
    "opening, where the paper has more of the claim's words",
    "among the first four paragraphs",
    "place in the paper, from 0 to 1",
    "last, second last half as much, and so on",
    "likeness to the opening paragraph",
    "likeness to the title",
    "BM25 of the title's words",
    "likeness to the paper as a whole",
    "references to other work",
    "hedges",
    "words for findings",
    "phrases for the paper's own findings",
    METHODS,
    "words for methods, where the claim has some too",
    "numbers",
    "funding, interests, ethics, availability and the like",
)

COMPARING = FEATURES[: FEATURES.index("BM25 of the paragraph before")]  # a text with the claim, wherever it stands

PAPERS = 256  # whose tables are kept: many claims cite the same paper


class _Paper(NamedTuple):
    """What is counted of a paper, whatever the claim. A row a paragraph, or a sentence.

    known: column of each stem; words and pairs: which stems stand in a paragraph, in two sentences from here on; rarity
    and sentence_rarity: log of how few paragraphs, sentences have a stem; owner: the paragraph of each sentence.
    """

    known: dict[str, int]
    words: csc_array
    sentences: csc_array
    pairs: csc_array
    rarity: Values
    sentence_rarity: Values
    norms: Values
    owner: NDArray[np.int64]
    bigrams: list[set[tuple[str, str]]]
    numbers: list[set[str]]
    names: list[set[str]]
    standing: dict[str, Values]


def measure(
    claim: str, texts: Sequence[str], embed: Embed = built_in, common: Mapping[str, int] | None = None
) -> Values:
    """The features of each text for a claim, shape (texts, FEATURES). embed: what asks for the word vectors of
    paragraphs; those of sentences are the built-in ones, as a paper has ten times as many; common: in how many tenths
    of other papers a stem stands. Raises what `embed` raises."""
    texts = tuple(texts)
    paper = counted(texts)
    lexical, sentence = bm25(claim, texts), best_sentence(claim, texts)
    near, near_sentence = dense(claim, texts, embed), _best(_sentence_cosines(claim, texts), paper.owner, len(texts))
    (stems,) = words([claim])
    ids = np.array([paper.known[stem] for stem in dict.fromkeys(stems) if stem in paper.known], dtype=np.int64)
    whole = paper.rarity[ids].sum()
    covered = share(paper.words[:, ids] @ paper.rarity[ids], whole)
    in_pairs = _best(share(paper.pairs[:, ids] @ paper.rarity[ids], whole), paper.owner, len(texts))
    own = paper.sentence_rarity[ids] ** 2
    alike = _best(share(paper.sentences[:, ids] @ own, paper.norms * np.sqrt(own.sum())), paper.owner, len(texts))
    told = len(ids) / max(len(set(stems)), 1)
    score = _standard(lexical)
    rare = rare_words(claim, texts, common or {})
    columns = {
        "BM25": score,
        "BM25 against the best paragraph's": share(lexical, lexical.max(initial=0.0)),
        "place by BM25, on a log scale": -np.log1p(_place(lexical)),
        "first by BM25, second half as much, and so on": 1 / (1 + _place(lexical)),
        "BM25 of the best sentence": _standard(sentence),
        "place by the best sentence, on a log scale": -np.log1p(_place(sentence)),
        "first by the best sentence, second half as much, and so on": 1 / (1 + _place(sentence)),
        "word vectors": _standard(near),
        "first by word vectors, second half as much, and so on": 1 / (1 + _place(near)),
        "word vectors of the best sentence": _standard(near_sentence),
        "first by the best sentence's word vectors, second half as much, and so on": 1 / (1 + _place(near_sentence)),
        "word vectors of the claim and its three best paragraphs together": _standard(
            _with_the_best(claim, texts, lexical, embed)
        ),
        "share of the claim's words, rare ones counting more": covered,
        "share of them in two neighbouring sentences": in_pairs,
        "likeness of the best sentence in rare words": _standard(alike),
        BY_RARITY: _standard(rare[BY_RARITY]),
        SHARE: rare[SHARE],
        "share of the claim's word pairs": _found(set(pairwise(stems)), paper.bigrams),
        "share of the claim's numbers": _found(set(NUMBER.findall(claim)), paper.numbers),
        "share of the claim's names": _found(set(NAME.findall(claim)), paper.names),
        "BM25 of the paragraph before": np.concatenate([[0.0], score[:-1]]),
        "BM25 of the paragraph behind": np.concatenate([score[1:], [0.0]]),
        **paper.standing,
        "opening, where the paper has more of the claim's words": (told - 0.7) * paper.standing[OPENING],
        "words for methods, where the claim has some too": rate(METHOD, [claim])[0] * paper.standing[METHODS],
    }
    return np.column_stack([columns[name] for name in FEATURES])


@lru_cache(maxsize=PAPERS)
def counted(texts: tuple[str, ...]) -> _Paper:
    """What is counted of a paper once, for all claims that cite it."""
    stems = words(texts)
    known: dict[str, int] = {}
    for own in stems:
        for stem in own:
            known.setdefault(stem, len(known))
    parts, owner = split_sentences(texts)
    paragraphs, sentences = _incidence(stems, known), _incidence(words(parts) if parts else [], known)
    behind = np.flatnonzero(owner[1:] == owner[:-1])
    shift = csc_array((np.ones(len(behind)), (behind, behind + 1)), shape=(len(parts), len(parts)))
    pairs = csc_array((sentences + shift @ sentences).minimum(1))
    rarity, sentence_rarity = _rarity(paragraphs), _rarity(sentences)
    return _Paper(
        known,
        paragraphs,
        sentences,
        pairs,
        rarity,
        sentence_rarity,
        np.sqrt(sentences @ sentence_rarity**2),
        owner,
        [set(pairwise(own)) for own in stems],
        [set(NUMBER.findall(text)) for text in texts],
        [set(NAME.findall(text)) for text in texts],
        standing(texts),
    )


def _incidence(stems: Sequence[Sequence[str]], known: dict[str, int]) -> csc_array:
    """Which stems stand in which text: 0 or 1, shape (texts, known)."""
    places = [(row, known[stem]) for row, own in enumerate(stems) for stem in set(own) if stem in known]
    rows, columns = np.array(places, dtype=np.int64).reshape(-1, 2).T
    return csc_array((np.ones(len(places)), (rows, columns)), shape=(len(stems), len(known)))


def _rarity(table: csc_array) -> Values:
    count, having = table.shape[0], table.sum(axis=0)
    return np.asarray(np.log(1 + (count - having + 0.5) / (having + 0.5)))


def _sentence_cosines(claim: str, texts: tuple[str, ...]) -> Values:
    parts, _ = split_sentences(texts)
    return np.asarray(embedded(parts, built_in) @ normed(built_in, [claim])[0]) if parts else np.zeros(0)


def _with_the_best(claim: str, texts: tuple[str, ...], scores: Values, embed: Embed) -> Values:
    """Pseudo-relevance feedback: the cosine with the claim and, half as heavy, its three best paragraphs."""
    vectors = embedded(texts, embed)
    best = np.argsort(-scores, kind="stable")[:3]
    weights = share(scores[best], scores[best].sum())
    return towards(vectors, normed(embed, [claim])[0] + 0.5 * weights @ vectors[best])


def _best(of_sentences: Values, owner: NDArray[np.int64], count: int) -> Values:
    """The best value among each paragraph's sentences, at least 0."""
    best = np.zeros(count)
    np.maximum.at(best, owner, of_sentences)
    return best


def _found(wanted: set[str] | set[tuple[str, str]], having: Sequence[set]) -> Values:  # type: ignore[type-arg]
    """The share of what is wanted that each text has; 0 where nothing is."""
    return np.array([len(wanted & own) for own in having]) / max(len(wanted), 1)


def _standard(values: Values) -> Values:
    """In standard deviations from the paper's mean; 0 where all are equal."""
    spread = float(values.std())
    return np.asarray((values - values.mean()) / spread) if spread > 1e-9 else np.zeros(len(values))


def _place(values: Values) -> Values:
    """The place of each text by its value, from 0; equals in document order."""
    places = np.empty(len(values))
    places[np.argsort(-values, kind="stable")] = np.arange(len(values))
    return places
