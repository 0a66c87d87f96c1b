"""What all runs in MLflow have in common: an experiment a task, tags to filter by, scores with intervals, datasets by
digest, and files that can be fetched again."""

import getpass
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisr.base import redact
from aisr.programs.errors import UserError
from aisr.programs.task import Task
from aisr.tracking.store import check_exists, files, is_own, open_store, tracking_uri

if TYPE_CHECKING:
    from aisr.predict.evaluate import Result

KIND_TAG = "aisr.kind"
COMPILE, EVALUATE = "compile", "evaluate"
CHAMPION_TAG = "aisr.champion"  # of a compile: whether its version is the champion now
YES, NO = "yes", "no"
LONGEST = 8000  # characters that MLflow takes as a tag
DIGITS = 4  # of a score in 0-1
FILES = {COMPILE: "artifact", EVALUATE: "evaluation"}  # the folder of a run's own files


class NoRun(UserError):
    """There is no such run, or it is none of ours."""


def experiment(mlflow: Any, root: Path, task: Task) -> str:
    """The id of a task's experiment, which is made if it is not there."""
    name = f"aisr {task.name}"
    found = mlflow.get_experiment_by_name(name)
    if found is not None:
        return str(found.experiment_id)
    location = files(root) if is_own(root) else None
    # Without its kind, MLflow's UI asks whoever opens the experiment first.
    known = {"mlflow.experimentKind": "custom_model_development"}
    return str(mlflow.create_experiment(name, artifact_location=location, tags=known))


@contextmanager
def begun(mlflow: Any, root: Path, task: Task, title: str, tags: dict[str, str], seconds: float) -> Iterator[str]:
    """A run of a task's experiment for as long as the block lasts; its id. In MLflow it began so many seconds ago: what
    it tells of is done, and its duration is that of the work."""
    began = int((time.time() - seconds) * 1000)
    made = mlflow.MlflowClient().create_run(
        experiment(mlflow, root, task), began, {"mlflow.user": getpass.getuser(), **tags}, title
    )
    with mlflow.start_run(run_id=made.info.run_id):
        yield str(made.info.run_id)


def title(task: Task, *parts: str) -> str:
    """The name of a run that is logged now."""
    return " · ".join([task.name, *parts, f"{datetime.now():%Y-%m-%d %H:%M}"])


def tags(kind: str, task: Task, lm: str, data: str, note: str) -> dict[str, str]:
    """What a list of runs shows and filters by. lm: its model string; data: a digest; note: Markdown for its page."""
    return {
        KIND_TAG: kind,
        "aisr.task": task.name,
        "aisr.lm": lm,
        "aisr.data": data,
        "mlflow.source.name": f"aisr {kind}",  # MLflow would take the path of the command
        "mlflow.note.content": note[:LONGEST],
    }


def scores(found: "Result", prefix: str = "") -> dict[str, float]:
    """The official scores of a result in 0-1, the ranking score with the ends of its 95 % interval, and the number of
    failed records, as metrics: rounded to a hundredth of a point, for MLflow shows every digit that there is."""
    exact = {
        f"{prefix}score": found.score.score,
        f"{prefix}score_low": found.interval.low,
        f"{prefix}score_high": found.interval.high,
        **{f"{prefix}{name}": value for name, value in found.score.parts.items()},
    }
    return {name: round(value, DIGITS) for name, value in exact.items()} | {f"{prefix}failed": len(found.failures)}


def spent(spend: dict[str, Any], seconds: float) -> dict[str, float]:
    """What a run cost, as metrics; `usd` only where the price is known. spend: `Spend.as_dict`."""
    price = {} if spend["usd"] is None else {"usd": round(spend["usd"], 6)}
    return {
        **price,
        "lm_calls": spend["calls"],
        "lm_cached_calls": spend["cached_calls"],
        "prompt_tokens": spend["prompt_tokens"],
        "completion_tokens": spend["completion_tokens"],
        "seconds": round(seconds, 1),
    }


def said(root: Path, run_id: str) -> str:
    """A run as a command names it; of a tracking server also where a browser finds it, without user and password."""
    uri = redact.secrets(tracking_uri(root)).rstrip("/")
    if not uri.startswith("http"):
        return f"run {run_id}"
    found = open_store(root).MlflowClient().get_run(run_id)
    return f"run {run_id} · {uri}/#/experiments/{found.info.experiment_id}/runs/{run_id}"


def fetch(root: Path, run_id: str, names: Sequence[str], place: Path) -> Path:
    """Fetch what a compile or an evaluation left from its run into a folder below `place`, which is given back.

    names: files, of which the first must be there. Raises `NoRun`, and `NoStore` where nothing was logged yet.
    """
    check_exists(root)
    mlflow = open_store(root)
    client, where = mlflow.MlflowClient(), redact.secrets(tracking_uri(root))
    try:
        kind = client.get_run(run_id).data.tags.get(KIND_TAG)
        if kind not in FILES:
            raise NoRun(f"{run_id} in {where} is no compile or evaluation of `aisr`: its tag {KIND_TAG} is {kind}")
        wanted = [f"{FILES[kind]}/{name}" for name in names]
        there = {file.path for file in client.list_artifacts(run_id, FILES[kind])}
        if wanted[0] not in there:
            raise NoRun(f"run {run_id} in {where} holds no {wanted[0]}; was it interrupted, or its files removed?")
        fetched = [client.download_artifacts(run_id, path, str(place)) for path in wanted if path in there]
    except mlflow.MlflowException as error:
        raise NoRun(f"run {run_id}: {error.message}; looked for in {where}") from error
    return Path(fetched[0]).parent


def dataset(path: Path, digest: str, records: int) -> Any:
    """A dataset entry by name and digest alone: task data may not be redistributed, so no record is stored."""
    from mlflow.data.code_dataset_source import CodeDatasetSource
    from mlflow.data.meta_dataset import MetaDataset

    source = CodeDatasetSource(tags={"file": path.name, "records": str(records)})
    return MetaDataset(source, name=f"{path.parent.name}/{path.name}", digest=digest)
