"""The command that compiles programs."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from aisr.base.errors import UserError
from aisr.cli import options as opt
from aisr.cli.session import find_task_for, open_lm, prepare
from aisr.cli.settings import as_word, describe, read_lms, read_task_options, repeating_command, task_options
from aisr.programs.registry import find_task


class CompileCommand(TyperCommand):
    """The command whose help also lists the options of a task that --task names."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the command, then the options of the task."""
        super().format_help(ctx, formatter)
        if name := ctx.params.get("task"):
            task = find_task(name)
            with formatter.section(f"Options of {task.name}: -T NAME=VALUE"):
                formatter.write_dl([(option, describe(task, option)) for option in task_options(task)])


def compile_(
    context: typer.Context,
    task: Annotated[
        str,
        typer.Option(
            metavar="TASK", help=f"{opt.TASK_NAMES}.", callback=opt.check_task, is_eager=True, show_default=False
        ),
    ] = "",
    data: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="With train.jsonl, dev.jsonl, maybe test.jsonl. Default: the sample."),
    ] = None,
    task_options: opt.TaskOptions = None,
    image_root: opt.ImageRoot = None,
    optimizer: Annotated[
        str | None,
        opt.search_option(
            metavar="NAME,…",
            help="labeled, knn, bootstrap, random-search, mipro, simba, gepa; several run in turn. Default: knn where "
            "train has 200 records, else random-search.",
        ),
    ] = None,
    budget: Annotated[
        Literal["light", "medium", "heavy"], opt.search_option(help="How thorough the search is.")
    ] = "medium",
    demos: Annotated[
        int | None, opt.search_option(metavar="N", min=0, max=100, help="Most demos in a prompt. By budget: 4, 4 or 8.")
    ] = None,
    candidates: Annotated[
        int | None,
        opt.search_option(metavar="N", min=1, max=1000, help="Programs an optimizer may try. By budget: 2, 4 or 8."),
    ] = None,
    seed: Annotated[int, opt.search_option(metavar="N", min=0, max=2**32 - 1, help="Seed of the optimizers.")] = 0,
    max_train: Annotated[
        int | None, opt.search_option(metavar="N", min=1, help="Most records of train that the LM judges.")
    ] = None,
    max_dev: Annotated[int | None, opt.search_option(metavar="N", min=1, help="Most records of dev.")] = None,
    max_test: Annotated[int | None, opt.search_option(metavar="N", min=1, help="Most records of test.")] = None,
    lm: opt.LM = opt.EMBEDDED,
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
        str | None, opt.output_option(metavar="NAME", help="Of the artifact. Default: that of the optimizer.")
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
    config, teacher_config = read_lms(lm, api_base, teacher_lm, lm_settings or ())
    folder = _check_folder(task, data)
    if record and (config.is_recorded or (teacher_config and teacher_config.is_recorded)):
        raise UserError(f"--record {record}: the answers of --lm recorded:FILE are recorded already; leave it out")
    if record and estimate:
        raise UserError("--record writes answers, and --estimate asks for none; leave one of them out")
    prepare(artifacts)
    from aisr.artifact.program import check_name
    from aisr.cli.compiled import compile_and_register, find_optimizers, print_estimate
    from aisr.cli.display import note
    from aisr.lm.budget import Ledger, Limits
    from aisr.lm.recorded import recording
    from aisr.optimize.demos import FROM
    from aisr.optimize.run import Plan
    from aisr.optimize.search import settings
    from aisr.predict.prepare import find_image_folder, with_confidence

    files = {side: file for side in ("train", "dev", "test") if (file := folder / f"{side}.jsonl").is_file()}
    chosen = find_task_for(task, *files.values())
    options = read_task_options(chosen, task_options or ())
    sizes = settings(budget, seed, demos=demos, candidates=candidates)
    optimizers = find_optimizers(optimizer, sizes, files["train"], max_train)
    name = check_name(name or "-".join(optimizers))
    out = artifacts / chosen.name / name
    ledger = Ledger.for_output(out, Limits(max_usd, max_calls))
    opened = open_lm(config, ledger, needs_key=not estimate)
    teacher = open_lm(teacher_config, ledger, needs_key=not estimate) if teacher_config else opened
    options = with_confidence(chosen, options, opened)
    words = [f"{key}={as_word(value)}" for key, value in options.items()]
    plan = Plan(
        task=chosen,
        name=name,
        optimizers=optimizers,
        settings=sizes,
        options=options,
        data=files,
        limits={"train": max_train, "dev": max_dev, "test": max_test},
        command=repeating_command(context, optimizer=",".join(optimizers), name=name, task_options=words),
        image_folder=find_image_folder(image_root, files["train"]),
    )
    if estimate:
        print_estimate(plan, opened, teacher, ledger.limits)
        return
    note(f"compiling {chosen.name} on {folder} with {','.join(optimizers)} and {config.model} into {out}/")
    if not optimizer:
        count = f"{'at least' if 'knn' in optimizers else 'fewer than'} {FROM}"
        note(f"  {optimizers[0]} is the default where train has {count} records; --optimizer names another")
    roles = {"lm": opened} if teacher is opened else {"lm": opened, "teacher": teacher}
    with recording(record, roles) if record else nullcontext() as recorder:
        is_whole = compile_and_register(plan, opened, teacher, artifacts, track)
    if recorder:
        note(f"wrote {record}: {recorder}")
    address = " --api-base ADDRESS" if config.api_base else ""  # whose path may hold a token
    kept = [word for word in lm_settings or () if not word.startswith("teacher.") and "api_base" not in word]
    reached = f"--lm {config.model}{address}{''.join(f' -L {word}' for word in kept)}"
    note(f"next: aisr predict --task {task} --program {out} {reached} --data INPUTS.jsonl --out predictions.jsonl")
    raise typer.Exit(0 if is_whole else opt.RECORDS_FAILED)


def _check_folder(task: str, data: Path | None) -> Path:
    """The folder of the records. Raises UserError where there are none, before anything is made."""
    if data is not None and not data.is_dir():
        raise UserError(f"--data {data}: no such folder; expected one with train.jsonl and dev.jsonl")
    folder = data or opt.SAMPLE / task
    for name in ("train.jsonl", "dev.jsonl"):
        if not (folder / name).is_file():
            raise UserError(f"{folder / name}: no such file; `aisr split` makes {name} of a file of labelled records")
    return folder
