"""The command that compiles programs."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aisr.cli.options import (
    ARTIFACTS,
    RECORDS_FAILED,
    TRACES,
    Estimate,
    LMSpec,
    Reach,
    Root,
    Spending,
    Traces,
    chosen_task,
)
from aisr.cli.session import command_line, lm_beside, lm_config, opened_lm, prepare
from aisr.cli.task_options import (
    EmbeddingApiBase,
    ImageRoot,
    ProgramOptions,
    TaskName,
)
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from aisr.lm.client import OpenLM
    from aisr.optimize.run import Plan, Run
    from aisr.predict.replay import ReplayedRecord


# --- Logging a finished compile to MLflow and registering its champion, and what is said of that.


def register(artifacts: Path, plan: "Plan", made: "Run", told: "list[ReplayedRecord]", traced: int) -> bool:
    """Whether the store took it. Where it did not, the artifact is whole all the same, and that is said."""
    from mlflow.exceptions import MlflowException

    from aisr.cli.display import complain, note
    from aisr.tracking import runs, traces
    from aisr.tracking.registry import ALIAS
    from aisr.tracking.store import NoStore, reason

    try:
        tracked = runs.log_compile(artifacts, made)
        named = runs.describe_run(artifacts, tracked.run_id)
        if shown := traces.log_traces(artifacts, tracked.run_id, plan.task, told, traced, plan.settings.seed):
            note(shown)
    except (MlflowException, NoStore, OSError) as error:
        complain(
            f"{made.folder}/ is whole, but not registered in MLflow: {reason(error)}; the same command registers it, "
            "with the answers from the cache"
        )
        return False
    if tracked.kept_from is None:
        note(f"registered models:/{tracked.model}@{ALIAS} (version {tracked.version}) · {named}")
        return True
    note(f"registered models:/{tracked.model}/{tracked.version} · {named}")
    note(f"  not the champion: {tracked.kept_from}; `aisr promote` makes it so all the same")
    return True


# --- The options of `aisr compile` that steer the search: optimizer, its teacher, how thorough it is.

Optimizer = Annotated[
    str | None,
    typer.Option(
        help="labeled, knn, bootstrap, random-search, mipro, simba, gepa; or several, joined by commas. Default: knn "
        "where train has 200 records, else random-search."
    ),
]
ArtifactName = Annotated[str | None, typer.Option(help="Name of the artifact. Default: that of the optimizer.")]
TeacherLM = Annotated[
    str | None, typer.Option(help="The LM that writes demos and instructions. Default: that of --lm.")
]
TeacherApiBase = Annotated[
    str | None,
    typer.Option(
        help="Address of an OpenAI-compatible server for --teacher-lm; `provider`: whom the model string names, "
        "which has to be said where --api-base is given."
    ),
]
TeacherPrice = Annotated[str | None, typer.Option(help="--price of --teacher-lm.")]
Budget = Annotated[
    str,
    typer.Option(help="How thorough the search is: `light`, `medium` or `heavy`."),
]
Demos = Annotated[int | None, typer.Option(min=0, help="Most few-shot examples in a prompt. By budget: 4, 4 or 8.")]
DemoTokens = Annotated[
    int | None,
    typer.Option(min=1, help="Most tokens, about, of all demos. By budget: 3000, 3000 or 6000."),
]
Candidates = Annotated[
    int | None, typer.Option(min=1, help="How many programs the optimizer may try. By budget: 2, 4 or 8.")
]


def chain_of(optimizer: str) -> list[str]:
    """The optimizers that --optimizer names, in turn. Raises UserError for one that there is not."""
    from aisr.optimize.optimizers import OPTIMIZERS

    chain = [step.strip() for step in optimizer.split(",")]
    for step in chain:
        if step not in OPTIMIZERS:
            raise UserError(f"--optimizer {step!r}; one of: {', '.join(OPTIMIZERS)}, or several joined by commas")
    return chain


def check_written(chain: Sequence[str], teacher: "OpenLM") -> None:
    """Raises UserError where an optimizer has instructions written and the teacher writes none."""
    from aisr.optimize.optimizers import WRITTEN_BY_LM

    writing = [step for step in chain if step in WRITTEN_BY_LM]
    if teacher.is_decision_model and writing:
        raise UserError(
            f"--optimizer {writing[0]} has instructions written, and a decision model writes none: give --teacher-lm "
            "PROVIDER/MODEL"
        )


SAMPLE = Path("data/sample")


def compile_(
    *,
    task: TaskName,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with train.jsonl, dev.jsonl and maybe test.jsonl and corrections.jsonl. Default: the sample."
        ),
    ] = None,
    optimizer: Optimizer = None,
    name: ArtifactName = None,
    lm: LMSpec = "embedded",
    reach: Reach,
    teacher_lm: TeacherLM = None,
    teacher_api_base: TeacherApiBase = None,
    teacher_price: TeacherPrice = None,
    budget: Budget = "medium",
    demos: Demos = None,
    demo_tokens: DemoTokens = None,
    candidates: Candidates = None,
    seed: Annotated[int, typer.Option(help="Seed of the optimizer.")] = 0,
    decide: Annotated[bool, typer.Option(help="Fit a decision layer on train and dev.")] = True,
    states: Annotated[
        bool | None,
        typer.Option(
            help="Whether the LM states how likely each label is. Default: where it gives no log-probabilities, or may "
            "give none."
        ),
    ] = None,
    built: ProgramOptions,
    image_root: ImageRoot = None,
    embedding_api_base: EmbeddingApiBase = None,
    limit_train: Annotated[int | None, typer.Option(min=1, help="Take only the first records of train.")] = None,
    limit_dev: Annotated[int | None, typer.Option(min=1, help="The same for dev.")] = None,
    limit_test: Annotated[int | None, typer.Option(min=1, help="The same for test.")] = None,
    spending: Spending,
    estimate: Estimate = False,
    track: Annotated[bool, typer.Option(help="Log the compile to MLflow and register its champion.")] = True,
    traces: Traces = TRACES,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Compile a program against the ranking score; save the champion and register it."""
    _check_folder(task, data)
    prepare(artifacts)
    from aisr.artifact.program import check_name
    from aisr.cli import display
    from aisr.corrections.labelled import RECORDS as CORRECTIONS
    from aisr.optimize.demos import default_optimizers
    from aisr.optimize.estimate import DryRun
    from aisr.optimize.examples import read_corrected
    from aisr.optimize.run import Callbacks, Plan, compile_program
    from aisr.optimize.search import settings
    from aisr.predict.prepare import evidence_form, find_gallery, states_for
    from aisr.report import write as write_report
    from aisr.tracking import store

    chosen = chosen_task(task)
    chain = chain_of(optimizer) if optimizer else []
    sizes: dict[str, Any] = {
        "demos": demos,
        "demo_tokens": demo_tokens,
        "candidates": candidates,
    }
    if demos == 0 and not (chain and set(chain) <= {"mipro", "gepa"}):
        raise UserError("--demos 0 leaves only instructions to optimize: --optimizer mipro or gepa")
    folder = data or SAMPLE / chosen.name
    files = {side: folder / f"{side}.jsonl" for side in ("train", "dev", "test")}
    searched = settings(budget, seed, **sizes)
    usual = chain or default_optimizers(files["train"], limit_train, searched.demos)
    name = check_name(name or "-".join(usual))
    ledger = spending.ledger(None if estimate else artifacts / chosen.name / name)
    config = lm_config(lm, reach, embedding_api_base=embedding_api_base, **spending.prices())
    opened = opened_lm(config, ledger, needs_key=not estimate)
    if teacher_lm:
        beside = lm_beside(config, "teacher", teacher_lm, teacher_api_base, teacher_price)
        teacher = opened_lm(beside, ledger, needs_key=not estimate)
    elif teacher_api_base or teacher_price:
        raise UserError("--teacher-api-base and --teacher-price go with --teacher-lm")
    else:
        teacher = opened
    check_written(chain, teacher)
    chain = usual
    if not files["test"].exists():
        del files["test"]
    corrections = folder / CORRECTIONS
    learnt = read_corrected(chosen, corrections, files) if corrections.exists() else None
    if learnt:
        display.note(str(learnt))
    if states is None and "states" in chosen.judge.Options.names():
        states = states_for(opened) or None
    given = built.said() | {"states": states}
    options = {key: value for key, value in given.items() if value is not None}
    if built.evidence:
        options["evidence"] = evidence_form(built.evidence, opened)
    plan = Plan(
        task=chosen,
        name=name,
        optimizers=chain,
        settings=searched,
        options=options,
        data=files,
        limits={"train": limit_train, "dev": limit_dev, "test": limit_test},
        decide=decide,
        corrected=learnt,
        command=command_line(),
        gallery=find_gallery(image_root, files["train"], artifacts),
    )
    if estimate:
        run = DryRun()
        with TemporaryDirectory() as nowhere, display.live(run.ledger) as shown:
            silent = Callbacks(lambda stage: None, shown.judged, lambda contender: None, run.add_gold)
            compile_program(plan, run.open(opened), run.open(teacher), Path(nowhere), silent)
        display.print_estimate(run, ledger.limits)
        return
    display.note(
        f"compiling {chosen.name} on {folder} with {','.join(chain)} and {lm} "
        f"into {artifacts / chosen.name / plan.name}/"
    )
    if track:
        store.open_store(artifacts)  # a store out of reach must show itself before anything is spent
    with display.live(opened.ledger) as shown:
        watcher = Callbacks(
            shown.stage,
            shown.judged,
            lambda contender: shown.say(contender_line(contender)),
        )
        made = compile_program(plan, opened, teacher, artifacts, watcher)
        say_champion(made)
        shown.stage("report and figures, from the response cache")
        told = write_report.of_compile(plan, made, opened)
    display.note(f"wrote {made.folder}/ (program digest {made.manifest.digest}) and {artifacts / 'INDEX.md'}")
    display.say_pictures(plan.gallery.problems if plan.gallery else {})
    display.say_spend(opened.ledger.spend)
    display.note(f"wrote {made.folder / 'report.html'} (open it in a browser) and {made.folder / 'figures'}/")
    logged = not track or register(artifacts, plan, made, told, traces)
    failed = made.choice.champion.dev.failures or (made.test and made.test.champion.failures)
    raise typer.Exit(RECORDS_FAILED if failed or not logged else 0)


def _check_folder(task: str, data: Path | None) -> None:
    """Raises UserError where the records cannot be there, before anything is made."""
    if data is None and not SAMPLE.is_dir():
        raise UserError(
            f"no {SAMPLE}/ in {Path.cwd()}: the sample is in the folder of the project; run the command there, or give "
            "--data FOLDER with train.jsonl and dev.jsonl"
        )
    if data is not None and not data.is_dir():
        raise UserError(f"--data {data}: no such folder; expected one with train.jsonl and dev.jsonl")
    for name in ("train.jsonl", "dev.jsonl"):
        if not (file := (data or SAMPLE / task) / name).is_file():
            raise UserError(f"{file}: no such file; `aisr split` makes {name} of a file of labelled records")


def contender_line(contender: Any) -> str:
    """A candidate's result on dev, in one line."""
    seen = "dev" if contender.finished else f"{len(contender.dev.scores)} records of dev, where it was dropped"
    price = f", {contender.usd:.2f} USD a thousand records" if contender.usd else ""
    return f"    {contender.name}: {contender.dev.interval} on {seen}{price}"


def say_champion(made: Any) -> None:
    """What a compile found."""
    from aisr.base.files import percent
    from aisr.cli.display import note, say_failures
    from aisr.metrics.intervals import in_words

    champion = made.choice.champion
    note(f"  champion: {champion.name}, {champion.dev.interval} on dev")
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
    say_failures(champion.dev.failures)
    baseline = made.choice.contenders[0].name
    note(f"  difference from {baseline} on dev, where it was chosen: {champion.gain}")
    if made.fitted:
        say_decision(made.fitted.report)
    if made.manifest.names_none is not None:
        note(f"  no evidence is named with: {', '.join(made.manifest.names_none) or '(no label)'}")
    if made.choice.unscored:
        note(f"  not scored, the budget is spent: {', '.join(made.choice.unscored)}")
    if made.manifest.stopped_early:
        note(f"  stopped early: {made.manifest.stopped_early}")
    if made.test:
        note(f"  on the held-out test split: {made.test.champion.interval}")
        for remark in made.test.champion.score.remarks:
            note(f"    {remark}")
        if made.test.champion.no_lm:
            note(f"  without any LM, on test: {made.test.champion.no_lm.interval}")
        say_failures(made.test.champion.failures)
        if made.test.gain is None:
            note(f"  difference from {baseline} on test: not known, the budget was spent before that was scored there")
        else:
            told = in_words(made.test.gain, len(made.test.champion.scores), baseline)
            note(f"  difference from {baseline} on test: {made.test.gain}: {told}")
            for remark in made.test.baseline.score.remarks:
                note(f"    {baseline}: {remark}")
    elif "test" in made.manifest.data:
        note("  on the held-out test split: not scored, the budget was spent before")


def say_decision(report: dict[str, Any]) -> None:
    """What became of the decision layer."""
    from aisr.base.files import percent
    from aisr.cli.display import note

    if "why" in report:
        note(f"  decision layer: none ({report['why']})")
        return
    scores = ", ".join(f"{name} {percent(score)}" for name, score in report["cross_validated"].items())
    low, high = report["gain"][1:]
    kept = f"kept: {report['kept']}" if report["kept"] else "not kept: no better than the LM as it is"
    note(f"  decision layer, cross-validated on {report['records']} records ({', '.join(report['sources'])}): {scores}")
    votes = report["sources"].get("vote")
    if votes and "stated" in report["sources"]:
        note(
            f"    {votes} of {sum(report['sources'].values())} labels came with no usable probability: a vote stands in"
        )
    note(f"    gain {percent(report['gain'][0])} [{percent(low)}, {percent(high)}]; {kept}")
