"""The commands that read and write record files: check, split, submit, score. They need no language model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optimize.options import ARTIFACTS, REFUSED, ImageRoot, TaskName, chosen_task

if TYPE_CHECKING:
    from optimize.splits import Split, Survey


def check(
    file: Annotated[Path, typer.Argument(help="JSONL file in the official format.")],
    task: TaskName,
    limit: Annotated[int, typer.Option(min=1, help="How many bad lines to list.")] = 20,
    image_root: ImageRoot = None,
) -> None:
    """Check every line of a record file, and the pictures that it names; list what is wrong."""
    from collections import Counter

    from optimize.display import note, say_pictures
    from optimize.pictures import open_gallery
    from programs.records import scan

    chosen = chosen_task(task)
    gallery = open_gallery(image_root, file, ARTIFACTS)
    note(f"checking {file} as {chosen.name} records")
    bad = records = 0
    labels: Counter[str] = Counter()
    for line in scan(file, chosen.record, chosen.name):
        if line.record is None:
            bad += 1
            if bad <= limit:
                note(str(line.problem))
            continue
        records += 1
        for path in getattr(line.record, "img_paths", ()):
            if gallery:
                gallery.file(line.record.id, path)
        gold = getattr(line.record, "gold", None)
        labels.update(chosen.said(gold) if gold is not None else ["(withheld)"])
    if bad > limit:
        note(f"… and {bad - limit} more (--limit {bad} lists them)")
    note(f"{file}: {records} good records, {bad} bad lines")
    for label, count in labels.most_common():
        note(f"  {count:6d}  {label}")
    say_pictures(gallery.problems if gallery else {})
    if bad or not records:
        raise typer.Exit(REFUSED)


def split(
    file: Annotated[Path, typer.Argument(help="JSONL file of labelled records.")],
    task: TaskName,
    out: Annotated[Path, typer.Option(help="Folder for train.jsonl, dev.jsonl and test.jsonl.", show_default=False)],
    parts: Annotated[str, typer.Option(help="train:dev:test, in whole parts.")] = "3:1:1",
    folds: Annotated[int | None, typer.Option(min=2, help="Instead: that many folders for cross-validation.")] = None,
    shape_like: Annotated[
        Path | None, typer.Option(help="track1: resample dev and test to the lengths of this (unlabelled) test file.")
    ] = None,
    error_share: Annotated[
        float,
        typer.Option(help="With --shape-like: share of paragraphs with an error. The test phases have about .82."),
    ] = 0.82,
    seed: Annotated[int, typer.Option(help="Seed of the shuffle.")] = 0,
) -> None:
    """Split labelled records so that no picture, paper or (nearly) equal claim stands on two sides."""
    from optimize import shape, splits
    from optimize.display import note
    from programs.records import read

    chosen = chosen_task(task)
    if shape_like and chosen.name != "track1":
        raise ValueError("--shape-like goes by sentences a paragraph; a claim of track2 is one sentence")
    note(f"splitting {file} {f'into {folds} folds' if folds else parts} (seed {seed}) below {out}/")
    found = splits.survey(chosen, file)
    if folds:
        made = {f"fold-{k}": s for k, s in enumerate(splits.split_folds(found.strata, found.keys, folds, seed), 1)}
    else:
        made = {"": splits.split(chosen, found.strata, found.keys, splits.Parts.parse(parts), seed)}
    _say_leak(found, next(iter(made.values())), seed)
    if shape_like:
        lengths = [len(getattr(record, "sentences", [])) for record in read(shape_like, chosen.record, chosen.name)]
        like = shape.shape_of(lengths, error_share)
        made = {name: splits.shaped(sides, found, like, seed) for name, sides in made.items()}
    for name, sides in made.items():
        for side, count in splits.write(sides, found, file, out / name).items():
            errors = sum(found.strata[row] != "Supported" for row in getattr(sides, side))
            note(f"  {out / name / side}.jsonl: {count} records, {errors} of them not all Supported")


def _say_leak(found: "Survey", made: "Split", seed: int) -> None:
    """What a plain random split of the same sizes would have leaked."""
    import random

    from optimize.display import note
    from optimize.sharing import groups, leak

    rows = list(range(len(found.keys)))
    plain = leak(found.keys, random.Random(seed).sample(rows, len(made.train)))
    kinds = ", ".join(f"{count} a {kind}" for kind, count in sorted(plain.by_kind.items())) or "nothing"
    note(
        f"  {len(rows)} records in {len(set(groups(found.keys)))} groups; a plain random split would share with train: "
        f"{plain.any_kind} of {plain.records} records ({kinds}); this one: {leak(found.keys, made.train).any_kind}"
    )


def submit(
    task: TaskName,
    data: Annotated[Path, typer.Option(help="The test inputs that were predicted.", show_default=False)],
    predictions: Annotated[Path, typer.Option(help="Predictions file of `aisr predict`.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Zip to write; the other track's file in it is kept.", show_default=False)],
    on_failure: Annotated[str, typer.Option(help="`refuse`, or `fallback`: fill failed records in.")] = "refuse",
    limit: Annotated[int, typer.Option(min=1, help="How many problems to list.")] = 20,
) -> None:
    """Validate predictions against the test inputs and pack the zip that the server takes."""
    from optimize import submission
    from optimize.display import note

    chosen = chosen_task(task)
    if on_failure not in ("refuse", "fallback"):
        raise ValueError(f"--on-failure {on_failure!r}; one of: refuse, fallback")
    note(f"checking {predictions} against {data}")
    found = submission.check(chosen, data, predictions, fill_failed=on_failure == "fallback")
    for problem in found.problems[:limit]:
        note(f"  {problem}")
    if found.problems:
        raise ValueError(f"{len(found.problems)} problems; nothing was written")
    for key in found.filled:
        note(f"  {key}: failed; filled in with the fallback answer")
    submission.pack(chosen, found.lines, out)
    note(f"wrote {out}: {chosen.submission_file} with {len(found.lines)} records")


def score(
    gold: Annotated[Path, typer.Argument(help="Survey records, JSONL.")],
    predicted: Annotated[Path, typer.Argument(metavar="PRED", help="Predictions, JSONL.")],
    task: TaskName,
    output: Annotated[Path | None, typer.Option(help="Write the report here as JSON.")] = None,
) -> None:
    """Score predictions as the official evaluator does; refuse what it refuses."""
    from optimize import display
    from optimize.artifact import as_json, write_whole
    from optimize.scoring import score_files

    chosen = chosen_task(task)
    display.note(f"scoring {predicted} against {gold} as {chosen.name}")
    report = score_files(chosen, gold, predicted)
    display.score_table("by label", report)
    if output:
        write_whole(output, as_json(report))
        display.note(f"wrote {output}")
