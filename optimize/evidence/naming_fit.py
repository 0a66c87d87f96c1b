"""Fitting which paragraphs are named, from what a model named on labelled records. No LM call is made.

Two things are fitted, each kept by itself where it is surely better on the records that it is fitted on: whose ids are
taken (`WAYS`), and how many go with each label. Of the ways one has weights of its own, a conditional logit; it is
fitted on the claims that the first choice of each head misses, since a third id is worth nothing on the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.confidence import Interval, mean_interval
from aisr.optimize.datasets.split import fold_of
from aisr.optimize.evidence.picked import Values, likeliest
from aisr.programs.labels import EVIDENCE_K
from aisr.programs.retrieval.evidence_list import (
    DEFAULT,
    DEPTH,
    TWO_AND_ONE,
    EvidencePolicy,
    Fill,
    Heads,
    by_heads,
    by_places,
    complete,
    merged,
)

FOLDS = 5
REPEATS = 5
PENALTY = 5.0  # on the squared distance from two and one, where a handful of claims leaves it
# Standard errors by which something has to be better than what is usual: a way little, since any of them is a sensible
# choice, another number of ids much (95 %, one-sided), since an empty list where evidence is asked for always loses.
LEANING, SURE = 0.5, 1.64
DECIMALS = 4
USUAL, FITTED = "two and one", "one, one and the likeliest"
WAYS = {
    USUAL: TWO_AND_ONE,
    "one and two": Heads(named=1, ranked=2),
    "three named": Heads(named=3, ranked=0),
    "three ranked": Heads(named=0, ranked=3),
}
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Naming:
    """What was named for a labelled record.

    label: the gold one; said: the model's; right: whether a list of ids is, where the label is; named, ranking, odds:
    as `aisr.programs.retrieval.evidence_list.complete` takes them.
    """

    label: str
    said: str
    right: Callable[[Sequence[str]], bool] = field(repr=False)
    named: Sequence[Sequence[str]]
    ranking: Sequence[str]
    odds: Sequence[float] = ()

    @cached_property
    def given(self) -> dict[str, list[int]]:
        """The ids that were named (see `merged`)."""
        return merged(self.named)

    @cached_property
    def empty(self) -> bool:
        """Whether there is no gold evidence."""
        return self.right([])

    def under(self, heads: Heads) -> bool:
        """Whether the three ids that are chosen so are right."""
        return self.right(by_heads(self.given, self.ranking, heads, self.odds))

    def to_choose(self) -> tuple[Values, Mask]:
        """The features of the ids that are left when each head has chosen one (see `_weights`), and which are gold."""
        worth = dict(zip(self.ranking[:DEPTH], [*self.odds] or by_places(len(self.ranking)), strict=False))
        least = min(worth.values(), default=0.0)
        sure = by_heads(self.given, self.ranking, Heads(named=1, ranked=1), self.odds)[:2]
        keys = [key for key in dict.fromkeys([*self.given, *worth]) if key not in sure]
        rows = np.zeros((len(keys), 4))
        for row, key in zip(rows, keys, strict=True):
            places = self.given.get(key, ())
            for place in places:
                row[min(place, 2)] += (place >= 0) / len(places)
            row[3] = worth.get(key, least)
        missed = not self.right(sure)
        return rows, np.array([missed and self.right([key]) for key in keys], dtype=np.bool_)


class NamingFitted(NamedTuple):
    """The policy; for each record whether the evidence that goes with its gold label is right, under policies that did
    not see its group; the gain over two and one in the share of records whose label and evidence are right, None where
    nothing could be fitted; and what a manifest says of it."""

    policy: EvidencePolicy
    found: Mask
    gain: Interval | None
    report: dict[str, Any]


def fit_naming(cases: Sequence[Naming], group: Sequence[int], seed: int) -> NamingFitted:
    """The policy for labelled records. group: of each; two groups share nothing. Fewer groups than folds leave two and
    one."""
    usual = found_under(cases, DEFAULT)
    known = len(set(group))
    if known < FOLDS:
        why = f"{known} groups of records that share nothing; {FOLDS} are needed"
        return NamingFitted(DEFAULT, usual, None, {"why": why})
    choosing = [one.to_choose() for one in cases]
    ways = {way: np.array([one.under(heads) for one in cases]) for way, heads in WAYS.items()}
    unseen, right = np.zeros(len(cases)), np.zeros(len(cases))
    for repeat in range(REPEATS):
        fold = fold_of([one.label for one in cases], group, FOLDS, seed + repeat)
        ways[FITTED] = _cross_validated(cases, choosing, fold)
        unseen += ways[FITTED] / REPEATS
        tried = _Tried(cases, ways)
        for part in range(FOLDS):
            right += (fold == part) * tried.found(*tried.choice(fold != part)) / REPEATS
    ways[FITTED] = unseen > 0.5
    way, fill = _Tried(cases, ways).choice(np.ones(len(cases), dtype=np.bool_))
    policy = EvidencePolicy(heads=_weights(choosing) if way == FITTED else WAYS[way], fill=fill)
    with_gold = [k for k, one in enumerate(cases) if not one.empty]
    said = np.array([one.said == one.label for one in cases])
    gain = mean_interval(said * (right - usual), group)
    report = {
        "kept": policy != DEFAULT,
        "way": way,
        "fill": fill,
        "claims": len(with_gold),
        "hit": {name: float(hits[with_gold].mean()) for name, hits in {**ways, FITTED: unseen}.items() if with_gold},
        "joint": {"before": float((said * usual).mean()), "after": float((said * right).mean())},
        "gain": list(gain),
    }
    return NamingFitted(policy, right > 0.5, gain, report)


def found_under(cases: Sequence[Naming], policy: EvidencePolicy) -> Mask:
    """For each record whether the evidence that a policy gives to its gold label is right."""
    ids = [complete(one.label, one.named, one.ranking, policy, one.odds) for one in cases]
    return np.array([one.right(found) for one, found in zip(cases, ids, strict=True)], dtype=np.bool_)


def _cross_validated(cases: Sequence[Naming], choosing: Sequence[tuple[Values, Mask]], fold: NDArray[np.int64]) -> Mask:
    """Whether three ids are right under weights that were fitted on the other folds."""
    unseen = np.zeros(len(cases), dtype=np.bool_)
    for part in range(FOLDS):
        heads = _weights([choosing[k] for k in np.flatnonzero(fold != part).tolist()])
        here = np.flatnonzero(fold == part)
        unseen[here] = [cases[k].under(heads) for k in here.tolist()]
    return unseen


@dataclass(frozen=True)
class _Tried:
    """three: whether three ids are right, for each way to choose them, (records,)."""

    cases: Sequence[Naming]
    three: dict[str, Mask]

    @cached_property
    def none(self) -> Mask:
        return np.array([one.empty for one in self.cases])

    @cached_property
    def named(self) -> Mask:
        return np.array([one.right(list(one.given)[:EVIDENCE_K]) for one in self.cases])

    @cached_property
    def labels(self) -> NDArray[np.str_]:
        return np.array([one.label for one in self.cases])

    def choice(self, kept: Mask) -> tuple[str, dict[str, Fill]]:
        """The way, and how many ids go with each label, by the records that a mask keeps: what is usual, unless
        something else is surely better."""
        asked = kept & ~self.none
        way = _surest({name: hits[asked] for name, hits in self.three.items()}, USUAL, LEANING)
        fill: dict[str, Fill] = {}
        for label in dict.fromkeys(sorted(self.labels)):
            rows = kept & (self.labels == label)
            ways = {"three": self.three[way][rows], "named": self.named[rows], "none": self.none[rows]}
            fill[str(label)] = _surest(ways, DEFAULT.fill.get(str(label), "three"), SURE)  # type: ignore[assignment]
        return way, DEFAULT.fill | fill

    def found(self, way: str, fill: dict[str, Fill]) -> Mask:
        ways = {"three": self.three[way], "named": self.named, "none": self.none}
        return np.array([ways[fill.get(str(label), "three")][k] for k, label in enumerate(self.labels)])


def _surest(ways: dict[str, Mask], usual: str, errors: float) -> str:
    """The way that is right more often than the usual one by most, less so many standard errors; the usual one where
    that is no gain. As if one more record told them apart: of one alone nobody can be sure."""

    def gain(name: str) -> float:
        more = (ways[name] & ~ways[usual]).sum()
        less = (ways[usual] & ~ways[name]).sum()
        return float(more - less - errors * np.sqrt(more + less + 1))

    best = max((name for name in ways if name != usual), key=gain)
    return best if gain(best) > 0 else usual


def _weights(choosing: Sequence[tuple[Values, Mask]]) -> Heads:
    """The heads with fitted weights, pulled towards those of two and one."""
    missed = [one for one in choosing if one[1].any()]
    start = np.array([*TWO_AND_ONE.given, TWO_AND_ONE.odds])
    best = likeliest([table for table, _ in missed], [gold for _, gold in missed], PENALTY, start)
    first, second, later, odds = (round(float(weight), DECIMALS) for weight in best)
    return Heads(named=1, ranked=1, given=(first, second, later), odds=odds)
