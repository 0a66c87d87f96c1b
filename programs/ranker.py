"""Which paragraphs are evidence: a ranker that was fitted on labelled evidence.

It is a weighted sum of features that a person can read. Most features compare claim and paragraph in words,
those counting more that are rare in other papers: what most papers have ("cell", "increase") decides little, however
few paragraphs of this one have it. The others are whatever the claim: where evidence tends to stand in a paper at all,
in its opening and its summaries, in paragraphs of its own findings rather than of its methods or of other people's
work.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.sparse import csc_array

from aisr.base.errors import UserError
from aisr.programs.retrieval import (
    CAPTION,
    Matcher,
    MatchScores,
    bm25,
    claim_stems,
    claim_vector,
    dense,
    known_stems,
    order,
    ranks,
)
from aisr.programs.text_index import TOKEN, TextIndex, distinct_stems, index_of

Values = NDArray[np.float64]
BY_RARITY = "BM25, words that are rare in other papers counting more"
SHARE = "share of the claim's words, those that are rare in other papers counting more"

COMMON_TENTHS = 2  # tenths of the papers that a word of the table stands in; below them all words are as rare
BARELY = 0.05  # the rarity of a word that all papers have


def tenths(having: Counter[str], papers: int) -> dict[str, str]:
    """Return the common words of papers: from in how many tenths of them, `2` to `10`, to the stems, joined by blanks.

    having: how many of the papers have a stem.
    """
    shares: dict[str, list[str]] = {}
    for stem, count in sorted(having.items()):
        share = round(10 * count / papers)
        if share >= COMMON_TENTHS:
            shares.setdefault(str(share), []).append(stem)
    return {share: " ".join(stems) for share, stems in sorted(shares.items(), key=lambda pair: int(pair[0]))}


def by_stem(table: Mapping[str, str]) -> dict[str, int]:
    """Return such a table the other way round. Raises ValueError where a share is no whole number."""
    return {stem: int(share) for share, stems in table.items() for stem in stems.split()}


def rarity(stems: Iterable[str], common: Mapping[str, int]) -> Values:
    """Return how rare each stem is in other papers: the logarithm of one in how many of them has it, `BARELY` at
    least."""
    return np.array([BARELY + np.log(10 / max(common.get(stem, 0), COMMON_TENTHS)) for stem in stems], dtype=np.float64)


def rare_words(claim: str, paper: TextIndex, common: Mapping[str, int]) -> dict[str, Values]:
    """Return the two features of each text, by name: the claim's words each counting as much as they are rare."""
    index = paper.bm25
    known = list(dict.fromkeys(known_stems(claim, index)))
    if index is None or not known:
        return {BY_RARITY: np.zeros(len(paper)), SHARE: np.zeros(len(paper))}
    scores = np.column_stack([index.get_scores([stem]) for stem in known])
    weights = rarity(known, common)
    whole = float((rarity(dict.fromkeys(claim_stems(claim)), common) ** 2).sum())
    return {BY_RARITY: scores @ weights, SHARE: (scores > 0) @ weights**2 / whole}


def papers_having(papers: Iterable[Sequence[str]]) -> Counter[str]:
    """Return how many of the papers, each its paragraphs, have a stem."""
    return Counter(stem for paper in papers for stem in distinct_stems("\n".join(paper)))


OPENING, METHODS = "opening paragraph, such as the abstract", "words for methods"

CLAIM_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# ACE2, GWAS, SARS-CoV-2: a capital, and one more or a digit.
CLAIM_NAME = re.compile(r"\b(?=[^\WA-Z]*+[A-Z][^\WA-Z0-9]*+[A-Z0-9])[\w-]{2,}")
REFERENCE = re.compile(
    r"\(\s*\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\s*\)|\[\s*\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\s*\]|\bet al\b"
    r"|\([^()]{1,60}\b(?:19|20)\d\d[a-z]?\)"
)
FINDING = re.compile(
    r"\b(?:we|our|here|results?|show|find|found|demonstrat|suggest|indicat|reveal|identif|report|observ)\w*\b",
    re.IGNORECASE,
)
OWN = re.compile(
    r"\b(?:in (?:summary|conclusion|this study)|taken together|collectively|(?:our|these) (?:data|results|findings)"
    r"|here,? we|we (?:show|find|found|demonstrate|report|conclude|identif))",
    re.IGNORECASE,
)
HEDGE = re.compile(r"\b(?:may|might|could|suggest|likely|possibl|possibil|potential|appear|seem)\w*", re.IGNORECASE)
METHOD = re.compile(
    r"\b(?:was|were|using|used|performed|purchased|incubated|according|manufacturer|protocol|kit|buffer|min|ml|washed"
    r"|added|software|version|previously|obtained|collected|samples?|assays?|medium|cultured|measured|calculated)\b",
    re.IGNORECASE,
)
WORD_SIGNS = (HEDGE, FINDING, METHOD)
BACK_MATTER = re.compile(
    r"\b(?:fund(?:ing|ed)|grants?|conflicts? of interest|competing interests?|declare"
    r"|acknowledge\w*|contribut(?:ed|ions)"
    r"|supplementary (?:material|data|information)|available (?:on|upon|at|from)|https?|copyright|licen[cs]e"
    r"|correspondence|ethics|ethical|consent)\b",
    re.IGNORECASE,
)
PROSE = 300  # characters from which a paragraph can be the opening: titles, authors and keywords are shorter
TINY = 60


def position_features(texts: TextIndex) -> dict[str, Values]:
    """Return the features that no claim changes, by name."""
    vectors = texts.vectors
    opening = _opening(texts)
    count = len(texts)
    length = np.array([len(text) for text in texts], dtype=np.float64)
    caption = np.array([bool(CAPTION.match(text)) for text in texts], dtype=np.float64)
    prose = np.flatnonzero((length >= PROSE / 1.5) & (caption == 0))
    first = np.zeros(count)
    first[prose[:4]] = 1.0
    whole = prose if len(prose) else np.arange(count)
    title = bm25(texts[0], texts)
    hedges, findings, methods = rates_of_words(texts)
    return {
        "length": np.log1p(length),
        "under 60 characters": np.asarray(length < TINY, dtype=np.float64),
        "caption of a figure or table": caption,
        OPENING: opening,
        "among the first four paragraphs": first,
        "place in the paper, from 0 to 1": np.arange(count) / max(count - 1, 1),
        "last, second last half as much, and so on": 1 / np.arange(count, 0, -1.0),
        "likeness to the opening paragraph": vectors @ vectors[int(np.argmax(opening))],
        "likeness to the title": vectors @ vectors[0],
        "BM25 of the title's words": share(title, title.max(initial=0.0)),
        "likeness to the paper as a whole": towards(vectors, vectors[whole].mean(axis=0)),
        "references to other work": rate(REFERENCE, texts),
        "hedges": hedges,
        "words for findings": findings,
        "phrases for the paper's own findings": rate(OWN, texts),
        METHODS: methods,
        "numbers": rate(CLAIM_NUMBER, texts),
        "funding, interests, ethics, availability and the like": rate(BACK_MATTER, texts),
    }


def _opening(texts: Sequence[str]) -> Values:
    """Return 1 for the first paragraph of prose, which in a paper is its abstract."""
    marks = np.zeros(len(texts))
    marks[next((place for place, text in enumerate(texts) if len(text) >= PROSE), 0)] = 1.0
    return marks


def towards(vectors: Values, direction: Values) -> Values:
    return np.asarray(vectors @ direction / max(float(np.linalg.norm(direction)), 1e-12))


def rate(sign: re.Pattern[str], texts: Sequence[str]) -> Values:
    """Return how often a sign stands in each text, per hundred words, on a log scale."""
    return np.array([np.log1p(100 * len(sign.findall(text)) / max(len(text.split()), 1)) for text in texts])


def rates_of_words(texts: Sequence[str]) -> Values:
    """Return the `rate` of the signs that are single words, `WORD_SIGNS`, shape (signs, texts): each word is looked at
    once."""
    counts = np.zeros((len(WORD_SIGNS), len(texts)))
    for place, text in enumerate(texts):
        for signs in map(_signs_of, TOKEN.findall(text)):
            for sign in signs:
                counts[sign, place] += 1
    return np.log1p(100 * counts / [max(len(text.split()), 1) for text in texts])


@lru_cache(maxsize=2**16)
def _signs_of(word: str) -> tuple[int, ...]:
    """Return the places of the signs that a word is, mostly none."""
    return tuple(place for place, sign in enumerate(WORD_SIGNS) if sign.match(word))


def share(values: Values, whole: float | Values) -> Values:
    return np.asarray(values / np.maximum(whole, 1e-9))


class CitedPaper(TextIndex):
    """The paragraphs of a paper, with what is counted of it, whatever the claim. A row a paragraph, or a sentence; a
    column a stem."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        of_sentences = self.sentences.stems
        stems: list[list[str]] = [[] for _ in texts]  # sentences end between words, so those of its sentences
        for place, own in zip(self.owner, of_sentences, strict=True):
            stems[place] += own
        distinct = dict.fromkeys(stem for own in stems for stem in own)
        self.known = {stem: column for column, stem in enumerate(distinct)}  # the column of each stem
        self.words = _incidence(stems, self.known)  # which stems stand in a paragraph
        self.sentence_words = _incidence(of_sentences, self.known)  # which stand in a sentence
        behind = np.flatnonzero(self.owner[1:] == self.owner[:-1])
        shape = (len(of_sentences), len(of_sentences))
        shift = csc_array((np.ones(len(behind)), (behind, behind + 1)), shape=shape)
        # Which stand in a sentence or the next one of its paragraph.
        self.pairs = csc_array((self.sentence_words + shift @ self.sentence_words).minimum(1))
        self.rarity = _rarity(self.words)  # how few paragraphs have a stem, on a log scale
        self.sentence_rarity = _rarity(self.sentence_words)  # how few sentences have it
        # The length of each sentence as a vector of rarities.
        self.norms = np.asarray(np.sqrt(self.sentence_words @ self.sentence_rarity**2))
        self.bigrams = [set(pairwise(own)) for own in stems]  # the pairs of stems of each paragraph
        self.numbers = [set(CLAIM_NUMBER.findall(text)) for text in texts]
        self.names = [set(CLAIM_NAME.findall(text)) for text in texts]
        self.stems = stems
        self.position = position_features(self)  # the features that no claim changes

    def best(self, of_sentences: Values) -> Values:
        """Return the best value among each paragraph's sentences, at least 0."""
        best = np.zeros(len(self))
        np.maximum.at(best, self.owner, of_sentences)
        return best


def measure(claim: str, texts: Sequence[str], common: Mapping[str, int]) -> dict[str, Values]:
    """Return the features of texts for a claim by name, each of shape (texts,). common: in how many tenths of other
    papers a stem stands."""
    paper = index_of(texts, CitedPaper)
    lexical, sentence = bm25(claim, paper), paper.best(bm25(claim, paper.sentences))
    near, near_sentence = dense(claim, paper), paper.best(dense(claim, paper.sentences))
    stems = claim_stems(claim)
    ids = np.array([paper.known[stem] for stem in dict.fromkeys(stems) if stem in paper.known], dtype=np.int64)
    whole = paper.rarity[ids].sum()
    covered = share(paper.words[:, ids] @ paper.rarity[ids], whole)
    in_pairs = paper.best(share(paper.pairs[:, ids] @ paper.rarity[ids], whole))
    own = paper.sentence_rarity[ids] ** 2
    alike = paper.best(share(paper.sentence_words[:, ids] @ own, paper.norms * np.sqrt(own.sum())))
    known_share = len(ids) / max(len(set(stems)), 1)
    score = _standard(lexical)
    rare = rare_words(claim, paper, common)
    return {
        "BM25": score,
        "BM25 against the best paragraph's": share(lexical, lexical.max(initial=0.0)),
        "place by BM25, on a log scale": -np.log1p(ranks(lexical)),
        "first by BM25, second half as much, and so on": 1 / (1 + ranks(lexical)),
        "BM25 of the best sentence": _standard(sentence),
        "place by the best sentence, on a log scale": -np.log1p(ranks(sentence)),
        "first by the best sentence, second half as much, and so on": 1 / (1 + ranks(sentence)),
        "word vectors": _standard(near),
        "first by word vectors, second half as much, and so on": 1 / (1 + ranks(near)),
        "word vectors of the best sentence": _standard(near_sentence),
        "first by the best sentence's word vectors, second half as much, and so on": 1 / (1 + ranks(near_sentence)),
        "word vectors of the claim and its three best paragraphs together": _standard(
            _with_the_best(claim, paper, lexical)
        ),
        "share of the claim's words, rare ones counting more": covered,
        "share of them in two neighbouring sentences": in_pairs,
        "likeness of the best sentence in rare words": _standard(alike),
        BY_RARITY: _standard(rare[BY_RARITY]),
        SHARE: rare[SHARE],
        "share of the claim's word pairs": _share_in(set(pairwise(stems)), paper.bigrams),
        "share of the claim's numbers": _share_in(set(CLAIM_NUMBER.findall(claim)), paper.numbers),
        "share of the claim's names": _share_in(set(CLAIM_NAME.findall(claim)), paper.names),
        "BM25 of the paragraph before": np.concatenate([[0.0], score[:-1]]),
        "BM25 of the paragraph behind": np.concatenate([score[1:], [0.0]]),
        **paper.position,
        "opening, where the paper has more of the claim's words": (known_share - 0.7) * paper.position[OPENING],
        "words for methods, where the claim has some too": rate(METHOD, [claim])[0] * paper.position[METHODS],
    }


def _incidence(stems: Sequence[Sequence[str]], known: dict[str, int]) -> csc_array:
    """Return which stems, all of them known, stand in which text: 0 or 1, shape (texts, known)."""
    distinct = [set(own) for own in stems]
    columns = np.array([known[stem] for own in distinct for stem in own], dtype=np.int64)
    rows = np.repeat(np.arange(len(stems)), [len(own) for own in distinct])
    return csc_array((np.ones(len(columns)), (rows, columns)), shape=(len(stems), len(known)))


def _rarity(table: csc_array) -> Values:
    count, having = table.shape[0], table.sum(axis=0)
    return np.asarray(np.log(1 + (count - having + 0.5) / (having + 0.5)))


def _with_the_best(claim: str, paper: TextIndex, scores: Values) -> Values:
    """Return the cosine with the claim and, half as heavy, its three best paragraphs: pseudo-relevance feedback."""
    best = order(scores)[:3]
    weights = share(scores[best], scores[best].sum())
    return towards(paper.vectors, claim_vector(claim) + 0.5 * weights @ paper.vectors[best])


def _share_in(sought: set[str] | set[tuple[str, str]], texts: Sequence[set]) -> Values:  # type: ignore[type-arg]
    """Return the share of some words or pairs that each text has; 0 where there are none."""
    return np.array([len(sought & own) for own in texts]) / max(len(sought), 1)


def _standard(values: Values) -> Values:
    """Return values in standard deviations from the paper's mean; 0 where all are equal."""
    spread = float(values.std())
    return np.asarray((values - values.mean()) / spread) if spread > 1e-9 else np.zeros(len(values))


FeatureName = Annotated[str, Field(pattern="^[ -~]{1,80}$")]  # one line: it stands in PROMPT.md


class EvidenceRanker(BaseModel):
    """The weight of each feature: what one `spread` more of it (its standard deviation over train) adds to a
    paragraph's score, the logarithm of its odds to be the evidence. Features that are not listed weigh nothing.
    common: the words that many papers of train have (see `tenths`).

    Names stand in for positions, so that a file says what it means.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    weights: dict[FeatureName, float]
    spread: dict[FeatureName, float]
    common: dict[Annotated[str, Field(pattern="^([2-9]|10)$")], str] = {}

    @model_validator(mode="after")
    def _each_weight_has_a_spread(self) -> Self:
        lost = [name for name in self.weights if not self.spread.get(name, 0.0) > 0]
        if lost:
            raise UserError(f"evidence ranker: the spread of {lost[0]!r} is missing; expected a number above 0")
        return self

    def score(self, features: Mapping[str, Values]) -> MatchScores:
        """Return the score of each text, from what `measure` returns. Raises UserError for the weight of no feature."""
        unknown = [name for name in self.weights if name not in features]
        if unknown:
            raise UserError(f"evidence ranker: no feature is called {unknown[0]!r}; one of: {', '.join(features)}")
        added = (weight / self.spread[name] * features[name] for name, weight in self.weights.items())
        return np.asarray(sum(added, np.zeros_like(features["BM25"])))

    def matcher(self) -> Matcher:
        """Return what scores paragraphs by it."""
        tenths = by_stem(self.common)
        return lambda claim, texts: self.score(measure(claim, texts, tenths))

    def by_weight(self) -> list[tuple[str, float]]:
        """Return the features and their weights, the heaviest first."""
        return sorted(self.weights.items(), key=lambda pair: -abs(pair[1]))
