"""Records as Python has them (a JSONL file, dicts such as its lines, or checked records), and what is known of them
without an LM."""

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel

from aisr.api import AnyRecord, Verdict, as_task, check_record, errors_in_python
from aisr.base.errors import UserError, merge_repeats
from aisr.base.files import cache_folder, digest_texts, pluralize, write_whole
from aisr.base.jsonl import count_lines, read, scan
from aisr.base.progress import counted
from aisr.judging.judge import find_image_folder
from aisr.optimize.leakage import Fingerprint, Leak, all_keys, fingerprint, groups, shared
from aisr.optimize.split import Parts, SplitSummary, split_file
from aisr.optimize.target import Comparison, compare_sets
from aisr.programs.task import Task

PathLike: TypeAlias = str | os.PathLike[str]
Records: TypeAlias = PathLike | Iterable[AnyRecord]  # a JSONL file, dicts such as its lines, or checked records
Predictions: TypeAlias = PathLike | Iterable[AnyRecord | Verdict]  # a file of `predict`, its lines, or verdicts
WITHHELD, LABELLED = "(withheld)", "(labelled)"  # in the place of a label


def read_records(task: Task, records: Records) -> list[Any]:
    """Return records as the task has them: of a JSONL file, of dicts such as its lines, or already checked ones. Raises
    UserError that names the line, or the place in the list."""
    if isinstance(records, str | os.PathLike):
        return list(read(Path(records), task.record, task.name))
    checked = []
    for number, record in enumerate(records):
        with errors_in_python(f"records[{number}]: "):
            checked.append(check_record(task, record, number))
    return checked


@contextmanager
def as_file(records: Records | Predictions, name: str = "records") -> Iterator[Path]:
    """Have records as a JSONL file for as long as the block lasts: the file that they are, or a temporary one. An error
    that would name the latter names the argument: `records[3]: …`."""
    if isinstance(records, str | os.PathLike):
        yield Path(records)
        return
    if isinstance(records, Mapping):
        raise UserError(f"{name}: a dict; expected a JSONL file, or a list of dicts such as its lines")
    with tempfile.TemporaryDirectory() as folder:
        # Pictures are looked for in the two folders above a file: these are empty.
        file = Path(folder, "no", "pictures", f"{name}.jsonl")
        file.parent.mkdir(parents=True)
        file.write_text("".join(map(_line, records)), "utf-8")
        try:
            yield file
        except UserError as error:
            error.args = (_in_list(str(error), file, name),)
            raise


def as_optional_file(records: Records | None, name: str) -> AbstractContextManager[Path | None]:
    """Have records as a file, as `as_file` does, where there are some."""
    return nullcontext() if records is None else as_file(records, name)


def keep_records(parts: Mapping[str, Records], artifacts: Path) -> Path:
    """Write records below the cache of an artifacts folder, a file a part, and return their folder. The same records
    have the same folder, so that a compile of lists that was stopped is found again."""
    texts = {}
    for name, records in parts.items():
        with as_file(records, name) as file:
            texts[name] = file.read_text("utf-8")
    folder = cache_folder(artifacts) / "records" / digest_texts([*texts, *texts.values()])
    for name, text in texts.items():
        write_whole(folder / f"{name}.jsonl", text)
    return folder


def _line(record: AnyRecord | Verdict) -> str:
    if isinstance(record, Verdict):
        record = record.line
    if isinstance(record, BaseModel):
        return record.model_dump_json() + "\n"
    return json.dumps(record, default=str) + "\n"


def _in_list(message: str, file: Path, name: str) -> str:
    """Return a message about a line of a temporary file as one about an entry of a list, from 0."""
    message = re.sub(rf"{re.escape(str(file))}:(\d+)", lambda place: f"{name}[{int(place[1]) - 1}]", message)
    return message.replace(str(file), name)


@dataclass(frozen=True)
class RecordsCheck:
    """What records hold, and what is wrong with them; `print` shows it in words."""

    name: str  # of the file, or `records`
    records: int  # good ones
    bad: int  # lines that are no record of the task
    problems: tuple[str, ...]  # `FILE:LINE: field: what is wrong` with a bad line; what repeats stands there once
    labels: Mapping[str, int]  # how many statements have a label, the commonest first; `(withheld)`: records without
    groups: int  # of records that share something
    shared: Leak  # how many records share something with another
    pictures: Mapping[tuple[str, str], str]  # why a picture cannot be shown, by the record's id and the path
    comparison: Comparison | None = None  # with `against`
    against: str = ""
    converter: str = ""  # the command that makes records of the organisers' files, where these have another form

    def lines(self) -> list[str]:
        """Return it in words, but for the pictures."""
        counts = f"{pluralize(self.records, 'good record')}, {pluralize(self.bad, 'bad line')}"
        lines = [*self.problems, f"{self.name}: {counts}"]
        lines += [f"  {count:6d}  {label}" for label, count in self.labels.items()]
        if self.records:
            lines.append(
                f"  {pluralize(self.records, 'record')} in {pluralize(self.groups, 'group')}; "
                f"what they share with another: {self.shared}"
            )
        if self.bad and self.converter:
            lines.append(f"files as the organisers ship them become records by: aisr {self.converter}")
        if self.comparison:
            lines += self.comparison.lines(self.name, self.against)
            if self.comparison.differ:
                lines.append("  their texts differ in ways that no weight of records mends")
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())


@errors_in_python()
def check(
    task: str | Task, records: Records, *, against: Records | None = None, image_root: PathLike | None = None
) -> RecordsCheck:
    """Return what records hold: how many are good, what is wrong with the others, their labels, and what they share.
    No LM is asked.

    records: a JSONL file, dicts such as its lines, or checked records. against: others, such as the test inputs: how
    do the two differ? image_root: where picture paths start; by default beside or above the file, where `images` is.
    Raises `UserError` for an empty file, for a JSON list, and where `against` has no good record.
    """
    chosen = as_task(task)
    with as_file(records) as file, as_optional_file(against, "against") as other:
        images = find_image_folder(image_root, file)
        bad: list[tuple[str, str]] = []  # the place of each bad line, and what is wrong
        labels: Counter[str] = Counter()
        rows: list[Fingerprint] = []
        for line in counted(scan(file, chosen.record, chosen.name), "checking records", count_lines(file)):
            if line.record is None:
                place = f"{file}:{line.number}"
                problem = str(line.problem).removeprefix(f"{place}: ")
                bad.append((_named(records, place, file, "records"), problem))
                continue
            rows.append(fingerprint(chosen, line.record))
            labels.update(_labels(chosen, line.record.gold))
            if images:
                for path in line.record.img_paths:
                    images.file(line.record.id, path)  # notes what is wrong with it in `problems`
        if not rows and not bad:
            raise UserError(f"{file}: no records; expected one JSON object a line")
        keys = all_keys(rows)
        return RecordsCheck(
            name=_named(records, str(file), file, "records"),
            records=len(rows),
            bad=len(bad),
            problems=tuple(merge_repeats(bad)),
            labels=dict(labels.most_common()),
            groups=len(set(groups(keys))),
            shared=shared(keys),
            pictures=dict(images.problems) if images else {},
            comparison=_compare(chosen, file, other) if other else None,
            against=_named(against, str(other), other, "against") if against is not None and other else "",
            converter=chosen.record.converter.format(file=file),
        )


def _named(records: Records, text: str, file: Path, name: str) -> str:
    """Return a text that names a file as one that names the list of records that it holds, where these are a list."""
    return text if isinstance(records, str | os.PathLike) else _in_list(text, file, name)


def _labels(task: Task, gold: Any) -> list[str]:
    """Return what a record counts as: the primary label of each statement, or where a task has no labels its stratum,
    if it names one."""
    if gold is None:
        return [WITHHELD]
    if task.labels:
        return task.first_labels(gold)
    return [task.stratify_by(gold) or LABELLED]


def _compare(task: Task, file: Path, other: Path) -> Comparison:
    """Return two files side by side, by their good records. Raises UserError where the second has none."""
    ours, others = _good_records(task, file), _good_records(task, other)
    if not others:
        raise UserError(f"--against {other}: no good record; expected records of {task.name}")
    return compare_sets(task, ours, others)


def _good_records(task: Task, file: Path) -> list[Any]:
    return [line.record for line in scan(file, task.record, task.name) if line.record]


@errors_in_python()
def split(task: str | Task, data: Records, *, out: PathLike, parts: str = "3:1:1", seed: int = 0) -> SplitSummary:
    """Split labelled records into train.jsonl, dev.jsonl and test.jsonl in the folder `out`, and return what that came
    to: records and labels a part, and what is shared. `print` shows it in words.

    No part shares a claim, picture, paper or evidence, nor a near copy of one, with another (see
    `aisr.optimize.leakage`). data: a JSONL file, dicts such as its lines, or checked records; parts: `train:dev:test`,
    whole numbers from 1 to 20; seed: of the shuffle, 0 or more. Raises `UserError` for a bad or unlabelled record, for
    too few records that share nothing, and where one of the files exists; nothing is written then.
    """
    with as_file(data) as file:
        return split_file(as_task(task), file, Path(out), Parts.parse(parts), seed)
