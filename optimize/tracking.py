"""Compiles and evaluations as MLflow runs.

MLflow's own DSPy flavour is not used: it stores a pickle with the LM's key inside, and loading it executes what it
holds.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from optimize import digests, notes, runs
from optimize.champion import Choice, Tested
from optimize.evaluation import Evaluation
from optimize.registry import DIGEST_TAG, MODEL_SCHEME, NotPromoted, model_name, promote, register, version_of
from optimize.store import open_store
from optimize.tasks import Task


@dataclass(frozen=True)
class Compiled:
    """What a run is told of a compile."""

    task: Task
    folder: Path
    manifest: dict[str, Any]
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
    experiment = runs.experiment(mlflow, root, compiled.task)
    title = runs.title(compiled.task, made["optimizer"], made["lm"]["spec"])
    about = notes.of_compile(made, compiled.choice, compiled.test)
    with mlflow.start_run(experiment_id=experiment, run_name=title, tags=_tags(compiled), description=about):
        run_id = mlflow.active_run().info.run_id
        mlflow.log_params(_params(made))
        mlflow.log_metrics(_metrics(compiled))
        mlflow.MlflowClient().log_batch(run_id, metrics=_search(compiled.choice))
        for split, path in compiled.data.items():
            known = made["data"][split]
            mlflow.log_input(runs.dataset(path, known["digest"], known["records"]), context=split)
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
    task, digest = done.loaded.task, digests.of_file(done.data)
    records = len(done.found.tally)
    version = version_of(mlflow, done.program, done.loaded)
    name = f"{version.name} v{version.version}" if version else Path(done.program).name
    experiment = runs.experiment(mlflow, root, task)
    tags = runs.tags(runs.EVALUATE, task, done.lm.spec, f"{digest}/{records}") | {
        "aisr.program": name,
        DIGEST_TAG: done.loaded.digest,
        **({"aisr.version": f"{version.name}/{version.version}"} if version else {}),
    }
    title = runs.title(task, runs.EVALUATE, name, done.lm.spec)
    about = notes.of_evaluation(done, name)
    with mlflow.start_run(experiment_id=experiment, run_name=title, tags=tags, description=about) as run:
        mlflow.log_params({f"lm.{key}": value for key, value in done.lm.describe().items() if value is not None})
        mlflow.log_metrics(runs.scores(done.found) | runs.spent(done.lm.ledger.spend.as_dict(), done.seconds))
        mlflow.log_input(runs.dataset(done.data, digest, records), context="evaluation")
        if version and version.source.startswith(MODEL_SCHEME):
            used = LoggedModelInput(version.source.removeprefix(MODEL_SCHEME))
            mlflow.MlflowClient().log_inputs(run.info.run_id, models=[used])
        mlflow.log_artifacts(str(folder), runs.FILES[runs.EVALUATE])
    return str(run.info.run_id)


def _tags(compiled: Compiled) -> dict[str, str]:
    made = compiled.manifest
    data = " ".join(f"{split} {about['digest']}/{about['records']}" for split, about in made["data"].items())
    return {
        **runs.tags(runs.COMPILE, compiled.task, made["lm"]["spec"], digests.of_text(data)),
        "aisr.optimizer": made["optimizer"],
        "aisr.candidate": compiled.choice.champion.name,
        "aisr.decision": (made["decision"] or {}).get("kept") or "none",
        DIGEST_TAG: made["digest"],
        runs.CHAMPION_TAG: runs.NO,  # until the alias moves to its version
    }


def _params(manifest: dict[str, Any]) -> dict[str, Any]:
    return {
        "optimizer": manifest["optimizer"],
        **{f"optimizer.{key}": value for key, value in manifest["settings"].items()},
        **{f"program.{key}": value for key, value in manifest["options"].items()},
        **{f"lm.{key}": value for key, value in manifest["lm"].items() if value is not None},
        **{f"data.{split}": about["digest"] for split, about in manifest["data"].items()},
    }


def _metrics(compiled: Compiled) -> dict[str, float]:
    metrics = runs.spent(compiled.manifest["spend"], compiled.manifest["seconds"])
    decision = compiled.manifest["decision"]
    if decision and "gain" in decision:
        metrics["decision_cross_validated_gain"] = decision["gain"][0]
    results = {"dev": compiled.choice.champion.dev, "baseline_dev": compiled.choice.contenders[0].dev}
    if compiled.test is not None:
        results["test"] = compiled.test.champion
        if compiled.test.baseline is not None:
            results["baseline_test"] = compiled.test.baseline
    for split, found in results.items():
        metrics |= runs.scores(found, f"{split}_")
    return metrics


def _search(choice: Choice) -> list[Any]:
    """The search as curves: each candidate's score on dev by its number, and the best so far by the LM calls that were
    asked for until then. A candidate that the race dropped has a score on a part of dev, and is never the best."""
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    done = sorted((one for one in choice.contenders if one.finished), key=lambda one: one.calls)
    best = np.maximum.accumulate([one.dev.score.score for one in done])
    curve = {
        one.calls: float(so_far) for one, so_far in zip(done, best, strict=True)
    }  # of one number of calls the last
    return [
        *(Metric("candidate_dev_score", one.dev.score.score, now, k) for k, one in enumerate(choice.contenders)),
        *(Metric("best_dev_score", score, now, calls) for calls, score in curve.items()),
    ]
