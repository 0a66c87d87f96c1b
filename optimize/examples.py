"""Labelled records as the examples that programs, optimizers and label weights work on.

Beside those of a data folder's splits there may be corrected ones, which count as train where dev and test share
nothing with them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import dspy

from aisr.base.errors import UserError
from aisr.optimize.leakage import Fingerprint, Leak, all_keys, fingerprint, groups, leak
from aisr.programs.base import Judge
from aisr.programs.records import Record, content_digest, read
from aisr.programs.task import Task

Prepare = Callable[[Any], dspy.Example]  # `Judge.prepare`, mostly


class LabeledRecord(NamedTuple):
    """A labelled record, the same as an example, and what it may share with others."""

    record: Record
    example: dspy.Example
    fingerprint: Fingerprint


def examples(rows: Sequence[LabeledRecord]) -> list[dspy.Example]:
    """The examples alone."""
    return [row.example for row in rows]


def read_labeled(task: Task, judge: Judge, path: Path, limit: int | None = None) -> list[LabeledRecord]:
    """The records of a file. Raises UserError where one has no labels or there are none."""
    return prepare_all(task, judge.prepare, islice(read(path, task.record, task.name), limit), path)


def prepare_all(task: Task, prepare: Prepare, records: Iterable[Record], path: Path) -> list[LabeledRecord]:
    """The same for records that were read from a file. Examples of records that share something have the same number
    as their `group`."""
    rows = []
    for record in records:
        rows.append(prepare_one(task, prepare, record))
        if "gold" not in rows[-1].example:  # at once: to prepare the others may cost embeddings
            raise UserError(f"{path}: {record.id} has no labels; a labelled file is needed here")
    if not rows:
        raise UserError(f"{path}: no records")
    for row, group in zip(rows, group_records(rows), strict=True):
        row.example.group = group
    return rows


def prepare_one(task: Task, prepare: Prepare, record: Record) -> LabeledRecord:
    """A record with its example."""
    return LabeledRecord(record, prepare(record), fingerprint(task, record))


def group_records(rows: Sequence[LabeledRecord]) -> list[int]:
    """The group of each record; records of different groups share nothing (see `aisr.optimize.leakage`)."""
    return groups(all_keys([row.fingerprint for row in rows]))


def cross_split_leakage(splits: Mapping[str, Sequence[LabeledRecord]]) -> dict[str, Leak]:
    """What the records of each other split share with those of train."""
    train = splits["train"]
    return {
        name: leak(all_keys([row.fingerprint for row in (*train, *rows)]), range(len(train)))
        for name, rows in splits.items()
        if name != "train"
    }


# --- Corrected records.

OTHER_TEXTS = "its id stands in another record of the splits"


@dataclass(frozen=True)
class Corrected:
    """records: those that count as train; replaced: the ids of the records of train whose place they take; left_out:
    the ids of the others, each with the reason."""

    file: Path
    records: tuple[Record, ...]
    replaced: frozenset[str]
    left_out: Mapping[str, str]

    def merge_into(self, train: Iterable[Record]) -> Iterator[Record]:
        """The records of train that are not replaced, then the corrected ones."""
        return chain((record for record in train if record.id not in self.replaced), self.records)

    def __str__(self) -> str:
        place = f", {len(self.replaced)} of them in the place of train's own" if self.replaced else ""
        out = [f"{key} ({why})" for key, why in self.left_out.items()]
        more = f" and {len(out) - 5} more" if len(out) > 5 else ""
        rest = f"; {len(out)} left out: {', '.join(out[:5])}{more}" if out else ""
        return f"{self.file}: {len(self.records)} corrected records count as train{place}{rest}"


def read_corrected(task: Task, file: Path, splits: Mapping[str, Path]) -> Corrected:
    """The records of a file of corrections that may count as train: those that share nothing with dev and test by
    which one could be known in the other, and whose ids are not those of other records. One that corrects a record of
    train takes its place. Raises UserError where one has no labels, and `BadLine`."""
    records = list(read(file, task.record, task.name))
    unlabeled = next((record.id for record in records if record.gold is None), None)
    if unlabeled is not None:
        raise UserError(f"{file}: {unlabeled} has no labels; expected what `aisr corrections` wrote")
    train = {record.id: content_digest(record) for record in read(splits["train"], task.record, task.name)}
    by_content = {text: key for key, text in train.items()}
    left_out = dict(_shared_with(task, records, {name: path for name, path in splits.items() if name != "train"}))
    for record in records:
        if train.get(record.id, content_digest(record)) != content_digest(record):
            left_out.setdefault(record.id, OTHER_TEXTS)
    kept = tuple(record for record in records if record.id not in left_out)
    replaced = frozenset(by_content[text] for text in map(content_digest, kept) if text in by_content)
    return Corrected(file, kept, replaced, left_out)


def _shared_with(task: Task, records: Sequence[Record], splits: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """The id of each record that shares its id, or anything that splits keep apart, with another split; and what."""
    others = [(name, record) for name, path in splits.items() for record in read(path, task.record, task.name)]
    keys = all_keys([fingerprint(task, record) for record in (*records, *(record for _, record in others))])
    owner: dict[str, str] = {}
    for (name, _), own in zip(others, keys[len(records) :], strict=True):
        for key in own:
            owner.setdefault(key, name)
    ids = {record.id for _, record in others}
    for record, own in zip(records, keys, strict=False):
        shared = min((key for key in own if key in owner), default=None)
        if shared is not None:
            yield record.id, f"{owner[shared]} has its {shared.partition(':')[0]}"
        elif record.id in ids:
            yield record.id, OTHER_TEXTS
