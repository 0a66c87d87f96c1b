"""Labelled records as examples, what they share, and the groups that follow from it.

Records that share a key are one group (connected components): a picture, a paper, a claim, an evidence text, the cells
of a table, a caption, or a text that is nearly the same (see `aisr.optimize.near_duplicates`). The task defines the
keys of a record.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from cachetools import LRUCache, cached

from aisr.base.errors import UserError
from aisr.base.files import digest_text
from aisr.base.progress import counted
from aisr.optimize.near_duplicates import components, near_duplicates
from aisr.programs.case import Case
from aisr.programs.records import Record
from aisr.programs.task import Task
from aisr.programs.text import alike_words

LEAKAGE_RULE = (
    "claim, picture, paper, evidence text, table, caption; near-duplicates of claims and of long evidence; "
    "all but for what is not seen, and compatibility forms"
)
LONG = 40  # words; shorter evidence may be alike by chance and is compared as a whole
OPENING_WORDS = 400  # words of a long text that are compared: two readings of one paper begin alike
OPENINGS_KEPT = 4096  # texts whose openings are kept by their digests: many claims cite the same paper
CLAIM_CHARACTERS = 10_000  # characters of a claim that are compared


class Fingerprint(NamedTuple):
    """What a record may share with others. Of its claim and of long texts near-duplicates are searched."""

    keys: frozenset[str]  # "kind:value" each, see `Task.shared_keys`
    claim: str
    long_texts: tuple[tuple[str, str], ...]  # the words that a text begins with, and the digest of all its words


class Leak(NamedTuple):
    """How many of some records share something, in all and by kind ("picture", "paper", "near-duplicate claim")."""

    sharing: int
    records: int
    by_kind: dict[str, int]

    def __str__(self) -> str:
        counts = f"{self.sharing} of {self.records} records"
        kinds = []
        for kind, count in sorted(self.by_kind.items()):
            article = "an" if kind[0] in "aeiou" else "a"
            kinds.append(f"{count} {article} {kind}")
        return f"{counts} ({', '.join(kinds)})" if kinds else counts


def fingerprint(task: Task, record: Any) -> Fingerprint:
    """Return what a record may share with others."""
    openings = {_opening(text) for text in task.long_texts(record)}
    long_texts = sorted(opening for opening in openings if opening is not None)
    return Fingerprint(frozenset(task.shared_keys(record)), task.text(record), tuple(long_texts))


@cached(LRUCache(OPENINGS_KEPT), key=digest_text, lock=Lock())
def _opening(text: str) -> tuple[str, str] | None:
    """Return the words that a long text begins with, and the digest of all its words; None of a short one."""
    words = alike_words(text)
    if len(words) < LONG:
        return None
    return " ".join(words[:OPENING_WORDS]), digest_text(" ".join(words))


def all_keys(rows: Sequence[Fingerprint]) -> list[set[str]]:
    """Return the keys of each record, with one more for each group of near-duplicates that it belongs to."""
    keys = [set(row.keys) for row in rows]
    claims = [_Text(k, row.claim[:CLAIM_CHARACTERS], row.claim) for k, row in enumerate(rows)]
    _add_near(keys, "near-duplicate claim", claims)
    evidence: list[_Text] = []
    for k, row in enumerate(rows):
        evidence += [_Text(k, opening, digest) for opening, digest in row.long_texts]
    _add_near(keys, "near-duplicate evidence", evidence)
    return keys


class _Text(NamedTuple):
    record: int  # its place
    compared: str  # the part that is compared
    whole: str  # it, or its digest


def _add_near(keys: Sequence[set[str]], kind: str, texts: Sequence[_Text]) -> None:
    """Add a key for each group of texts that are alike but not the same to the records that they belong to."""
    group = near_duplicates([text.compared for text in texts])
    distinct = defaultdict[int, set[str]](set)  # the texts of each group
    for text, number in zip(texts, group, strict=True):
        distinct[number].add(text.whole)
    for text, number in zip(texts, group, strict=True):
        if len(distinct[number]) > 1:
            keys[text.record].add(f"{kind}:{number}")


def groups(keys: Sequence[set[str]]) -> list[int]:
    """Return the number of the group of each record, by the keys of each: the connected components."""
    first: dict[str, int] = {}  # the first record with a key
    edges = []
    for row, own in enumerate(keys):
        edges += [(row, first.setdefault(key, row)) for key in own]
    numbers: list[int] = components(np.array(edges, dtype=np.int64).reshape(-1, 2), len(keys)).tolist()
    return numbers


def leak(keys: Sequence[set[str]], train: Sequence[int]) -> Leak:
    """Return what the records outside `train` share with those inside."""
    inside = set(train)
    known = set[str]().union(*(keys[row] for row in inside))
    return _count([own & known for row, own in enumerate(keys) if row not in inside])


def shared(keys: Sequence[set[str]]) -> Leak:
    """Return what records share with any other."""
    counts = Counter(chain.from_iterable(keys))
    return _count([{key for key in own if counts[key] > 1} for own in keys])


def _count(shared_keys: Sequence[set[str]]) -> Leak:
    by_kind = Counter[str]()
    for keys in shared_keys:
        by_kind.update({key.partition(":")[0] for key in keys})
    return Leak(sum(map(bool, shared_keys)), len(shared_keys), dict(by_kind))


# --- Labelled records

Prepare = Callable[[Any], Case]  # `Program.prepare`, mostly


def prepare_all(
    task: Task, prepare: Prepare, records: Sequence[Record], path: Path, group: Sequence[int]
) -> list[Case]:
    """Return records that were read from a file as cases, in order. Raises UserError where one has no labels or there
    are none. group: that of each record; those of one are prepared one after the other, so that what is counted of a
    paper serves all of its claims."""
    if not records:
        raise UserError(f"{path}: no records")
    for record in records:
        if record.gold is None:
            raise UserError(f"{path}: {record.id} has no labels; a labelled file is needed here")
    cases: dict[int, Case] = {}
    by_group = sorted(range(len(records)), key=lambda place: group[place])
    for place in counted(by_group, f"preparing the records of {path.name}"):
        record = records[place]
        baseline = task.fallback(record) if task.fallback_is_baseline else None
        cases[place] = replace(prepare(record), group=group[place], baseline=baseline)
    return [cases[place] for place in range(len(records))]


def keys_of(task: Task, records: Iterable[Record]) -> list[set[str]]:
    """Return the keys of each record (see `all_keys`)."""
    return all_keys([fingerprint(task, record) for record in counted(records, "collecting what records may share")])


def group_records(task: Task, records: Iterable[Record]) -> list[int]:
    """Return the group of each record; records of different groups share nothing."""
    return groups(keys_of(task, records))


class Leakage(NamedTuple):
    """What the records of all splits share. Groups are numbered over all of them."""

    keys: dict[str, list[set[str]]]  # of each record of each split, see `all_keys`
    group: dict[str, list[int]]
    with_train: dict[str, Leak]  # what the records of each other split share with those of train


def cross_split_leakage(task: Task, splits: Mapping[str, Iterable[Record]]) -> Leakage:
    """Return what the records of splits share, all compared together, as `aisr split` does."""
    rows: list[Fingerprint] = []
    places: dict[str, slice] = {}  # of each split among all records
    for name, records in splits.items():
        start = len(rows)
        rows += [fingerprint(task, one) for one in counted(records, f"collecting what records of {name} may share")]
        places[name] = slice(start, len(rows))
    keys = all_keys(rows)
    group = groups(keys)
    train = keys[places["train"]]
    result = Leakage({}, {}, {})
    for name, place in places.items():
        result.keys[name] = keys[place]
        result.group[name] = group[place]
        if name != "train":
            result.with_train[name] = leak([*train, *keys[place]], range(len(train)))
    return result
