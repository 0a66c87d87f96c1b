"""Dropping the worse candidates early: a race over nested subsets of dev.

After a quarter and half of dev, candidates that a paired bootstrap finds worse than the leader are dropped, and no
others: as long as the records cannot tell two apart, both go on (a race in the sense of Maron & Moore 1994). The first
candidate, the uncompiled program, always runs to the end. Dropping the worse half besides (successive halving) takes 3
to 12 % fewer of the judgements, and dropped the best of dev in 3 to 11 % of the races instead of 0 to 3 %.
`python -m benchmarks.race` measures what the race saves and loses.
"""

from collections.abc import Sequence
from random import Random

from aisr.metrics.confidence import SEED, Group, difference_interval
from aisr.metrics.scores import Scores, value
from aisr.metrics.tally import steadied

RUNGS = (0.25, 0.5)  # an eighth before them saves a third and loses up to 2 points
SMALLEST = 25  # records; on fewer, a ranking score says next to nothing (16.6 points of standard deviation on three)
RESAMPLES = 200


def rungs(records: int) -> list[int]:
    """How many records are judged when candidates are dropped, and at the end: ascending, the last is `records`."""
    return [*(size for share in RUNGS if (size := round(share * records)) >= SMALLEST), records]


def nested(strata: Sequence[str], seed: int = SEED) -> list[int]:
    """The rows in an order of which every beginning is stratified: each stratum is spread evenly over it."""
    draw = Random(seed)
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

    Worse, by scores that do not hang on a label that is hardly there (see `steadied`): the 95 % interval of the paired
    difference from the leader lies below zero.
    """
    contenders = [steadied(one) for one in contenders]
    scores = [value(one) for one in contenders]
    leader = max(range(len(contenders)), key=lambda k: scores[k])
    return [
        k
        for k, one in enumerate(contenders)
        if k == 0 or k == leader or difference_interval(one, contenders[leader], RESAMPLES, group=group).high >= 0
    ]
