"""The MLflow store: a database below the artifacts folder, or where MLFLOW_TRACKING_URI says."""

import os
import re
from pathlib import Path
from typing import Any

from filelock import FileLock

from optimize import redact

STORE = ".mlflow"  # below the artifacts folder
LONGEST = 300  # characters of a server's message
# Two more tries within seconds, each of twenty at most; MLflow's own settings, where the user has none.
IMPATIENT = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "20"}


class NoStore(ValueError):
    """The MLflow store cannot be reached, or does not let us in."""


def tracking_uri(root: Path) -> str:
    """MLFLOW_TRACKING_URI, or a SQLite file below the artifacts folder (by absolute path: MLflow would otherwise put it
    wherever the command happens to run)."""
    return os.environ.get("MLFLOW_TRACKING_URI") or _own_uri(root)


def open_store(root: Path) -> Any:
    """MLflow, pointed at the store; a database that is not there yet is created, by one process at a time.

    Raises `NoStore` where MLFLOW_TRACKING_URI names a store that cannot be used.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ["MLFLOW_ALLOW_PICKLE_DESERIALIZATION"] = "false"
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    os.environ["MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT"] = "true"  # with the password that the address may hold
    import logging

    import mlflow

    logging.getLogger("alembic").setLevel(logging.WARNING)  # a fresh database logs each of its migrations
    logging.getLogger("mlflow").setLevel(logging.ERROR)
    uri, chosen = tracking_uri(root), os.environ.get("MLFLOW_TRACKING_URI")
    mlflow.set_tracking_uri(uri)
    mlflow.set_registry_uri(uri)
    if chosen is None:  # MLflow sets the variable; left there, it would pass for the user's choice
        os.environ.pop("MLFLOW_TRACKING_URI", None)
    if not is_own(root):
        _reach(mlflow, uri)
        return mlflow
    _store(root).mkdir(parents=True, exist_ok=True)
    with FileLock(_store(root) / "create.lock"):
        mlflow.MlflowClient().search_experiments(max_results=1)
    return mlflow


def _reach(mlflow: Any, uri: str) -> None:
    """Raises `NoStore` where the store does not answer soon. MLflow would try a server that is down for minutes, and
    not before a compile has spent what it had to spend."""
    meanwhile = {name: value for name, value in IMPATIENT.items() if name not in os.environ}
    os.environ.update(meanwhile)
    try:
        mlflow.MlflowClient().search_experiments(max_results=1)
    except (mlflow.MlflowException, ImportError) as error:
        raise NoStore(
            f"MLFLOW_TRACKING_URI {redact.secrets(uri)}: {_reason(str(error))}; expected a store that answers and "
            "admits you. Without the variable, runs are kept below --artifacts"
        ) from error
    finally:
        for name in meanwhile:
            del os.environ[name]


def _reason(message: str) -> str:
    """Of MLflow's message on a server out of reach the cause alone; of any other the first line."""
    cause = re.search(r"Caused by \w+\(.*?: (.*?)[\"']?\)+$", message)
    return cause[1] if cause else message.strip().partition("\n")[0][:LONGEST]


def is_own(root: Path) -> bool:
    """Whether the store is the database below the artifacts folder."""
    return tracking_uri(root) == _own_uri(root)


def files(root: Path) -> str:
    """Where a store of our own keeps the files of its runs, as a URI."""
    return (_store(root) / "files").as_uri()


def _store(root: Path) -> Path:
    return root.resolve() / STORE


def _own_uri(root: Path) -> str:
    return f"sqlite:///{_store(root) / 'mlflow.db'}"
