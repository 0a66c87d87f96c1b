"""Fitting the evidence ranker on claims with gold evidence. No LM call is made.

A listwise fit (conditional logit): of the paragraphs of one paper the gold ones should have the highest sum of weighted
features. The ranker is kept where it ranks claims of papers that it has not seen better than the unfitted retriever.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from aisr.base.errors import UserError
from aisr.base.progress import counted
from aisr.metrics.intervals import difference_interval
from aisr.metrics.scores import MeanScores
from aisr.optimize.leakage import Prepare, groups
from aisr.optimize.split import fold_of
from aisr.programs import ranker
from aisr.programs.case import Case
from aisr.programs.program import Program
from aisr.programs.ranker import EvidenceRanker, Values, by_stem, papers_having, tenths
from aisr.programs.records import Record
from aisr.programs.retrieval import Matcher, order
from aisr.programs.task import Task
from aisr.programs.text_index import index_of

RANKER_FOLDS = 10  # of the cross-validation, and the fewest groups of claims that it takes
WEIGHT_PENALTY = 30.0  # on the squared weights; from 10 to 100 the result is the same within its interval
REPORTED_DEPTHS = (1, 3, 10)
WEIGHT_DECIMALS = 4

GoldMask = NDArray[np.bool_]
Paragraphs = tuple[str, ...]  # of a paper


class TooFewClaims(UserError):
    """There are too few claims with gold evidence to fit on."""


class RankerFit(NamedTuple):
    """The ranker of all claims, and how it does on claims that it was not fitted on."""

    ranker: EvidenceRanker
    out_of_fold: dict[Paragraphs, EvidenceRanker]  # for each paper a ranker that saw neither it nor its group
    kept: bool  # whether it is better than the unfitted retriever, by the 95 % interval over groups
    report: dict[str, Any]  # its part of the manifest


def fit_ranker(
    task: Task, records: Sequence[Record], keys: Sequence[set[str]], unfitted: Matcher, seed: int
) -> RankerFit:
    """Return the ranker of the claims that have gold evidence, and its gain in mean reciprocal rank, cross-validated
    over groups.

    keys: of each record; claims of different groups share none (see `aisr.optimize.leakage`). Raises `TooFewClaims`
    where there are fewer than `RANKER_FOLDS` groups.
    """
    claims: list[str] = []
    papers: list[Paragraphs] = []
    gold: list[GoldMask] = []
    keys_of_claims = []
    for record, own in zip(records, keys, strict=True):
        query = task.query(record)
        if query is not None and query.gold:
            claims.append(query.claim)
            papers.append(tuple(query.paragraphs.values()))
            gold.append(np.array([key in query.gold for key in query.paragraphs]))
            keys_of_claims.append(own)
    group = groups(keys_of_claims)
    known = len(set(group))
    if known < RANKER_FOLDS:
        raise TooFewClaims(
            f"claims with gold evidence form {known} groups that share no paper or claim; a ranker needs {RANKER_FOLDS}"
        )
    fold = fold_of([""] * len(gold), group, RANKER_FOLDS, seed)
    common, common_outside = _common_words(papers, fold)
    tables = [by_stem(table) for table in common_outside]
    before, after = np.empty(len(gold), dtype=np.int64), np.empty(len(gold), dtype=np.int64)
    ends = np.cumsum([0, *map(len, gold)])
    spans = [slice(*pair) for pair in pairwise(ends.tolist())]  # of the paragraphs of each claim
    features = defaultdict[str, Values](lambda: np.empty(ends[-1]))  # by name, of all paragraphs of all claims
    places = {paper: place for place, paper in enumerate(papers)}
    by_paper = sorted(range(len(gold)), key=lambda k: places[papers[k]])  # what is counted of a paper is not kept long
    for k in counted(by_paper, "evidence ranker: measuring the paragraphs of claims"):
        index = index_of(papers[k], ranker.CitedPaper)
        before[k] = _rank(unfitted(claims[k], index), gold[k])
        for name, values in ranker.measure(claims[k], index, tables[fold[k]]).items():
            features[name][spans[k]] = values
    fold_of_paragraph = np.repeat(fold, np.diff(ends))
    out_of_fold: dict[Paragraphs, EvidenceRanker] = {}
    for part in counted(range(RANKER_FOLDS), "evidence ranker: fitting folds"):
        outside = [gold[k] for k in np.flatnonzero(fold != part)]
        fitted = _fit(features, fold_of_paragraph != part, outside, common_outside[part])
        for k in np.flatnonzero(fold == part).tolist():
            scores = fitted.score({name: values[spans[k]] for name, values in features.items()})
            after[k] = _rank(scores, gold[k])
            out_of_fold[papers[k]] = fitted
    gain = difference_interval(MeanScores(1 / (1 + after)), MeanScores(1 / (1 + before)), group)
    is_better = gain.low > 0
    report = {
        "kept": is_better,
        "claims": len(gold),
        "groups": known,
        "gain": list(gain),
        "before": {f"Hit@{depth}": float((before < depth).mean()) for depth in REPORTED_DEPTHS},
        "after": {f"Hit@{depth}": float((after < depth).mean()) for depth in REPORTED_DEPTHS},
    }
    everywhere = np.ones(ends[-1], dtype=np.bool_)
    return RankerFit(_fit(features, everywhere, gold, common), out_of_fold, is_better, report)


def out_of_fold_prepare(task: Task, judge: Program, rankers: Mapping[Paragraphs, EvidenceRanker]) -> Prepare:
    """Return `Program.prepare` with a ranker that was not fitted on the record's paper.

    The evidence of train is as hard to find then as that of dev, for demos and surrogate.
    """

    def prepare(record: Record) -> Case:
        whole = judge.ranker
        query = task.query(record)
        paper = tuple(query.paragraphs.values()) if query else ()
        judge.ranker = rankers.get(paper, whole)
        try:
            return judge.prepare(record)
        finally:
            judge.ranker = whole

    return prepare


def _common_words(papers: Sequence[Paragraphs], fold: NDArray[np.int64]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the common words of all papers, and for each fold those of the papers outside it: the rarity of a word in
    other papers must not be counted in a paper itself."""
    by_fold: list[dict[Paragraphs, None]] = [{} for _ in range(RANKER_FOLDS)]  # each paper once, in order
    for paper, part in zip(papers, fold.tolist(), strict=True):
        by_fold[part][paper] = None
    counts = [papers_having(list(own)) for own in by_fold]
    whole = sum(counts, Counter())
    size = sum(map(len, by_fold))
    outside = [tenths(whole - own, size - len(some)) for own, some in zip(counts, by_fold, strict=True)]
    return tenths(whole, size), outside


def _fit(
    features: Mapping[str, Values], chosen: GoldMask, gold: Sequence[GoldMask], common: dict[str, str]
) -> EvidenceRanker:
    """Return the ranker of the highest penalised likelihood that one of the gold paragraphs is picked.

    features: by name, those of all paragraphs of all claims; chosen: which of these paragraphs belong to the claims
    that are fitted; gold: which paragraphs of each of these claims are gold, one at least.
    """
    scaled = np.empty((np.count_nonzero(chosen), len(features)))
    spread = {}
    for column, (name, values) in enumerate(features.items()):
        wide = float(values[chosen].std())
        spread[name] = wide if wide >= 1e-9 else 1.0
        scaled[:, column] = values[chosen] / spread[name]
    weights = [round(weight, WEIGHT_DECIMALS) for weight in _likeliest(scaled, gold).tolist()]
    heavy = {name: weight for name, weight in zip(features, weights, strict=True) if weight}
    return EvidenceRanker(weights=heavy, spread={name: float(f"{spread[name]:.6g}") for name in heavy}, common=common)


def _likeliest(features: Values, gold: Sequence[GoldMask]) -> Values:
    hits = np.concatenate(gold)
    sizes = np.array([len(right) for right in gold])
    starts = np.cumsum(sizes) - sizes  # of the paragraphs of each claim
    owner = np.repeat(np.arange(len(sizes)), sizes)  # the claim of each paragraph

    def loss(weights: Values) -> tuple[float, Values]:
        scores = features @ weights
        raised = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        probabilities = raised / np.add.reduceat(raised, starts)[owner]
        picked = np.maximum(np.add.reduceat(probabilities * hits, starts), 1e-300)
        among_right = probabilities * hits / picked[owner]
        value = -np.log(picked).sum() + WEIGHT_PENALTY / 2 * weights @ weights
        return float(value), (probabilities - among_right) @ features + WEIGHT_PENALTY * weights

    from scipy.optimize import minimize  # half a second; most commands have no use for it

    with threadpool_limits(1):  # as of the no-LM baseline
        return np.asarray(minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B").x)


def _rank(scores: Values, gold: GoldMask) -> int:
    """Return the rank of the first gold paragraph, from 0."""
    return int(np.flatnonzero(gold[order(scores)])[0])
