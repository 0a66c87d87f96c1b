"""The MLflow store: a database below the artifacts folder, or the one that MLFLOW_TRACKING_URI names."""

import os
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock

from aisr.base import redact
from aisr.base.errors import UserError
from aisr.base.files import BadArtifact
from aisr.base.redact import environment_defaults

STORE, DATABASE = ".mlflow", "mlflow.db"  # below the artifacts folder
FILES = "files"  # below the store: what its runs hold
# Where MLflow's database keeps paths of files, as table and column. Its API changes none of them.
PATHS = [
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "source"),
    ("model_versions", "storage_location"),
    ("trace_tags", "value"),
]
LONGEST = 300  # characters of a server's message
# Two more tries within seconds, each of twenty at most; MLflow's own settings, where the user has none.
IMPATIENT = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "20"}

QUIET = {"MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false"}


class NoStore(UserError):
    """The MLflow store is not there, cannot be reached, or does not let us in."""


@contextmanager
def readable(uri: str) -> Iterator[None]:
    """Raises `NoStore` in the place of what MLflow and its libraries raise over an answer that they cannot read: the
    address may be that of any server."""
    from mlflow import MlflowException

    try:
        yield
    except (UserError, MlflowException, ImportError, OSError):
        raise
    except Exception as error:
        raise NoStore(
            f"{redact.secrets(uri)}: {type(error).__name__}: {reason(error)}; expected the answer of an MLflow server"
        ) from error


class Reader(NamedTuple):
    """A store that is only read from."""

    client: Any  # mlflow.MlflowClient
    uri: str

    def file_of_run(self, run_id: str, path: str, place: Path) -> Path:
        """A file that a run left, copied into the folder `place`."""
        with environment_defaults(**QUIET), readable(self.uri):
            return Path(self.client.download_artifacts(run_id, path, str(place)))

    def file_of_version(self, version: Any, path: str, place: Path) -> Path:
        """A file of a registered version, copied into the folder `place`. Left to itself, MLflow would look for the
        version in the store that is set for the whole process."""
        import mlflow

        with environment_defaults(**QUIET), readable(self.uri):
            where = self.client.get_model_version_download_uri(version.name, version.version)
            if where.startswith("models:/"):
                where = self.client.get_logged_model(where.removeprefix("models:/")).artifact_location
            fetched = mlflow.artifacts.download_artifacts(f"{where}/{path}", dst_path=str(place), tracking_uri=self.uri)
        return Path(fetched)


def tracking_uri(root: Path) -> str:
    """MLFLOW_TRACKING_URI, or a SQLite file below the artifacts folder (by absolute path: MLflow would otherwise put it
    wherever the command happens to run)."""
    return os.environ.get("MLFLOW_TRACKING_URI") or _own_uri(root)


def open_store(root: Path) -> Any:
    """MLflow, pointed at the store; a database that is not there yet is created, by one process at a time.

    Raises `NoStore` where it, or what MLFLOW_TRACKING_URI names, cannot be used.
    """
    # What a process of our own may set for good; who only reads sets nothing, see `reading`.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ["MLFLOW_ALLOW_PICKLE_DESERIALIZATION"] = "false"
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"  # a trace is there when a command ends
    os.environ["MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT"] = "true"  # with the password that the address may hold
    import logging

    import mlflow

    logging.getLogger("alembic").setLevel(logging.WARNING)  # a fresh database logs each of its migrations
    logging.getLogger("mlflow").setLevel(logging.ERROR)
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)  # it raises what it logs, in a hundred lines
    uri, chosen = tracking_uri(root), os.environ.get("MLFLOW_TRACKING_URI")
    mlflow.set_tracking_uri(uri)
    mlflow.set_registry_uri(uri)
    if chosen is None:  # MLflow sets the variable; left there, it would pass for the user's choice
        os.environ.pop("MLFLOW_TRACKING_URI", None)
    if not is_own(root):
        _reach(mlflow, uri)
        return mlflow
    _store(root).mkdir(parents=True, exist_ok=True)
    _open_own(mlflow.MlflowClient, root)
    return mlflow


@contextmanager
def reading(root: Path) -> Iterator[Reader]:
    """The store, to read from. Creates nothing, and leaves MLflow's settings and the environment as they are.

    Raises `NoStore`, also where nothing was logged below the artifacts folder yet.
    """
    check_exists(root)
    with environment_defaults(MLFLOW_DISABLE_TELEMETRY="true"):
        import mlflow

        uri = tracking_uri(root)
        reader = Reader(mlflow.MlflowClient(tracking_uri=uri, registry_uri=uri), uri)
        if is_own(root):
            _open_own(lambda: reader.client, root)
        else:
            _reach(mlflow, uri)
        yield reader


def _open_own(client: Callable[[], Any], root: Path) -> None:
    """See that the database below the artifacts folder is there, can be read and knows where its files are now. Two
    processes at a time would break it. client: what opens it. Raises `NoStore`."""
    from mlflow import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    database = _database(root)
    try:
        with FileLock(_store(root) / "create.lock"):
            if not database.exists():
                _create(database)
            client().search_experiments(max_results=1)
            _update_paths(root)
    except (MlflowException, SQLAlchemyError, sqlite3.Error, OSError) as error:
        raise NoStore(
            f"{database}: {reason(error)}; expected MLflow's database, and room to write it. Make room, choose another "
            "--artifacts, or move a torn file away"
        ) from error


def _create(database: Path) -> None:
    """Make the database, whole or not at all: MLflow cannot go on with one that it did not finish."""
    from mlflow import MlflowClient

    with tempfile.TemporaryDirectory(prefix=".new-", dir=database.parent) as place:  # with SQLite's journal
        unfinished = Path(place) / database.name
        MlflowClient(tracking_uri=f"sqlite:///{unfinished}").search_experiments(max_results=1)
        unfinished.replace(database)


def check_exists(root: Path) -> None:
    """Raises `NoStore` where the store would have to be made first."""
    if is_own(root) and not (_store(root) / DATABASE).is_file():
        raise NoStore(
            f"no MLflow store in {root.resolve()}; expected the artifacts folder of a compile (--artifacts, or "
            "AISR_ARTIFACTS), or the address of a tracking server in MLFLOW_TRACKING_URI"
        )


def _update_paths(root: Path) -> None:
    """Where the folder was moved or copied since, write the new paths of its files into the database: MLflow keeps the
    absolute path of every run, and would look for files, and write new ones, where the folder was."""
    new = files(root)
    with closing(sqlite3.connect(_database(root))) as database, database:
        for (old,) in database.execute("SELECT DISTINCT artifact_location FROM experiments").fetchall():
            if old == new or not str(old).endswith(f"/{STORE}/{FILES}"):
                continue
            for table, column in PATHS:
                # Not LIKE, to which a percent sign or an underline in a path means something.
                database.execute(
                    f"UPDATE {table} SET {column} = ? || substr({column}, ?) WHERE substr({column} || '/', 1, ?) = ?",
                    (new, len(old) + 1, len(old) + 1, f"{old}/"),
                )


def _reach(mlflow: Any, uri: str) -> None:
    """Raises `NoStore` where the store does not answer soon. MLflow would try a server that is down for minutes, and
    not before a compile has spent what it had to spend."""
    try:
        with environment_defaults(**IMPATIENT), readable(uri):
            mlflow.MlflowClient(tracking_uri=uri).search_experiments(max_results=1)
    except (mlflow.MlflowException, ImportError) as error:
        raise NoStore(
            f"MLFLOW_TRACKING_URI {redact.secrets(uri)}: {reason(error)}; expected a store that answers and "
            "admits you. Without the variable, runs are kept below --artifacts"
        ) from error


CAUSE = re.compile(r"\(\w+\.\w*Error\) [^\n]+")


def reason(error: Exception) -> str:
    """Of MLflow's message on a server out of reach the cause alone; of any other of its messages the first line."""
    message = str(error)
    if isinstance(error, NoStore):
        return message
    cause = message.partition("Caused by ")[2].partition(": ")[2]
    if cause.endswith(")") and "\n" not in cause:
        return cause.rstrip(")").removesuffix("'").removesuffix('"')
    database = CAUSE.search(message)  # SQLAlchemy's message begins with advice that the cause makes useless
    return (database[0] if database else message.strip().partition("\n")[0])[:LONGEST]


def is_own(root: Path) -> bool:
    """Whether the store is the database below the artifacts folder."""
    return tracking_uri(root) == _own_uri(root)


def is_run_id(text: str) -> bool:
    """Whether a text can be the id of a run in MLflow."""
    return re.fullmatch("[0-9a-f]{32}", text) is not None


def artifacts_of(uri: str) -> Path | None:
    """The artifacts folder whose store has this address; None where it is none of ours."""
    database = Path(uri.removeprefix("sqlite:///"))
    ours = uri.startswith("sqlite:///") and database.parts[-2:] == (STORE, DATABASE)
    return database.parents[1] if ours else None


def files(root: Path) -> str:
    """Where a store of our own keeps the files of its runs, as a URI."""
    return (_store(root) / FILES).as_uri()


def _store(root: Path) -> Path:
    return root.resolve() / STORE


def _database(root: Path) -> Path:
    return _store(root) / DATABASE


def _own_uri(root: Path) -> str:
    return f"sqlite:///{_database(root)}"


# --- Names of registered programs.

MODEL_SCHEME = "models:/"
FORM = re.compile(r"models:/(?P<name>[^/@]+)(?:@(?P<alias>[^/@]+)|/(?P<version>[0-9]+))")
EXPECTED = "expected models:/NAME@champion or models:/NAME/VERSION"


def parse_model_uri(root: Path, uri: str) -> re.Match[str]:
    """The `name` and the `alias` or `version` of a `models:/…`, checked without importing MLflow, which takes seconds.
    Raises `BadArtifact` where it can name no version, and `NoStore` where nothing was logged yet."""
    parts = FORM.fullmatch(uri)
    if parts is None:
        raise BadArtifact(f"{uri}: {EXPECTED}, as `aisr compile` prints it")
    check_exists(root)
    return parts
