"""The commands that show programs and verdicts: inspect, report, check-text."""

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated

import typer

from aisr.base.errors import UserError
from aisr.cli import options as opt
from aisr.cli.plan import command_plan
from aisr.cli.session import load, open_lm, prepare, warn_of_another_lm

if TYPE_CHECKING:
    import dspy
    from rich.text import Text

    from aisr.predict.judge import Outcome
    from aisr.predict.replay import Reason
    from aisr.programs.task import Exhibit, LabelTask

PROGRAM = "artifacts/TASK/NAME, or models:/aisr-TASK@champion."


def inspect(
    program: Annotated[str, typer.Argument(help=PROGRAM)],
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Print a program as Markdown: instruction, demos, label weights, lengths."""
    prepare(artifacts, program)
    from aisr.artifact.prompt_page import prompt_page
    from aisr.base.redact import printable

    loaded = load(program, artifacts)
    typer.echo(printable(prompt_page(f"{program} ({loaded.digest})", loaded.task, loaded.program)), nl=False)


def report(
    run: Annotated[
        str,
        typer.Argument(help="artifacts/TASK/NAME, the folder beside `evaluate --output`, or the id of an MLflow run."),
    ],
    image_root: Annotated[
        Path | None,
        typer.Option(help="Folder that the picture paths of the records start from. Default: what the last page has."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write the page. Default: report.html in that folder; report-ID.html for a run."),
    ] = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Write the error browser of a compile or an evaluation.

    It is one HTML file with every judged record, its evidence, verdicts, prompt and answer.
    """
    from aisr.tracking.store import is_run_id

    logged = is_run_id(run) and not Path(run).exists()
    if not logged and not Path(run).is_dir():
        raise UserError(
            f"{run}: no such folder; expected that of a compiled program, such as artifacts/TASK/NAME, the one that "
            "`aisr evaluate --output` wrote, or the id of an MLflow run"
        )
    prepare(artifacts)
    from aisr.base.files import write_whole
    from aisr.cli.display import note
    from aisr.report import page, records
    from aisr.tracking import runs

    with tempfile.TemporaryDirectory() as place:
        folder = runs.fetch_files(artifacts, run, [records.FILE, page.FILE], Path(place)) if logged else Path(run)
        judged, thumbnail = records.read(folder), page.read_thumbnails(folder / page.FILE)
    if image_root is not None:
        from aisr.report.records import Thumbnails

        if not image_root.is_dir():
            raise UserError(f"--image-root {image_root}: no such folder; expected the one that img_path starts from")
        thumbnail = Thumbnails(image_root)
    target = out or (Path(f"report-{run[:8]}.html") if logged else Path(run) / page.FILE)
    write_whole(target, page.render(judged, thumbnail))
    note(
        f"wrote {target}: {len(judged.records)} records, {target.stat().st_size / 2**20:.1f} MiB, to open in a browser"
    )


def check_text(
    draft: Annotated[Path, typer.Argument(help="File with one paragraph or one claim; - is standard input.")],
    program: Annotated[str, typer.Option(help=PROGRAM)],
    evidence: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="track1: text or Markdown that the paragraph reports on; repeatable.",
            callback=opt.check_files,
        ),
    ] = None,
    paper: Annotated[
        Path | None, typer.Option(help="track2: the cited paper as text or Markdown.", callback=opt.check_files)
    ] = None,
    lm: opt.LM = None,
    api_base: opt.ApiBase = None,
    settings: opt.Settings = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Judge one paragraph against its evidence, or one claim against a paper, and say why."""
    if str(draft) != "-" and (os.path.isdir(draft) or not os.path.exists(draft)):  # a pipe is fine; no name too long
        raise UserError(
            f"{str(draft)[:80]}: no such file; expected one with the paragraph or claim. A text of the moment comes by "
            "standard input: echo 'The sentences.' | aisr check-text - …"
        )
    if bool(evidence) == (paper is not None):
        raise UserError("give --evidence FILE (once or more) for a paragraph, or --paper FILE for a claim")
    plan = command_plan(settings, lm, api_base)
    prepare(artifacts, program)
    from aisr.cli import display
    from aisr.predict.judge import judge
    from aisr.predict.prepare import attach_embeddings
    from aisr.predict.replay import explain
    from aisr.programs import drafts

    text = sys.stdin.read() if str(draft) == "-" else "\n\n".join(drafts.blocks(draft))
    loaded = load(program, artifacts)
    task = loaded.task
    record = task.record.from_draft(text, evidence or [], paper)
    opened = open_lm(replace(plan.lm, threads=1))
    warn_of_another_lm(loaded.program, opened)
    example = attach_embeddings(loaded.program, opened.embeddings).prepare(record)
    outcome = judge(task, loaded.program, example, opened)
    if outcome.failure is not None:
        display.note(f"not judged: {outcome.failure}")
        raise typer.Exit(opt.RECORDS_FAILED)
    named = [one for one in task.exhibits(record, example, outcome.answer) if one.chosen]
    why = explain(task, loaded.program, example, opened)
    print_verdicts(task.labelled, example, outcome, why, sorted(named, key=lambda one: one.chosen))
    display.print_spend(opened.ledger.spend)


LONGEST = 400  # characters of a piece of evidence


def print_verdicts(
    labelled: "LabelTask",
    example: "dspy.Example",
    outcome: "Outcome",
    reasons: "Sequence[Reason]",
    evidence: "Sequence[Exhibit]",
) -> None:
    """Each statement of an example with its verdict, and what can be read off of why.

    evidence: the paragraphs that were named; without any, each statement has the line that is nearest.
    """
    from rich.text import Text

    from aisr.cli.display import console

    statements = labelled.statements(example)
    for k, (text, judged, reason) in enumerate(zip(statements, outcome.judgements, reasons, strict=True), start=1):
        mark = ("✓", "bold green") if judged.label == labelled.neutral else ("✗", "bold red")
        sure = f" {judged.probabilities[labelled.labels.index(judged.label)]:.0%}" if judged.has_probabilities else ""
        verdict = (f" {k}. {judged.label}{sure}", "bold")
        _print(Text.assemble(mark, verdict, f"  {labelled.definitions[judged.label]}"))
        _print(text, 5)
        for opinion in reason.opinions:
            weight = "" if opinion.weight is None else f", weight {opinion.weight:.2g}"
            sure = "" if opinion.chance is None else f" {opinion.chance:.0%}"
            _print(f"{opinion.expert}: {opinion.label}{sure}{weight}", 5, "dim")
        for cue, signs in reason.signs.items():
            _print(f"{cue}: {', '.join(signs)}", 5, "dim")
        if not evidence:
            nearest = shorten(reason.nearest, LONGEST, placeholder=" …") or "none has a word of it"
            _print(f"nearest evidence: {nearest}", 5, "dim")
    for exhibit in evidence:
        words = shorten(exhibit.text, LONGEST, placeholder=" …")
        _print(f"evidence {exhibit.chosen}: [{exhibit.key}] {words}", 5)
    neutral = labelled.neutral
    wrong = sum(judged.label != neutral for judged in outcome.judgements)
    console.print(f"{wrong} of {len(statements)} not called {neutral}" if wrong else f"all called {neutral}")


def _print(content: "str | Text", indent: int = 0, style: str = "") -> None:
    """Print a text as it stands. It is not written as markup: rich takes a minute to escape 80 kB of backslashes."""
    from rich.padding import Padding
    from rich.text import Text

    from aisr.cli.display import console

    text = Text(content) if isinstance(content, str) else content
    console.print(Padding(text, (0, 0, 0, indent), expand=False), style=style or None, soft_wrap=False)
