"""Compiles and evaluations as MLflow runs: an experiment a task, tags to filter by, scores with intervals, datasets by
digest, and files that can be fetched again.

MLflow's own DSPy flavour is not used: it stores a pickle with the LM's key inside, and loading it executes what it
holds.
"""

import getpass
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from aisr.artifact.manifest import Manifest
from aisr.base import redact
from aisr.base.errors import UserError
from aisr.base.files import digest_file, digest_text, percent
from aisr.lm.client import OpenLM
from aisr.metrics.intervals import in_words
from aisr.optimize.champion import Choice
from aisr.optimize.run import Run
from aisr.predict.evaluate import Evaluation, Result
from aisr.predict.replay import ReplayedRecord
from aisr.programs.task import Task
from aisr.report.figures import confusion
from aisr.report.records import CompileReport
from aisr.tracking.registry import (
    CHAMPION_TAG,
    DIGEST_TAG,
    NO,
    YES,
    NotPromoted,
    Promotion,
    model_name,
    promote_compiled,
    register,
    version_of,
)
from aisr.tracking.store import (
    EXPERIMENT,
    MODEL_SCHEME,
    check_exists,
    experiment_name,
    files,
    is_own,
    open_store,
    tracking_uri,
)
from aisr.tracking.traces import log_traces

KIND_TAG = "aisr.kind"
COMPILE, EVALUATE = "compile", "evaluate"
LONGEST = 8000  # characters that MLflow takes as a tag
VIEW = "aisr"  # the view of an experiment that is shared by this key, as MLflow's "Share" does it
COLUMNS = {
    "orderByKey": "metrics.`test_score`",
    "orderByAsc": False,
    "selectedColumns": [f"metrics.`{name}`" for name in ("test_score", "test_score_low", "test_score_high", "score")],
}
DIGITS = 4  # of a score in 0-1
FILES = {COMPILE: "artifact", EVALUATE: "evaluation"}  # the folder of a run's own files


class NoRun(UserError):
    """There is no such run, or it is none of ours."""


@dataclass(frozen=True)
class LoggedCompile:
    """A compile in MLflow."""

    run_id: str
    model: str  # "aisr-track1"
    version: str
    promotion: Promotion | str  # what it replaced as the champion, or why it is not the champion


def log_compile(root: Path, run: Run, report: CompileReport, lm: OpenLM) -> LoggedCompile:
    """Log a compile as a run of its task's experiment and register its champion. The alias `champion` moves to it if it
    is better on the same test split than the one that has it."""
    mlflow, task, manifest = open_store(root), run.plan.task, run.manifest
    data = " ".join(f"{split} {about.digest}/{about.records}" for split, about in manifest.data.items())
    tags = {
        **_tags(COMPILE, task, manifest.lm.spec, digest_text(data), _compile_note(run)),
        "aisr.optimizer": manifest.optimizer,
        "aisr.candidate": run.choice.champion.name,
        "aisr.label_weights": YES if manifest.has_label_weights else NO,
        DIGEST_TAG: manifest.digest,
        CHAMPION_TAG: NO,  # until the alias moves to its version
    }
    title = _title(task, run.plan.name, manifest.optimizer, manifest.lm.spec)
    with _run(mlflow, root, task, title, tags, manifest.seconds) as run_id:
        mlflow.log_params(_params(manifest))
        mlflow.log_metrics(_metrics(run))
        mlflow.MlflowClient().log_batch(run_id, metrics=_search_curves(run.choice))
        for split, path in run.plan.data.items():
            about = manifest.data[split]
            mlflow.log_input(_dataset(path, about.digest, about.records), context=split)
        mlflow.log_artifacts(str(run.folder), FILES[COMPILE])
        split = "dev" if run.test is None else "test"
        _log_confusion(mlflow, task, report.scored, f"{task.name} · {run.plan.name} on {split}")
        version = register(mlflow, task, run.folder, manifest)
        log_traces(mlflow, task, report.program, lm, report.dev)
    promotion: Promotion | str
    try:
        promotion = promote_compiled(mlflow, model_name(task), version)
    except NotPromoted as error:
        promotion = str(error)
    return LoggedCompile(run_id, model_name(task), version, promotion)


def log_evaluation(root: Path, evaluation: Evaluation, folder: Path, replayed: Sequence[ReplayedRecord]) -> str:
    """Log an evaluation and its files in `folder` as a run of its task's experiment; the id of the run. Where its
    program is registered, run and version are linked."""
    from mlflow.entities import LoggedModelInput

    mlflow = open_store(root)
    task, lm, result = evaluation.loaded.task, evaluation.lm, evaluation.result
    digest, records = digest_file(evaluation.data), len(result.scores)
    version = version_of(mlflow, evaluation.program, evaluation.loaded)
    name = f"{version.name} v{version.version}" if version else Path(evaluation.program).name
    tags = {
        **_tags(EVALUATE, task, lm.spec, f"{digest}/{records}", _evaluation_note(evaluation, name)),
        "aisr.program": name,
        DIGEST_TAG: evaluation.loaded.digest,
        **({"aisr.version": f"{version.name}/{version.version}"} if version else {}),
    }
    title = _title(task, EVALUATE, name, lm.spec)
    with _run(mlflow, root, task, title, tags, evaluation.seconds) as run_id:
        mlflow.log_params({f"lm.{key}": value for key, value in lm.describe().items() if value is not None})
        mlflow.log_metrics(_scores(result) | _spend(lm.ledger.spend.as_dict(), evaluation.seconds))
        mlflow.log_input(_dataset(evaluation.data, digest, records), context="evaluation")
        if version and version.source.startswith(MODEL_SCHEME):
            model = LoggedModelInput(version.source.removeprefix(MODEL_SCHEME))
            mlflow.MlflowClient().log_inputs(run_id, models=[model])
        mlflow.log_artifacts(str(folder), FILES[EVALUATE])
        _log_confusion(mlflow, task, replayed, f"{task.name} · {name} on {evaluation.data.name}")
        log_traces(mlflow, task, evaluation.loaded.program, lm, replayed)
    return run_id


def describe_run(root: Path, run_id: str) -> str:
    """A run as a command names it; of a tracking server also where a browser finds it, without user and password."""
    uri = redact.secrets(tracking_uri(root)).rstrip("/")
    if not uri.startswith("http"):
        return f"run {run_id}"
    experiment = open_store(root).MlflowClient().get_run(run_id).info.experiment_id
    return f"run {run_id} · {uri}/#/experiments/{experiment}/runs/{run_id}"


def fetch_files(root: Path, run_id: str, names: Sequence[str], place: Path) -> Path:
    """Fetch files of a compile or an evaluation from its run into a folder below `place`, which is returned.

    names: of which the first must exist. Raises `NoRun`, and `NoStore` where nothing was logged yet.
    """
    check_exists(root)
    mlflow = open_store(root)
    client, where = mlflow.MlflowClient(), redact.secrets(tracking_uri(root))
    try:
        kind = client.get_run(run_id).data.tags.get(KIND_TAG)
        if kind not in FILES:
            raise NoRun(f"{run_id} in {where} is no compile or evaluation of `aisr`: its tag {KIND_TAG} is {kind}")
        existing = {file.path for file in client.list_artifacts(run_id, FILES[kind])}
        wanted = [f"{FILES[kind]}/{name}" for name in names]
        if wanted[0] not in existing:
            raise NoRun(f"run {run_id} in {where} holds no {wanted[0]}; was it interrupted, or its files removed?")
        fetched = [client.download_artifacts(run_id, path, str(place)) for path in wanted if path in existing]
    except mlflow.MlflowException as error:
        raise NoRun(f"run {run_id}: {error.message}; looked for in {where}") from error
    return Path(fetched[0]).parent


# --- The run in MLflow.


@contextmanager
def _run(mlflow: Any, root: Path, task: Task, title: str, tags: dict[str, str], seconds: float) -> Iterator[str]:
    """A run of a task's experiment for as long as the block lasts; its id. In MLflow it began so many seconds ago: its
    work is done, and its duration is that of the work."""
    began = int((time.time() - seconds) * 1000)
    created = mlflow.MlflowClient().create_run(
        _experiment(mlflow, root, task), began, {"mlflow.user": getpass.getuser(), **tags}, title
    )
    with mlflow.start_run(run_id=created.info.run_id):
        yield str(created.info.run_id)


def _experiment(mlflow: Any, root: Path, task: Task) -> str:
    """The id of a task's experiment, which is made if it does not exist."""
    name = experiment_name(task.name)
    experiment = mlflow.get_experiment_by_name(name)
    if experiment is not None:
        return str(experiment.experiment_id)
    location = files(root) if is_own(root) else None
    # Without its kind, MLflow's UI asks whoever opens the experiment first.
    tags = {"mlflow.experimentKind": "custom_model_development", f"mlflow.sharedViewState.{VIEW}": json.dumps(COLUMNS)}
    return str(mlflow.create_experiment(name, artifact_location=location, tags=tags))


def _title(task: Task, *parts: str) -> str:
    """The name of a run that is logged now."""
    return " · ".join([task.name, *parts, f"{datetime.now():%Y-%m-%d %H:%M}"])


def _tags(kind: str, task: Task, lm: str, data: str, note: str) -> dict[str, str]:
    """What a list of runs shows and filters by. lm: its model string; data: a digest; note: Markdown for its page."""
    return {
        KIND_TAG: kind,
        "aisr.task": task.name,
        "aisr.lm": lm,
        "aisr.data": data,
        "mlflow.source.name": f"aisr {kind}",  # MLflow would take the path of the command
        "mlflow.note.content": note[:LONGEST],
    }


def _params(manifest: Manifest) -> dict[str, Any]:
    return {
        "optimizer": manifest.optimizer,
        **{f"optimizer.{key}": value for key, value in manifest.settings.items()},
        **{f"program.{key}": value for key, value in manifest.options.items()},
        **{f"lm.{key}": value for key, value in manifest.lm.model_dump().items() if value is not None},
        **{f"data.{split}": about.digest for split, about in manifest.data.items()},
    }


def _metrics(run: Run) -> dict[str, float]:
    """In the order in which the page of a run lists them."""
    test, choice, manifest = run.test, run.choice, run.manifest
    weights, ranker = manifest.label_weights, manifest.ranker
    return {
        **(_scores(test.champion, "test_") if test else {}),
        **_scores(choice.champion.dev, "dev_"),
        **_spend(manifest.spend.model_dump(), manifest.seconds),
        **({"evidence_ranker_gain": round(ranker.gain[0], DIGITS)} if ranker and ranker.gain else {}),
        **({"label_weights_gain": round(weights.gain[0], DIGITS)} if weights and weights.gain else {}),
        **(_scores(test.baseline, "baseline_test_") if test and test.baseline else {}),
        **_scores(choice.contenders[0].dev, "baseline_dev_"),
    }


def _scores(result: Result, prefix: str = "") -> dict[str, float]:
    """The official scores in 0-1, the ranking score with the ends of its 95 % interval, and the number of failed
    records, as metrics: rounded to a hundredth of a point, for MLflow shows every digit that there is."""
    exact = {
        f"{prefix}score": result.score.score,
        f"{prefix}score_low": result.interval.low,
        f"{prefix}score_high": result.interval.high,
        **{f"{prefix}{name}": value for name, value in result.score.parts.items()},
    }
    return {name: round(value, DIGITS) for name, value in exact.items()} | {f"{prefix}failed": len(result.failures)}


def _spend(spend: dict[str, Any], seconds: float) -> dict[str, float]:
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


def _search_curves(choice: Choice) -> list[Any]:
    """The search as curves: each candidate's score on dev by its number, and the best so far by the LM calls until
    then. A candidate that the race dropped has a score on a part of dev, and is never the best.

    What stands before the `/` is a section of MLflow's charts, and comes before those of all other metrics.
    """
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    scores = [round(one.dev.score.score, DIGITS) for one in choice.contenders]
    finished = sorted((one.calls, score) for one, score in zip(choice.contenders, scores, strict=True) if one.finished)
    best = np.maximum.accumulate([score for _, score in finished])
    curve = {calls: float(top) for (calls, _), top in zip(finished, best, strict=True)}  # of equal calls the last
    return [
        *(Metric("candidates/dev_score", score, now, step) for step, score in enumerate(scores)),
        *(Metric("candidates/best_dev_score", score, now, calls) for calls, score in curve.items()),
    ]


def _log_confusion(mlflow: Any, task: Task, replayed: Sequence[ReplayedRecord], title: str) -> None:
    if figure := confusion(task, replayed, title):
        mlflow.log_figure(figure, "confusion.png")


def _dataset(path: Path, digest: str, records: int) -> Any:
    """A dataset entry by name and digest alone: task data may not be redistributed, so no record is stored."""
    from mlflow.data.code_dataset_source import CodeDatasetSource
    from mlflow.data.meta_dataset import MetaDataset

    source = CodeDatasetSource(tags={"file": path.name, "records": str(records)})
    return MetaDataset(source, name=f"{path.parent.name}/{path.name}", digest=digest)


# --- The note on a run's page in MLflow, as Markdown: which candidate won, how sure that is, and the command.


def _compile_note(run: Run) -> str:
    choice, test, manifest = run.choice, run.test, run.manifest
    champion, baseline = choice.champion, choice.contenders[0]
    lines = [f"**{champion.name}** of {len(choice.contenders)} candidates, chosen on dev: **{champion.dev.interval}**"]
    if test is not None:
        words = in_words(test.gain, len(test.champion.scores), baseline.name) if test.gain else ""
        gain = f", {words} (difference {test.gain})" if words else ""
        lines.append(f"On the held-out test split: **{test.champion.interval}**{gain}")
    if manifest.stopped_early:
        lines.append(f"Stopped early: {manifest.stopped_early}")
    return "\n\n".join([*lines, _code(manifest.command or "")])


def _evaluation_note(evaluation: Evaluation, name: str) -> str:
    """name: that of the program."""
    result, names = evaluation.result, evaluation.loaded.task.parts
    failed = f"; {len(result.failures)} of them failed" if result.failures else ""
    scores = f"**{name}** on {len(result.scores)} records of {evaluation.data.name}: **{result.interval}**{failed}"
    parts = ", ".join(f"{names[part]} {percent(value)}" for part, value in result.score.parts.items())
    return "\n\n".join([scores, parts, _code(evaluation.command)])


def _code(command: str) -> str:
    """A block of code that no word of the command can end: it is one line."""
    return f"    {' '.join(command.split())}"


# --- The address of a task's runs in MLflow's UI.


def ui_path(root: Path) -> str:
    """The path of the experiment with the latest run, as a shared view with its scores, the best first; that of the UI
    where there is none."""
    client = open_store(root).MlflowClient()
    experiments = {one.experiment_id: one for one in client.search_experiments() if one.name.startswith(EXPERIMENT)}
    latest = client.search_runs(list(experiments), max_results=1) if experiments else []
    if not latest:
        return "/"
    return f"/#/experiments/{latest[0].info.experiment_id}/runs?viewStateShareKey={VIEW}"
