"""Recall of a check of a paper on injected errors, and its flags on untouched sentences."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

ENOUGH = 10  # of which an interval says something
Z = 1.96
LEVELS = ("error", "warning", "note")  # the worst first
FLAGS = ("error", "warning")

Place = tuple[int, int]  # paragraph and sentence


class Interval(NamedTuple):
    """A share with the ends of its 95 % interval, in 0-1."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.value:.1f} [{100 * self.low:.1f}, {100 * self.high:.1f}]"


class CheckResult(NamedTuple):
    """A check of one paper."""

    paper: str
    injected: Mapping[Place, str]  # the kind of each error
    judged: frozenset[Place]  # the sentences that were looked at
    flagged: Mapping[Place, str]  # the worst level of each flag other than supported


class Recall(NamedTuple):
    """Of the faults of a kind: how many, how many in sentences that were looked at, with an error or a warning, and
    with an error. share: of those with an error or a warning; None where there are too few to say more."""

    injected: int
    judged: int
    flagged: int
    errors: int
    share: Interval | None


class Rate(NamedTuple):
    """Of untouched sentences: how many were looked at, and how many have each level, the worst of each counted."""

    judged: int
    levels: Mapping[str, int]
    flags: Interval | None


def recalls(results: Sequence[CheckResult]) -> dict[str, Recall]:
    """The recall of each kind, in the order of first sight, and of all under "all"; a sentence that has a fault in
    several copies of a paper is one unit of the interval."""
    kinds = list(dict.fromkeys(kind for one in results for kind in one.injected.values()))
    return {kind: _recall(results, {kind}) for kind in kinds} | ({"all": _recall(results, set(kinds))} if kinds else {})


def _recall(results: Sequence[CheckResult], kinds: set[str]) -> Recall:
    places = [(one, place) for one in results for place, kind in one.injected.items() if kind in kinds]
    flagged = [one.flagged.get(place) in FLAGS for one, place in places]
    return Recall(
        len(places),
        sum(place in one.judged for one, place in places),
        sum(flagged),
        sum(one.flagged.get(place) == LEVELS[0] for one, place in places),
        share(flagged, [(one.paper, place) for one, place in places]),
    )


def untouched(results: Sequence[CheckResult]) -> Rate:
    """The flags of sentences without an injected error; the paragraphs are the units of the interval."""
    places = [(one, place) for one in results for place in sorted(one.judged) if place not in one.injected]
    worst = [one.flagged.get(place) for one, place in places]
    flags = share([level in FLAGS for level in worst], [(one.paper, place[0]) for one, place in places])
    return Rate(len(places), {level: worst.count(level) for level in LEVELS}, flags)


def share(flags: Sequence[bool], units: Sequence[object]) -> Interval | None:
    """The share that is true, with its interval by Wilson's score, which none and all have as well; those of one unit
    are counted as one. None where there are too few."""
    if len(flags) < ENOUGH:
        return None
    rate, size, square = sum(flags) / len(flags), len(set(units)), Z * Z
    middle = (rate + square / (2 * size)) / (1 + square / size)
    half = Z * math.sqrt(rate * (1 - rate) / size + square / (4 * size * size)) / (1 + square / size)
    return Interval(rate, max(middle - half, 0.0), min(middle + half, 1.0))
