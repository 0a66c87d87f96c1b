"""The MLflow store: a database below the artifacts folder, or the one that MLFLOW_TRACKING_URI names."""

import logging
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock

from aisr.base import redact
from aisr.base.errors import UserError
from aisr.base.files import BadArtifact

StepT = TypeVar("StepT")
STORE, DATABASE = ".mlflow", "mlflow.db"  # below the artifacts folder
FILES = "files"  # below the store: what its runs hold
LONGEST = 500  # characters of MLflow's message
QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",  # by default a server that is down is tried for minutes
}
SETTINGS = {
    "MLFLOW_ALLOW_PICKLE_DESERIALIZATION": "false",
    "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "true",  # spans together; whoever logs traces waits for them
    "MLFLOW_ASYNC_TRACE_LOGGING_MAX_WORKERS": "1",  # each asks the server for its version first
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # with the password that the address may hold
}
# Traces hold records: they go to this store, not to what these name.
COLLECTORS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
LOG_LEVELS = {
    "alembic": logging.WARNING,  # a fresh database logs each of its migrations
    "mlflow": logging.ERROR,
    "mlflow.store.db.utils": logging.CRITICAL,  # it raises what it logs, in a hundred lines
}
MODEL_SCHEME = "models:/"
MODEL_URI = re.compile(r"models:/(?P<name>[^/@]+)(?:@(?P<alias>[^/@]+)|/(?P<version>[0-9]+))")
EXPECTED = "expected models:/NAME@champion or models:/NAME/VERSION"


class NoStore(UserError):
    """The MLflow store is not there, or cannot be used."""


def tracking_uri(root: Path) -> str:
    """MLFLOW_TRACKING_URI, or a SQLite file below the artifacts folder, by absolute path."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{_database(root)}"


def file_location(root: Path) -> str | None:
    """Return the URI of the folder where a store of our own keeps the files of its runs; None for another store."""
    return None if os.environ.get("MLFLOW_TRACKING_URI") else (_database(root).parent / FILES).as_uri()


def open_store(root: Path) -> Any:
    """Return MLflow, pointed at the store; a database that is not there yet is created. Raises `NoStore`."""
    import mlflow
    from sqlalchemy.exc import SQLAlchemyError

    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    os.environ.update(SETTINGS)
    for name in COLLECTORS:
        os.environ.pop(name, None)
    for name, level in LOG_LEVELS.items():
        logging.getLogger(name).setLevel(level)
    uri, is_own = tracking_uri(root), file_location(root) is not None
    mlflow.set_tracking_uri(uri)
    mlflow.set_registry_uri(uri)
    if is_own:  # MLflow sets the variable; left there, it would pass for the user's choice
        os.environ.pop("MLFLOW_TRACKING_URI", None)
    try:
        if is_own:
            _create(_database(root))
        mlflow.search_experiments(max_results=1)
    except (mlflow.MlflowException, SQLAlchemyError, ImportError, OSError) as error:
        where = "" if is_own else "MLFLOW_TRACKING_URI "
        raise NoStore(f"{where}{redact.secrets(uri)}: {describe(error)}") from error
    return mlflow


def is_refusal(error: Exception) -> bool:
    """Return whether an error of the store, or of its files, says that the user may not do this."""
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    return status in (401, 403) or getattr(error, "error_code", "") in ("PERMISSION_DENIED", "UNAUTHENTICATED")


def what_next(error: Exception) -> str:
    """Return what helps where the store did not take what was paid for."""
    if is_refusal(error):
        return "once whoever runs the server allows it, run it again: the answers come from the cache"
    if "413" in str(error):
        return "a proxy before the server takes no file of that size; once its limit is raised, run it again"
    return "the same command does that, with the answers from the cache"


def describe(error: Exception) -> str:
    """Return MLflow's message in a line, without keys, passwords and the SQL statement that failed."""
    return redact.secrets(" ".join(str(error).partition("[SQL:")[0].split()))[:LONGEST]


def try_to_log(step: Callable[[], StepT], problem: str) -> tuple[StepT | None, str | None]:
    """Return what a step that writes to MLflow returns, and None; or where the store fails, None and `problem` with the
    reason and what helps: what was paid for is kept."""
    from mlflow.exceptions import MlflowException

    try:
        return step(), None
    except (MlflowException, NoStore, OSError) as error:
        return None, redact.secrets(f"{problem}: {describe(error)}; {what_next(error)}")


def parse_model_uri(root: Path, uri: str) -> re.Match[str]:
    """Return the `name` and the `alias` or `version` of a `models:/…`, checked without importing MLflow, which takes
    seconds. Raises `BadArtifact` where it can name no version, and `NoStore` where nothing was logged yet."""
    parts = MODEL_URI.fullmatch(uri)
    if parts is None:
        raise BadArtifact(f"{uri}: {EXPECTED}, as `aisr compile` prints it")
    check_store(root)
    return parts


def check_store(root: Path) -> None:
    """Raise `NoStore` where nothing was logged yet in a store of our own."""
    if file_location(root) and not _database(root).is_file():
        raise NoStore(
            f"no MLflow store in {root.resolve()}; expected the artifacts folder of a compile (--artifacts, or "
            "AISR_ARTIFACTS), or the address of a tracking server in MLFLOW_TRACKING_URI"
        )


def _create(database: Path) -> None:
    """Make our own database where it does not exist, whole or not at all: MLflow cannot go on with one that it did not
    finish, and two processes at a time would break it."""
    from mlflow import MlflowClient

    if database.exists():
        return
    database.parent.mkdir(parents=True, exist_ok=True)
    with (
        FileLock(database.with_name("create.lock")),
        tempfile.TemporaryDirectory(prefix=".new-", dir=database.parent) as folder,  # with SQLite's journal
    ):
        if not database.exists():
            unfinished = Path(folder) / database.name
            MlflowClient(tracking_uri=f"sqlite:///{unfinished}").search_experiments(max_results=1)
            unfinished.replace(database)


def _database(root: Path) -> Path:
    """Raise `NoStore` for a path that MLflow would read as another one."""
    database = root.resolve() / STORE / DATABASE
    if re.search("[%?#]", str(database)):
        raise NoStore(f"{root.resolve()}: MLflow's addresses take no %, ? or # in a path; choose another --artifacts")
    return database
