"""The command that compiles programs."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from aisr.base.errors import UserError
from aisr.cli import options as opt
from aisr.cli.compiled import describe_contender, print_next, print_result, register
from aisr.cli.session import check_kind, open_lm, prepare
from aisr.cli.settings import as_word, print_task_options, read_lms, read_task_options, repeating_command, suggestion
from aisr.programs.registry import find_task

if TYPE_CHECKING:
    from aisr.lm.client import OpenLM
    from aisr.optimize.run import Plan
    from aisr.optimize.search import Settings


class CompileCommand(TyperCommand):
    """The command whose help also lists the options of a task that --task names."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of the command, then the options of the task."""
        super().format_help(ctx, formatter)
        if task := ctx.params.get("task"):
            print_task_options(find_task(task))


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
    from aisr.cli import display
    from aisr.lm.budget import Ledger, Limits
    from aisr.optimize.estimate import DryRun
    from aisr.optimize.run import Callbacks, Plan, compile_program
    from aisr.optimize.search import settings
    from aisr.predict.prepare import evidence_form, find_image_folder, verbalizes

    chosen = find_task(task)
    options = read_task_options(chosen, task_options or ())
    files = {side: file for side in ("train", "dev", "test") if (file := folder / f"{side}.jsonl").is_file()}
    check_kind(chosen, "record", *files.values())
    sizes = settings(budget, seed, demos=demos, candidates=candidates)
    optimizers = _find_optimizers(optimizer, sizes, files["train"], max_train)
    name = check_name(name or "-".join(optimizers))
    ledger = Ledger.for_output(artifacts / chosen.name / name, Limits(max_usd, max_calls))
    opened = open_lm(config, ledger, needs_key=not estimate)
    teacher = open_lm(teacher_config, ledger, needs_key=not estimate) if teacher_config else opened
    if "verbalized_confidence" in chosen.program.Options.model_fields and verbalizes(opened):
        options.setdefault("verbalized_confidence", True)
    if "evidence" in options:
        options["evidence"] = evidence_form(options["evidence"], opened)
    plan = Plan(
        task=chosen,
        name=name,
        optimizers=optimizers,
        settings=sizes,
        options=options,
        data=files,
        limits={"train": max_train, "dev": max_dev, "test": max_test},
        command=repeating_command(
            context,
            data=folder,
            optimizer=",".join(optimizers),
            name=name,
            task_options=[f"{key}={as_word(value)}" for key, value in options.items()],
        ),
        image_folder=find_image_folder(image_root, files["train"]),
    )
    if estimate:
        run = DryRun()
        with TemporaryDirectory() as nowhere, display.live(run.ledger) as progress:
            phases = Callbacks(progress.stage, progress.judged, lambda contender: None, run.add_gold)
            compile_program(plan, run.open(opened), run.open(teacher), Path(nowhere), phases)
        display.print_estimate(run, ledger.limits)
        return
    display.note(
        f"compiling {chosen.name} on {folder} with {','.join(optimizers)} and {config.model} "
        f"into {artifacts / chosen.name / name}/"
    )
    if record is None:
        is_whole = _compile(plan, opened, teacher, artifacts, track)
    else:
        from aisr.lm.recorded import recording

        with recording(record, {"lm": opened} if teacher is opened else {"lm": opened, "teacher": teacher}) as recorder:
            is_whole = _compile(plan, opened, teacher, artifacts, track)
        display.note(f"wrote {record}: {recorder}")
    print_next(task, artifacts / chosen.name / name, config)
    raise typer.Exit(0 if is_whole else opt.RECORDS_FAILED)


def _compile(plan: "Plan", lm: "OpenLM", teacher: "OpenLM", artifacts: Path, track: bool) -> bool:
    """Compile, print and register; whether all records were judged, and the store took the champion."""
    from aisr.cli import display
    from aisr.optimize.run import Callbacks, compile_program
    from aisr.report.records import write_compile_report
    from aisr.tracking import store

    if track:
        store.open_store(artifacts)  # a store out of reach must show itself before anything is spent
    with display.live(lm.ledger) as progress:
        callbacks = Callbacks(
            progress.stage, progress.judged, lambda contender: progress.say(describe_contender(contender))
        )
        run = compile_program(plan, lm, teacher, artifacts, callbacks)
        progress.stage("report, from the response cache")
        report = write_compile_report(plan, run, lm)
    print_result(run)
    display.print_pictures(plan.image_folder.problems if plan.image_folder else {})
    display.print_spend(lm.ledger.spend)
    display.note(f"wrote {run.folder}/ (program digest {run.manifest.digest}); open {run.folder / 'report.html'}")
    logged = not track or register(artifacts, run, report, lm)
    failed = run.choice.champion.dev.failures or (run.test and run.test.champion.failures)
    return logged and not failed


def _check_folder(task: str, data: Path | None) -> Path:
    """The folder of the records. Raises UserError where there are none, before anything is made."""
    if data is not None and not data.is_dir():
        raise UserError(f"--data {data}: no such folder; expected one with train.jsonl and dev.jsonl")
    folder = data or opt.SAMPLE / task
    for name in ("train.jsonl", "dev.jsonl"):
        if not (folder / name).is_file():
            raise UserError(f"{folder / name}: no such file; `aisr split` makes {name} of a file of labelled records")
    return folder


def _find_optimizers(names: str | None, sizes: "Settings", train: Path, most_train: int | None) -> list[str]:
    """The optimizers that run, in turn. Raises UserError for one that does not exist, and for `--demos 0` where there
    is nothing else to search for."""
    from aisr.optimize.demos import default_optimizers
    from aisr.optimize.optimizers import OPTIMIZERS, find_optimizer

    chain = [step.strip() for step in names.split(",")] if names else []
    for step in chain:
        if opt.is_place(step):
            find_optimizer(step)
        elif step not in OPTIMIZERS:
            expected = f"expected one of: {', '.join(OPTIMIZERS)}, package.module:function, or several joined by commas"
            raise UserError(f"--optimizer {step!r}: {expected}{suggestion(step, OPTIMIZERS)}")
    if sizes.demos == 0 and not (chain and set(chain) <= {"mipro", "gepa"}):
        raise UserError("--demos 0 leaves only instructions to optimize: --optimizer mipro or gepa")
    return chain or default_optimizers(train, most_train, sizes.demos)
