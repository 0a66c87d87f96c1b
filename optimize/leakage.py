"""Labelled records as examples, what they share, and the groups that follow from it.

Records that share a key are one group (connected components): a picture, a paper, a claim, an evidence text, the cells
of a table, a caption, or a text that is nearly the same (see `aisr.optimize.near_duplicates`). The task defines the
keys of a record.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from cachetools import LRUCache, cached

from aisr.base.errors import UserError
from aisr.base.files import digest_text
from aisr.base.jsonl import read
from aisr.base.progress import counted
from aisr.optimize.near_duplicates import components, near_duplicates
from aisr.programs.case import Case
from aisr.programs.program import Program
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
        kinds = ", ".join(
            f"{count} a{'n' * (kind[0] in 'aeiou')} {kind}" for kind, count in sorted(self.by_kind.items())
        )
        return f"{self.sharing} of {self.records} records" + (f" ({kinds})" if kinds else "")


def fingerprint(task: Task, record: Any) -> Fingerprint:
    """Return what a record may share with others."""
    long_texts = {_opening(text) for text in task.long_texts(record)}
    return Fingerprint(
        frozenset(task.shared_keys(record)), task.text(record), tuple(sorted(text for text in long_texts if text))
    )


@cached(LRUCache(OPENINGS_KEPT), key=digest_text, lock=Lock())
def _opening(text: str) -> tuple[str, str] | None:
    """Return the words that a long text begins with, and the digest of all its words; None of a short one."""
    words = alike_words(text)
    if len(words) < LONG:
        return None
    return " ".join(words[:OPENING_WORDS]), digest_text(" ".join(words))


def all_keys(rows: Sequence[Fingerprint]) -> list[set[str]]:
    """Return the keys of each record, with one more for each group of near-duplicate claims or evidence that it belongs
    to."""
    keys = [set(row.keys) for row in rows]
    _add_near(
        keys, "near-duplicate claim", [(k, row.claim[:CLAIM_CHARACTERS], row.claim) for k, row in enumerate(rows)]
    )
    _add_near(keys, "near-duplicate evidence", [(k, *text) for k, row in enumerate(rows) for text in row.long_texts])
    return keys


def _add_near(keys: Sequence[set[str]], kind: str, texts: Sequence[tuple[int, str, str]]) -> None:
    """Add a key for each group of texts that are alike but not the same to the records that they belong to. texts: the
    number of the record, the part of the text that is compared, and what is equal for equal texts alone."""
    members: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for (row, _, whole), group in zip(texts, near_duplicates([text for _, text, _ in texts]), strict=True):
        members[group].append((row, whole))
    for group, alike in members.items():
        if len({whole for _, whole in alike}) > 1:
            for row, _ in alike:
                keys[row].add(f"{kind}:{group}")


def groups(keys: Sequence[set[str]]) -> list[int]:
    """Return the number of the group of each record, by the keys of each: the connected components."""
    first: dict[str, int] = {}  # the first record with a key
    edges = [(row, first.setdefault(key, row)) for row, own in enumerate(keys) for key in own]
    return list(map(int, components(np.array(edges, dtype=np.int64).reshape(-1, 2), len(keys))))


def leak(keys: Sequence[set[str]], train: Sequence[int]) -> Leak:
    """Return what the records outside `train` share with those inside."""
    inside = set(train)
    known = {key for row in inside for key in keys[row]}
    return _count([own & known for row, own in enumerate(keys) if row not in inside])


def shared(keys: Sequence[set[str]]) -> Leak:
    """Return what records share with any other."""
    counts = Counter(key for own in keys for key in own)
    return _count([{key for key in own if counts[key] > 1} for own in keys])


def _count(shared_keys: Sequence[set[str]]) -> Leak:
    by_kind = Counter(kind for keys in shared_keys for kind in {key.partition(":")[0] for key in keys})
    return Leak(sum(map(bool, shared_keys)), len(shared_keys), dict(by_kind))


# --- Labelled records

Prepare = Callable[[Any], Case]  # `Program.prepare`, mostly


def read_labeled(task: Task, program: Program, path: Path, limit: int | None = None) -> list[Case]:
    """Return the records of a file as cases. Raises UserError where one has no labels or there are none."""
    records = list(islice(read(path, task.record, task.name), limit))
    return prepare_all(task, program.prepare, records, path, group_records(task, records))


def prepare_all(
    task: Task, prepare: Prepare, records: Iterable[Record], path: Path, group: Sequence[int]
) -> list[Case]:
    """Return records that were read from a file as cases, in order. Raises as `read_labeled`.

    group: that of each record. Records of one group are prepared one after the other, so that what is counted of a
    paper serves all of its claims.
    """
    rows = list(zip(records, group, strict=True))
    if not rows:
        raise UserError(f"{path}: no records")
    if unlabelled := next((record.id for record, _ in rows if record.gold is None), None):
        raise UserError(f"{path}: {unlabelled} has no labels; a labelled file is needed here")
    cases: dict[int, Case] = {}
    by_group = sorted(enumerate(rows), key=lambda row: row[1][1])
    for place, (record, own) in counted(by_group, f"preparing the records of {path.name}"):
        baseline = task.fallback(record) if task.fallback_is_baseline else None
        cases[place] = replace(prepare(record), group=own, baseline=baseline)
    return [cases[place] for place in range(len(rows))]


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
    prints = {
        name: [fingerprint(task, record) for record in counted(records, f"collecting what records of {name} may share")]
        for name, records in splits.items()
    }
    keys = all_keys([one for own in prints.values() for one in own])
    numbers, rows = iter(groups(keys)), iter(keys)
    group = {name: list(islice(numbers, len(own))) for name, own in prints.items()}
    by_split = {name: list(islice(rows, len(own))) for name, own in prints.items()}
    train = by_split["train"]
    others = {name: own for name, own in by_split.items() if name != "train"}
    with_train = {name: leak([*train, *own], range(len(train))) for name, own in others.items()}
    return Leakage(by_split, group, with_train)
