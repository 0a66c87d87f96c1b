"""Joining the shards of a prediction, record by record, with nothing taken on trust."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from aisr.base import digests
from aisr.base.files import read_json, replacing
from aisr.inference.predictions_file import claim, locked, run_file
from aisr.inference.shards import Shard
from aisr.programs.errors import UserError
from aisr.programs.reading.lines import explain, read
from aisr.programs.records.base import Record
from aisr.tasks.all import TASKS
from aisr.tasks.task import Task


class CannotMerge(UserError):
    """The files are not the finished shards of one prediction of this input."""


class Merged(NamedTuple):
    """How many records there are, and how many of them failed."""

    records: int
    failed: int


def merge(out: Path, files: Sequence[Path], data: Path) -> Merged:
    """Write the predictions of all shards into `out`, in the order of `data`, with one line of each in memory.

    All shards of one run must be there, each once and finished: same task, program, LM and input as `data`, and a line
    for each of its records. The merged file is one that `aisr predict` goes on with. Raises `CannotMerge`, naming the
    file and what helps, and `CannotResume` where a shard is still being written.
    """
    identity, ordered = _identify(files, data)
    task = TASKS[identity["task"]]
    if out.exists():
        raise CannotMerge(f"{out} is there already; choose another name or remove it")
    with ExitStack() as stack:
        for file in (out, *ordered):
            stack.enter_context(locked(file))
        lines = [stack.enter_context(file.open("rb")) for file in ordered]
        records = failed = 0
        with replacing(out) as merged:
            for record in read(data, task.record, task.name):
                number = records % len(ordered)
                text = lines[number].readline()
                failed += _check(task, record, text, ordered[number])
                merged.write(text)
                records += 1
            for file, rest in zip(ordered, lines, strict=True):
                if rest.readline():
                    raise CannotMerge(f"{file}: more lines than its shard of {data} has records; predict it again")
            claim(out, identity)
    return Merged(records, failed)


def _identify(files: Sequence[Path], data: Path) -> tuple[dict[str, Any], list[Path]]:
    """What made the shards, and the shards by number."""
    first: dict[str, Any] = {}
    places: dict[int, Path] = {}
    of = 0
    for file in files:
        if not file.is_file() or not run_file(file).is_file():
            raise CannotMerge(f"{file}: no predictions of `aisr predict --shard` (it needs {run_file(file)} beside it)")
        about = read_json(run_file(file))
        shard = Shard.parse(str(about.pop("shard", "1/1")))
        first, of = first or about, of or shard.of
        for key in {*first, *about}:
            if first.get(key) != about.get(key):
                raise CannotMerge(f"{file}: its {key} is {about.get(key)}, and {first.get(key)} in {files[0]}")
        if shard.of != of or shard.number in places:
            raise CannotMerge(f"{file}: shard {shard}, beside {', '.join(f'{k}/{of}' for k in places)}; each once")
        places[shard.number] = file
    missing = [f"{number}/{of}" for number in range(1, of + 1) if number not in places]
    if missing:
        raise CannotMerge(f"shard {missing[0]} is missing; {of} shards make the whole")
    if first.get("task") not in TASKS:
        raise CannotMerge(f"{run_file(files[0])}: task {first.get('task')!r}; one of: {', '.join(TASKS)}")
    if first.get("input") != (now := digests.of_file(data)):
        raise CannotMerge(f"the shards were predicted from an input of digest {first.get('input')}; {data} is {now}")
    return first, [places[number] for number in sorted(places)]


def _check(task: Task, record: Record, text: bytes, file: Path) -> bool:
    """Whether the line says that the record failed. Raises `CannotMerge` where it is no line of this record."""
    where = f"{file}: {record.id}"
    again = "run the same `aisr predict --shard` again"
    if not text:
        raise CannotMerge(f"{where}: no prediction; {again}")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CannotMerge(f"{where}: its line is not JSON; {again}") from error
    if not isinstance(content, dict) or content.get("id") != record.id:
        said = content.get("id") if isinstance(content, dict) else type(content).__name__
        raise CannotMerge(f"{where}: {said!r} stands in its place; {again}")
    if "failed" in content:
        return True
    try:
        answer = task.prediction.model_validate(content).answer
    except ValidationError as error:
        raise CannotMerge(f"{where}: {explain(error)}; {again}") from error
    problem = task.problem(record, answer)
    if problem:
        raise CannotMerge(f"{where}: {problem}; {again}")
    return False
