"""The command that compiles programs."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from aisr.base.errors import UserError
from aisr.cli import options as opt
from aisr.cli.plan import TABLES, Plan, Search, compile_command, plan_text, print_tables, read_plan, task_options
from aisr.cli.session import open_ledger, open_lm, open_teacher, prepare
from aisr.programs.options import suggestion
from aisr.programs.registry import TASKS, find_task

if TYPE_CHECKING:
    from aisr.lm.client import OpenLM
    from aisr.optimize.run import Plan as CompilePlan
    from aisr.optimize.run import Run
    from aisr.optimize.search import Settings as SearchSizes
    from aisr.programs.pictures import Gallery
    from aisr.programs.task import Task
    from aisr.report.records import CompileReport

SEARCH_PANEL = "Search"


class CompileCommand(TyperCommand):
    """The command whose help also lists what plan.toml takes, and the options of a task that --task names."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of the command, then the options of the task, or the settings of plan files."""
        super().format_help(ctx, formatter)
        print_tables(ctx.params.get("task"))


def compile_(
    plan: Annotated[
        Path | None,
        typer.Argument(
            metavar="PLAN",
            help="A plan.toml with what the options say, such as that of an artifact; options win over it.",
            callback=opt.check_files,
        ),
    ] = None,
    task: Annotated[
        str | None, typer.Option(metavar="TASK", help=f"{opt.TASK_NAMES}.", callback=opt.check_task, is_eager=True)
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with train.jsonl, dev.jsonl and maybe test.jsonl. Default: the sample."),
    ] = None,
    task_settings: opt.TaskSettings = None,
    image_root: opt.ImageRoot = None,
    optimizer: Annotated[str | None, opt.of_field(Search, "optimizer", metavar="NAME,…", panel=SEARCH_PANEL)] = None,
    budget: Annotated[str | None, opt.of_field(Search, "budget", panel=SEARCH_PANEL)] = None,
    demos: Annotated[int | None, opt.of_field(Search, "demos", panel=SEARCH_PANEL)] = None,
    lm: opt.LM = None,
    api_base: opt.ApiBase = None,
    teacher_lm: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="The LM that writes demos and instructions. Default: that of --lm.",
            rich_help_panel=opt.LM_PANEL,
        ),
    ] = None,
    settings: opt.Settings = None,
    max_usd: opt.MaxUsd = None,
    estimate: opt.Estimate = False,
    name: Annotated[
        str | None,
        typer.Option(help="Name of the artifact. Default: that of the optimizer.", rich_help_panel=opt.OUTPUT_PANEL),
    ] = None,
    track: Annotated[
        bool, typer.Option(help="Log to MLflow and register the champion.", rich_help_panel=opt.OUTPUT_PANEL)
    ] = True,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the answers of all LMs to this file (.jsonl.gz); --lm recorded:FILE gives them back.",
            rich_help_panel=opt.OUTPUT_PANEL,
        ),
    ] = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Search for the best program by the ranking score, test it, save and register it."""
    merged = read_plan(
        plan,
        settings or (),
        uses=tuple(TABLES),
        task={"name": task},
        search={"optimizer": optimizer, "budget": budget, "demos": demos},
        lm={"model": lm, "api_base": api_base},
        teacher={"model": teacher_lm},
        limits={"max_usd": max_usd},
    )
    folder = _check_folder(merged, data)
    if record and (merged.lm.is_recorded or (merged.teacher and merged.teacher.is_recorded)):
        raise UserError(f"--record {record}: the answers of --lm recorded:FILE are recorded already; leave it out")
    if record and estimate:
        raise UserError("--record writes answers, and --estimate asks for none; leave one of them out")
    prepare(artifacts)
    from aisr.artifact.program import check_name
    from aisr.cli import display
    from aisr.optimize.estimate import DryRun
    from aisr.optimize.run import Callbacks, compile_program
    from aisr.predict.prepare import find_gallery

    chosen = find_task(str(merged.task))
    merged = replace(merged, options=task_options(chosen, merged.options, task_settings or ()))
    files = {side: file for side in ("train", "dev", "test") if (file := folder / f"{side}.jsonl").exists()}
    merged = replace(merged, search=_with_optimizers(merged, files["train"]))
    name = check_name(name or str(merged.search.optimizer).replace(",", "-"))
    ledger = open_ledger(merged.limits, None if estimate else artifacts / chosen.name / name)
    opened = open_lm(merged.lm, ledger, needs_key=not estimate)
    teacher = open_teacher(merged, opened, ledger, needs_key=not estimate)
    gallery = find_gallery(image_root, files["train"], artifacts)
    work = _compile_plan(chosen, merged, opened, files, name, gallery, image_root)
    if estimate:
        run = DryRun()
        with TemporaryDirectory() as nowhere, display.live(run.ledger) as progress:
            silent = Callbacks(lambda stage: None, progress.judged, lambda contender: None, run.add_gold)
            compile_program(work, run.open(opened), run.open(teacher), Path(nowhere), silent)
        display.print_estimate(run, ledger.limits)
        return
    display.note(
        f"compiling {chosen.name} on {folder} with {','.join(work.optimizers)} and {merged.lm.model} "
        f"into {artifacts / chosen.name / work.name}/"
    )
    if record is None:
        is_whole = _compile(work, opened, teacher, artifacts, track)
    else:
        from aisr.lm.recorded import recording

        with recording(record, {"lm": opened} if teacher is opened else {"lm": opened, "teacher": teacher}) as recorder:
            is_whole = _compile(work, opened, teacher, artifacts, track)
        display.note(f"wrote {record}: {recorder}")
    raise typer.Exit(0 if is_whole else opt.RECORDS_FAILED)


def _compile(work: "CompilePlan", lm: "OpenLM", teacher: "OpenLM", artifacts: Path, track: bool) -> bool:
    """Compile, print and register; whether all records were judged, and the store took the champion."""
    from aisr.cli import display
    from aisr.optimize.run import Callbacks, compile_program
    from aisr.report.records import write_compile_report
    from aisr.tracking import store

    if track:
        store.open_store(artifacts)  # a store out of reach must show itself before anything is spent
    with display.live(lm.ledger) as progress:
        callbacks = Callbacks(
            progress.stage, progress.judged, lambda contender: progress.say(contender_line(contender))
        )
        made = compile_program(work, lm, teacher, artifacts, callbacks)
        print_champion(made)
        progress.stage("report, from the response cache")
        report = write_compile_report(work, made, lm)
    display.note(f"wrote {made.folder}/ (program digest {made.manifest.digest}) and {artifacts / 'INDEX.md'}")
    display.print_pictures(work.gallery.problems if work.gallery else {})
    display.print_spend(lm.ledger.spend)
    display.note(f"wrote {made.folder / 'report.html'} (open it in a browser)")
    logged = not track or register(artifacts, made, report, lm)
    failed = made.choice.champion.dev.failures or (made.test and made.test.champion.failures)
    return logged and not failed


def _check_folder(plan: Plan, data: Path | None) -> Path:
    """The folder of the records. Raises UserError where the plan names no task, or there are no records, before
    anything is made."""
    if plan.task is None:
        raise UserError(f"--task is missing; expected one of: {', '.join(TASKS)}")
    if data is None and not opt.SAMPLE.is_dir():
        raise UserError(
            f"no {opt.SAMPLE}/ in {Path.cwd()}: the sample is in the folder of the project; run the command there, or "
            "give --data FOLDER with train.jsonl and dev.jsonl"
        )
    if data is not None and not data.is_dir():
        raise UserError(f"--data {data}: no such folder; expected one with train.jsonl and dev.jsonl")
    folder = data or opt.SAMPLE / str(plan.task)
    for name in ("train.jsonl", "dev.jsonl"):
        if not (folder / name).is_file():
            raise UserError(f"{folder / name}: no such file; `aisr split` makes {name} of a file of labelled records")
    return folder


def _with_optimizers(plan: Plan, train: Path) -> Search:
    """[search] with the optimizers that run. Raises UserError for one that does not exist, and for `--demos 0` where
    there is nothing else to search for."""
    from aisr.optimize.demos import default_optimizers

    search = plan.search
    chain = chain_of(search)
    if search.demos == 0 and not (chain and set(chain) <= {"mipro", "gepa"}):
        raise UserError("--demos 0 leaves only instructions to optimize: --optimizer mipro or gepa")
    return replace(
        search, optimizer=",".join(chain or default_optimizers(train, plan.limits.train, _sizes(search).demos))
    )


def _sizes(search: Search) -> "SearchSizes":
    from aisr.optimize.search import settings

    return settings(
        search.budget, search.seed, demos=search.demos, demo_tokens=search.demo_tokens, candidates=search.candidates
    )


def chain_of(search: Search) -> list[str]:
    """The optimizers that --optimizer names, in turn. Raises UserError for one that does not exist."""
    from aisr.optimize.optimizers import OPTIMIZERS, find_optimizer

    chain = [step.strip() for step in search.optimizer.split(",")] if search.optimizer else []
    for step in chain:
        if opt.is_place(step):
            find_optimizer(step)
        elif step not in OPTIMIZERS:
            expected = f"expected one of: {', '.join(OPTIMIZERS)}, package.module:function, or several joined by commas"
            raise UserError(f"--optimizer {step!r}: {expected}{suggestion(step, OPTIMIZERS)}")
    return chain


def _compile_plan(
    task: "Task",
    plan: Plan,
    lm: "OpenLM",
    files: dict[str, Path],
    name: str,
    gallery: "Gallery | None",
    image_root: Path | None,
) -> "CompilePlan":
    """What to compile: the plan, with what depends on the LM and on the records."""
    from aisr.optimize.run import Plan as CompilePlan
    from aisr.predict.prepare import evidence_form, verbalizes

    limits = plan.limits
    options = dict(plan.options)
    if "verbalized_confidence" in task.program.Options.model_fields and verbalizes(lm):
        options.setdefault("verbalized_confidence", True)
    if "evidence" in options:
        options["evidence"] = evidence_form(options["evidence"], lm)
    plan = replace(plan, options=options)
    return CompilePlan(
        task=task,
        name=name,
        optimizers=chain_of(plan.search),
        settings=_sizes(plan.search),
        options=options,
        data=files,
        limits={"train": limits.train, "dev": limits.dev, "test": limits.test},
        label_weights=plan.search.label_weights,
        command=compile_command(plan, name, files["train"].parent, image_root),
        gallery=gallery,
        text=plan_text(plan),
    )


# --- Logging a finished compile to MLflow and registering its champion.


def register(artifacts: Path, made: "Run", report: "CompileReport", lm: "OpenLM") -> bool:
    """Whether the store took it. Where it did not, the artifact is whole all the same, and the command says so."""
    from mlflow.exceptions import MlflowException

    from aisr.cli.display import note, print_error
    from aisr.tracking import runs
    from aisr.tracking.registry import ALIAS
    from aisr.tracking.store import MODEL_SCHEME, NoStore, describe

    try:
        tracked = runs.log_compile(artifacts, made, report, lm)
        named = runs.describe_run(artifacts, tracked.run_id)
    except (MlflowException, NoStore, OSError) as error:
        print_error(
            f"{made.folder}/ is whole, but not registered in MLflow: {describe(error)}; the same command registers it, "
            "with the answers from the cache"
        )
        return False
    version = f"{MODEL_SCHEME}{tracked.model}/{tracked.version}"
    if isinstance(tracked.promotion, str):
        note(f"registered {version} · {named}")
        note(f"  not the champion: {tracked.promotion}; `aisr promote --anyway {version}` makes it the champion")
        return True
    note(f"registered {MODEL_SCHEME}{tracked.model}@{ALIAS} (version {tracked.version}) · {named}")
    before = tracked.promotion.before
    if before is not None and not tracked.promotion.same_data:
        note(
            f"  the champion before was {before}, compiled on other data, where scores are not comparable; "
            f"`aisr promote {MODEL_SCHEME}{tracked.model}/{before.version}` makes it the champion again"
        )
    return True


# --- What a compile prints of its candidates and its champion.


def contender_line(contender: Any) -> str:
    """A candidate's result on dev, in one line."""
    seen = "dev" if contender.finished else f"{len(contender.dev.scores)} records of dev, where it was dropped"
    price = f", {contender.usd:.2f} USD a thousand records" if contender.usd else ""
    return f"    {contender.name}: {contender.dev.interval} on {seen}{price}"


def print_champion(made: Any) -> None:
    """Print the champion of a compile, and how it did."""
    from aisr.base.files import percent
    from aisr.cli.display import note, print_failures
    from aisr.metrics.intervals import in_words

    champion = made.choice.champion
    note(f"  champion: {champion.name}, {champion.dev.interval} on dev")
    if champion.dev.no_lm:
        note(f"    no-LM baseline {champion.dev.no_lm.interval}")
    if made.choice.smoothed:
        few = ", ".join(f"{label} {count}" for label, count in made.choice.smoothed.items())
        note(f"    race and choice counted labels with fewer than ten gold statements in dev less: {few}")
    doubtful = made.choice.doubtful
    if doubtful:
        gain = percent(doubtful.dev.score.score - champion.dev.score.score)
        note(f"    {doubtful.name} scores {gain} points more on dev, less than a standard error: it was not taken")
    best = max((one for one in made.choice.contenders if one.finished), key=lambda one: one.dev.score.score)
    better = best.dev.score.score > champion.dev.score.score
    if better and best is not doubtful and not made.choice.smoothed and best.usd and champion.usd:
        dearer = f"{best.usd / champion.usd:.1f} times the price"
        note(f"    {best.name} scores {percent(best.dev.score.score)}, which is not worth {dearer}")
    print_failures(champion.dev.failures)
    baseline = made.choice.contenders[0].name
    note(f"  difference from {baseline} on dev, where it was chosen: {champion.gain}")
    if made.fitted:
        print_label_weights(made.fitted.report)
    if made.choice.unscored:
        note(f"  not scored, the budget is spent: {', '.join(made.choice.unscored)}")
    if made.manifest.stopped_early:
        note(f"  stopped early: {made.manifest.stopped_early}")
    if made.test:
        note(f"  on the held-out test split: {made.test.champion.interval}")
        for remark in made.test.champion.score.remarks:
            note(f"    {remark}")
        if made.test.champion.no_lm:
            note(f"    no-LM baseline {made.test.champion.no_lm.interval}")
        print_failures(made.test.champion.failures)
        if made.test.gain is None:
            note(f"  difference from {baseline} on test: not known, the budget was spent before that was scored there")
        else:
            summary = in_words(made.test.gain, len(made.test.champion.scores), baseline)
            note(f"  difference from {baseline} on test: {made.test.gain}: {summary}")
            for remark in made.test.baseline.score.remarks:
                note(f"    {baseline}: {remark}")
    elif "test" in made.manifest.data:
        note("  on the held-out test split: not scored, the budget was spent before")


def print_label_weights(report: dict[str, Any]) -> None:
    """Print what became of the label weights."""
    from aisr.base.files import percent
    from aisr.cli.display import note

    if "why" in report:
        note(f"  label weights: none ({report['why']})")
        return
    scores = ", ".join(f"{name} {percent(score)}" for name, score in report["cross_validated"].items())
    low, high = report["gain"][1:]
    kept = "kept" if report["kept"] else "not kept: no better than the LM as it is"
    note(f"  label weights, cross-validated on {report['records']} records ({', '.join(report['sources'])}): {scores}")
    votes = report["sources"].get("vote")
    if votes and "stated" in report["sources"]:
        note(
            f"    {votes} of {sum(report['sources'].values())} labels came with no usable probability: a vote stands in"
        )
    note(f"    gain {percent(report['gain'][0])} [{percent(low)}, {percent(high)}]; {kept}")
