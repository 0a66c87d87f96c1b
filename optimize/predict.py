"""Predicting a file of records: streamed, resumable, every record accounted for.

The predictions file has one line a record, in the order of the input: the official fields, or `{"id", "failed"}` with
the reason. Lines are appended as records finish and put into order at the end, so that a kill loses what is in flight
and nothing else. Beside it, `<file>.run.json` says which program, LM and input made it; a run with others is refused.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy
from filelock import FileLock, Timeout

from optimize import digests
from optimize.artifact import read_json, write_whole
from optimize.judging import Outcome, finished, judge
from optimize.lm import OpenLM
from optimize.tasks import Task
from programs.records import Record, read


class CannotResume(ValueError):
    """The predictions file belongs to another run, or another process is writing it."""


@dataclass(frozen=True)
class Summary:
    """What a run left: records in the file, records judged by this run, and the failed ones with their reasons."""

    records: int
    judged: int
    failures: dict[str, str]


def predict(
    task: Task,
    program: dspy.Module,
    data: Path,
    out: Path,
    lm: OpenLM,
    identity: dict[str, Any],
    done: Callable[[bool], None] = lambda judged: None,
) -> Summary:
    """Predict every record of `data` into `out`. Finished records of an earlier run are kept, failed ones tried again.

    identity: what makes a run this run (program digest, LM). `done` is called for each record, with whether it was
    judged now. Raises `CannotResume`, and `BadLine` for a bad input line.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{out}.lock", blocking=False)
    try:
        with lock:
            for _ in read(data, task.record, task.name):
                pass  # a bad line must show itself before anything is spent, not in the middle
            _claim(out, {**identity, "input": digests.of_file(data)})
            summary = _run(task, program, data, out, lm, done)
    except Timeout as error:
        raise CannotResume(f"{out}: another process is writing it; wait for it, or choose another --out") from error
    return summary


def _run(task: Task, program: dspy.Module, data: Path, out: Path, lm: OpenLM, done: Callable[[bool], None]) -> Summary:
    kept = _keep_finished(out)
    records = judged = 0
    failures: dict[str, str] = {}

    def work(record: Record) -> tuple[Record, Outcome | None]:
        if record.id in kept:
            return record, None
        return record, judge(task, program, program.prepare(record), lm)

    with out.open("a", encoding="utf-8") as file:
        for _, (record, outcome) in finished(read(data, task.record, task.name), work, lm.threads):
            records += 1
            if outcome is not None:
                judged += 1
                file.write(_line(task, record, outcome))
                file.flush()
                if outcome.failure is not None:
                    failures[record.id] = outcome.failure
            done(outcome is not None)
    _in_input_order(task, data, out)
    return Summary(records, judged, failures)


def _line(task: Task, record: Record, outcome: Outcome) -> str:
    said = {"failed": outcome.failure} if outcome.failure is not None else task.line(outcome.answer)
    return json.dumps({"id": record.id, **said}, ensure_ascii=False) + "\n"


def _claim(out: Path, identity: dict[str, Any]) -> None:
    """Write down whose predictions these are, or check it."""
    beside = Path(f"{out}.run.json")
    if out.exists() and out.stat().st_size and not beside.exists():
        raise CannotResume(f"{out} is there already and no run of ours wrote it; choose another --out")
    if beside.exists() and out.exists():
        earlier = read_json(beside)
        for key in identity:
            if earlier.get(key) != identity[key]:
                raise CannotResume(
                    f"{out} was begun with another {key}: {earlier.get(key)} then, {identity[key]} now; "
                    "choose another --out, or remove it to start anew"
                )
    write_whole(beside, json.dumps(identity, indent=1, ensure_ascii=False) + "\n")


def _keep_finished(out: Path) -> set[str]:
    """The ids of the finished records in `out`, after dropping failed ones and a line that a kill tore."""
    if not out.exists():
        return set()
    lines, finished = [], set()
    for text, content in _lines(out):
        if "failed" not in content:
            lines.append(text)
            finished.add(str(content.get("id")))
    write_whole(out, "".join(lines))
    return finished


def _lines(out: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with out.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            try:
                content = json.loads(text)
            except ValueError:
                continue  # torn by a kill: the record is judged again
            if isinstance(content, dict) and text.endswith("\n"):
                yield text, content


def _in_input_order(task: Task, data: Path, out: Path) -> None:
    """Bring lines that a resumed run appended late to where their records stand in the input."""
    place = {record.id: k for k, record in enumerate(read(data, task.record, task.name))}
    lines = [(place[str(content["id"])], text) for text, content in _lines(out)]
    ordered = sorted(lines, key=lambda line: line[0])
    if ordered != lines:
        write_whole(out, "".join(text for _, text in ordered))
