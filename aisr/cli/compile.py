"""The command that compiles programs, and what it says: which program it chose, how that did, where it is
registered."""

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from aisr.base.errors import UserError
from aisr.base.files import split_files
from aisr.cli import display, options as opt
from aisr.cli.display import console, note, print_failures
from aisr.programs.registry import find_task

if TYPE_CHECKING:
    from aisr.api import LanguageModel
    from aisr.optimize.run import Plan, Run
    from aisr.programs.task import Task

HAND_WRITTEN = "the hand-written prompt"


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
                formatter.write_dl([(option, _describe_option(task, option)) for option in opt.task_options(task)])


def _describe_option(task: "Task", name: str) -> str:
    """Return what an option of a task is for, the values that it can have, and its default."""
    field = task.program.Options.model_json_schema()["properties"][name]
    notes = [f"one of: {', '.join(field['enum'])}"] if "enum" in field else []
    if "minimum" in field:
        notes.append(
            f"{field['minimum']} to {field['maximum']}" if "maximum" in field else f"{field['minimum']} or more"
        )
    notes.append(f"default: {opt.as_word(field['default'])}")
    return f"{field['description']} [{'; '.join(notes)}]"


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
        typer.Option(metavar="FOLDER", help="With train.jsonl, dev.jsonl, maybe test.jsonl; or `sample`."),
    ] = None,
    task_options: opt.TaskOptions = None,
    image_root: opt.ImageRoot = None,
    optimizer: Annotated[
        str | None,
        opt.search_option(
            metavar="NAME,…",
            help="labeled, knn, bootstrap, random-search, mipro, gepa; candidates of several race together. "
            "Default: knn where train has 200 records, else random-search.",
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
    config, teacher_config = opt.read_lms(lm, api_base, lm_settings, teacher_lm)
    if data is None:
        raise UserError("--data is missing; expected a folder with train.jsonl and dev.jsonl, or sample")
    files = split_files(data, task)
    if record and (config.is_recorded or (teacher_config and teacher_config.is_recorded)):
        raise UserError(f"--record {record}: the answers of --lm recorded:FILE are recorded already; leave it out")
    from aisr import workflow
    from aisr.api import LanguageModel
    from aisr.artifact.program import check_name
    from aisr.lm.budget import Ledger, Limits
    from aisr.lm.recorded import recording
    from aisr.optimize.demos import FROM
    from aisr.optimize.search import settings

    chosen = opt.find_task_for(task, *files.values(), *([target] if target else []))
    options = opt.read_task_options(chosen, task_options)
    sizes = settings(budget, seed, demos=demos, candidates=candidates)
    for step in (optimizer or "").split(","):
        opt.is_place(step.strip())  # whose module may lie in the current folder
    optimizers = workflow.find_optimizers(optimizer, sizes, files["train"], max_train)
    name = check_name(name or "-".join(optimizers))
    out = artifacts / chosen.name / name
    ledger = Ledger.for_output(out, Limits(max_usd, max_calls))
    opened = LanguageModel(opt.open_command_lm(config, ledger, needs_key=not estimate))
    teacher = opened
    if teacher_config:
        teacher = LanguageModel(opt.open_command_lm(teacher_config, ledger, needs_key=not estimate))
    plan = workflow.plan_compile(
        chosen,
        data,
        opened,
        optimizer=",".join(optimizers),
        budget=budget,
        demos=demos,
        candidates=candidates,
        seed=seed,
        max_train=max_train,
        max_dev=max_dev,
        max_test=max_test,
        options=options,
        name=name,
        image_root=image_root,
        target=target,
        target_mix=target_mix,
    )
    words = [f"{key}={opt.as_word(value)}" for key, value in plan.options.items()]
    command = opt.repeating_command(context, optimizer=",".join(optimizers), name=name, task_options=words)
    plan = replace(plan, command=command)
    if estimate:
        _estimate(plan, opened, teacher)
        return
    note(f"compiling {chosen.name} on {data} with {','.join(optimizers)} and {config.model} into {out}/")
    if not optimizer:
        count = f"{'at least' if 'knn' in optimizers else 'fewer than'} {FROM}"
        note(f"  {optimizers[0]} is the default where train has {count} records; --optimizer names another")
    roles = {"lm": opened.opened, **({} if teacher is opened else {"teacher": teacher.opened})}
    with recording(record, roles) if record else nullcontext() as recorder:
        is_whole = _compile(plan, opened, teacher, artifacts, track)
    if recorder:
        note(f"wrote {record}: {recorder}")
    address = " --api-base ADDRESS" if config.api_base else ""  # whose path may hold a token
    kept = [word for word in lm_settings or () if not word.startswith(opt.TEACHER) and "api_base" not in word]
    reached = f"--lm {config.model}{address}{''.join(f' -L {word}' for word in kept)}"
    note(f"next: aisr predict --task {task} --program {out} {reached} --data INPUTS.jsonl --out predictions.jsonl")
    raise typer.Exit(0 if is_whole else opt.RECORDS_FAILED)


def _estimate(plan: "Plan", lm: "LanguageModel", teacher: "LanguageModel") -> None:
    """Print the calls, tokens and cost of a compile; nothing is sent or kept."""
    from aisr import workflow
    from aisr.optimize.run import Callbacks

    note("an estimate: the steps of the compile, with made-up answers; nothing is sent")
    with display.Live(lm.opened.ledger) as progress:
        spend = workflow.estimate_plan(plan, lm, teacher, Callbacks(progress.stage))
    display.print_estimate(spend, lm.opened.ledger.limits)


def _compile(plan: "Plan", lm: "LanguageModel", teacher: "LanguageModel", artifacts: Path, track: bool) -> bool:
    """Compile, print and register; whether all records were judged, and the store took the champion. Where it did not,
    the artifact is whole all the same, and the command says so."""
    from aisr import workflow
    from aisr.optimize.run import Callbacks

    with display.Live(lm.opened.ledger) as progress:
        scored = lambda contender: note(f"    {workflow.describe_contender(contender)}")  # noqa: E731
        callbacks = Callbacks(progress.stage, scored)
        done = workflow.run_plan(plan, lm, teacher, artifacts, track, callbacks)
    print_result(done.run)
    display.print_end({}, plan.image_folder, lm.opened.ledger.spend)
    note(f"wrote {done.folder}/ (program digest {done.run.manifest.digest}); open {done.folder / 'report.html'}")
    for line in done.registered:
        note(line)
    if done.not_registered:
        print(f"error: {done.not_registered}", file=sys.stderr)
    return not (done.failures or done.not_registered)


# --- What is said of a compile


def _describe_champion(run: "Run") -> str:
    """Return which program a compile chose, in words a reader of no document understands."""
    champion, seed = run.choice.champion, run.choice.contenders[0]
    if champion.name == seed.name:
        reason = "no candidate was better" if run.choice.contenders[1:] else "there is no candidate"
        return f"{HAND_WRITTEN}: {reason}"
    pairs = list(zip(champion.program.predictors(), seed.program.predictors(), strict=True))
    counts = [len(predictor.demos) for predictor, _ in pairs if predictor.demos]
    parts = []
    if any(predictor.signature.instructions != before.signature.instructions for predictor, before in pairs):
        parts.append("a rewritten instruction")
    if counts and (nearest := champion.program.options.demos_per_record):
        parts.append(f"the {nearest} most similar of {max(counts)} demos for each record")
    elif counts:
        parts.append(f"{' and '.join(map(str, counts))} demos")
    return f"{' and '.join(parts) or 'other settings than the uncompiled program'} ({champion.name})"


def print_result(run: "Run") -> None:
    """Print the champion of a compile, and how it did on dev and on test."""
    from aisr.metrics.intervals import in_words

    champion, seed = run.choice.champion, run.choice.contenders[0]
    console.print(f"the program: {_describe_champion(run)}", style="bold", markup=False)
    note(f"  on dev, where it was chosen: {champion.dev.interval}; {HAND_WRITTEN} {seed.dev.interval}")
    if champion.dev.no_lm:
        note(f"    no-LM baseline {champion.dev.no_lm.interval}")
    if champion.dev.at_target:
        note(f"    weighted to the target: {champion.dev.at_target}; {HAND_WRITTEN} {seed.dev.at_target}")
    if run.choice.smoothed:
        few = ", ".join(f"{label} {count}" for label, count in run.choice.smoothed.items())
        note(f"    race and choice counted labels with fewer than ten gold statements in dev less: {few}")
    print_failures(champion.dev.failures)
    for warning in run.target.warnings() if run.target else ():
        note(f"  forecast: {warning}")
    if run.choice.unscored:
        note(f"  not scored, the budget is spent: {', '.join(run.choice.unscored)}")
    if run.manifest.stopped_early:
        note(f"  stopped early: {run.manifest.stopped_early}")
    if run.test is None:
        if "test" in run.manifest.data:
            note("  on test: not scored, the budget was spent before")
        return
    result, gain = run.test, run.gain_on_test
    console.print(f"  on test, which chose nothing: {result.interval}", style="bold", markup=False)
    if gain is None:
        note(f"    against {HAND_WRITTEN}: not known, the budget was spent before that was scored")
    elif champion.name != seed.name:
        note(f"    {in_words(gain, f'{HAND_WRITTEN}')}: {gain}")
    if result.at_target:
        note(f"    weighted to the target: {result.at_target}")
    for remark in result.score.remarks:
        note(f"    {remark}")
    if result.no_lm:
        note(f"    no-LM baseline {result.no_lm.interval}")
        if result.no_lm.score.score > result.score.score:
            note(
                "    word counts score higher than this LM: try another one, or look at what it answers in report.html"
            )
    print_failures(result.failures)
