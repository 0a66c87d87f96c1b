"""What a check of a paper found of the faults that were planted in it, and what it said of the rest."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aisr.metrics.intervals import Interval

ENOUGH = 10  # of which an interval says something
Z = 1.96
FIRST = 10  # sentences that an author looks at first
LEVELS = ("error", "warning", "note")  # the worst first
FLAGS = ("error", "warning")

Place = tuple[int, int]  # paragraph and sentence


class Found(NamedTuple):
    """A check of one paper. paper: what tells it from others; planted: where each fault is, with its kind; judged: the
    sentences that were looked at; flagged: those that something was said of, with the worst level; listed: those
    with an error or a warning, as they are listed."""

    paper: str
    planted: Mapping[Place, str]
    judged: frozenset[Place]
    flagged: Mapping[Place, str]
    listed: Sequence[Place]


class Recall(NamedTuple):
    """Of the faults of a kind: how many, how many in sentences that were looked at, with an error or a warning, and
    with an error. share: of those with an error or a warning; None where there are too few to say more."""

    planted: int
    judged: int
    flagged: int
    errors: int
    share: Interval | None


class Rate(NamedTuple):
    """Of untouched sentences: how many were looked at, and how many have each level, the worst of each counted."""

    judged: int
    levels: Mapping[str, int]
    flags: Interval | None


def recalls(found: Sequence[Found]) -> dict[str, Recall]:
    """The recall of each kind, in the order of first sight, and of all under "all"; a sentence that has a fault in
    several copies of a paper is one unit of the interval."""
    kinds = list(dict.fromkeys(kind for one in found for kind in one.planted.values()))
    return {kind: _recall(found, {kind}) for kind in kinds} | ({"all": _recall(found, set(kinds))} if kinds else {})


def _recall(found: Sequence[Found], kinds: set[str]) -> Recall:
    places = [(one, place) for one in found for place, kind in one.planted.items() if kind in kinds]
    flagged = [one.flagged.get(place) in FLAGS for one, place in places]
    return Recall(
        len(places),
        sum(place in one.judged for one, place in places),
        sum(flagged),
        sum(one.flagged.get(place) == LEVELS[0] for one, place in places),
        share(flagged, [(one.paper, place) for one, place in places]),
    )


def untouched(found: Sequence[Found]) -> Rate:
    """What was said of sentences without a planted fault; the paragraphs are the units of the interval."""
    places = [(one, place) for one in found for place in sorted(one.judged) if place not in one.planted]
    worst = [one.flagged.get(place) for one, place in places]
    flags = share([level in FLAGS for level in worst], [(one.paper, place[0]) for one, place in places])
    return Rate(len(places), {level: worst.count(level) for level in LEVELS}, flags)


def first_planted(found: Sequence[Found]) -> tuple[int, int]:
    """How many of the first sentences of the lists have a planted fault, and how many sentences these are."""
    first = [(one, place) for one in found for place in one.listed[:FIRST]]
    return sum(place in one.planted for one, place in first), len(first)


def share(said: Sequence[bool], units: Sequence[object]) -> Interval | None:
    """The share that is true, with its interval by Wilson's score, which none and all have as well; those of one unit
    are counted as one. None where there are too few."""
    if len(said) < ENOUGH:
        return None
    rate, size, square = sum(said) / len(said), len(set(units)), Z * Z
    middle = (rate + square / (2 * size)) / (1 + square / size)
    half = Z * math.sqrt(rate * (1 - rate) / size + square / (4 * size * size)) / (1 + square / size)
    return Interval(rate, max(middle - half, 0.0), min(middle + half, 1.0))
