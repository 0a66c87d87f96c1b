"""Compiles and evaluations as MLflow runs.

MLflow's own DSPy flavour is not used: it stores a pickle with the LM's key inside, and loading it executes what it
holds.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aisr.artifact.manifest import Manifest
from aisr.base.files import digest_file, digest_text, percent
from aisr.metrics.intervals import in_words
from aisr.optimize.experiment.evaluation import Evaluation
from aisr.optimize.search.champion import Choice, Contender, Tested
from aisr.programs.task import Task
from aisr.tracking import runs
from aisr.tracking.registry import DIGEST_TAG, NotPromoted, model_name, promote, register, version_of
from aisr.tracking.store import MODEL_SCHEME, open_store

# --- What a run says of itself on its page in MLflow, as Markdown: what won, how sure that is, and the command.
#
# MLflow shows the first lines and the rest on demand; it sets the cells of a table without space between them, so there
# are lists.


def note_of_compile(made: Manifest, choice: Choice, test: Tested | None) -> str:
    champion, baseline = choice.champion, choice.contenders[0]
    layer = made.layer
    lines = [f"**{champion.name}** of {len(choice.contenders)} candidates, chosen on dev: **{champion.dev.interval}**"]
    if test is None:
        lines.append("Not scored on a test split.")
    else:
        told = in_words(test.gain, len(test.champion.scores), baseline.name) if test.gain else ""
        gain = f", {told} (difference {test.gain})" if told else ""
        with_layer = ", with its decision layer" if layer else ""
        lines.append(f"On the held-out test split{with_layer}: **{test.champion.interval}**{gain}")
    lines += [f"Decision layer: {layer or 'none'}", _code(made.command or "")]
    lines.append("\n".join(_line(step, one) for step, one in enumerate(choice.contenders)))
    if choice.unscored:
        lines.append(f"Not scored, the budget is spent: {', '.join(choice.unscored)}")
    if made.stopped_early:
        lines.append(f"Stopped early: {made.stopped_early}")
    return "\n\n".join(lines)


def note_of_evaluation(done: Evaluation, name: str) -> str:
    """name: that of the program."""
    found = done.found
    parts = ", ".join(f"{done.loaded.task.parts[name]} {percent(value)}" for name, value in found.score.parts.items())
    failed = f"; {len(found.failures)} of them failed" if found.failures else ""
    labels = [f"* {label}: F1 {percent(part.f1)}, {part.support} gold" for label, part in found.score.per_label.items()]
    lines = [
        f"**{name}** on {len(found.scores)} records of {done.data.name}: **{found.interval}**{failed}",
        parts,
        _code(done.command),
        "\n".join(labels),
    ]
    return "\n\n".join(lines)


def _line(step: int, one: Contender) -> str:
    seen = "dev" if one.finished else f"{len(one.dev.scores)} records of dev, where it was dropped"
    return f"* candidate {step}: {one.name}, {one.dev.interval} on {seen}, {one.calls} LM calls until then"


def _code(command: str) -> str:
    """A block of code that no word of the command can end: it is one line."""
    return f"    {' '.join(command.split())}"


@dataclass(frozen=True)
class Compiled:
    """What a run is told of a compile."""

    task: Task
    folder: Path
    manifest: Manifest
    choice: Choice
    test: Tested | None
    data: dict[str, Path]


@dataclass(frozen=True)
class Tracked:
    """Where a compile stands in MLflow."""

    run_id: str
    model: str  # "aisr-track1"
    version: str
    kept_from: str | None  # why it is not the champion; None where it is


def track(root: Path, compiled: Compiled) -> Tracked:
    """Log a compile as a run of its task's experiment and register its champion; the alias `champion` moves to it if it
    is better on the same test split than the one that has it."""
    mlflow = open_store(root)
    made = compiled.manifest
    title = runs.title(compiled.task, made.optimizer, made.lm.spec)
    with runs.begun(mlflow, root, compiled.task, title, _tags(compiled), made.seconds) as run_id:
        mlflow.log_params(_params(made))
        mlflow.log_metrics(_metrics(compiled))
        mlflow.MlflowClient().log_batch(run_id, metrics=_search(compiled.choice))
        for split, path in compiled.data.items():
            known = made.data[split]
            mlflow.log_input(runs.dataset(path, known.digest, known.records), context=split)
        mlflow.log_artifacts(str(compiled.folder), runs.FILES[runs.COMPILE])
        version = register(mlflow, compiled.task, compiled.folder, made)
    name = model_name(compiled.task)
    try:
        promote(mlflow, name, version)
    except NotPromoted as error:
        return Tracked(run_id, name, version, str(error))
    return Tracked(run_id, name, version, None)


def track_evaluation(root: Path, done: Evaluation, folder: Path) -> str:
    """Log an evaluation, and what it left in a folder, as a run of its task's experiment; the id of the run. Where its
    program is registered, run and version are linked."""
    from mlflow.entities import LoggedModelInput

    mlflow = open_store(root)
    task, digest = done.loaded.task, digest_file(done.data)
    records = len(done.found.scores)
    version = version_of(mlflow, done.program, done.loaded)
    name = f"{version.name} v{version.version}" if version else Path(done.program).name
    about = note_of_evaluation(done, name)
    tags = runs.tags(runs.EVALUATE, task, done.lm.spec, f"{digest}/{records}", about) | {
        "aisr.program": name,
        DIGEST_TAG: done.loaded.digest,
        **({"aisr.version": f"{version.name}/{version.version}"} if version else {}),
    }
    title = runs.title(task, runs.EVALUATE, name, done.lm.spec)
    with runs.begun(mlflow, root, task, title, tags, done.seconds) as run_id:
        mlflow.log_params({f"lm.{key}": value for key, value in done.lm.describe().items() if value is not None})
        mlflow.log_metrics(runs.scores(done.found) | runs.spent(done.lm.ledger.spend.as_dict(), done.seconds))
        mlflow.log_input(runs.dataset(done.data, digest, records), context="evaluation")
        if version and version.source.startswith(MODEL_SCHEME):
            used = LoggedModelInput(version.source.removeprefix(MODEL_SCHEME))
            mlflow.MlflowClient().log_inputs(run_id, models=[used])
        mlflow.log_artifacts(str(folder), runs.FILES[runs.EVALUATE])
    return run_id


def _tags(compiled: Compiled) -> dict[str, str]:
    made = compiled.manifest
    data = " ".join(f"{split} {about.digest}/{about.records}" for split, about in made.data.items())
    about = note_of_compile(made, compiled.choice, compiled.test)
    return {
        **runs.tags(runs.COMPILE, compiled.task, made.lm.spec, digest_text(data), about),
        "aisr.optimizer": made.optimizer,
        "aisr.candidate": compiled.choice.champion.name,
        "aisr.decision": made.layer or "none",
        DIGEST_TAG: made.digest,
        runs.CHAMPION_TAG: runs.NO,  # until the alias moves to its version
    }


def _params(made: Manifest) -> dict[str, Any]:
    return {
        "optimizer": made.optimizer,
        **{f"optimizer.{key}": value for key, value in made.settings.items()},
        **{f"program.{key}": value for key, value in made.options.items()},
        **{f"lm.{key}": value for key, value in made.lm.model_dump().items() if value is not None},
        **{f"data.{split}": about.digest for split, about in made.data.items()},
    }


def _metrics(compiled: Compiled) -> dict[str, float]:
    """In the order in which the page of a run lists them."""
    test, choice = compiled.test, compiled.choice
    made = compiled.manifest
    layer, ranker = made.decision, made.ranker
    return {
        **(runs.scores(test.champion, "test_") if test else {}),
        **runs.scores(choice.champion.dev, "dev_"),
        **runs.spent(compiled.manifest.spend.model_dump(), compiled.manifest.seconds),
        **({"evidence_ranker_gain": round(ranker.gain[0], runs.DIGITS)} if ranker and ranker.gain else {}),
        **({"decision_cross_validated_gain": round(layer.gain[0], runs.DIGITS)} if layer and layer.gain else {}),
        **(runs.scores(test.baseline, "baseline_test_") if test and test.baseline else {}),
        **runs.scores(choice.contenders[0].dev, "baseline_dev_"),
    }


def _search(choice: Choice) -> list[Any]:
    """The search as curves: each candidate's score on dev by its number, and the best so far by the LM calls that were
    asked for until then. A candidate that the race dropped has a score on a part of dev, and is never the best.

    What stands before the `/` is a section of MLflow's charts, and comes before those of all other metrics.
    """
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    scores = [round(one.dev.score.score, runs.DIGITS) for one in choice.contenders]
    done = sorted((one.calls, score) for one, score in zip(choice.contenders, scores, strict=True) if one.finished)
    best = np.maximum.accumulate([score for _, score in done])
    curve = {calls: float(so_far) for (calls, _), so_far in zip(done, best, strict=True)}  # of equal calls the last
    return [
        *(Metric("candidates/dev_score", score, now, step) for step, score in enumerate(scores)),
        *(Metric("candidates/best_dev_score", score, now, calls) for calls, score in curve.items()),
    ]
