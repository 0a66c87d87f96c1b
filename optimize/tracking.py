"""Compiles as MLflow runs, champions as model versions with an alias.

MLflow's own DSPy flavour is not used: it stores a pickle with the LM's key inside, and loading it executes what it
holds. A version here carries `program.json` and a model file that serves it (`optimize/serving.py`); our own prediction
reads the JSON alone and checks it against the digest in the version's tags.
"""

import io
import os
import tempfile
import warnings
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from optimize import redact
from optimize.artifact import BadArtifact, Loaded, parse
from optimize.champion import Choice, Tested
from optimize.tasks import Task

ALIAS = "champion"
PREVIOUS = "previous"
STORE = ".mlflow"  # below the artifacts folder
MODEL_SCHEME = "models:/"
DIGEST_TAG = "aisr.digest"


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


def tracking_uri(root: Path) -> str:
    """MLFLOW_TRACKING_URI, or a SQLite file below the artifacts folder (by absolute path: MLflow would otherwise put it
    wherever the command happens to run)."""
    return os.environ.get("MLFLOW_TRACKING_URI") or _own_uri(root)


def model_name(task: Task) -> str:
    """The registered model of a task."""
    return f"aisr-{task.name}"


def track(root: Path, compiled: Compiled) -> Tracked:
    """Log a compile as a run of its task's experiment and register its champion; the alias `champion` moves to it."""
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
        version = _register(mlflow, compiled)
    _alias(mlflow.MlflowClient(), compiled, version)
    return Tracked(run.info.run_id, model_name(compiled.task), version)


def load_registered(root: Path, uri: str) -> Loaded:
    """The program of `models:/NAME@ALIAS` or `models:/NAME/VERSION`. Reads JSON; no stored code runs.

    Raises `BadArtifact` where there is no such version or its file is not the one that was registered.
    """
    mlflow = open_store(root)
    client = mlflow.MlflowClient()
    name, at, alias = uri.removeprefix(MODEL_SCHEME).partition("@")
    try:
        if at:
            found = client.get_model_version_by_alias(name, alias)
        else:
            name, _, number = name.partition("/")
            found = client.get_model_version(name, number)
    except mlflow.MlflowException as error:
        raise BadArtifact(
            f"{uri}: {error.message}; expected models:/NAME@champion or models:/NAME/VERSION of "
            f"{redact.secrets(tracking_uri(root))}"
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        fetched = mlflow.artifacts.download_artifacts(
            artifact_uri=f"{MODEL_SCHEME}{name}/{found.version}/artifacts/program.json", dst_path=folder
        )
        loaded = parse(Path(fetched).read_text(encoding="utf-8"), uri)
    if loaded.digest != found.tags.get(DIGEST_TAG):
        raise BadArtifact(
            f"{uri}: digest {loaded.digest}, but version {found.version} was registered with "
            f"{found.tags.get(DIGEST_TAG)}; the stored file was changed since"
        )
    return loaded


def open_store(root: Path) -> Any:
    """MLflow, pointed at the store; a database that is not there yet is created, by one process at a time."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ["MLFLOW_ALLOW_PICKLE_DESERIALIZATION"] = "false"
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    import logging

    import mlflow

    logging.getLogger("alembic").setLevel(logging.WARNING)  # a fresh database logs each of its migrations
    logging.getLogger("mlflow").setLevel(logging.ERROR)
    uri, chosen = tracking_uri(root), os.environ.get("MLFLOW_TRACKING_URI")
    mlflow.set_tracking_uri(uri)
    mlflow.set_registry_uri(uri)
    if chosen is None:  # MLflow sets the variable; left there, it would pass for the user's choice
        os.environ.pop("MLFLOW_TRACKING_URI", None)
    if tracking_uri(root) == _own_uri(root):
        _store(root).mkdir(parents=True, exist_ok=True)
        with FileLock(_store(root) / "create.lock"):
            mlflow.MlflowClient().search_experiments(max_results=1)
    return mlflow


def _register(mlflow: Any, compiled: Compiled) -> str:
    """Log the champion as a model of the current run and register it; the number of the version."""
    versions = compiled.manifest["versions"]
    # MLflow advises on type hints and tells of its success on standard error; errors are raised, not printed.
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        model = mlflow.pyfunc.log_model(
            name="program",
            python_model=str(Path(__file__).with_name("serving.py")),
            artifacts={"program": str(compiled.folder / "program.json")},
            model_config={"task": compiled.task.name},
            registered_model_name=model_name(compiled.task),
            pip_requirements=[f"{name}=={versions[name]}" for name in ("dspy", "litellm", "mlflow", "pydantic")],
        )
    return str(model.registered_model_version)


def _store(root: Path) -> Path:
    return root.resolve() / STORE


def _own_uri(root: Path) -> str:
    return f"sqlite:///{_store(root) / 'mlflow.db'}"


def _experiment(mlflow: Any, root: Path, task: Task) -> str:
    name = f"aisr {task.name}"
    found = mlflow.get_experiment_by_name(name)
    if found is not None:
        return str(found.experiment_id)
    location = (_store(root) / "files").as_uri() if tracking_uri(root) == _own_uri(root) else None
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


def _alias(client: Any, compiled: Compiled, version: str) -> None:
    name = model_name(compiled.task)
    client.set_model_version_tag(name, version, DIGEST_TAG, compiled.manifest["digest"])
    client.set_model_version_tag(name, version, "aisr.artifact", compiled.folder.name)
    aliases = client.get_registered_model(name).aliases
    if ALIAS in aliases:
        client.set_registered_model_alias(name, PREVIOUS, aliases[ALIAS])
    client.set_registered_model_alias(name, ALIAS, version)
