"""What all runs in MLflow have in common: an experiment a task, tags to filter by, scores with intervals, datasets by
digest, and files that can be fetched again.

Compiles and evaluations as MLflow runs.

MLflow's own DSPy flavour is not used: it stores a pickle with the LM's key inside, and loading it executes what it
holds.
"""

import getpass
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aisr.artifact.manifest import Manifest
from aisr.base import redact
from aisr.base.files import digest_file, digest_text, percent
from aisr.metrics.intervals import in_words
from aisr.optimize.champion import Choice, Contender, HeldOutScores
from aisr.optimize.run import Run
from aisr.predict.evaluate import Evaluation
from aisr.programs.errors import UserError
from aisr.programs.task import Task
from aisr.tracking.registry import CHAMPION_TAG, DIGEST_TAG, NO, NotPromoted, model_name, promote, register, version_of
from aisr.tracking.store import MODEL_SCHEME, check_exists, files, is_own, open_store, tracking_uri

if TYPE_CHECKING:
    from aisr.predict.evaluate import Result

KIND_TAG = "aisr.kind"
COMPILE, EVALUATE = "compile", "evaluate"
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


def run_title(task: Task, *parts: str) -> str:
    """The name of a run that is logged now."""
    return " · ".join([task.name, *parts, f"{datetime.now():%Y-%m-%d %H:%M}"])


def run_tags(kind: str, task: Task, lm: str, data: str, note: str) -> dict[str, str]:
    """What a list of runs shows and filters by. lm: its model string; data: a digest; note: Markdown for its page."""
    return {
        KIND_TAG: kind,
        "aisr.task": task.name,
        "aisr.lm": lm,
        "aisr.data": data,
        "mlflow.source.name": f"aisr {kind}",  # MLflow would take the path of the command
        "mlflow.note.content": note[:LONGEST],
    }


def score_metrics(found: "Result", prefix: str = "") -> dict[str, float]:
    """The official scores of a result in 0-1, the ranking score with the ends of its 95 % interval, and the number of
    failed records, as metrics: rounded to a hundredth of a point, for MLflow shows every digit that there is."""
    exact = {
        f"{prefix}score": found.score.score,
        f"{prefix}score_low": found.interval.low,
        f"{prefix}score_high": found.interval.high,
        **{f"{prefix}{name}": value for name, value in found.score.parts.items()},
    }
    return {name: round(value, DIGITS) for name, value in exact.items()} | {f"{prefix}failed": len(found.failures)}


def spend_metrics(spend: dict[str, Any], seconds: float) -> dict[str, float]:
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


# --- What a run says of itself on its page in MLflow, as Markdown: what won, how sure that is, and the command.
#
# MLflow shows the first lines and the rest on demand; it sets the cells of a table without space between them, so there
# are lists.


def note_of_compile(made: Manifest, choice: Choice, test: HeldOutScores | None) -> str:
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
    found = done.result
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
class Tracked:
    """Where a compile stands in MLflow."""

    run_id: str
    model: str  # "aisr-track1"
    version: str
    kept_from: str | None  # why it is not the champion; None where it is


def track(root: Path, compiled: Run) -> Tracked:
    """Log a compile as a run of its task's experiment and register its champion; the alias `champion` moves to it if it
    is better on the same test split than the one that has it."""
    mlflow = open_store(root)
    made = compiled.manifest
    title = run_title(compiled.plan.task, made.optimizer, made.lm.spec)
    with begun(mlflow, root, compiled.plan.task, title, _tags(compiled), made.seconds) as run_id:
        mlflow.log_params(_params(made))
        mlflow.log_metrics(_metrics(compiled))
        mlflow.MlflowClient().log_batch(run_id, metrics=_search(compiled.choice))
        for split, path in compiled.plan.data.items():
            known = made.data[split]
            mlflow.log_input(dataset(path, known.digest, known.records), context=split)
        mlflow.log_artifacts(str(compiled.folder), FILES[COMPILE])
        version = register(mlflow, compiled.plan.task, compiled.folder, made)
    name = model_name(compiled.plan.task)
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
    records = len(done.result.scores)
    version = version_of(mlflow, done.program, done.loaded)
    name = f"{version.name} v{version.version}" if version else Path(done.program).name
    about = note_of_evaluation(done, name)
    tags = run_tags(EVALUATE, task, done.lm.spec, f"{digest}/{records}", about) | {
        "aisr.program": name,
        DIGEST_TAG: done.loaded.digest,
        **({"aisr.version": f"{version.name}/{version.version}"} if version else {}),
    }
    title = run_title(task, EVALUATE, name, done.lm.spec)
    with begun(mlflow, root, task, title, tags, done.seconds) as run_id:
        mlflow.log_params({f"lm.{key}": value for key, value in done.lm.describe().items() if value is not None})
        mlflow.log_metrics(score_metrics(done.result) | spend_metrics(done.lm.ledger.spend.as_dict(), done.seconds))
        mlflow.log_input(dataset(done.data, digest, records), context="evaluation")
        if version and version.source.startswith(MODEL_SCHEME):
            used = LoggedModelInput(version.source.removeprefix(MODEL_SCHEME))
            mlflow.MlflowClient().log_inputs(run_id, models=[used])
        mlflow.log_artifacts(str(folder), FILES[EVALUATE])
    return run_id


def _tags(compiled: Run) -> dict[str, str]:
    made = compiled.manifest
    data = " ".join(f"{split} {about.digest}/{about.records}" for split, about in made.data.items())
    about = note_of_compile(made, compiled.choice, compiled.test)
    return {
        **run_tags(COMPILE, compiled.plan.task, made.lm.spec, digest_text(data), about),
        "aisr.optimizer": made.optimizer,
        "aisr.candidate": compiled.choice.champion.name,
        "aisr.decision": made.layer or "none",
        DIGEST_TAG: made.digest,
        CHAMPION_TAG: NO,  # until the alias moves to its version
    }


def _params(made: Manifest) -> dict[str, Any]:
    return {
        "optimizer": made.optimizer,
        **{f"optimizer.{key}": value for key, value in made.settings.items()},
        **{f"program.{key}": value for key, value in made.options.items()},
        **{f"lm.{key}": value for key, value in made.lm.model_dump().items() if value is not None},
        **{f"data.{split}": about.digest for split, about in made.data.items()},
    }


def _metrics(compiled: Run) -> dict[str, float]:
    """In the order in which the page of a run lists them."""
    test, choice = compiled.test, compiled.choice
    made = compiled.manifest
    layer, ranker = made.decision, made.ranker
    return {
        **(score_metrics(test.champion, "test_") if test else {}),
        **score_metrics(choice.champion.dev, "dev_"),
        **spend_metrics(compiled.manifest.spend.model_dump(), compiled.manifest.seconds),
        **({"evidence_ranker_gain": round(ranker.gain[0], DIGITS)} if ranker and ranker.gain else {}),
        **({"decision_cross_validated_gain": round(layer.gain[0], DIGITS)} if layer and layer.gain else {}),
        **(score_metrics(test.baseline, "baseline_test_") if test and test.baseline else {}),
        **score_metrics(choice.contenders[0].dev, "baseline_dev_"),
    }


def _search(choice: Choice) -> list[Any]:
    """The search as curves: each candidate's score on dev by its number, and the best so far by the LM calls that were
    asked for until then. A candidate that the race dropped has a score on a part of dev, and is never the best.

    What stands before the `/` is a section of MLflow's charts, and comes before those of all other metrics.
    """
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    scores = [round(one.dev.score.score, DIGITS) for one in choice.contenders]
    done = sorted((one.calls, score) for one, score in zip(choice.contenders, scores, strict=True) if one.finished)
    best = np.maximum.accumulate([score for _, score in done])
    curve = {calls: float(so_far) for (calls, _), so_far in zip(done, best, strict=True)}  # of equal calls the last
    return [
        *(Metric("candidates/dev_score", score, now, step) for step, score in enumerate(scores)),
        *(Metric("candidates/best_dev_score", score, now, calls) for calls, score in curve.items()),
    ]
