"""The commands that read and write record files: check, split. None of them asks an LM."""

from pathlib import Path
from typing import Annotated

import typer

from aisr.base.errors import UserError
from aisr.cli import options as opt
from aisr.cli.session import find_task_for


def check(
    file: Annotated[Path, typer.Argument(help="JSONL file in the official format.", callback=opt.check_file)],
    task: opt.TaskName,
    image_root: opt.ImageRoot = None,
) -> None:
    """List the wrong lines of a record file, and pictures that are missing."""
    from collections import Counter

    from aisr.base.jsonl import scan
    from aisr.cli.display import note, print_pictures
    from aisr.optimize.leakage import Fingerprint, all_keys, fingerprint
    from aisr.predict.prepare import find_image_folder

    chosen = find_task_for(task, file)
    images = find_image_folder(image_root, file)
    note(f"checking {file} as {chosen.name} records")
    bad = 0
    labels: Counter[str] = Counter()
    rows: list[Fingerprint] = []
    for line in scan(file, chosen.record, chosen.name):
        if line.record is None:
            bad += 1
            note(str(line.problem))
            continue
        rows.append(fingerprint(chosen, line.record))
        if images:
            for path in line.record.img_paths:
                images.file(line.record.id, path)
        gold = line.record.gold
        if gold is None:
            labels["(withheld)"] += 1
        else:
            labels.update(chosen.first_labels(gold) if chosen.labels else [chosen.stratify_by(gold) or "(labelled)"])
    note(f"{file}: {len(rows)} good records, {bad} bad lines")
    for label, count in labels.most_common():
        note(f"  {count:6d}  {label}")
    if rows:
        _print_shared(all_keys(rows))
    elif not bad:
        raise UserError(f"{file}: no records; expected one JSON object a line")
    if bad and (converter := chosen.record.converter):
        note(f"files as the organisers ship them become records by: python -m {converter.format(file=file)}")
    print_pictures(images)
    if bad:
        raise typer.Exit(opt.REFUSED)


def split(
    file: Annotated[Path, typer.Argument(help="JSONL file of labelled records.", callback=opt.check_file)],
    task: opt.TaskName,
    out: Annotated[Path, typer.Option(help="Folder for train.jsonl, dev.jsonl and test.jsonl.", show_default=False)],
    parts: Annotated[str, typer.Option(metavar="N:N:N", help="train:dev:test, in whole parts.")] = "3:1:1",
    shape_like: Annotated[
        Path | None,
        typer.Option(
            help="track1: resample dev and test to the lengths of this (unlabelled) test file.",
            callback=opt.check_file,
        ),
    ] = None,
    error_share: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="With --shape-like: share of paragraphs with an error. The test phases have about .82."
        ),
    ] = 0.82,
    seed: Annotated[int, typer.Option(help="Seed of the shuffle.")] = 0,
) -> None:
    """Split labelled records into train, dev and test that share nothing.

    No claim, picture, paper or evidence, nor one much like it, is on two sides.
    """
    import random

    from aisr.base.jsonl import read
    from aisr.cli.display import note
    from aisr.optimize import split as splits
    from aisr.optimize.leakage import leak
    from aisr.programs.records import SentenceRecord

    chosen = find_task_for(task, file)
    if shape_like and not issubclass(chosen.record, SentenceRecord):
        raise UserError(f"--shape-like goes by sentences a paragraph; a record of {chosen.name} has none to count")
    note(f"splitting {file} {parts} (seed {seed}) below {out}/")
    survey = splits.survey(chosen, file)
    made = whole = splits.split(survey.strata, survey.keys, splits.Parts.parse(parts), seed)
    plain = leak(survey.keys, random.Random(seed).sample(range(len(survey.keys)), len(whole["train"])))
    _print_shared(survey.keys)
    note(f"  a plain random split would share with train: {plain}; this one: {leak(survey.keys, whole['train'])}")
    if shape_like:
        records = read(shape_like, chosen.record, chosen.name)
        lengths = [len(record.statements) for record in records if isinstance(record, SentenceRecord)]
        made = splits.resample(whole, survey, chosen.default_label, lengths, error_share, seed)
    splits.write_split(made, survey, file, out)
    for side, rows in made.items():
        count, before = len(rows), len(whole[side])
        less = f"; {before - count} of {before} left out, to look like {shape_like}" if count < before else ""
        faulty = ""
        if chosen.labels:
            number = sum(survey.strata[row] != chosen.default_label for row in rows)
            whole_paragraphs = "all " if issubclass(chosen.record, SentenceRecord) else ""
            faulty = f", {number} of them not {whole_paragraphs}{chosen.default_label}"
        note(f"  {out / side}.jsonl: {count} records{faulty}{less}")


def _print_shared(keys: list[set[str]]) -> None:
    """Print what records have in common."""
    from aisr.cli.display import note
    from aisr.optimize.leakage import groups, shared

    note(f"  {len(keys)} records in {len(set(groups(keys)))} groups; what they share with another: {shared(keys)}")
