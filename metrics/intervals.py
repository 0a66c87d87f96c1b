"""Intervals of a score: percentile bootstrap over records, or over groups of records.

What is resampled is never less than the record (a paragraph, a claim), since exact match is a property of it and the
sentences of one paragraph are not independent (Efron & Tibshirani 1993, ch. 13; paired differences as in
Koehn 2004, "Statistical significance tests for machine translation evaluation"). Records that rest on one paper or
table are not independent either: where it is known which do, whole groups of them are resampled (Davison & Hinkley
1997, ch. 3.8).

The race drops the worse candidates early, on nested subsets of dev: after a quarter and half of it, candidates that a
paired bootstrap finds worse than the leader are dropped, and no others: as long as the records cannot tell two apart,
both go on (a race in the sense of Maron & Moore 1994). The first candidate, the uncompiled program, always runs to the
end. Dropping the worse half besides (successive halving) takes 3 to 12 % fewer of the judgements, and dropped the best
of dev in 3 to 11 % of the races instead of 0 to 3 %. `python -m benchmarks.race` measures what the race saves and
loses.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from aisr.base.files import FEWEST, with_interval
from aisr.metrics.scores import Floats, Scores, value

RESAMPLES = 1000
SEED = 20260621
Group = Sequence[int]  # the number of each record's group


class Interval(NamedTuple):
    """A value with the ends of its 95 % interval, in 0-1 (differences: -1 to 1)."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return with_interval(*self, records=FEWEST)


class ValueOfFew(Interval):
    """A value on fewer than `FEWEST` records: its ends say nothing of other records, and are not shown."""

    def __str__(self) -> str:
        return with_interval(*self, records=0)


def in_words(gain: Interval, records: int, other: str) -> str:
    """A difference from another program in words."""
    if records < FEWEST:
        return f"{records} records are too few to tell"
    way = "better" if gain.low > 0 else "worse" if gain.high < 0 else "no better and no worse"
    return f"{way} than {other}"


def score_interval(scores: Scores, group: Group | None = None) -> Interval:
    """The ranking score with its 95 % interval; the same in whatever order the records stand. group: of each record,
    where that is known (see `resampled`)."""
    return interval_of(scores.ranking(resampled(scores.rows, group=group)), len(scores))


def difference_interval(
    scores: Scores, baseline: Scores, resamples: int = RESAMPLES, group: Group | None = None
) -> Interval:
    """Ranking score minus that of `baseline` on the same records, resampled together; the same in whatever order the
    records stand. group: as in `score_interval`.

    Raises ValueError where the two do not have the same number of records.
    """
    if len(scores) != len(baseline):
        raise ValueError(f"{len(scores)} records against {len(baseline)}: a paired difference needs the same records")
    weights = resampled(np.column_stack([scores.rows, baseline.rows]), resamples, group)
    return interval_of(scores.ranking(weights) - baseline.ranking(weights), len(scores))


def mean_interval(values: Floats, group: Group) -> Interval:
    """The mean of some values, of which those of one group are not independent: whole groups are resampled.

    Raises ValueError where there are no values.
    """
    if not len(values):
        raise ValueError("no values: nothing has no mean")
    _, place = np.unique(np.asarray(group), return_inverse=True)
    sums, sizes = np.bincount(place, weights=values), np.bincount(place)
    weights = np.ones((RESAMPLES + 1, len(sizes)))
    weights[1:] = np.random.default_rng(SEED).multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), RESAMPLES)
    return interval_of(weights @ sums / (weights @ sizes))


def resampled(rows: Floats, resamples: int = RESAMPLES, group: Group | None = None) -> Floats:
    """How often each record stands in each resample (resamples + 1, records); the first row is the corpus itself.

    group: of each record; those of one group are drawn together, where there are `FEWEST` groups: with fewer that says
    less than drawing records. They are drawn in the order of their groups' sums, so that the order of records in a file
    or a race makes no difference. Raises ValueError where there are no records.
    """
    records = len(rows)
    if not records:
        raise ValueError("no records: an empty corpus has no interval")
    known, place = np.unique(np.arange(records) if group is None else np.asarray(group), return_inverse=True)
    if len(known) < FEWEST:
        known = place = np.arange(records)
    count = len(known)
    sums = np.zeros((count, 1 + rows.shape[1]))
    np.add.at(sums, place, np.column_stack([np.ones(records), rows]))
    drawn = np.empty((resamples, count))
    drawn[:, np.lexsort(sums.T)] = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), resamples)
    return np.concatenate([np.ones((1, records)), drawn[:, place]])


def interval_of(values: Floats, records: int = FEWEST) -> Interval:
    """The first of some values, with the interval that the others span: those of resamples of some records."""
    value = float(values[0])
    low, high = np.percentile(values[1:], [2.5, 97.5])
    # On a handful of records the percentiles can pass the value itself by.
    ends = min(float(low), value), max(float(high), value)
    return Interval(value, *ends) if records >= FEWEST else ValueOfFew(value, *ends)


RUNGS = (0.25, 0.5)  # an eighth before them saves a third and loses up to 2 points
SMALLEST = 25  # records; on fewer, a ranking score says next to nothing (16.6 points of standard deviation on three)
RACE_RESAMPLES = 200


def rungs(records: int) -> list[int]:
    """How many records are judged when candidates are dropped, and at the end: ascending, the last is `records`."""
    return [*(size for share in RUNGS if (size := round(share * records)) >= SMALLEST), records]


def nested(strata: Sequence[str]) -> list[int]:
    """The rows in an order of which every beginning is stratified: each stratum is spread evenly over it."""
    draw = Random(SEED)
    rows_of: dict[str, list[int]] = {}
    for row, stratum in enumerate(strata):
        rows_of.setdefault(stratum, []).append(row)
    places = []
    for rows in rows_of.values():
        shift = draw.random()
        shuffled = draw.sample(rows, len(rows))
        places += [((k + shift) / len(rows), row) for k, row in enumerate(shuffled)]
    return [row for _, row in sorted(places)]


def survivors(contenders: Sequence[Scores], group: Group | None = None) -> list[int]:
    """Which candidates go on, ascending; all on the same records, the first is the uncompiled program's. group: of each
    record, where that is known.

    Worse, by smoothed scores (see `aisr.metrics.scores.Tally.smoothed`): the 95 % interval of the paired difference
    from the leader lies below zero.
    """
    contenders = [one.smoothed() for one in contenders]
    scores = [value(one) for one in contenders]
    leader = max(range(len(contenders)), key=lambda k: scores[k])
    return [
        k
        for k, one in enumerate(contenders)
        if k == 0 or k == leader or difference_interval(one, contenders[leader], RACE_RESAMPLES, group=group).high >= 0
    ]
