"""Corrections as labelled records in a task's own format, and beside them who said what, and when."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from aisr.corrections.corrections import Found
from aisr.programs.errors import UserError
from aisr.programs.records import Record, explain
from aisr.programs.task import Correctable, Said, Task

# --- What several people say of one statement, settled: the last word of each, and what they agree on.

TOLD = 10  # of those who differ


class Settled(NamedTuple):
    """said: None where people differ; by: the corrections that say so, or those that differ."""

    said: Said | None
    by: tuple[Found, ...]

    def __str__(self) -> str:
        voices = [f"{one.correction.who}: {one.correction.label} ({one.place})" for one in self.by[:TOLD]]
        more = [f"and {len(self.by) - TOLD} more"] if len(self.by) > TOLD else []
        first = self.by[0].correction
        return f"{first.record_id}, statement {first.statement}: {', '.join(voices + more)}"


def settled(found: Sequence[Found], order: Sequence[str], majority: bool) -> Settled:
    """What holds of one statement. Of each person the latest correction counts; where their labels differ, none does,
    unless `majority` and more than half of the people gave it. Who agrees on the label may name different evidence: all
    of it counts, in the `order` of the record's ids."""
    last: dict[str, tuple[int, Found]] = {}
    for place, one in sorted(enumerate(found), key=lambda pair: pair[1].correction.when):
        last[one.correction.who] = (place, one)
    voices = [one for _, one in sorted(last.values(), key=lambda pair: pair[0])]
    label, count = Counter(str(one.correction.label) for one in voices).most_common(1)[0]
    if count < len(voices) and not (majority and 2 * count > len(voices)):
        return Settled(None, tuple(voices))
    agreed = tuple(one for one in voices if one.correction.label == label)
    named = {key for one in agreed for key in one.correction.evidence}
    return Settled(Said(label, tuple(key for key in order if key in named)), agreed)


RECORDS, PROVENANCE = "corrections.jsonl", "corrections-provenance.jsonl"


class Rejected(Exception):
    """A correction that fits no record, and why."""


@dataclass
class Labelled:
    """records: each with the corrections of its statements; provenance: an object for each of these; conflicts: where
    people differ, which is not among them; rejected: what fits no record, with its place; elsewhere: how many
    corrections are of each other task."""

    records: list[Record] = field(default_factory=list)
    provenance: list[dict[str, Any]] = field(default_factory=list)
    conflicts: list[Settled] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    elsewhere: dict[str, int] = field(default_factory=dict)


def labelled(task: Task, found: Sequence[Found], known: Mapping[str, Record], majority: bool = False) -> Labelled:
    """The labelled records that corrections of a task make. known: records by their ids, for corrections that do not
    bring their own; their labels stay where nobody corrects them. Raises UserError for a task without corrections."""
    how = _correctable(task)
    made = Labelled()
    fitting: dict[str, list[tuple[Found, Record]]] = {}
    for one in found:
        of = one.correction
        if of.label is None:
            continue
        if of.task != task.name:
            made.elsewhere[str(of.task)] = made.elsewhere.get(str(of.task), 0) + 1
            continue
        try:
            record = _record(task, how, one, known)
        except Rejected as error:
            made.rejected.append(f"{one.place}: {error}")
        else:
            fitting.setdefault(record.id, []).append((one, record))
    for key, pairs in fitting.items():
        if len({how.content(record) for _, record in pairs}) > 1:
            places = ", ".join(one.place for one, _ in pairs)
            made.rejected.append(f"{places}: record {key!r} has other texts in one of them than in another")
        else:
            _add(made, how, pairs[0][1], [one for one, _ in pairs], majority)
    return made


def _correctable(task: Task) -> Correctable:
    if task.correctable is None:
        raise UserError(f"--task {task.name}: nobody can correct its verdicts so far")
    return task.correctable


def _record(task: Task, how: Correctable, one: Found, known: Mapping[str, Record]) -> Record:
    """The record that a correction is about. Raises `Rejected`."""
    of, key = one.correction, str(one.correction.record_id)
    record = known.get(key)
    if of.record is not None:
        own = _own(task, how, of.record)
        if own.id != key:
            raise Rejected(f"it is about record {key[:80]!r} and brings {own.id[:80]!r}")
        if record is not None and how.content(record) != how.content(own):
            raise Rejected(f"record {key[:80]!r} has other texts in the file of --data")
        record = record or own
    if record is None:
        raise Rejected(f"there is no record {key[:80]!r}; expected one in the file of --data, or in the line")
    _check(task, how, record, one)
    return record


def _own(task: Task, how: Correctable, raw: dict[str, Any]) -> Record:
    """A record that a correction brings, without whatever labels it claims to have."""
    try:
        bare: Record = how.bare(task.record.model_validate(raw))
    except ValidationError as error:
        raise Rejected(f"record.{explain(error)}") from error
    return bare


def _check(task: Task, how: Correctable, record: Record, one: Found) -> None:
    of, statements = one.correction, how.statements(record)
    if of.label not in task.labelled.labels:
        raise Rejected(f"unknown label {str(of.label)[:80]!r}; one of: {', '.join(task.labelled.labels)}")
    if of.statement >= len(statements):
        raise Rejected(f"statement {of.statement} of {len(statements)}, counted from 0")
    if statements[of.statement] != of.sentence or how.digests(record)[of.statement] != of.digest:
        raise Rejected(f"record {record.id[:80]!r} has another sentence or other evidence than were judged")
    if len(of.evidence) > how.most:
        raise Rejected(f"{len(of.evidence)} ids of evidence; at most {how.most}")
    unknown = set(of.evidence) - set(how.nameable(record))
    if unknown:
        raise Rejected(f"evidence {min(unknown)[:80]!r} is not in record {record.id[:80]!r}")


def _add(made: Labelled, how: Correctable, record: Record, found: list[Found], majority: bool) -> None:
    """Settle the corrections of one record, and add what they come to."""
    by_statement = sorted(found, key=lambda one: one.correction.statement)
    said = {}
    provenance = []
    for number, group in groupby(by_statement, key=lambda one: one.correction.statement):
        one = settled(list(group), how.nameable(record), majority)
        if one.said is None:
            made.conflicts.append(one)
            continue
        said[number] = one.said
        provenance.append(_provenance(one))
    if not said:
        return
    try:
        made.records.append(how.labelled(record, said))
    except ValueError as error:
        why = explain(error) if isinstance(error, ValidationError) else str(error)
        made.rejected.append(f"{', '.join(one.place for one in found)}: {why}")
        return
    made.provenance += provenance


def _provenance(one: Settled) -> dict[str, Any]:
    first = one.by[0].correction
    return {
        "record_id": first.record_id,
        "statement": first.statement,
        "label": one.said.label if one.said else None,
        "evidence": list(one.said.evidence) if one.said else [],
        "verdict": first.verdict.model_dump(),
        "digest": first.digest,
        "by": [
            {
                "who": voice.correction.who,
                "when": voice.correction.model_dump(mode="json")["when"],
                "line": Path(voice.place).name,
            }
            for voice in one.by
        ],
    }


def files(made: Labelled) -> dict[str, str]:
    """The files that these become, by their names: the same for the same corrections."""
    records = [one.model_dump(mode="json", exclude_none=True) for one in made.records]
    return {RECORDS: _lines(records), PROVENANCE: _lines(made.provenance)}


def _lines(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
