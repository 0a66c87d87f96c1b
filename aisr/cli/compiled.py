"""The work of `aisr compile`, and what it says: which program it chose, how that did, where it is registered."""

from pathlib import Path
from typing import Any

from aisr.base.errors import UserError
from aisr.base.files import percent, with_interval
from aisr.cli import display
from aisr.cli.display import console, note, print_failures
from aisr.cli.options import is_place
from aisr.cli.session import log
from aisr.cli.settings import suggestion
from aisr.lm.budget import Limits
from aisr.lm.client import OpenLM
from aisr.metrics.intervals import in_words
from aisr.optimize.champion import Contender
from aisr.optimize.demos import default_optimizers
from aisr.optimize.estimate import DryRun
from aisr.optimize.optimizers import OPTIMIZERS, find_optimizer
from aisr.optimize.run import Callbacks, Plan, Run, compile_program
from aisr.optimize.search import Settings
from aisr.programs.demos import SIMILARITY_WORDS
from aisr.programs.probabilities import SOURCES
from aisr.report.page import CompileReport, write_compile_report
from aisr.tracking import store
from aisr.tracking.runs import log_compile

HAND_WRITTEN = "the hand-written prompt"


def find_optimizers(names: str | None, sizes: Settings, train: Path, most_train: int | None) -> list[str]:
    """The optimizers that run, in turn. Raises UserError for one that does not exist, and for `--demos 0` where there
    is nothing else to search for."""
    chain = [step.strip() for step in names.split(",")] if names else []
    for step in chain:
        if is_place(step):
            find_optimizer(step)
        elif step not in OPTIMIZERS:
            expected = f"expected one of: {', '.join(OPTIMIZERS)}, package.module:function, or several joined by commas"
            raise UserError(f"--optimizer {step!r}: {expected}{suggestion(step, OPTIMIZERS)}")
    if sizes.demos == 0 and not (chain and set(chain) <= {"mipro", "gepa"}):
        raise UserError("--demos 0 leaves only instructions to optimize: --optimizer mipro or gepa")
    return chain or default_optimizers(train, most_train, sizes.demos)


def print_estimate(plan: Plan, lm: OpenLM, teacher: OpenLM, limits: Limits) -> None:
    """Print the calls, tokens and cost of a compile; nothing is sent or kept."""
    run = DryRun()
    note("an estimate: the steps of the compile, with made-up answers; nothing is sent")
    with display.live(run.ledger) as progress:
        run.compile(plan, lm, teacher, Callbacks(progress.stage, progress.judged))
    display.print_estimate(run.ledger.spend, limits)


def compile_and_register(plan: Plan, lm: OpenLM, teacher: OpenLM, artifacts: Path, track: bool) -> bool:
    """Compile, print and register; whether all records were judged, and the store took the champion."""
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
    display.print_end({}, plan.image_folder, lm.ledger.spend)
    note(f"wrote {run.folder}/ (program digest {run.manifest.digest}); open {run.folder / 'report.html'}")
    logged = not track or register(artifacts, run, report, lm)
    failed = run.choice.champion.dev.failures or (run.test and run.test.champion.failures)
    return logged and not failed


def describe_contender(contender: Contender) -> str:
    """Return a candidate's result on dev, in one line."""
    seen = "dev" if contender.finished else f"{len(contender.dev.scores)} records of dev, where it was dropped"
    options = contender.program.options
    demos = f" (most similar demos {SIMILARITY_WORDS[options.demo_similarity]})" if options.demos_per_record else ""
    return f"    {contender.name}{demos}: {contender.dev.interval} on {seen}; {contender.prompt_tokens:,} prompt tokens"


def describe_champion(run: Run) -> str:
    """Return which program a compile chose, in words a reader of no document understands."""
    champion, seed = run.choice.champion, run.choice.contenders[0]
    weights = " with label weights" if run.champion.label_weights is not None else ""
    if champion.name == seed.name:
        reason = "no candidate was better" if run.choice.contenders[1:] else "there is no candidate"
        return f"{HAND_WRITTEN}{weights}: {reason}"
    pairs = list(zip(champion.program.predictors(), seed.program.predictors(), strict=True))
    counts = [len(predictor.demos) for predictor, _ in pairs if predictor.demos]
    parts = []
    if any(predictor.signature.instructions != before.signature.instructions for predictor, before in pairs):
        parts.append("a rewritten instruction")
    if counts and (nearest := champion.program.options.demos_per_record):
        parts.append(f"the {nearest} most similar of {max(counts)} demos for each record")
    elif counts:
        parts.append(f"{' and '.join(map(str, counts))} demos")
    return f"{' and '.join(parts) or 'other settings than the uncompiled program'}{weights} ({champion.name})"


def print_result(run: Run) -> None:
    """Print the champion of a compile, and how it did on dev and on test."""
    champion, seed = run.choice.champion, run.choice.contenders[0]
    console.print(f"the program: {describe_champion(run)}", style="bold", markup=False)
    note(f"  on dev, where it was chosen: {champion.dev.interval}; {HAND_WRITTEN} {seed.dev.interval}")
    if champion.dev.no_lm:
        note(f"    no-LM baseline {champion.dev.no_lm.interval}")
    if run.choice.smoothed:
        few = ", ".join(f"{label} {count}" for label, count in run.choice.smoothed.items())
        note(f"    race and choice counted labels with fewer than ten gold statements in dev less: {few}")
    if doubtful := run.choice.doubtful:
        more = percent(doubtful.dev.score.score - champion.dev.score.score)
        note(f"    {doubtful.name} scores {more} points more on dev, less than a standard error: it was not taken")
    print_failures(champion.dev.failures)
    if run.fitted:
        _print_label_weights(run.fitted.report, getattr(run.champion.options, "verbalized_confidence", False))
    if run.choice.unscored:
        note(f"  not scored, the budget is spent: {', '.join(run.choice.unscored)}")
    if run.manifest.stopped_early:
        note(f"  stopped early: {run.manifest.stopped_early}")
    if run.test is None:
        if "test" in run.manifest.data:
            note("  on test: not scored, the budget was spent before")
        return
    result, gain = run.test.champion, run.test.gain
    console.print(f"  on test, which chose nothing: {result.interval}", style="bold", markup=False)
    if gain is None:
        note(f"    against {HAND_WRITTEN}: not known, the budget was spent before that was scored")
    elif champion.name != seed.name or run.champion.label_weights is not None:
        note(f"    {in_words(gain, len(result.scores), f'{HAND_WRITTEN} alone')}: {gain}")
    for remark in result.score.remarks:
        note(f"    {remark}")
    if result.no_lm:
        note(f"    no-LM baseline {result.no_lm.interval}")
        if result.no_lm.score.score > result.score.score:
            note(
                "    word counts score higher than this LM: try another one, or look at what it answers in report.html"
            )
    print_failures(result.failures)


def _print_label_weights(report: dict[str, Any], states: bool) -> None:
    """Print what became of the label weights. states: whether the LM was asked for its confidence."""
    votes, labels = report["sources"].get("vote", 0), sum(report["sources"].values())
    if states and votes:
        note(
            f"{'warning: ' if votes == labels else '  '}{votes} of {labels} labels came with no confidence that can be "
            "used; they are taken as plain labels; -T verbalized_confidence=false asks for none"
        )
    if "why" in report:
        note(f"  label weights: none ({report['why']})")
        return
    scores = ", ".join(f"{name} {percent(score)}" for name, score in report["cross_validated"].items())
    sources = " and ".join(SOURCES[source] for source in report["sources"])
    gain, low, high = report["gain"]
    kept = "kept" if report["kept"] else "not kept: no better than the LM as it is"
    note(f"  label weights, from {sources}, cross-validated on {report['records']} records: {scores}")
    note(f"    gain {with_interval(gain, low, high, report['records'])}; {kept}")


def register(artifacts: Path, run: Run, report: CompileReport, lm: OpenLM) -> bool:
    """Whether the store took it. Where it did not, the artifact is whole all the same, and the command says so."""

    lines = log(
        lambda: log_compile(artifacts, run, report, lm), f"{run.folder}/ is whole, but not registered in MLflow"
    )
    for line in lines or ():
        note(line)
    return lines is not None
