"""The race: the worse candidates are dropped early, on nested subsets of dev.

After a quarter and half of dev, candidates that a paired bootstrap finds worse than the leader are dropped, and no
others: as long as the records cannot tell two apart, both go on (a race in the sense of Maron & Moore 1994). The first
candidate, the uncompiled program, always runs to the end. Dropping the worse half besides (successive halving) takes 3
to 12 % fewer of the judgements, and dropped the best of dev in 3 to 11 % of the races instead of 0 to 3 %. `python -m
benchmarks.race` measures what the race saves and loses.

What is resampled is never less than the record (a paragraph, a claim), since exact match is a property of it and the
sentences of one paragraph are not independent (Efron & Tibshirani 1993, ch. 13; paired differences as in
Koehn 2004, "Statistical significance tests for machine translation evaluation"). Where it is known which records share
a paper or table, whole groups of them are resampled (Davison & Hinkley 1997, ch. 3.8).
"""

from collections.abc import Sequence
from random import Random

import numpy as np

from aisr.metrics.intervals import Group
from aisr.metrics.scores import Floats, Scores, value

RUNGS = (0.25, 0.5)  # an eighth before them saves a third and loses up to 2 points
SMALLEST = 25  # records; on fewer, a ranking score says next to nothing (16.6 points of standard deviation on three)
RESAMPLES = 200
FEWEST = 10  # groups of which some are drawn; with fewer no candidate is dropped
SEED = 20260621


def rungs(records: int) -> list[int]:
    """Return how many records are judged when candidates are dropped, ascending, and at last all of them."""
    sizes = [round(share * records) for share in RUNGS]
    return [*(size for size in sizes if size >= SMALLEST), records]


def nested(strata: Sequence[str]) -> list[int]:
    """Return the rows in an order of which every beginning is stratified: each stratum is spread evenly over it."""
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
    """Return which candidates go on, ascending; all on the same records, the first is the uncompiled program's. group:
    of each record, where that is known.

    A candidate is dropped where the leader has the higher smoothed score (see `aisr.metrics.scores.Tally.smoothed`) in
    97.5 % of 200 resamples, drawn for both alike. Where there are too few groups, none is.
    """
    if group is not None and len({*group}) < FEWEST:
        return list(range(len(contenders)))
    contenders = [one.smoothed() for one in contenders]
    scores = [value(one) for one in contenders]
    leader = scores.index(max(scores))
    kept = []
    for k, one in enumerate(contenders):
        if k in (0, leader) or _highest_difference(one, contenders[leader], group) >= 0:
            kept.append(k)
    return kept


def _highest_difference(scores: Scores, leader: Scores, group: Group | None) -> float:
    """Return the upper end of the 95 % percentile interval of a paired difference."""
    weights = _resampled(np.column_stack([scores.rows, leader.rows]), group)
    differences = scores.ranking(weights) - leader.ranking(weights)
    return max(float(differences[0]), float(np.percentile(differences[1:], 97.5)))


def _resampled(rows: Floats, group: Group | None) -> Floats:
    """Return how often each record stands in each resample (`RESAMPLES` + 1, records); the first row is the corpus
    itself.

    group: of each record; those of one group are drawn together. They are drawn in the order of their groups' sums, so
    that the order of records in a file or a race makes no difference.
    """
    records = len(rows)
    units = np.arange(records) if group is None else np.asarray(group)
    known, place = np.unique(units, return_inverse=True)
    count = len(known)
    sums = np.zeros((count, 1 + rows.shape[1]))
    np.add.at(sums, place, np.column_stack([np.ones(records), rows]))
    draw = np.random.default_rng(SEED)
    drawn = np.empty((RESAMPLES, count))
    drawn[:, np.lexsort(sums.T)] = draw.multinomial(count, np.full(count, 1 / count), RESAMPLES)
    return np.concatenate([np.ones((1, records)), drawn[:, place]])
