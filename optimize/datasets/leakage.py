"""What records have in common, and the groups that this makes of them.

Records that share a key are one group (connected components): a picture, a paper, a claim, an evidence text, the cells
of a table, a caption, or a text that is nearly the same. What keys a record has, its task says.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from aisr.base.files import digest_text
from aisr.optimize.datasets.near_duplicates import near_duplicates
from aisr.programs.task import Task
from aisr.programs.text.compare import spaced

RULE = (
    "claim, picture, paper, evidence text, table, caption; near-duplicates of claims and of long evidence; "
    "all but for what is not seen, compatibility forms and look-alikes"
)
LONG = 40  # words; shorter evidence may be alike by chance, and is held against other evidence as a whole
OPENING = 400  # words of a long text that are compared: two readings of one paper begin alike
CLAIM = 10_000  # characters of a claim that are compared


class Long(NamedTuple):
    """The words that a long text begins with, and the digest of all of its words."""

    opening: str
    digest: str


class Common(NamedTuple):
    """What a record may have in common with others: keys, "kind:value" each (see `Task.shares`); its claim, and the
    long texts that it rests on, of which near-duplicates are found."""

    keys: frozenset[str]
    claim: str
    long_texts: tuple[Long, ...] = ()


class Leak(NamedTuple):
    """How many records of dev and test share something with train, by what it is ("picture", "paper", "claim",
    "near-duplicate claim"), and how many there are in dev and test."""

    by_kind: dict[str, int]
    any_kind: int
    records: int

    def __str__(self) -> str:
        kinds = ", ".join(
            f"{count} a{'n' * (kind[0] in 'aeiou')} {kind}" for kind, count in sorted(self.by_kind.items())
        )
        return f"{self.any_kind} of {self.records} records" + (f" ({kinds})" if kinds else "")


def common(task: Task, record: Any) -> Common:
    """What a record may have in common with others."""
    texts = {found for text in task.rests_on(record) if (found := _long(text))}
    return Common(frozenset(task.shares(record)), task.text(record), tuple(sorted(texts)))


def all_keys(rows: Sequence[Common]) -> list[set[str]]:
    """The keys of each record, and one more for each group of near-duplicate claims or evidence that it belongs to."""
    keys = [set(row.keys) for row in rows]
    _add(keys, "near-duplicate claim", [(place, row.claim[:CLAIM], row.claim) for place, row in enumerate(rows)])
    texts = [(place, *text) for place, row in enumerate(rows) for text in row.long_texts]
    _add(keys, "near-duplicate evidence", texts)
    return keys


def groups(keys: Sequence[set[str]]) -> list[int]:
    """The number of the group of each record, given what each shares: the connected components."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    columns = {key: k for k, key in enumerate(dict.fromkeys(key for own in keys for key in sorted(own)))}
    rows, cols = [], []
    for row, own in enumerate(keys):
        for key in own:
            rows.append(row)
            cols.append(len(keys) + columns[key])
    size = len(keys) + len(columns)
    graph = coo_array((np.ones(len(rows)), (rows, cols)), shape=(size, size))
    _, component = connected_components(graph, directed=False)
    return [int(number) for number in component[: len(keys)]]


def leak(keys: Sequence[set[str]], train: Sequence[int]) -> Leak:
    """What the records outside `train` share with those inside."""
    inside = set(train)
    seen = {key for row in inside for key in keys[row]}
    return _counted([own & seen for row, own in enumerate(keys) if row not in inside])


def shared(keys: Sequence[set[str]]) -> Leak:
    """What records share with any other."""
    having = Counter(key for own in keys for key in own)
    return _counted([{key for key in own if having[key] > 1} for own in keys])


def _counted(found: Sequence[set[str]]) -> Leak:
    by_kind = Counter(kind for keys in found for kind in {key.partition(":")[0] for key in keys})
    return Leak(dict(by_kind), sum(map(bool, found)), len(found))


def _long(text: str) -> Long | None:
    """A long text; None for a short one."""
    found = spaced(text)
    opening = found.split(" ", OPENING)[:OPENING]
    return Long(" ".join(opening), digest_text(found)) if len(opening) >= LONG else None


def _add(keys: Sequence[set[str]], kind: str, texts: Sequence[tuple[int, str, str]]) -> None:
    """A key for each group of texts that are alike but not the same, for the rows that they belong to: (row, what is
    compared of the text, what tells whether two are the same)."""
    members: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for (place, _, same), group in zip(texts, near_duplicates([text for _, text, _ in texts]), strict=True):
        members[group].append((place, same))
    for group, found in members.items():
        if len({same for _, same in found}) > 1:
            for place, _ in found:
                keys[place].add(f"{kind}:{group}")
