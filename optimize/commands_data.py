"""The commands that read and write record files: check, split, submit, score. They need no language model."""

from pathlib import Path
from typing import Annotated

import typer

from optimize.options import REFUSED, TaskName, chosen_task


def check(
    file: Annotated[Path, typer.Argument(help="JSONL file in the official format.")],
    task: TaskName,
    limit: Annotated[int, typer.Option(min=1, help="How many bad lines to list.")] = 20,
) -> None:
    """Check every line of a record file; list what is wrong."""
    from collections import Counter

    from optimize.display import note
    from programs.records import scan

    chosen = chosen_task(task)
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
        gold = getattr(line.record, "gold", None)
        labels.update(chosen.said(gold) if gold is not None else ["(withheld)"])
    if bad > limit:
        note(f"… and {bad - limit} more (--limit {bad} lists them)")
    note(f"{file}: {records} good records, {bad} bad lines")
    for label, count in labels.most_common():
        note(f"  {count:6d}  {label}")
    if bad or not records:
        raise typer.Exit(REFUSED)


def split(
    file: Annotated[Path, typer.Argument(help="JSONL file of labelled records.")],
    task: TaskName,
    out: Annotated[Path, typer.Option(help="Folder for train.jsonl, dev.jsonl and test.jsonl.", show_default=False)],
    parts: Annotated[str, typer.Option(help="train:dev:test, in whole parts.")] = "3:1:1",
    seed: Annotated[int, typer.Option(help="Seed of the shuffle.")] = 0,
) -> None:
    """Split labelled records into train, dev and test that share no picture, paper or claim."""
    from optimize import splits
    from optimize.display import note

    chosen = chosen_task(task)
    note(f"splitting {file} {parts} (seed {seed}) into {out}/")
    written = splits.split_file(chosen, file, out, splits.Parts.parse(parts), seed)
    for name, count in written.items():
        note(f"  {out / name}.jsonl: {count} records")


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
    gold: Annotated[Path, typer.Argument(help="Labelled records, JSONL.")],
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
