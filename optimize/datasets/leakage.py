"""What records have in common, and the groups that this makes of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

# Cosine of TF-IDF words and word pairs from which two claims are one claim reworded. On the sample, claims of different
# papers from the same template reach .75, and one claim with a planted edit has .8 and more.
NEAR = 0.8
CHUNK = 1000  # rows compared at a time: 1,000 x 20,000 claims fit into memory easily


class Leak(NamedTuple):
    """How many records of dev and test share something with train, by what it is ("picture", "paper", "claim",
    "near-duplicate claim"), and how many there are in dev and test."""

    by_kind: dict[str, int]
    any_kind: int
    records: int


def near_duplicates(claims: Sequence[str], threshold: float = NEAR) -> Iterator[tuple[int, int]]:
    """Pairs (i, j), i < j, of claims whose cosine is at least `threshold`."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # over a second; most commands have no use for it

    try:
        rows = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\w+").fit_transform(claims)
    except ValueError:  # no word in any claim
        return
    for start in range(0, len(claims), CHUNK):
        close = (rows[start : start + CHUNK] @ rows.T).tocoo()
        for i, j, cosine in zip(close.row + start, close.col, close.data, strict=True):
            if i < j and cosine >= threshold:
                yield int(i), int(j)


def with_near_duplicates(keys: Sequence[set[str]], claims: Sequence[str]) -> list[set[str]]:
    """The keys, and one more for each pair of near-duplicate claims, in both records."""
    wider = [set(own) for own in keys]
    for i, j in near_duplicates(claims):
        wider[i].add(f"near-duplicate claim:{i}~{j}")
        wider[j].add(f"near-duplicate claim:{i}~{j}")
    return wider


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
    by_kind: Counter[str] = Counter()
    leaking = 0
    for row, own in enumerate(keys):
        if row not in inside:
            kinds = {key.partition(":")[0] for key in own & seen}
            by_kind.update(kinds)
            leaking += bool(kinds)
    return Leak(dict(by_kind), leaking, len(keys) - len(inside))
