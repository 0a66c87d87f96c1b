"""The experiment of a task, with the view that its runs are shown in; and whether the store takes what a command is
going to write, which is found out before anything is spent."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from aisr.base import redact
from aisr.base.private import PROMPT_EXPERIMENTS, files_at
from aisr.programs.task import Task
from aisr.tracking.registry import model_name, prompt_name
from aisr.tracking.store import NoStore, describe, file_location, is_refusal, open_store, tracking_uri

EXPERIMENT = "aisr "  # before the name of a task
VIEW = "aisr"  # the view of an experiment that is shared by this key, as MLflow's "Share" does it
SHOWN = ("test_score", "test_score_low", "test_score_high", "aisr_test_score_uncompiled", "gain", "score")
COLUMNS = {
    "orderByKey": "metrics.`test_score`",
    "orderByAsc": False,
    "selectedColumns": [f"metrics.`{name}`" for name in SHOWN],
}
VIEW_TAG = f"mlflow.sharedViewState.{VIEW}"
CHECK = "aisr-write-check.txt"  # of an experiment; the same file each time
CHECK_BYTES = 1_200_000  # more than the megabyte that nginx allows unless it is told: reports are larger
EXISTS = "RESOURCE_ALREADY_EXISTS"


def find_experiment(mlflow: Any, root: Path, task: Task) -> Any:
    """Return the experiment of a task, made if it does not exist. Raises `NoStore` for one that was deleted."""
    name = f"{EXPERIMENT}{task.name}"
    experiment = mlflow.get_experiment_by_name(name)
    if experiment is None:
        # Without its kind, MLflow's UI asks whoever opens the experiment first.
        tags = {"mlflow.experimentKind": "custom_model_development", VIEW_TAG: json.dumps(COLUMNS)}
        return mlflow.get_experiment(mlflow.create_experiment(name, file_location(root), tags))
    if experiment.lifecycle_stage == "deleted":
        uri = redact.secrets(tracking_uri(root))
        raise NoStore(
            f"the MLflow experiment {name!r} was deleted; `MLFLOW_TRACKING_URI={uri} mlflow experiments restore -x "
            f"{experiment.experiment_id}` brings it back, --no-track does without"
        )
    return experiment


def check_writable(root: Path, task: Task, registers: bool) -> None:
    """Raise `NoStore` where the store is out of reach, or would refuse a run of the task's experiment or its files;
    where `registers`, also a version of its model or of its prompt.

    It is asked to write what is to be there anyway: the experiment and its view, the model, the prompt; and a file.
    """
    mlflow = open_store(root)
    client = mlflow.MlflowClient()
    with _explained(f"an experiment {EXPERIMENT}{task.name}"):
        experiment = find_experiment(mlflow, root, task)
    place = f"the experiment {experiment.name} (its id is {experiment.experiment_id})"
    with _explained(f"a run of {place}"):
        client.set_experiment_tag(experiment.experiment_id, VIEW_TAG, json.dumps(COLUMNS))
    with _explained(f"files of {place}"):
        _write_file(experiment.artifact_location, client.tracking_uri)
    if not registers:
        return
    name = model_name(task)
    with _explained(f"a version of the registered model {name}"):
        _create_or_tag(client.create_registered_model, client.set_registered_model_tag, name, "aisr.task", task.name)
    name = prompt_name(task)
    with _explained(f"a version of the prompt {name}"):
        shown = f",{experiment.experiment_id},"
        _create_or_tag(client.create_prompt, client.set_prompt_tag, name, PROMPT_EXPERIMENTS, shown)


def _create_or_tag(create: Any, set_tag: Any, name: str, tag: str, value: str) -> None:
    from mlflow import MlflowException

    try:
        set_tag(name, tag, value)
    except MlflowException as refusal:  # a server with rights may say this of a name that does not exist, too
        try:
            create(name, tags={tag: value})
        except MlflowException as error:
            raise refusal if error.error_code == EXISTS else error from None


def _write_file(location: str, uri: str) -> None:
    """Write a file beside the runs of an experiment; on this machine it is removed."""
    from mlflow import MlflowException

    files = files_at(location, uri)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / CHECK
        file.write_bytes(b"x" * CHECK_BYTES)
        files.log_artifact(str(file))
    if not uri.startswith("http"):
        with suppress(MlflowException, OSError, NotImplementedError):
            files.delete_artifacts(CHECK)


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Have errors of the store say what it refuses. Raises `NoStore`."""
    from mlflow import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (MlflowException, SQLAlchemyError, OSError) as error:
        advice = "--no-track does without"
        if is_refusal(error):
            advice = f"whoever runs the server may grant it (EDIT), {advice}"
        elif "413" in str(error):
            advice = f"a proxy before the server takes no file of {CHECK_BYTES / 1e6} MB: raise its limit; {advice}"
        raise NoStore(f"the MLflow store does not take {what}: {describe(error)}; {advice}") from error
