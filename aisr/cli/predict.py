"""The commands from records to a submission: predict, submit, score."""

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from aisr.base.errors import UserError
from aisr.cli import display
from aisr.cli import options as opt
from aisr.cli.display import note
from aisr.cli.options import attach, find_task_for, open_lm, read_lms

MOST_PROBLEMS = 20  # of a submission that are listed
scale_option = partial(typer.Option, rich_help_panel="Scale")


def predict(
    task: opt.TaskName,
    program: opt.ProgramName,
    data: opt.Jsonl,
    out: Annotated[
        Path, typer.Option(help="Predictions file; a run that was stopped goes on in it.", show_default=False)
    ],
    image_root: opt.ImageRoot = None,
    lm: opt.LM = opt.EMBEDDED,
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
    workers: Annotated[int, scale_option(min=1, help="With --ray: processes that share the threads.")] = 2,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Predict a file of records. The same command goes on where it was stopped.

    Exits with 1 where records failed or a limit was reached; the same command tries those again.
    """
    config, _ = read_lms(lm, api_base, lm_settings)
    from aisr.base.jsonl import read
    from aisr.judging.judge import judge_all
    from aisr.judging.predict import predict as run
    from aisr.lm.budget import Ledger, Limits
    from aisr.optimize.estimate import DryRun
    from aisr.tracking import registry

    chosen = find_task_for(task, data)
    loaded = registry.load(program, artifacts, chosen)
    ledger = Ledger.for_output(out, Limits(max_usd, max_calls))
    opened = open_lm(config, ledger, needs_key=not estimate)
    attach(loaded.program, opened, image_root, data)
    if estimate:
        dry = DryRun()
        opened = dry.open(opened)
        with display.Live(dry.ledger) as progress:
            judge_all(chosen, loaded.program, read(data, chosen.record, chosen.name), opened, progress.judged)
        display.print_estimate(dry.ledger.spend, ledger.limits)
        return
    note(f"predicting {data} with {program} ({loaded.digest}) and {config.model} into {out}")
    judging: AbstractContextManager[Any] = nullcontext()  # by the threads of this process
    if ray:
        from aisr.judging.ray import ray_workers

        address = None if ray == "local" else ray
        judging = ray_workers(chosen, loaded.program, opened, config, workers, address)
    identity = {"task": chosen.name, "program": loaded.digest, "lm": opened.identity}
    with display.Live(ledger) as progress, judging as judge_record:
        done = run(chosen, loaded.program, opened, data, out, identity, progress.judged, judge_record)
    kept = f", {done.kept} of them from an earlier run" if done.kept else ""
    note(f"wrote {out}: {done.kept + done.judged} records{kept}")
    if done.stopped:
        note(f"stopped with {done.left} records left: {done.stopped}; a higher limit goes on from here")
    display.print_end(done.failures, loaded.program.image_folder, ledger.spend)
    raise typer.Exit(opt.RECORDS_FAILED if done.failures or done.stopped else 0)


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
    from aisr.judging.predict import check_submission

    chosen = find_task_for(task, data, predictions=predictions)
    note(f"checking {predictions} against {data}")
    checked = check_submission(chosen, data, predictions, fill_failed=on_failure == "fallback")
    for problem in checked.problems[:MOST_PROBLEMS]:
        note(f"  {problem}")
    if len(checked.problems) > MOST_PROBLEMS:
        note(f"  … and {len(checked.problems) - MOST_PROBLEMS} more")
    if checked.problems:
        raise UserError(f"{len(checked.problems)} problems; nothing was written")
    for key in checked.filled:
        note(f"  {key}: failed; filled in with the fallback answer")
    chosen.write_submission(checked.lines, out)
    note(f"wrote {out}: {chosen.submission} with {len(checked.lines)} records")


def score(
    gold: Annotated[Path, opt.file_argument(help="Records with labels, JSONL.")],
    predicted: Annotated[Path, opt.file_argument(metavar="PRED", help="Predictions, JSONL.")],
    task: opt.TaskName,
    output: Annotated[Path | None, typer.Option(help="Write the report here as JSON.")] = None,
) -> None:
    """Score a predictions file as the official evaluator does; refuse what it refuses."""
    from aisr.base.files import as_json, write_whole
    from aisr.judging.predict import score_files

    chosen = find_task_for(task, gold, predictions=predicted)
    note(f"scoring {predicted} against {gold} as {chosen.name}")
    report = score_files(chosen, gold, predicted)
    display.print_scores(chosen.parts, report)
    if output:
        write_whole(output, as_json(report))
        note(f"wrote {output}")
