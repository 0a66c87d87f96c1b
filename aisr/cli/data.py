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
    folds: Annotated[int | None, typer.Option(min=2, help="Instead: that many folders for cross-validation.")] = None,
    shape_like: Annotated[
        Path | None,
        typer.Option(
            help="track1: resample dev and test to the lengths of this (unlabelled) test file.",
            callback=opt.check_file,
        ),
    ] = None,
    error_share: Annotated[
        float,
        typer.Option(help="With --shape-like: share of paragraphs with an error. The test phases have about .82."),
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
    note(f"splitting {file} {f'into {folds} folds' if folds else parts} (seed {seed}) below {out}/")
    survey = splits.survey(chosen, file)
    if folds:
        whole = {f"fold-{k}": s for k, s in enumerate(splits.split_folds(survey.strata, survey.keys, folds, seed), 1)}
    else:
        whole = {"": splits.split(chosen, survey.strata, survey.keys, splits.Parts.parse(parts), seed)}
    first = next(iter(whole.values()))
    plain = leak(survey.keys, random.Random(seed).sample(range(len(survey.keys)), len(first.train)))
    _print_shared(survey.keys)
    note(f"  a plain random split would share with train: {plain}; this one: {leak(survey.keys, first.train)}")
    made = whole
    if shape_like:
        records = read(shape_like, chosen.record, chosen.name)
        lengths = [len(record.statements) for record in records if isinstance(record, SentenceRecord)]
        like = splits.shape_of(lengths, error_share)
        made = {
            name: splits.resample_split(sides, survey, chosen.default_label, like, seed)
            for name, sides in whole.items()
        }
    for name, sides in made.items():
        for side, count in splits.write_split(sides, survey, file, out / name).items():
            before = len(getattr(whole[name], side))
            less = f"; {before - count} of {before} left out, to look like {shape_like}" if count < before else ""
            faulty = ""
            if chosen.labels:
                neutral = chosen.default_label
                number = sum(survey.strata[row] != neutral for row in getattr(sides, side))
                faulty = f", {number} of them not all {neutral}"
            note(f"  {out / name / side}.jsonl: {count} records{faulty}{less}")


def _print_shared(keys: list[set[str]]) -> None:
    """Print what records have in common."""
    from aisr.cli.display import note
    from aisr.optimize.leakage import groups, shared

    note(f"  {len(keys)} records in {len(set(groups(keys)))} groups; what they share with another: {shared(keys)}")
