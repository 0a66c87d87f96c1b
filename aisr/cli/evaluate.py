"""The commands that score programs: evaluate, compare, promote."""

import time
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from aisr.base.errors import UserError
from aisr.cli import display, options as opt
from aisr.cli.display import note
from aisr.cli.options import attach_program, find_task_for, open_command_lm, read_lms, repeating_command

if TYPE_CHECKING:
    from aisr.judging.evaluate import Evaluation
    from aisr.judging.judge import ReplayedRecord
    from aisr.metrics.intervals import Interval
    from aisr.optimize.target import Target


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
        Path | None,
        typer.Option(dir_okay=False, help="Write the scores here as JSON; records and page beside it."),
    ] = None,
    image_root: opt.ImageRoot = None,
    track: opt.Track = True,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Score a program on labelled records, with a 95 % interval."""
    config, _ = read_lms(lm, api_base, lm_settings)
    from aisr.base.files import try_writing
    from aisr.base.jsonl import read
    from aisr.judging.evaluate import Evaluation, score_outcomes
    from aisr.judging.judge import judge_all, judge_with_calls
    from aisr.optimize.leakage import group_records, prepare_all
    from aisr.optimize.target import Target, compare_sets, drawn, estimate_mix, parse_mix, read_target, stated_mix
    from aisr.tracking import registry
    from aisr.tracking.experiment import check_writable

    chosen = find_task_for(task, data, *([target] if target else []))
    stated = parse_mix(chosen, target_mix) if target_mix else None
    target_records = read_target(chosen, target) if target else []
    loaded = registry.load(program, artifacts, chosen)
    opened = open_command_lm(config)
    attach_program(loaded.program, opened, image_root, data)
    with display.Live(opened.ledger):
        records = list(islice(read(data, chosen.record, chosen.name), limit))
        groups = group_records(chosen, records)
        cases = prepare_all(chosen, loaded.program.prepare, records, data, groups)
        if track:  # what the store does not take must be known before anything is spent
            check_writable(artifacts, chosen, registers=False)
        if output:
            try_writing(output)
        began = time.monotonic()
        note(f"evaluating {program} ({loaded.digest}) with {config.model} on {len(records)} records of {data}")
        replayed = judge_with_calls(chosen, loaded.program, list(zip(records, cases, strict=True)), opened)
        outcomes = [one.outcome for one in replayed]
        if target or stated:
            mix = stated_mix(chosen, stated) if stated else None
            if mix is None and chosen.labels:
                on_target = judge_all(chosen, loaded.program, drawn(target_records, 0), opened)
                mix = estimate_mix(chosen, cases, outcomes, on_target, 0)
            comparison = compare_sets(chosen, records, target_records) if target else None
            aim = Target.of(mix, target_records, comparison, target)
            aim, weighted = aim.weigh_splits(chosen, {str(data): cases})
            cases = weighted[str(data)]
    seconds = time.monotonic() - began
    result = score_outcomes(chosen, cases, outcomes)
    display.print_scores(chosen.parts, result.report())
    if result.at_target:
        print_target(aim, result.at_target)
    display.print_confidence(result.confidence)
    display.print_end(result.failures, loaded.program.image_folder, opened.ledger.spend)
    done = Evaluation(loaded, program, data, opened, result, seconds, repeating_command(context))
    logged = _save(done, replayed, output, artifacts if track else None)
    raise typer.Exit(opt.RECORDS_FAILED if result.failures or not logged else 0)


def print_target(target: "Target", score: "Interval") -> None:
    """Print the score weighted to a target, what that is, and how far it can be trusted."""
    if target.mix:
        note(f"mix of the target{'' if target.mix.judged else ', as stated'}: {target.mix}")
    for line in target.comparison.lines("these records", "target") if target.comparison else ():
        note(line)
    note(f"weighted to the target: {score}")
    for warning in target.warnings():
        note(f"  {warning}")


def _save(done: "Evaluation", replayed: "list[ReplayedRecord]", output: Path | None, artifacts: Path | None) -> bool:
    """Write an evaluation to --output, and log it to the MLflow store below an artifacts folder; whether the store took
    it."""
    from aisr.base.files import as_json, write_whole
    from aisr.report.page import write_evaluation_report
    from aisr.tracking.runs import log_evaluation

    with TemporaryDirectory() as temporary:
        folder = output.with_name(f"{output.stem}-report") if output else Path(temporary)
        if output or artifacts:
            write_evaluation_report(done, replayed, folder)
        if output:
            write_whole(output, as_json(done.result.report()))
            note(f"wrote {output} and, for `aisr report {folder}`, {folder}/")
        if artifacts is None:
            return True
        logged = display.log_run(lambda: log_evaluation(artifacts, done, folder, replayed), "not logged to MLflow")
    if logged:
        note(f"logged {logged}")
    return logged is not None


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
    from aisr.artifact.manifest import UNCOMPILED

    config, _ = read_lms(lm, api_base, lm_settings)
    saved = [name for name in (first, second) if name != UNCOMPILED]
    if not saved:
        raise UserError(f"{first} {second}: name a compiled program beside it; {UNCOMPILED} is what that was before")
    from aisr.artifact.program import uncompiled_baseline
    from aisr.judging.evaluate import evaluate as score_program
    from aisr.metrics.intervals import in_words
    from aisr.optimize.leakage import read_labeled
    from aisr.tracking import registry

    chosen = find_task_for(task, data)
    programs = {name: registry.load(name, artifacts, chosen) for name in saved}
    if UNCOMPILED in (first, second):
        programs[UNCOMPILED] = uncompiled_baseline(programs[saved[0]])
    opened = open_command_lm(config)
    results = []
    for name in (first, second):
        loaded = programs[name]
        attach_program(loaded.program, opened, image_root, data)
        with display.Live(opened.ledger):
            cases = read_labeled(chosen, loaded.program, data, limit)
            note(f"evaluating {name} ({loaded.digest}) with {config.model} on {len(cases)} records of {data}")
            results.append(score_program(chosen, loaded.program, cases, opened))
        note(f"  {results[-1].interval}")
        display.print_failures(results[-1].failures)
        display.print_pictures(loaded.program.image_folder)
    gain = results[1].gain(results[0])
    changed = f"{results[1].changed(results[0])} of {len(cases)} records are scored differently"
    note(f"difference, record by record: {gain}; {changed}; {second}: {in_words(gain, first)}")
    display.print_spend(opened.ledger.spend)
    raise typer.Exit(opt.RECORDS_FAILED if any(one.failures for one in results) else 0)


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
