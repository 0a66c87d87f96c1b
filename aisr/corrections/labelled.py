"""Corrections as labelled records in a task's own format, and beside them who gave each label, and when."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from aisr.base.errors import UserError
from aisr.corrections.corrections import PlacedCorrection
from aisr.programs.records import CorrectableRecord, StatementLabel, explain
from aisr.programs.task import Task

RECORDS, PROVENANCE = "corrections.jsonl", "corrections-provenance.jsonl"
MOST_LISTED = 10  # of those who differ


class Agreement(NamedTuple):
    """What several people make of one statement."""

    label: StatementLabel | None  # None where people differ
    by: tuple[PlacedCorrection, ...]  # the corrections that give it, or those that differ

    def __str__(self) -> str:
        voices = [f"{one.correction.who}: {one.correction.label} ({one.place})" for one in self.by[:MOST_LISTED]]
        more = [f"and {len(self.by) - MOST_LISTED} more"] if len(self.by) > MOST_LISTED else []
        first = self.by[0].correction
        return f"{first.record_id}, statement {first.statement}: {', '.join(voices + more)}"


@dataclass
class LabelledRecords:
    """The labelled records that corrections make, and what is not among them."""

    records: list[CorrectableRecord] = field(default_factory=list)  # each with the corrections of its statements
    provenance: list[dict[str, Any]] = field(default_factory=list)  # an object for each of these
    conflicts: list[Agreement] = field(default_factory=list)  # where people differ
    rejected: list[str] = field(default_factory=list)  # what fits no record, with its place
    other_tasks: dict[str, int] = field(default_factory=dict)  # how many corrections are of each other task

    def files(self) -> dict[str, str]:
        """The files that these become, by their names: the same for the same corrections."""
        records = [one.model_dump(mode="json", exclude_none=True) for one in self.records]
        return {RECORDS: _lines(records), PROVENANCE: _lines(self.provenance)}


def _lines(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


class Rejected(Exception):
    """A correction that fits no record, and why."""


def label_records(
    task: Task, corrections: Sequence[PlacedCorrection], known: Mapping[str, Any], majority: bool = False
) -> LabelledRecords:
    """The labelled records that corrections of a task make. known: records by their ids, for corrections that do not
    bring their own; their labels stay where nobody corrects them. Raises UserError for a task without corrections."""
    if not issubclass(task.record, CorrectableRecord):
        raise UserError(f"--task {task.name}: nobody can correct its verdicts so far")
    result = LabelledRecords()
    by_record: dict[str, list[tuple[PlacedCorrection, CorrectableRecord]]] = {}
    for one in corrections:
        if one.correction.label is None:
            continue
        if one.correction.task != task.name:
            name = str(one.correction.task)
            result.other_tasks[name] = result.other_tasks.get(name, 0) + 1
            continue
        try:
            record = _record_of(task, one, known)
        except Rejected as error:
            result.rejected.append(f"{one.place}: {error}")
        else:
            by_record.setdefault(record.id, []).append((one, record))
    for key, pairs in by_record.items():
        if len({record.content_digest() for _, record in pairs}) > 1:
            places = ", ".join(one.place for one, _ in pairs)
            result.rejected.append(f"{places}: record {key!r} has other texts in one of them than in another")
        else:
            _add(result, pairs[0][1], [one for one, _ in pairs], majority)
    return result


def _record_of(task: Task, one: PlacedCorrection, known: Mapping[str, CorrectableRecord]) -> CorrectableRecord:
    """The record that a correction is about. Raises `Rejected`."""
    of, key = one.correction, str(one.correction.record_id)
    record = known.get(key)
    if of.record is not None:
        own = _own_record(task, of.record)
        if own.id != key:
            raise Rejected(f"it is about record {key[:80]!r} and brings {own.id[:80]!r}")
        if record is not None and record.content_digest() != own.content_digest():
            raise Rejected(f"record {key[:80]!r} has other texts in the file of --data")
        record = record or own
    if record is None:
        raise Rejected(f"there is no record {key[:80]!r}; expected one in the file of --data, or in the line")
    statements = record.statements
    if of.label not in task.labelled.labels:
        raise Rejected(f"unknown label {str(of.label)[:80]!r}; one of: {', '.join(task.labelled.labels)}")
    if of.statement >= len(statements):
        raise Rejected(f"statement {of.statement} of {len(statements)}, counted from 0")
    if statements[of.statement] != of.sentence or record.statement_digests()[of.statement] != of.digest:
        raise Rejected(f"record {record.id[:80]!r} has another sentence or other evidence than were judged")
    if len(of.evidence) > record.max_evidence:
        raise Rejected(f"{len(of.evidence)} ids of evidence; at most {record.max_evidence}")
    unknown = set(of.evidence) - set(record.evidence_ids)
    if unknown:
        raise Rejected(f"evidence {min(unknown)[:80]!r} is not in record {record.id[:80]!r}")
    return record


def _own_record(task: Task, raw: dict[str, Any]) -> CorrectableRecord:
    """A record that a correction brings, without whatever labels it claims to have."""
    try:
        bare: CorrectableRecord = task.record.model_validate(raw).without_labels()
    except ValidationError as error:
        raise Rejected(f"record.{explain(error)}") from error
    return bare


def _add(
    result: LabelledRecords, record: CorrectableRecord, corrections: list[PlacedCorrection], majority: bool
) -> None:
    """Add what the corrections of one record come to."""
    by_statement = sorted(corrections, key=lambda one: one.correction.statement)
    labels: dict[int, StatementLabel] = {}
    provenance = []
    for number, group in groupby(by_statement, key=lambda one: one.correction.statement):
        one = _agreement(list(group), record.evidence_ids, majority)
        if one.label is None:
            result.conflicts.append(one)
        else:
            labels[number] = one.label
            provenance.append(_provenance(one.label, one.by))
    if not labels:
        return
    try:
        result.records.append(record.with_labels(labels))
    except ValueError as error:
        why = explain(error) if isinstance(error, ValidationError) else str(error)
        result.rejected.append(f"{', '.join(one.place for one in corrections)}: {why}")
        return
    result.provenance += provenance


def _agreement(corrections: Sequence[PlacedCorrection], order: Sequence[str], majority: bool) -> Agreement:
    """What holds of one statement. Each annotator's latest label counts; where these differ, none does, unless
    `majority` and more than half of the people gave it. Who agrees on the label may name different evidence: all of it
    counts, in the `order` of the record's ids."""
    latest: dict[str, tuple[int, PlacedCorrection]] = {}
    for place, one in sorted(enumerate(corrections), key=lambda pair: pair[1].correction.when):
        latest[one.correction.who] = (place, one)
    voices = [one for _, one in sorted(latest.values(), key=lambda pair: pair[0])]
    label, count = Counter(str(one.correction.label) for one in voices).most_common(1)[0]
    if count < len(voices) and not (majority and 2 * count > len(voices)):
        return Agreement(None, tuple(voices))
    by = tuple(one for one in voices if one.correction.label == label)
    named = {key for one in by for key in one.correction.evidence}
    return Agreement(StatementLabel(label, tuple(key for key in order if key in named)), by)


def _provenance(label: StatementLabel, by: Sequence[PlacedCorrection]) -> dict[str, Any]:
    first = by[0].correction
    return {
        "record_id": first.record_id,
        "statement": first.statement,
        "label": label.label,
        "evidence": list(label.evidence),
        "verdict": first.verdict.model_dump(),
        "digest": first.digest,
        "by": [
            {
                "who": one.correction.who,
                "when": one.correction.model_dump(mode="json")["when"],
                "line": Path(one.place).name,
            }
            for one in by
        ],
    }
