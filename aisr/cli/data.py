"""The commands about record files: example, check, split, and retrieval, which scores how paragraphs are ranked. None
of them asks an LM."""

from pathlib import Path
from typing import Annotated

import typer

from aisr.base.errors import REFUSED, UserError
from aisr.base.files import SAMPLE, percent
from aisr.cli import options as opt
from aisr.cli.display import Live, note, notes, print_pictures, table
from aisr.programs.registry import TASKS, find_task_for


def check(
    file: Annotated[Path, opt.file_argument(help="JSONL file in the official format.")],
    task: opt.TaskName,
    image_root: opt.ImageRoot = None,
    against: Annotated[
        Path | None, opt.file_option(help="Another file, such as the test inputs: how do the two differ?")
    ] = None,
) -> None:
    """List the wrong lines of a record file, and pictures that are missing; compare it with another file."""
    from aisr import records

    chosen = find_task_for(task, file, *([against] if against else []))
    note(f"checking {file} as {chosen.name} records")
    with Live():
        checked = records.check(chosen, file, against=against, image_root=image_root)
    note(str(checked))
    print_pictures(checked.pictures)
    if checked.bad:
        raise typer.Exit(REFUSED)


def example(task: Annotated[str, typer.Argument(metavar="TASK", help=f"{', '.join(TASKS)}.")]) -> None:
    """Print a labelled record of a task, a short one of the sample, as a line of JSON."""
    if task not in TASKS:
        raise UserError(f"{task!r}: expected one of: {', '.join(TASKS)}")
    lines = (SAMPLE / task / "dev.jsonl").read_text("utf-8").splitlines()
    print(min(lines, key=len))


def split(
    file: Annotated[Path, opt.file_argument(help="JSONL file of labelled records.")],
    task: opt.TaskName,
    out: Annotated[Path, typer.Option(help="Folder for train.jsonl, dev.jsonl and test.jsonl.", show_default=False)],
    parts: Annotated[str, typer.Option(metavar="N:N:N", help="train:dev:test, in whole parts.")] = "3:1:1",
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the shuffle.")] = 0,
) -> None:
    """Split labelled records into train, dev and test that share nothing.

    No part shares a claim, picture, paper or evidence (nor a near copy) with another.
    """
    from aisr import records

    chosen = find_task_for(task, file)
    note(f"splitting {file} {parts} (seed {seed}) below {out}/")
    with Live():
        done = records.split(chosen, file, out=out, parts=parts, seed=seed)
    note(str(done))


def retrieval(
    file: Annotated[Path, opt.file_argument(help="JSONL file of labelled records.")],
    task: Annotated[
        str, typer.Option(metavar="TASK", help="A task that retrieves paragraphs.", callback=opt.check_task)
    ] = "track2",
    retrievers: Annotated[str, typer.Option(metavar="NAME,…", help="Which to score.")] = "bm25,dense,hybrid",
    fit: Annotated[
        Path | None,
        opt.file_option(help="Fit an evidence ranker on this file, and score it; on FILE itself cross-validated."),
    ] = None,
    context_tokens: Annotated[int, typer.Option(min=1, help="Tokens of the paper to show.")] = 3000,
) -> None:
    """Score how well paragraphs are ranked for claims, by the gold evidence of labelled records; fit a ranker."""
    from aisr.evaluation import score_retrieval

    chosen = find_task_for(task, file, *([fit] if fit else []))
    names = [name.strip() for name in retrievers.split(",")]
    note(f"ranking the paragraphs of {file} for its claims with evidence")
    with Live():
        scores = score_retrieval(chosen, file, retrievers=names, fit=fit, context_tokens=context_tokens)
    notes(scores.notes)
    rows = [[name, *(percent(part.mean()) for part in own.values())] for name, own in scores.measures.items()]
    title = f"gold evidence of {scores.claims} claims among the first k, and within the token budget, in points"
    table(title, ["retriever", *scores.measures[names[0]]], rows)
    if scores.gains:
        rows = [[name, *map(str, own.values())] for name, own in scores.gains.items()]
        title = "gain of the fitted ranker, in points, with 95 % intervals over papers"
        table(title, ["over", *scores.gains[names[0]]], rows)
