"""The page on which a person labels records, the ones to label first at its top: one HTML file that loads nothing.

What is said on it is kept in the browser and downloaded, each line with its record: `aisr corrections` takes it.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import dspy
from pydantic import ValidationError

from aisr.base.digests import LENGTH
from aisr.base.files import write_whole
from aisr.corrections import panel
from aisr.corrections.files import LONGEST
from aisr.corrections.line import Correction
from aisr.programs.errors import UserError
from aisr.programs.records.base import Record
from aisr.report.frame import HERE, framed
from aisr.report.page import STYLES, Thumbnail, inlined, no_picture
from aisr.tasks.correctable import Correctable
from aisr.tasks.exhibit import Exhibit
from aisr.tasks.task import Answer, Task

FILE = "label.html"
LONGEST_RECORD = LONGEST - 2**20  # bytes: the rest is for what is said of it
SCRIPTS = (HERE / "elements.js", panel.SCRIPT, HERE / "to_label.js")


class Shown(NamedTuple):
    """A record to label, as the program takes it; what it answered, None for a failure; how sure it is, in 0-1."""

    record: Record
    example: dspy.Example
    answer: Answer | None
    sure: float | None


class By(NamedTuple):
    """Who judged: the digest of the program and the LM, where they are known."""

    program: str | None
    lm: str | None


def correctable(task: Task) -> Correctable:
    """Raises UserError for a task whose verdicts nobody can correct."""
    if task.correctable is None:
        raise UserError(f"--task {task.name}: nobody can correct its verdicts so far")
    return task.correctable


def savable(task: Task, record: Record) -> bool:
    """Whether what is said of a record goes into a line of corrections, with its ids, its statements and its texts."""
    how = correctable(task)
    named = sorted(how.nameable(record), key=len)[-1:]
    whole = json.dumps(how.bare(record).model_dump(mode="json", exclude_none=True), ensure_ascii=False)
    if len(whole.encode("utf-8", "replace")) > LONGEST_RECORD:
        return False
    said = {"task": task.name, "record_id": record.id, "label": "any", "evidence": named}
    by = {"who": "anybody", "when": datetime.now(UTC), "digest": "0" * LENGTH}
    try:
        for number, sentence in enumerate(how.statements(record)):
            Correction.model_validate({**said, **by, "statement": number, "sentence": sentence})
    except ValidationError:
        return False
    return True


def write(
    folder: Path, task: Task, title: str, by: By, rows: Sequence[Shown], thumbnail: Thumbnail = no_picture
) -> Path:
    """Write the page into a folder; its path. The records' own labels are not on it."""
    how = correctable(task)
    exhibits = [task.exhibits(how.bare(one.record), one.example, one.answer) for one in rows]
    content = {
        "task": task.name,
        "by": by._asdict(),
        "labels": dict(task.labelled.definitions),
        "most": how.most,
        "rows": [_row(how, one, pieces) for one, pieces in zip(rows, exhibits, strict=True)],
        **panel.packed(how.bare(one.record).model_dump(mode="json", exclude_none=True) for one in rows),
    }  # fmt: skip
    paths = {piece.picture for pieces in exhibits for piece in pieces if piece.picture}
    text = framed(
        HERE / "to_label.html",
        title,
        (*STYLES, HERE / "to_label.css"),
        SCRIPTS,
        {"content": content, "pictures": inlined(paths, thumbnail)},
        count=len(rows),
        by=by,
    )
    write_whole(folder / FILE, text.encode("utf-8", "replace"))
    return folder / FILE


def _row(how: Correctable, one: Shown, exhibits: Sequence[Exhibit]) -> dict[str, Any]:
    statements = how.statements(one.record)
    said = [None] * len(statements) if one.answer is None else how.said(one.answer)
    return {
        "id": one.record.id,
        "sure": one.sure,
        "statements": [
            {"text": text, "said": label, "digest": key}
            for text, label, key in zip(statements, said, how.digests(one.record), strict=True)
        ],
        "exhibits": [piece.model_dump(include={"key", "text", "picture", "chosen"}) for piece in exhibits],
    }
