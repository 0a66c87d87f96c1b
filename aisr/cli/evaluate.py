"""The commands that score programs: evaluate, compare, promote."""

import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aisr.base.errors import UserError
from aisr.cli import options as opt
from aisr.cli.session import attach, check_kind, log, open_lm, prepare
from aisr.cli.settings import read_lm, repeating_command
from aisr.programs.registry import find_task

if TYPE_CHECKING:
    from aisr.predict.evaluate import Evaluation
    from aisr.predict.replay import ReplayedRecord
    from aisr.programs.pictures import ImageFolder


def evaluate(
    context: typer.Context,
    task: opt.TaskName,
    program: opt.ProgramName,
    data: opt.Jsonl,
    limit: opt.Limit = None,
    lm: opt.LM = opt.EMBEDDED,
    api_base: opt.ApiBase = None,
    lm_settings: opt.LMSettings = None,
    output: Annotated[
        Path | None, typer.Option(help="Write the scores here as JSON; records and page beside it.")
    ] = None,
    image_root: opt.ImageRoot = None,
    track: opt.Track = True,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Score a program on labelled records, with a 95 % interval."""
    config = read_lm(lm, api_base, lm_settings or ())
    prepare(artifacts, program)
    from aisr.cli import display
    from aisr.optimize.examples import read_labeled
    from aisr.predict.evaluate import Evaluation, score_outcomes
    from aisr.predict.prepare import find_image_folder
    from aisr.predict.replay import judge_with_calls
    from aisr.tracking import registry, store

    chosen = find_task(task)
    check_kind(chosen, "record", data)
    loaded = registry.load(program, artifacts, chosen)
    opened = open_lm(config)
    image_folder = find_image_folder(image_root, data)
    attach(loaded.program, opened, image_folder)
    rows = read_labeled(chosen, loaded.program, data, limit)
    records = [row.example for row in rows]
    if track:
        store.open_store(artifacts)  # a store out of reach must show itself before anything is spent
    began = time.monotonic()
    display.note(f"evaluating {program} ({loaded.digest}) with {config.model} on {len(records)} records of {data}")
    with display.live(opened.ledger) as progress:
        replayed = judge_with_calls(chosen, loaded.program, [row[:2] for row in rows], opened, progress.judged)
        seconds = time.monotonic() - began
        scored = score_outcomes(chosen, records, [one.outcome for one in replayed])
    display.print_scores(chosen.parts, scored.report())
    display.print_confidence(scored.confidence)
    display.print_failures(scored.failures)
    display.print_pictures(image_folder)
    display.print_spend(opened.ledger.spend)
    done = Evaluation(loaded, program, data, opened, scored, seconds, repeating_command(context))
    logged = _save(done, replayed, output, artifacts if track else None, image_folder)
    raise typer.Exit(opt.RECORDS_FAILED if scored.failures or not logged else 0)


def _save(
    done: "Evaluation",
    replayed: "list[ReplayedRecord]",
    output: Path | None,
    store: Path | None,
    image_folder: "ImageFolder | None",
) -> bool:
    """Write an evaluation to --output, and log it to the MLflow store below an artifacts folder; whether the store took
    it."""
    from aisr.base.files import as_json, write_whole
    from aisr.cli.display import note
    from aisr.report.records import write_evaluation_report
    from aisr.tracking import runs

    if output is None and store is None:
        return True
    beside = output.with_name(f"{output.stem}-report") if output else None
    with nullcontext(beside) if beside else tempfile.TemporaryDirectory() as place:
        if output:
            write_whole(output, as_json(done.result.report()))
        write_evaluation_report(done, replayed, Path(place), image_folder)
        if output:
            note(f"wrote {output} and, for `aisr report {beside}`, {beside}/")
        if store is None:
            return True
        logged = log(
            lambda: runs.describe_run(store, runs.log_evaluation(store, done, Path(place), replayed)),
            "not logged to MLflow",
        )
        if logged:
            note(f"logged {logged}")
        return logged is not None


def compare(
    first: Annotated[
        str,
        typer.Argument(
            help="artifacts/TASK/NAME, models:/aisr-TASK@champion, or `uncompiled`: the other one before its compile."
        ),
    ],
    second: Annotated[str, typer.Argument(help="The program to compare with it.")],
    task: opt.TaskName,
    data: opt.Jsonl,
    image_root: opt.ImageRoot = None,
    limit: opt.Limit = None,
    lm: opt.LM = opt.EMBEDDED,
    api_base: opt.ApiBase = None,
    lm_settings: opt.LMSettings = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Score two programs on the same labelled records: the paired difference, with its 95 % interval."""
    config = read_lm(lm, api_base, lm_settings or ())
    names = (first, second)
    prepare(artifacts, *_compiled(names))
    from aisr.artifact.program import uncompiled
    from aisr.cli import display
    from aisr.metrics.intervals import in_words
    from aisr.optimize.examples import read_labeled
    from aisr.predict.evaluate import evaluate as score_program
    from aisr.predict.prepare import find_image_folder
    from aisr.tracking import registry

    chosen = find_task(task)
    check_kind(chosen, "record", data)
    compiled = {name: registry.load(name, artifacts, chosen) for name in _compiled(names)}
    opened = open_lm(config)
    image_folder = find_image_folder(image_root, data)
    results = []
    for name in names:
        loaded = compiled[name] if name in compiled else uncompiled(*compiled.values())
        attach(loaded.program, opened, image_folder)
        records = [row.example for row in read_labeled(chosen, loaded.program, data, limit)]
        display.note(f"evaluating {name} ({loaded.digest}) with {config.model} on {len(records)} records of {data}")
        with display.live(opened.ledger) as progress:
            results.append(score_program(chosen, loaded.program, records, opened, progress.judged))
        display.note(f"  {results[-1].interval}")
        display.print_failures(results[-1].failures)
    gain = results[1].gain(results[0])
    summary = in_words(gain, len(results[0].scores), first)
    display.note(f"difference, record by record: {gain}; {second}: {summary}")
    display.print_pictures(image_folder)
    display.print_spend(opened.ledger.spend)
    raise typer.Exit(opt.RECORDS_FAILED if any(one.failures for one in results) else 0)


def _compiled(names: tuple[str, str]) -> list[str]:
    """The compiled ones among two programs. Raises UserError where there is none."""
    from aisr.artifact.manifest import UNCOMPILED

    compiled = [name for name in names if name != UNCOMPILED]
    if not compiled:
        raise UserError(f"{' '.join(names)}: name a compiled program beside it; {UNCOMPILED} is what that was before")
    return compiled


def promote(
    version: Annotated[str, typer.Argument(help="models:/aisr-TASK/VERSION, as `aisr compile` names it.")],
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Promote it even if it is not better than the champion on the same test split."),
    ] = False,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Make a registered version the champion; refuse one that is no better on the same test split."""
    from aisr.tracking.store import MODEL_SCHEME

    name, slash, number = version.removeprefix(MODEL_SCHEME).partition("/")
    if not version.startswith(MODEL_SCHEME) or not slash or not number.isdigit():
        raise UserError(f"{version}: expected models:/aisr-TASK/VERSION, as `aisr compile` prints it")
    prepare(artifacts, version)
    from aisr.cli.display import note
    from aisr.tracking import registry
    from aisr.tracking.store import open_store

    try:
        before = registry.promote(open_store(artifacts), name, number, anyway)
    except registry.NotPromoted as error:
        raise UserError(f"{error}. --anyway promotes it all the same") from error
    same = before is not None and before.version == number
    change = ", as it was" if same else f"; it was {before}" if before else ""
    note(f"models:/{name}@{registry.ALIAS} is version {number}" + change)
