"""Labelled records, read as the examples that programs, optimizers and the decision layer work on.

Corrected records beside a data folder's splits: they count as train, as far as dev and test know nothing of them.

Labelled records as chat-format training examples, for providers that tune models.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import dspy

from aisr.base.files import replacing
from aisr.optimize.leakage import Common, Leak, all_keys, common, groups, leak
from aisr.programs.base import Judge
from aisr.programs.errors import UserError
from aisr.programs.probabilities import confidence_of
from aisr.programs.records import Record, read
from aisr.programs.task import Task


class Prepares(Protocol):
    """What makes an example of a record: a program, mostly."""

    def prepare(self, record: Record) -> dspy.Example:
        """The record as the example that the program is called with."""


class Labelled(NamedTuple):
    """A labelled record, and as an example; what it may have in common with others."""

    record: Record
    example: dspy.Example
    common: Common


def examples(rows: Sequence[Labelled]) -> list[dspy.Example]:
    """The examples alone."""
    return [row.example for row in rows]


def labelled(task: Task, program: Prepares, path: Path, limit: int | None = None) -> list[Labelled]:
    """The records of a file. Raises UserError where one has no labels or there are none."""
    return rows_of(task, program, islice(read(path, task.record, task.name), limit), path)


def rows_of(task: Task, program: Prepares, records: Iterable[Record], path: Path) -> list[Labelled]:
    """The same for records that were read from a file. Their examples say which of them share something: `group`, a
    number."""
    rows = [_labelled(task, program, record, path) for record in records]
    if not rows:
        raise UserError(f"{path}: no records")
    for row, group in zip(rows, groups(all_keys([row.common for row in rows])), strict=True):
        row.example.group = group
    return rows


def row_of(task: Task, program: Prepares, record: Record) -> Labelled:
    """A record as the example that a program is called with."""
    return Labelled(record, program.prepare(record), common(task, record))


def _labelled(task: Task, program: Prepares, record: Record, path: Path) -> Labelled:
    row = row_of(task, program, record)
    if "gold" not in row.example:
        raise UserError(f"{path}: {record.id} has no labels; a labelled file is needed here")
    return row


def grouped(rows: Sequence[Labelled]) -> list[int]:
    """The group of each record: what no two of them share, `aisr.optimize.leakage` says."""
    return groups(all_keys([row.common for row in rows]))


def across(rows: Mapping[str, Sequence[Labelled]]) -> dict[str, Leak]:
    """What the records of each other split share with those of train."""
    train = rows["train"]
    return {
        name: leak(all_keys([row.common for row in (*train, *found)]), range(len(train)))
        for name, found in rows.items()
        if name != "train"
    }


OTHER_TEXTS = "its id stands in another record of the splits"


@dataclass(frozen=True)
class Corrected:
    """records: those that count as train; replaced: the ids of records of train that they take the place of; left_out:
    the ids of the others, each with the reason."""

    file: Path
    records: tuple[Record, ...]
    replaced: frozenset[str]
    left_out: Mapping[str, str]

    def within(self, train: Iterable[Record]) -> Iterator[Record]:
        """Train with them: those that are replaced left out, and the corrected ones behind the others."""
        return chain((one for one in train if one.id not in self.replaced), self.records)

    def __str__(self) -> str:
        place = f", {len(self.replaced)} of them in the place of train's own" if self.replaced else ""
        out = [f"{key} ({why})" for key, why in self.left_out.items()]
        more = f" and {len(out) - 5} more" if len(out) > 5 else ""
        rest = f"; {len(out)} left out: {', '.join(out[:5])}{more}" if out else ""
        return f"{self.file}: {len(self.records)} corrected records count as train{place}{rest}"


def corrected(task: Task, file: Path, splits: Mapping[str, Path]) -> Corrected:
    """The records of a file of corrections that may count as train: those that share nothing with dev and test by
    which one could be known in the other, and whose ids are not those of other records. One that corrects a record of
    train takes its place. Raises UserError where one has no labels, and `BadLine`."""
    found = list(read(file, task.record, task.name))
    without = next((one.id for one in found if one.gold is None), None)
    if without is not None:
        raise UserError(f"{file}: {without} has no labels; expected what `aisr corrections` wrote")
    content = task.correctable.content if task.correctable else lambda record: record.id
    train = {one.id: content(one) for one in read(splits["train"], task.record, task.name)}
    by_content = {text: key for key, text in train.items()}
    held = [
        (name, one.id, common(task, one))
        for name, path in splits.items()
        if name != "train"
        for one in read(path, task.record, task.name)
    ]
    left_out = dict(_shared(task, found, held))
    for one in found:
        if train.get(one.id, content(one)) != content(one):
            left_out.setdefault(one.id, OTHER_TEXTS)
    kept = tuple(one for one in found if one.id not in left_out)
    replaced = frozenset(by_content[text] for text in map(content, kept) if text in by_content)
    return Corrected(file, kept, replaced, left_out)


def _shared(task: Task, found: list[Record], held: list[tuple[str, str, Common]]) -> Iterator[tuple[str, str]]:
    """Each record that shares its id, or anything that splits keep apart, with another split; and what."""
    keys = all_keys([*(common(task, one) for one in found), *(row for _, _, row in held)])
    owner: dict[str, str] = {}
    for (name, _, _), own in zip(held, keys[len(found) :], strict=True):
        for key in own:
            owner.setdefault(key, name)
    names = {key: name for name, key, _ in held}
    for one, own in zip(found, keys, strict=False):
        shared = min((key for key in own if key in owner), default=None)
        if shared is not None:
            yield one.id, f"{owner[shared]} has its {shared.partition(':')[0]}"
        elif one.id in names:
            yield one.id, OTHER_TEXTS


def chats(program: Judge, examples: Iterable[dspy.Example], adapter: dspy.Adapter) -> Iterator[dict[str, Any]]:
    """One conversation for each call that the program makes for a labelled example: `{"messages": [system, user,
    assistant]}`, the assistant giving the right answer.

    The prompts are the program's own, word for word, but for its demos: a tuned model has learnt what they show, so it
    goes with the same program without them. Raises UserError for one that asks other questions first.
    """
    if len(program.predictors()) > 1:
        raise UserError("--program asks other questions before it judges; export one that reads captions or OCR only")
    signature = program.judging.signature
    for example in examples:
        for row in program.demo_rows(example):
            messages = adapter.format(signature, [], {name: row[name] for name in signature.input_fields})
            fields = signature.output_fields
            # Of a labelled record nobody knows how likely its label is: an empty field makes it a vote.
            outputs = {name: row[name] if name in row else confidence_of(row, fields, [""]) for name in fields}
            answer = adapter.format_assistant_message_content(signature, outputs)
            yield {"messages": [*messages, {"role": "assistant", "content": answer}]}


def write(out: Path, conversations: Iterable[dict[str, Any]]) -> int:
    """Write conversations into a file, one a line; how many there were. Raises `CannotWrite`."""
    count = 0
    with replacing(out) as file:
        for conversation in conversations:
            file.write(json.dumps(conversation, ensure_ascii=False).encode() + b"\n")
            count += 1
    return count
