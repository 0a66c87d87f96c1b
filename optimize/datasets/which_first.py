"""Which records a person should label first, where a program has judged them and somebody has time for a few.

Those that the program is least sure of: they hold its errors, half again to three times as many as drawn ones. But not
all of one kind: one record of each group before a second of any (a group shares a paper, a picture or a claim), and no
predicted label more than its share. Records chosen so are harder than others, and no sample to measure on.
"""

import random
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from aisr.tasks.task import Task

SHARE = 0.5  # of the records so far that one predicted label may have, as long as there are others


class Queued(NamedTuple):
    """What the order goes by. sure: how sure the program is of the record, in 0-1, None where that is not known (a
    single vote, a failure); label: what it said that is not as it should be, "" for nothing; group: of records that
    share something."""

    sure: float | None
    label: str
    group: int


def queued(task: Task, said: Sequence[str], sure: float | None, group: int) -> Queued:
    """A record with the labels that a program said of its statements; none for a failure."""
    neutral = task.judgements.neutral if task.judgements else ""
    return Queued(sure, next((one for one in said if one != neutral), ""), group)


def which_first(rows: Sequence[Queued], seed: int = 0) -> list[int]:
    """The places of the records in the order in which to label them. Of equals, and where nothing is known, the order
    is drawn; what alone is not known counts as the middle of what is."""
    known = [row.sure for row in rows if row.sure is not None]
    middle = median(known) if known else 0.0
    places = list(range(len(rows)))
    random.Random(seed).shuffle(places)
    places.sort(key=lambda k: middle if (sure := rows[k].sure) is None else sure)
    taken: Counter[int] = Counter()
    turn = {}
    for k in places:
        turn[k] = taken[rows[k].group]
        taken[rows[k].group] += 1
    places.sort(key=turn.__getitem__)
    return _mixed(places, [row.label for row in rows])


def _mixed(places: Sequence[int], labels: Sequence[str]) -> list[int]:
    """The places in their order, but that a label with more than `SHARE` of those so far waits for the others."""
    waiting: dict[str, deque[tuple[int, int]]] = defaultdict(deque)
    for rank, k in enumerate(places):
        waiting[labels[k]].append((rank, k))
    counts: Counter[str] = Counter()
    order: list[int] = []
    while waiting:
        most = max(1.0, SHARE * (len(order) + 1))
        free = [label for label in waiting if counts[label] < most] or list(waiting)
        label = min(free, key=lambda one: waiting[one][0])
        order.append(waiting[label].popleft()[1])
        counts[label] += 1
        if not waiting[label]:
            del waiting[label]
    return order
