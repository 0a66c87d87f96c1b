"""The commands that read and write record files: check, split, submit, score. They need no language model."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aisr.cli.options import ARTIFACTS, RECORDS_FAILED, REFUSED, chosen_task, there
from aisr.cli.task_options import ImageRoot, ShapeLike, TaskName
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from aisr.optimize.datasets.split import Split, Survey
    from aisr.programs.task import Task


def check(
    file: Annotated[Path, typer.Argument(help="JSONL file in the official format.", callback=there)],
    task: TaskName,
    limit: Annotated[int, typer.Option(min=1, help="How many bad lines to list.")] = 20,
    image_root: ImageRoot = None,
) -> None:
    """Check every line of a record file, and the pictures that it names; list what is wrong."""
    from collections import Counter

    from aisr.cli.display import note, say_pictures
    from aisr.optimize.datasets.leakage import Common, all_keys, common
    from aisr.predict.prepare import find_gallery
    from aisr.programs.lines import scan
    from aisr.programs.registry import TASKS

    chosen = chosen_task(task)
    other = nearest_task(file, TASKS) if file.is_file() else None  # a pipe can be read only once
    if other is not None and other != chosen.name:
        note(f"{file}: its first line is a record of {other}, not of {chosen.name}; check it with --task {other}")
        raise typer.Exit(REFUSED)
    gallery = find_gallery(image_root, file, ARTIFACTS)
    note(f"checking {file} as {chosen.name} records")
    bad = records = 0
    labels: Counter[str] = Counter()
    rows: list[Common] = []
    for line in scan(file, chosen.record, chosen.name):
        if line.record is None:
            bad += 1
            if bad <= limit:
                note(str(line.problem))
            continue
        records += 1
        rows.append(common(chosen, line.record))
        for path in line.record.img_paths:
            if gallery:
                gallery.file(line.record.id, path)
        gold = line.record.gold
        if gold is None:
            labels["(withheld)"] += 1
        else:
            labels.update(chosen.judgements.said(gold) if chosen.judgements else [chosen.stratum(gold) or "(labelled)"])
    if bad > limit:
        note(f"… and {bad - limit} more (--limit {bad} lists them)")
    note(f"{file}: {records} good records, {bad} bad lines")
    for label, count in labels.most_common():
        note(f"  {count:6d}  {label}")
    if rows:
        _say_shared(all_keys(rows))
    if not bad and not records:
        raise UserError(f"{file}: no records; expected one JSON object a line")
    if bad and chosen.converter:
        note(f"files as the organisers ship them become records by: python -m {chosen.converter.format(file=file)}")
    say_pictures(gallery.problems if gallery else {})
    if bad or not records:
        raise typer.Exit(REFUSED)


def split(
    file: Annotated[Path, typer.Argument(help="JSONL file of labelled records.", callback=there)],
    task: TaskName,
    out: Annotated[Path, typer.Option(help="Folder for train.jsonl, dev.jsonl and test.jsonl.", show_default=False)],
    parts: Annotated[str, typer.Option(help="train:dev:test, in whole parts.")] = "3:1:1",
    folds: Annotated[int | None, typer.Option(min=2, help="Instead: that many folders for cross-validation.")] = None,
    shape_like: ShapeLike = None,
    error_share: Annotated[
        float,
        typer.Option(help="With --shape-like: share of paragraphs with an error. The test phases have about .82."),
    ] = 0.82,
    seed: Annotated[int, typer.Option(help="Seed of the shuffle.")] = 0,
) -> None:
    """Split labelled records so that no claim, picture, paper or evidence, or one much like it, is on two sides."""
    from aisr.cli.display import note
    from aisr.optimize.datasets import resample
    from aisr.optimize.datasets import split as splits
    from aisr.programs.lines import read

    chosen = chosen_task(task)
    sentences = chosen.sentences
    if shape_like and sentences is None:
        raise UserError(f"--shape-like goes by sentences a paragraph; a record of {chosen.name} has none to count")
    note(f"splitting {file} {f'into {folds} folds' if folds else parts} (seed {seed}) below {out}/")
    found = splits.survey(chosen, file)
    if folds:
        made = {f"fold-{k}": s for k, s in enumerate(splits.split_folds(found.strata, found.keys, folds, seed), 1)}
    else:
        made = {"": splits.split(chosen, found.strata, found.keys, splits.Parts.parse(parts), seed)}
    _say_leak(found, next(iter(made.values())), seed)
    whole = made
    if shape_like and sentences:
        lengths = [sentences(record) for record in read(shape_like, chosen.record, chosen.name)]
        like = resample.shape_of(lengths, error_share)
        made = {name: splits.shaped(sides, found, chosen.labelled.neutral, like, seed) for name, sides in made.items()}
    for name, sides in made.items():
        for side, count in splits.write(sides, found, file, out / name).items():
            before = len(getattr(whole[name], side))
            less = f"; {before - count} of {before} left out, to look like {shape_like}" if count < before else ""
            faulty = _faulty(chosen, found, getattr(sides, side))
            note(f"  {out / name / side}.jsonl: {count} records{faulty}{less}")


def nearest_task(file: Path, tasks: "Mapping[str, Task]") -> str | None:
    """Of the tasks whose record the first line of a file can be the one that knows most of its fields; None for none,
    and where several know as many."""
    from aisr.programs.lines import scan

    fields = _fields(file)
    known = {
        name: sum(field in fields for field in _names(task.record))
        for name, task in tasks.items()
        if (first := next(scan(file, task.record, name), None)) and first.record is not None
    }
    best = [name for name, count in known.items() if count == max(known.values())]
    return best[0] if len(best) == 1 else None


def _fields(file: Path) -> set[str]:
    try:
        with file.open("rb") as lines:
            found = json.loads(next(filter(bytes.strip, lines), b""))
    except (ValueError, RecursionError):
        return set()  # no JSON Lines at all; which line is wrong was said already
    return set(found) if isinstance(found, dict) else set()


def _names(record: "type[BaseModel]") -> set[str]:
    """The names that a record's fields may go by in a file."""
    from pydantic import AliasChoices

    found = set()
    for name, field in record.model_fields.items():
        alias = field.validation_alias
        names = alias.choices if isinstance(alias, AliasChoices) else [alias or field.alias or name]
        found |= {one for one in names if isinstance(one, str)}
    return found


def _faulty(task: "Task", found: "Survey", rows: "list[int]") -> str:
    """How many records have a fault, in words; nothing for a task without labels."""
    if task.judgements is None:
        return ""
    neutral = task.judgements.neutral
    return f", {sum(found.strata[row] != neutral for row in rows)} of them not all {neutral}"


def _say_shared(keys: "list[set[str]]") -> None:
    """What records have in common."""
    from aisr.cli.display import note
    from aisr.optimize.datasets.leakage import groups, shared

    note(f"  {len(keys)} records in {len(set(groups(keys)))} groups; what they share with another: {shared(keys)}")


def _say_leak(found: "Survey", made: "Split", seed: int) -> None:
    """What a plain random split of the same sizes would have leaked."""
    import random

    from aisr.cli.display import note
    from aisr.optimize.datasets.leakage import leak

    plain = leak(found.keys, random.Random(seed).sample(range(len(found.keys)), len(made.train)))
    _say_shared(found.keys)
    note(f"  a plain random split would share with train: {plain}; this one: {leak(found.keys, made.train)}")


def submit(
    task: TaskName,
    data: Annotated[
        Path, typer.Option(help="The test inputs that were predicted.", show_default=False, callback=there)
    ],
    predictions: Annotated[
        Path, typer.Option(help="Predictions file of `aisr predict`.", show_default=False, callback=there)
    ],
    out: Annotated[Path, typer.Option(help="Zip to write; the other track's file in it is kept.", show_default=False)],
    on_failure: Annotated[str, typer.Option(help="`refuse`, or `fallback`: fill failed records in.")] = "refuse",
    limit: Annotated[int, typer.Option(min=1, help="How many problems to list.")] = 20,
) -> None:
    """Validate predictions against the test inputs and pack the zip that the server takes."""
    if on_failure not in ("refuse", "fallback"):
        raise UserError(f"--on-failure {on_failure!r}; one of: refuse, fallback")
    from aisr.cli.display import note
    from aisr.predict import submit as submission

    chosen = chosen_task(task)
    note(f"checking {predictions} against {data}")
    found = submission.check(chosen, data, predictions, fill_failed=on_failure == "fallback")
    for problem in found.problems[:limit]:
        note(f"  {problem}")
    if found.problems:
        raise UserError(f"{len(found.problems)} problems; nothing was written")
    for key in found.filled:
        note(f"  {key}: failed; filled in with the fallback answer")
    chosen.submission.write(found.lines, out)
    note(f"wrote {out}: {chosen.submission.file} with {len(found.lines)} records")


def score(
    gold: Annotated[Path, typer.Argument(help="Records with labels, JSONL.", callback=there)],
    predicted: Annotated[Path, typer.Argument(metavar="PRED", help="Predictions, JSONL.", callback=there)],
    task: TaskName,
    output: Annotated[Path | None, typer.Option(help="Write the report here as JSON.")] = None,
) -> None:
    """Score predictions as the official evaluator does; refuse what it refuses."""
    from aisr.base.files import as_json, write_whole
    from aisr.cli import display
    from aisr.predict.submit import score_files

    chosen = chosen_task(task)
    display.note(f"scoring {predicted} against {gold} as {chosen.name}")
    report = score_files(chosen, gold, predicted)
    display.score_table(chosen.parts, report)
    if output:
        write_whole(output, as_json(report))
        display.note(f"wrote {output}")


def vote(
    out: Annotated[Path, typer.Argument(help="Predictions file to write.", show_default=False)],
    predictions: Annotated[
        list[Path], typer.Argument(help="Two or more of the same records.", show_default=False, callback=there)
    ],
    weight: Annotated[
        list[float] | None, typer.Option(help="How much a file counts; one for each, in their order. Default: 1.")
    ] = None,
) -> None:
    """Average the label probabilities of predictions files. Exits 1 where all files failed a record."""
    from aisr.cli.display import note
    from aisr.predict.submit import vote as average

    found = average(out, predictions, weight or ())
    note(f"wrote {out}: {found.records} records by {len(predictions)} files, {found.failed} failed in all of them")
    raise typer.Exit(RECORDS_FAILED if found.failed else 0)
