"""Fitting the evidence ranker on claims with gold evidence. No LM call is made.

A listwise fit (conditional logit): of the paragraphs of one paper the gold ones should have the highest sum of weighted
features. It is kept where it ranks claims of papers that it has not seen better than the unfitted retriever.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.intervals import Interval, mean_interval
from aisr.optimize.leakage import all_keys, common, groups
from aisr.optimize.split import fold_of
from aisr.programs.errors import UserError
from aisr.programs.ranker import FEATURES, EvidenceRanker, by_stem, measure, papers_having, tenths
from aisr.programs.records import Record
from aisr.programs.retrieval import Embed, Matcher, order
from aisr.programs.task import Searched, Task

Values = NDArray[np.float64]


def likeliest(tables: Sequence[Values], right: Sequence[NDArray[np.bool_]], penalty: float, start: Values) -> Values:
    """The weights of the highest penalised likelihood that a right thing is picked of each set, shape (features,).

    tables: the features of each set's things, shape (things, features); right: which of them are, (things,), one at
    least; penalty: on the squared distance from `start`, where the weights stay if there are no sets.
    """
    if not tables:
        return start
    stacked = np.concatenate(tables)
    hits = np.concatenate(right)
    sizes = np.array([len(one) for one in right])
    starts, owner = np.concatenate([[0], np.cumsum(sizes)[:-1]]), np.repeat(np.arange(len(sizes)), sizes)

    def loss(weights: Values) -> tuple[float, Values]:
        scores = stacked @ weights
        raised = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        chances = raised / np.add.reduceat(raised, starts)[owner]
        picked = np.maximum(np.add.reduceat(chances * hits, starts), 1e-300)
        among_right = chances * hits / picked[owner]
        away = weights - start
        value = -np.log(picked).sum() + penalty / 2 * away @ away
        return float(value), (chances - among_right) @ stacked + penalty * away

    from scipy.optimize import minimize  # half a second; most commands have no use for it

    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)


FOLDS = 10  # of the cross-validation, and the fewest groups of claims that it takes
PENALTY = 30.0  # on the squared weights; from 10 to 100 the result is the same within its interval
DEPTHS = (1, 3, 10)
DECIMALS = 4

Paper = tuple[str, ...]  # its paragraphs


class TooFew(UserError):
    """There are too few claims with gold evidence to fit on."""


class Looked(NamedTuple):
    """Claims with gold evidence, and the group of each: what no two of them share, `aisr.optimize.leakage`
    says."""

    claims: list[Searched]
    group: list[int]


class RankFitted(NamedTuple):
    """The ranker of all claims; for each of their papers, by its texts, one that saw neither it nor its group; the
    cross-validated gain in mean reciprocal rank over the unfitted retriever; what a manifest says of it."""

    ranker: EvidenceRanker
    unseen: dict[Paper, EvidenceRanker]
    gain: Interval
    report: dict[str, Any]

    @property
    def kept(self) -> bool:
        """Whether it is better than the unfitted retriever, by the 95 % interval over groups."""
        return self.gain.low > 0


def looked(task: Task, records: Sequence[Record]) -> Looked:
    """The claims of records that have gold evidence; none of a task that retrieves nothing."""
    if task.searched is None:
        return Looked([], [])
    found = [task.searched(record) for record in records]
    kept = [k for k, one in enumerate(found) if one.gold]
    return Looked([found[k] for k in kept], groups(all_keys([common(task, records[k]) for k in kept])))


def fit_ranker(given: Looked, unfitted: Matcher, embed: Embed, seed: int) -> RankFitted:
    """The ranker of claims, and how it does on groups that it was not fitted on. embed: what asks for word vectors.

    Raises `TooFew` where there are fewer than `FOLDS` groups, and what `embed` raises.
    """
    known = len(set(given.group))
    if known < FOLDS:
        raise TooFew(
            f"claims with gold evidence form {known} groups that share no paper or claim; a ranker needs {FOLDS}"
        )
    papers = [tuple(one.paragraphs.values()) for one in given.claims]
    gold = [np.array([key in one.gold for key in one.paragraphs]) for one in given.claims]
    before = np.array(
        [
            _first(unfitted(one.claim, paper), right)
            for one, paper, right in zip(given.claims, papers, gold, strict=True)
        ]
    )
    fold = fold_of([""] * len(gold), given.group, FOLDS, seed)
    common, elsewhere = _common(papers, fold)
    known_there = [by_stem(table) for table in elsewhere]
    tables = [
        measure(one.claim, paper, embed, known_there[part])
        for one, paper, part in zip(given.claims, papers, fold, strict=True)
    ]
    after = np.empty(len(gold), dtype=np.int64)
    unseen: dict[Paper, EvidenceRanker] = {}
    for part in range(FOLDS):
        others = np.flatnonzero(fold != part)
        ranker = _ranker([tables[k] for k in others], [gold[k] for k in others], elsewhere[part])
        for k in np.flatnonzero(fold == part):
            after[k] = _first(tables[k] @ ranker.sums, gold[k])
            unseen[papers[k]] = ranker
    gain = mean_interval(1 / (1 + after) - 1 / (1 + before), given.group)
    report = {
        "kept": gain.low > 0,
        "claims": len(gold),
        "groups": known,
        "gain": list(gain),
        "before": {f"Hit@{depth}": float((before < depth).mean()) for depth in DEPTHS},
        "after": {f"Hit@{depth}": float((after < depth).mean()) for depth in DEPTHS},
    }
    return RankFitted(_ranker(tables, gold, common), unseen, gain, report)


def _common(papers: Sequence[Paper], fold: NDArray[np.int64]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The common words of all papers, and for each fold those of the papers outside it: what is rare in other papers
    must not be counted in a paper itself."""
    within = [
        list(dict.fromkeys(paper for paper, there in zip(papers, fold, strict=True) if there == part))
        for part in range(FOLDS)
    ]
    having = [papers_having(found) for found in within]
    whole, count = sum(having, Counter()), sum(map(len, within))
    return tenths(whole, count), [
        tenths(whole - own, count - len(found)) for own, found in zip(having, within, strict=True)
    ]


def _ranker(tables: Sequence[Values], gold: Sequence[NDArray[np.bool_]], common: dict[str, str]) -> EvidenceRanker:
    weights, spread = _likeliest(tables, gold)
    rounded = {name: round(float(weight), DECIMALS) for name, weight in zip(FEATURES, weights, strict=True)}
    heavy = {name: weight for name, weight in rounded.items() if weight}
    return EvidenceRanker(
        weights=heavy,
        spread={name: float(f"{wide:.6g}") for name, wide in zip(FEATURES, spread, strict=True) if name in heavy},
        common=common,
    )


def _likeliest(tables: Sequence[Values], gold: Sequence[NDArray[np.bool_]]) -> tuple[Values, Values]:
    """Weights of the highest penalised likelihood that one of the gold paragraphs is picked, and the spread of each
    feature that they belong to."""
    spread = np.concatenate(tables).std(axis=0)
    spread[spread < 1e-9] = 1.0
    return likeliest([table / spread for table in tables], gold, PENALTY, np.zeros(len(spread))), spread


def _first(scores: Values, gold: NDArray[np.bool_]) -> int:
    """The place of the first gold paragraph, from 0."""
    return int(np.flatnonzero(gold[order(scores)])[0])
