"""Texts that are nearly the same, found without comparing each with each.

Two texts are near-duplicates where the cosine of their TF-IDF words and word pairs is at least `NEAR`, and so is one
that a chain of such pairs leads to. Only texts that share a word or pair of their rarest are compared (prefix filter,
Bayardo et al. 2007: two whose commonest words alone agree cannot reach the cosine), and of those that share it only the
`WINDOW` next to each other in alphabetical order, as in merging lists of addresses (Hernández and Stolfo 1995): the
work grows with the number of texts, not with its square.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aisr.programs.text import alike_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Cosine from which two claims are one claim reworded. On the sample, claims of different papers from the same template
# reach .75, and one claim with a planted edit has .8 and more.
NEAR = 0.8
WINDOW = 100  # texts on either side; up to so many with a rare word in common are all compared
PAIRS = 20_000  # compared at a time: some 50 MB

Ints = NDArray[np.int64]


def near_duplicates(texts: Sequence[str], near: float = NEAR) -> list[int]:
    """For each text the number of its group of near-duplicates, of those without a word one of its own each."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # over a second; most commands have no use for it

    normal = [" ".join(alike_words(text)) for text in texts]
    known = sorted(set(normal) - {""})
    if not known:
        return list(range(len(texts)))
    rows = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\w+", lowercase=False).fit_transform(known)
    group = _joined(rows, near)
    number = dict(zip(known, group.tolist(), strict=True))
    return [number.get(text, len(known) + place) for place, text in enumerate(normal)]


def _joined(rows: "csr_array", near: float) -> Ints:
    """The group of each row, rows being of length 1 and in alphabetical order of what they stand for."""
    group = np.arange(rows.shape[0], dtype=np.int64)
    having = _prefixes(rows, near)
    column, place = having[0], having[1]
    for step in range(1, WINDOW + 1):
        together = np.flatnonzero(column[step:] == column[:-step])
        if not len(together):
            break
        pairs = np.stack([place[together], place[together + step]], axis=1)
        pairs = np.unique(pairs[group[pairs[:, 0]] != group[pairs[:, 1]]], axis=0)
        group = _united(group, pairs[_cosines(rows, pairs) >= near])
    return group


def _prefixes(rows: "csr_array", near: float) -> tuple[Ints, Ints]:
    """The rarest words of each row, so many that what is left is shorter than `near`: as (word, row), by word."""
    counts = np.bincount(rows.indices, minlength=rows.shape[1])
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((rows.indices, -counts[rows.indices], owner))  # in each row the commonest first
    words, owner, squares = rows.indices[order], owner[order], rows.data[order] ** 2
    summed = np.cumsum(squares)
    before = np.concatenate([[0.0], summed])[rows.indptr[:-1]]
    rare = (summed - before[owner] >= near**2 - 1e-9) & (counts[words] > 1)
    by_word = np.lexsort((owner[rare], words[rare]))
    return words[rare][by_word], owner[rare][by_word]


def _cosines(rows: "csr_array", pairs: Ints) -> NDArray[np.float64]:
    found = [np.empty(0)]
    for start in range(0, len(pairs), PAIRS):
        one, other = pairs[start : start + PAIRS].T
        found.append(np.asarray(rows[one].multiply(rows[other]).sum(axis=1)).ravel())
    return np.concatenate(found)


def _united(group: Ints, pairs: Ints) -> Ints:
    """The groups, those of each pair of rows being one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(pairs):
        return group
    edges = (np.ones(len(pairs)), (group[pairs[:, 0]], group[pairs[:, 1]]))
    _, joined = connected_components(coo_array(edges, shape=(len(group), len(group))), directed=False)
    return np.asarray(joined, dtype=np.int64)[group]
