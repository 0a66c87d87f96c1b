"""Compiles as MLflow runs.

MLflow's own DSPy flavour is not used: it stores a pickle with the LM's key inside, and loading it executes what it
holds.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optimize.champion import Choice, Tested
from optimize.registry import DIGEST_TAG, NotPromoted, model_name, promote, register
from optimize.store import files, is_own, open_store
from optimize.tasks import Task


@dataclass(frozen=True)
class Compiled:
    """What a run is told of a compile."""

    task: Task
    title: str
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
    experiment = _experiment(mlflow, root, compiled.task)
    with mlflow.start_run(experiment_id=experiment, run_name=compiled.title) as run:
        mlflow.set_tags(_tags(compiled))
        mlflow.log_params(_params(compiled.manifest))
        mlflow.log_metrics(_metrics(compiled))
        for step, contender in enumerate(compiled.choice.contenders):
            mlflow.log_metric("candidate_dev_score", contender.dev.score.score, step=step)
        for split, path in compiled.data.items():
            mlflow.log_input(_dataset(path, compiled.manifest["data"][split]), context=split)
        mlflow.log_artifacts(str(compiled.folder), "artifact")
        version = register(mlflow, compiled.task, compiled.folder, compiled.manifest)
    name = model_name(compiled.task)
    try:
        promote(mlflow, name, version)
    except NotPromoted as error:
        return Tracked(run.info.run_id, name, version, str(error))
    return Tracked(run.info.run_id, name, version, None)


def _experiment(mlflow: Any, root: Path, task: Task) -> str:
    name = f"aisr {task.name}"
    found = mlflow.get_experiment_by_name(name)
    if found is not None:
        return str(found.experiment_id)
    location = files(root) if is_own(root) else None
    return str(mlflow.create_experiment(name, artifact_location=location))


def _tags(compiled: Compiled) -> dict[str, str]:
    made = compiled.manifest
    return {
        "aisr.task": compiled.task.name,
        "aisr.optimizer": made["optimizer"],
        "aisr.lm": made["lm"]["spec"],
        DIGEST_TAG: made["digest"],
        "aisr.champion": compiled.choice.champion.name,
        "aisr.decision": str((made["decision"] or {}).get("kept")),
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
    spend = compiled.manifest["spend"]
    metrics = {
        "seconds": compiled.manifest["seconds"],
        "lm_calls": spend["calls"],
        "lm_cached_calls": spend["cached_calls"],
        "prompt_tokens": spend["prompt_tokens"],
        "completion_tokens": spend["completion_tokens"],
    }
    if spend["usd"] is not None:
        metrics["usd"] = spend["usd"]
    decision = compiled.manifest["decision"]
    if decision and "gain" in decision:
        metrics["decision_cross_validated_gain"] = decision["gain"][0]
    results = {"dev": compiled.choice.champion.dev, "baseline_dev": compiled.choice.contenders[0].dev}
    if compiled.test is not None:
        results["test"] = compiled.test.champion
        if compiled.test.baseline is not None:
            results["baseline_test"] = compiled.test.baseline
    for split, found in results.items():
        metrics |= {
            f"{split}_score": found.score.score,
            f"{split}_score_low": found.interval.low,
            f"{split}_score_high": found.interval.high,
            f"{split}_macro_f1": found.score.macro_f1,
            f"{split}_{found.score.exact_name}": found.score.exact,
            f"{split}_failed": len(found.failures),
        }
    return metrics


def _dataset(path: Path, about: dict[str, Any]) -> Any:
    """A dataset entry by name and digest alone: task data may not be redistributed, so no record is stored."""
    from mlflow.data.code_dataset_source import CodeDatasetSource
    from mlflow.data.meta_dataset import MetaDataset

    source = CodeDatasetSource(tags={"file": path.name, "records": str(about["records"])})
    return MetaDataset(source, name=f"{path.parent.name}/{path.name}", digest=about["digest"])
