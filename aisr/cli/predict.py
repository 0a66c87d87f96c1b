"""The commands from records to a submission: predict, submit, score."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from aisr.base.errors import UserError, merge_repeats
from aisr.base.files import pluralize
from aisr.cli import display, options as opt
from aisr.cli.display import note
from aisr.programs.registry import find_task_for

scale_option = partial(typer.Option, rich_help_panel="Scale")


def predict(
    task: opt.TaskName,
    program: opt.ProgramName,
    data: opt.Jsonl,
    out: Annotated[
        Path, typer.Option(help="Predictions file; a run that was stopped goes on in it.", show_default=False)
    ],
    image_root: opt.ImageRoot = None,
    lm: opt.LM = None,
    api_base: opt.ApiBase = None,
    lm_settings: opt.LMSettings = None,
    max_usd: opt.MaxUsd = None,
    max_calls: opt.MaxCalls = None,
    estimate: opt.Estimate = False,
    ray: Annotated[
        str | None,
        scale_option(
            metavar="local|auto|ADDRESS",
            help="Judge in processes of a Ray cluster: one of this machine alone, the one that is running, or an "
            "address. Default: threads of this process.",
        ),
    ] = None,
    workers: Annotated[
        int, scale_option(min=1, help="With --ray: processes, each with -L threads calls at a time.")
    ] = 2,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Predict a file of records. The same command goes on where it was stopped.

    Exits with 1 where records failed or a limit was reached; the same command tries those again.
    """
    config, _ = opt.read_lms(lm, api_base, lm_settings)
    from aisr import api, workflow
    from aisr.artifact.program import describe_origin
    from aisr.lm.budget import Ledger, Limits, describe_estimate

    loaded = api.load(program, find_task_for(task, data), artifacts=artifacts)
    ledger = Ledger.for_output(out, Limits(max_usd, max_calls))
    model = opt.open_command_lm(config, ledger, needs_key=not estimate)
    if estimate:
        with display.Live(ledger):
            spend = workflow.estimate_prediction(loaded, data, model, image_root=image_root)
        display.notes(describe_estimate(spend, ledger.limits))
        return
    note(f"predicting {data} with {program} ({loaded.digest}) and {config.model} into {out}")
    display.notes(describe_origin(loaded.loaded, data))
    with display.Live(ledger):
        done = workflow.predict(loaded, data, model, out=out, image_root=image_root, ray=ray, workers=workers)
    kept = f", {done.kept} of them from an earlier run" if done.kept else ""
    note(f"wrote {out}: {pluralize(done.kept + done.judged, 'record')}{kept}")
    _print_labels(done.labels)
    if done.stopped:
        note(f"stopped with {done.left} records left: {done.stopped}; a higher limit goes on from here")
    display.print_end(done.failures, loaded.picture_problems, ledger.spend)
    raise typer.Exit(opt.RECORDS_FAILED if done.failures or done.stopped else 0)


def _print_labels(labels: Mapping[str, int]) -> None:
    """Print how often each label was given."""
    if labels:
        note("  labels: " + ", ".join(f"{name} {count}" for name, count in labels.items()))


def submit(
    task: opt.TaskName,
    data: Annotated[Path, opt.file_option(help="The test inputs that were predicted.")],
    predictions: Annotated[Path, opt.file_option(help="Predictions file of `aisr predict`.")],
    out: Annotated[Path, typer.Option(help="Zip to write; the other track's file in it is kept.", show_default=False)],
    on_failure: Annotated[
        Literal["refuse", "fallback"],
        typer.Option(help="What to do where records failed; fallback fills in the commonest answer."),
    ] = "refuse",
) -> None:
    """Check predictions against the test inputs and pack the zip for the server."""
    from aisr import workflow

    chosen = find_task_for(task, data, predictions=predictions)
    note(f"checking {predictions} against {data}")
    display.notes(workflow.read_origin(predictions))
    try:
        checked = workflow.submit(chosen, data, predictions, out=out, on_failure=on_failure)
    except workflow.NotSubmitted as error:
        display.notes(f"  {problem}" for problem in error.listed)
        raise UserError(f"{len(error.problems)} problems; nothing was written") from error
    filled = merge_repeats((key, "failed; filled in with the fallback answer") for key in checked.filled)
    display.notes(f"  {one}" for one in filled)
    note(f"wrote {out}: {chosen.submission} with {len(checked.lines)} records")
    labels = checked.count_labels(chosen)
    _print_labels(labels)
    if len(labels) == 1 and sum(labels.values()) > 1:
        note(f"warning: all answers are {next(iter(labels))}; look at what the LM answered before you submit them")


def score(
    gold: Annotated[Path, opt.file_argument(help="Records with labels, JSONL.")],
    predicted: Annotated[Path, opt.file_argument(metavar="PRED", help="Predictions, JSONL.")],
    task: opt.TaskName,
    output: Annotated[Path | None, typer.Option(help="Write the report here as JSON.")] = None,
) -> None:
    """Score a predictions file as the official evaluator does; refuse what it refuses."""
    from aisr import workflow
    from aisr.base.files import as_json, write_whole

    chosen = find_task_for(task, gold, predictions=predicted)
    note(f"scoring {predicted} against {gold} as {chosen.name}")
    report = workflow.score(chosen, gold, predicted).as_dict()
    display.print_scores(chosen.parts, report)
    if output:
        write_whole(output, as_json(report))
        note(f"wrote {output}")
