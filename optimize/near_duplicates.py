"""Near-duplicates: texts that are one text with a few words changed, or of which one holds nearly all of the other.

Two texts are near-duplicates by themselves, whatever else is compared: where `NEAR` of their word pairs stand in both
(the Jaccard similarity of their 2-shingles, Broder 1997), or where `CONTAINED` of those of the shorter one stand in the
longer (containment). So are texts that a chain of such pairs connects.

Both bounds were set on 1,012 real claims by looking at the pairs: above them stand claims that are reworded, hold an
injected error, or quote another one; different claims from one template of the sample have .58 at most.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from aisr.base.progress import counted
from aisr.programs.text import alike_words

NEAR = 0.6  # one word in ten may differ
CONTAINED = 0.9
FEWEST_PAIRS = 10  # word pairs of a text that may be part of another one; a shorter one may be so by chance
# What two near-duplicates share of the word pairs of the shorter one, at least.
SHARED_PAIRS = min(2 * NEAR / (1 + NEAR), CONTAINED)
TEXTS_AT_ONCE = 200  # texts that are compared with all others at a time
PAIRS = 10_000  # candidates that are verified at a time

Ints = NDArray[np.int64]


def near_duplicates(texts: Sequence[str]) -> list[int]:
    """Return for each text the number of its group of near-duplicates; a text without a word is a group of its own."""
    normal = [" ".join(alike_words(text)) for text in texts]
    distinct = sorted(set(normal) - {""})
    number = dict(zip(distinct, _groups(_word_pairs(distinct)).tolist(), strict=True))
    return [number.get(text, len(distinct) + k) for k, text in enumerate(normal)]


def components(edges: Ints, size: int) -> Ints:
    """Return the connected component of each of `size` nodes, from 0 in the order of their first nodes. edges: shape
    (edges, 2)."""
    from scipy.sparse.csgraph import connected_components  # brings linear algebra, for which most commands have no use

    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(size, size))
    _, component = connected_components(graph, directed=False)
    return np.asarray(component, dtype=np.int64)


def _word_pairs(texts: Sequence[str]) -> csr_array:
    """Return which word pairs stand in which text, 0 or 1, shape (texts, word pairs); the rarest pairs come first.
    texts: words with one blank between them; a single word is a pair with nothing."""
    numbers: dict[str, int] = {}
    rows = [np.zeros(0, dtype=np.int64)]
    for text in texts:
        words = [numbers.setdefault(word, len(numbers) + 1) for word in text.split(" ")]
        ids = np.array(words if len(words) > 1 else [*words, 0], dtype=np.int64)
        rows.append(np.unique((ids[:-1] << 32) | ids[1:]))
    _, columns, counts = np.unique(np.concatenate(rows), return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    starts = np.cumsum([len(row) for row in rows])
    table = csr_array((np.ones(len(columns), dtype=np.int32), rank[columns], starts), shape=(len(texts), len(counts)))
    table.sort_indices()
    return table


def _groups(table: csr_array) -> Ints:
    """Return the group of each text. table: of `_word_pairs`.

    Texts are compared where the longer one has one of the rarest word pairs of the shorter one: as many as two
    near-duplicates cannot all differ in (prefix filter, Bayardo, Ma & Srikant 2007).
    """
    size = np.diff(table.indptr)
    place = np.arange(table.nnz) - np.repeat(table.indptr[:-1], size)
    is_rare = place < np.repeat(size - np.ceil(SHARED_PAIRS * size - 1e-9) + 1, size)
    starts = np.concatenate([[0], np.cumsum(is_rare)])[table.indptr]
    rarest = csr_array((table.data[is_rare], table.indices[is_rare], starts), shape=table.shape)
    texts_of = table.T.tocsr()
    group = np.arange(table.shape[0])
    starts_at = range(0, len(group), TEXTS_AT_ONCE)
    for start in counted(starts_at, "looking for near-duplicates of texts", len(group), TEXTS_AT_ONCE):
        short, long = (rarest[start : start + TEXTS_AT_ONCE] @ texts_of).nonzero()
        short = short + start
        is_open = (size[short] <= size[long]) & (group[short] != group[long])
        pairs = np.stack([short[is_open], long[is_open]], axis=1)
        near = [pairs[:0]]
        for begin in range(0, len(pairs), PAIRS):
            part = pairs[begin : begin + PAIRS]
            near.append(part[_are_near(table, size, part)])
        group = components(group[np.concatenate(near)], len(group))[group]
    return group


def _are_near(table: csr_array, size: Ints, pairs: Ints) -> NDArray[np.bool_]:
    """Return whether pairs of texts are near-duplicates. pairs: shape (pairs, 2), the shorter text first."""
    short, long = pairs.T
    shared = table[short].multiply(table[long]).sum(axis=1)
    is_part = (size[short] >= FEWEST_PAIRS) & (shared >= CONTAINED * size[short])
    near: NDArray[np.bool_] = is_part | (shared >= NEAR * (size[short] + size[long] - shared))
    return near
