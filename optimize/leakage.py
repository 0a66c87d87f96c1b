"""What records have in common, and the groups that this makes of them.

Records that share a key are one group (connected components): a picture, a paper, a claim, an evidence text, the cells
of a table, a caption, or a text that is nearly the same. What keys a record has, its task says.

Texts that are nearly the same, found without comparing each with each.

Two texts are near-duplicates where the cosine of their TF-IDF words and word pairs is at least `NEAR`, and so is one
that a chain of such pairs leads to. Only texts that share a word or pair of their rarest are compared (prefix filter,
Bayardo et al. 2007: two whose commonest words alone agree cannot reach the cosine), and of those that share it only the
`WINDOW` next to each other in alphabetical order, as in merging lists of addresses (Hernández and Stolfo 1995): the
work grows with the number of texts, not with its square.

Which records share something, and that none is shown the demo of another one that it shares something with.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.base.files import digest_text
from aisr.programs.task import Task
from aisr.programs.text import alike_words, spaced

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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
