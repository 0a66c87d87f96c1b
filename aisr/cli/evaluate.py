"""The commands that score programs: evaluate, compare, promote."""

from pathlib import Path
from typing import Annotated

import typer

from aisr.cli import display, options as opt
from aisr.cli.display import note
from aisr.programs.registry import find_task_for


def evaluate(
    context: typer.Context,
    task: opt.TaskName,
    program: opt.ProgramName,
    data: opt.Jsonl,
    limit: opt.Limit = None,
    target: opt.TargetFile = None,
    target_mix: opt.TargetMix = None,
    lm: opt.LM = None,
    api_base: opt.ApiBase = None,
    lm_settings: opt.LMSettings = None,
    output: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write the scores here as JSON; records and page beside it.")
    ] = None,
    image_root: opt.ImageRoot = None,
    track: opt.Track = True,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Score a program on labelled records, with a 95 % interval."""
    config, _ = opt.read_lms(lm, api_base, lm_settings)
    from aisr import api, evaluation

    chosen = find_task_for(task, data, *([target] if target else []))
    loaded = api.load(program, chosen, artifacts=artifacts)
    model = opt.open_command_lm(config)
    note(f"evaluating {program} ({loaded.digest}) with {config.model} on {data}")
    with display.Live(model.opened.ledger):
        scores = evaluation.evaluate(
            loaded,
            data,
            model,
            limit=limit,
            target=target,
            target_mix=target_mix,
            image_root=image_root,
            output=output,
            track=track,
            artifacts=artifacts,
            name=program,
            command=opt.repeating_command(context),
        )
    display.print_scores(chosen.parts, scores.as_dict())
    display.notes(scores.target_lines())
    display.notes(scores.confidence_lines())
    display.print_end(scores.failures, loaded.picture_problems, model.opened.ledger.spend)
    if output:
        note(f"wrote {output}; open {evaluation.report_folder(output) / 'report.html'}")
    if scores.logged:
        note(f"logged {scores.logged}")
    if scores.not_logged:
        display.print_error(scores.not_logged)
    raise typer.Exit(opt.RECORDS_FAILED if scores.failures or scores.not_logged else 0)


def compare(
    first: Annotated[
        str,
        typer.Argument(
            help="artifacts/TASK/NAME, models:/aisr-TASK@champion, or `uncompiled`: the other one before its compile.",
            callback=opt.check_program,
        ),
    ],
    second: Annotated[str, typer.Argument(help="The program to compare with it.", callback=opt.check_program)],
    task: opt.TaskName,
    data: opt.Jsonl,
    image_root: opt.ImageRoot = None,
    limit: opt.Limit = None,
    lm: opt.LM = None,
    api_base: opt.ApiBase = None,
    lm_settings: opt.LMSettings = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Score two programs on the same labelled records: the paired difference, with its 95 % interval."""
    from aisr.artifact.manifest import UNCOMPILED, check_comparable

    check_comparable(first, second)
    config, _ = opt.read_lms(lm, api_base, lm_settings)
    from aisr import api, evaluation

    chosen = find_task_for(task, data)
    programs: list[evaluation.Compared] = [
        UNCOMPILED if name == UNCOMPILED else api.load(name, chosen, artifacts=artifacts) for name in (first, second)
    ]
    model = opt.open_command_lm(config)
    note(f"evaluating {first} and {second} with {config.model} on {data}")
    with display.Live(model.opened.ledger):
        scores = evaluation.compare(programs[0], programs[1], data, model, limit=limit, image_root=image_root)
    for name, program, result in zip((first, second), programs, scores[:2], strict=True):
        note(f"{name}: {result.interval} on {len(result.scores)} records")
        display.print_failures(result.failures)
        if isinstance(program, api.LoadedProgram):
            display.print_pictures(program.picture_problems)
    changed = f"{scores.changed} of {len(scores.first.scores)} records are scored differently"
    note(f"difference, record by record: {scores.gain}; {changed}; {second}: {scores.describe_gain(first)}")
    display.print_spend(model.opened.ledger.spend)
    raise typer.Exit(opt.RECORDS_FAILED if scores.first.failures or scores.second.failures else 0)


def promote(
    version: Annotated[str, typer.Argument(help="models:/aisr-TASK/VERSION, as `aisr compile` names it.")],
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Promote it even if it is not better than the champion on the same test split."),
    ] = False,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Make a registered version the champion; refuse one that is no better on the same test split."""
    from aisr.tracking.store import parse_model_uri

    parse_model_uri(artifacts, version)  # a typing error does not wait for the import of DSPy
    from aisr import workflow
    from aisr.tracking.registry import ALIAS

    replaced = workflow.promote(version, anyway=anyway, artifacts=artifacts)
    name, _, number = version.rpartition("/")
    note(f"{name}@{ALIAS} is version {number}" + (f"; it was {replaced}" if replaced else ""))
