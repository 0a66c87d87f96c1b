"""The command that compiles programs."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from aisr.base.errors import UserError
from aisr.base.files import split_files
from aisr.base.redact import printable
from aisr.cli import display, options as opt
from aisr.cli.display import console, note
from aisr.programs.registry import find_task, find_task_for

RESULTS = ("the program: ", "  on test")  # how lines begin that are read first


class CompileCommand(TyperCommand):
    """The command whose help also lists the options of a task that --task names, before or after --help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line, --help at last."""
        return super().parse_args(ctx, sorted(args, key="--help".__eq__))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the command, then the options of the task."""
        super().format_help(ctx, formatter)
        if name := ctx.params.get("task"):
            task = find_task(name)
            with formatter.section(f"Options of {task.name}: -T NAME=VALUE"):
                formatter.write_dl([(option, task.describe_option(option)) for option in task.option_names()])


def compile_(
    context: typer.Context,
    task: Annotated[
        str,
        typer.Option(
            metavar="TASK", help=f"{opt.TASK_NAMES}.", callback=opt.check_task, is_eager=True, show_default=False
        ),
    ] = "",
    data: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="With train.jsonl, dev.jsonl, maybe test.jsonl; or `sample`.")
    ] = None,
    task_options: opt.TaskOptions = None,
    image_root: opt.ImageRoot = None,
    optimizer: Annotated[
        str | None,
        opt.search_option(
            metavar="NAME,…",
            help="labeled, knn, bootstrap, random-search, mipro, gepa; several, by commas, compete on dev. "
            "Default: knn where train has 200 records, else random-search.",
        ),
    ] = None,
    budget: Annotated[
        Literal["light", "medium", "heavy"], opt.search_option(help="How thorough the search is.")
    ] = "medium",
    demos: Annotated[
        int | None,
        opt.search_option(metavar="N", min=0, max=100, help="Demos in a prompt at most. By budget: 4, 4 or 8."),
    ] = None,
    candidates: Annotated[
        int | None,
        opt.search_option(metavar="N", min=1, max=1000, help="Programs an optimizer may try. By budget: 2, 4 or 8."),
    ] = None,
    seed: Annotated[int, opt.search_option(metavar="N", min=0, max=2**32 - 1, help="Seed of the optimizers.")] = 0,
    max_train: Annotated[
        int | None, opt.search_option(metavar="N", min=1, help="Records of train that the LM judges at most.")
    ] = None,
    max_dev: Annotated[int | None, opt.search_option(metavar="N", min=1, help="Records of dev at most.")] = None,
    max_test: Annotated[int | None, opt.search_option(metavar="N", min=1, help="Records of test at most.")] = None,
    target: opt.TargetFile = None,
    target_mix: opt.TargetMix = None,
    lm: opt.LM = None,
    api_base: opt.ApiBase = None,
    teacher_lm: Annotated[
        str | None,
        opt.lm_option(
            metavar="MODEL", help="LM that writes demos and instructions; -L teacher.NAME=VALUE sets it. Default: --lm."
        ),
    ] = None,
    lm_settings: opt.LMSettings = None,
    max_usd: opt.MaxUsd = None,
    max_calls: opt.MaxCalls = None,
    estimate: opt.Estimate = False,
    name: Annotated[
        str | None, opt.output_option(metavar="NAME", help="Name of the artifact folder. Default: the optimizer's.")
    ] = None,
    track: Annotated[bool, opt.output_option(help="Log to MLflow and register the champion.")] = True,
    record: Annotated[
        Path | None,
        opt.output_option(
            metavar="FILE", help="Write all answers to this .jsonl.gz; --lm recorded:FILE gives them back."
        ),
    ] = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Search for the best program by the ranking score, test it, save and register it."""
    config, teacher_config = opt.read_lms(lm, api_base, lm_settings, teacher_lm)
    if data is None:
        raise UserError("--data is missing; expected a folder with train.jsonl and dev.jsonl, or sample")
    files = split_files(data, task)
    if record and (config.is_recorded or (teacher_config and teacher_config.is_recorded)):
        raise UserError(f"--record {record}: the answers of --lm recorded:FILE are recorded already; leave it out")
    from aisr import workflow
    from aisr.lm.budget import Ledger, Limits, describe_estimate
    from aisr.lm.recorded import recording

    chosen = find_task_for(task, *files.values(), *([target] if target else []))
    options = opt.read_task_options(chosen, task_options)
    for step in (optimizer or "").split(","):
        opt.is_place(step.strip())  # whose module may lie in the current folder
    given = {key: value for key, value in context.params.items() if key in workflow.CompileArguments.__annotations__}
    plan = workflow.plan_compile(chosen, data, artifacts=artifacts, **{**given, "options": options})
    out, optimizers = artifacts / chosen.name / plan.name, ",".join(plan.optimizers)
    words = [f"{key}={opt.as_word(value)}" for key, value in plan.options.items()]
    command = opt.repeating_command(context, optimizer=optimizers, name=plan.name, task_options=words)
    plan = replace(plan, command=command)
    ledger = Ledger.for_output(out, Limits(max_usd, max_calls))
    model = teacher = opt.open_command_lm(config, ledger, needs_key=not estimate)
    if teacher_config:
        teacher = opt.open_command_lm(teacher_config, ledger, needs_key=not estimate)
    if estimate:
        note("an estimate: the steps of the compile, with made-up answers; nothing is sent")
        with display.Live(ledger) as progress:
            spend = workflow.estimate_plan(plan, model, teacher, progress.show)
        display.notes(describe_estimate(spend, ledger.limits))
        return
    note(f"compiling {chosen.name} on {data} with {optimizers} and {config.model} into {out}/")
    if not optimizer:
        note(f"  {workflow.describe_default(plan.optimizers)}; --optimizer names another")
    roles = {"lm": model.opened, **({} if teacher is model else {"teacher": teacher.opened})}
    with recording(record, roles) if record else nullcontext() as recorder, display.Live(ledger) as progress:
        done = workflow.run_plan(plan, model, teacher, artifacts, track, progress.show)
    for line in done.lines():
        console.print(printable(line), style="bold" if line.startswith(RESULTS) else None, markup=False)
    display.print_end(done.failures, done.picture_problems, ledger.spend)
    note(f"wrote {done.folder}/ (program digest {done.run.manifest.digest}); open {done.folder / 'report.html'}")
    display.notes(done.registered)
    if done.not_registered:
        display.print_error(done.not_registered)
    if recorder:
        note(f"wrote {record}: {recorder}")
    lm_words = opt.lm_command(config, lm_settings, image_root)
    note(f"next: aisr predict --task {task} --program {out} {lm_words} --data INPUTS.jsonl --out predictions.jsonl")
    raise typer.Exit(opt.RECORDS_FAILED if done.failures or done.not_registered else 0)
