"""Compiles and evaluations as MLflow runs: an experiment a task, tags to filter by, scores with intervals, datasets by
digest, files that can be fetched again, and a few records as traces.

MLflow's own DSPy flavour is not used: it stores a pickle with the LM's key inside, and loading it executes what it
holds.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import dspy

from aisr.artifact.manifest import Score
from aisr.base import redact
from aisr.base.files import digest_file
from aisr.base.private import clear_events, files_at
from aisr.judging.evaluate import Evaluation
from aisr.judging.judge import FORGOTTEN, ReplayedRecord, from_cache_only, judge
from aisr.lm.budget import BudgetSpent
from aisr.lm.client import OpenLM
from aisr.lm.info import LMInfo
from aisr.optimize.run import Run
from aisr.programs.program import Program
from aisr.programs.task import Task
from aisr.report.page import CompileReport, judged_record
from aisr.tracking.experiment import EXPERIMENT, VIEW, find_experiment
from aisr.tracking.prompts import register_prompts
from aisr.tracking.registry import ALIAS, DIGEST_TAG, LM_TAG, NotPromoted, model_name, promote, prompt_name, register
from aisr.tracking.store import MODEL_SCHEME, open_store

ARTIFACT = "artifact"  # the folder of a compile's files in its run
PROMPTS_TAG = "mlflow.linkedPrompts"  # of a run, as MLflow's page of it reads it
DIGITS = 4  # of a score in 0-1: MLflow shows every digit that there is
FAILED = "failed"  # in the place of a label


def log_compile(root: Path, run: Run, report: CompileReport) -> list[str]:
    """Log a compile as a run of its task's experiment and register its champion. The alias `champion` moves to it if it
    is better on the same test split than the one that has it, or was compiled on other data. Returns lines that say
    what was registered."""
    mlflow, task, manifest = open_store(root), run.plan.task, run.manifest
    from mlflow.entities import RunTag

    name, title = model_name(task), f"{run.plan.name} · {manifest.optimizer}"
    tags = {
        "aisr.kind": "compile",
        "aisr.optimizer": manifest.optimizer,
        "aisr.candidate": run.choice.champion.name,
        LM_TAG: manifest.lm.spec,
        DIGEST_TAG: manifest.digest,
    }
    params = {
        "optimizer": manifest.optimizer,
        **{f"optimizer.{key}": value for key, value in manifest.settings.items()},
        **{f"program.{key}": value for key, value in manifest.options.items()},
        **{f"lm.{key}": value for key, value in manifest.lm.model_dump().items() if value is not None},
        **{f"data.{split}": about.digest for split, about in manifest.data.items()},
        **{f"target.{name}": str(share) for name, share in (manifest.target or {}).get("mix", {}).items()},
    }
    metrics = _metrics(
        {f"{split}_": score for split, score in manifest.scores.items()}, manifest.spend, manifest.seconds
    )
    if "baseline_test" in manifest.scores:
        metrics["aisr_test_score_uncompiled"] = round(manifest.scores["baseline_test"].score, DIGITS)
    if manifest.gain_on_test:
        metrics["gain"] = round(manifest.gain_on_test[0], DIGITS)
    # What stands before the `/` is a section of MLflow's charts, and comes before those of all other metrics.
    steps = {"candidates/dev_score": [round(one.dev.score.score, DIGITS) for one in run.choice.contenders]}
    datasets = {
        split: (path, manifest.data[split].digest, manifest.data[split].records)
        for split, path in run.plan.data.items()
    }
    with _run(mlflow, root, task, title, tags, run.plan.command, manifest.seconds) as logged:
        client, run_id = mlflow.MlflowClient(), logged.info.run_id
        version = register(mlflow, task, run.folder, manifest, logged)
        programs = {"before any compile": run.student, f"{MODEL_SCHEME}{name}/{version}": report.program}
        prompt = prompt_name(task)
        linked = [{"name": prompt, "version": register_prompts(client, prompt, programs, run.lm)}]
        tags_of_run = [RunTag(PROMPTS_TAG, json.dumps(linked))]
        client.log_batch(run_id, _entities(metrics, steps), _params(params), tags_of_run)
        client.log_inputs(run_id, _datasets(datasets))
        files_at(logged.info.artifact_uri, client.tracking_uri).log_artifacts(str(run.folder), ARTIFACT)
        log_traces(mlflow, task, report.program, run.lm, report.dev, logged)
    where = _describe_run(mlflow, logged)
    try:
        replaced = promote(mlflow, name, version, compiled=True)
    except NotPromoted as error:
        uri = f"{MODEL_SCHEME}{name}/{version}"
        return [
            f"registered {uri} · {where}",
            f"  not the champion: {error}; `aisr promote --anyway {uri}` makes it the champion",
        ]
    before = [f"  the champion before was {replaced}"] if replaced else []
    return [f"registered {MODEL_SCHEME}{name}@{ALIAS} (version {version}) · {where}", *before]


def log_evaluation(root: Path, evaluation: Evaluation, folder: Path, replayed: Sequence[ReplayedRecord]) -> str:
    """Log an evaluation and its files in `folder` as a run of its task's experiment; the run as a command names it."""
    mlflow, task, lm, result = open_store(root), evaluation.loaded.task, evaluation.lm, evaluation.result
    registered = evaluation.program.startswith(MODEL_SCHEME)
    program = evaluation.program.removeprefix(MODEL_SCHEME) if registered else Path(evaluation.program).name
    tags = {"aisr.kind": "evaluate", "aisr.program": program, LM_TAG: lm.spec, DIGEST_TAG: evaluation.loaded.digest}
    metrics = _metrics({"": result.summary()}, lm.ledger.spend.as_dict(), evaluation.seconds)
    params = {f"lm.{key}": value for key, value in LMInfo.model_validate(lm).model_dump(exclude_none=True).items()}
    dataset = (evaluation.data, digest_file(evaluation.data), len(result.scores))
    with _run(mlflow, root, task, program, tags, evaluation.command, evaluation.seconds) as logged:
        client, run_id = mlflow.MlflowClient(), logged.info.run_id
        client.log_batch(run_id, _entities(metrics, {}), _params(params))
        client.log_inputs(run_id, _datasets({"evaluation": dataset}))
        files_at(logged.info.artifact_uri, client.tracking_uri).log_artifacts(str(folder), "evaluation")
        log_traces(mlflow, task, evaluation.loaded.program, lm, replayed, logged)
    return _describe_run(mlflow, logged)


def ui_path(root: Path) -> str:
    """Return the path in MLflow's UI of the experiment with the latest run, as a shared view with its scores, the best
    first; that of the UI where there is none."""
    client = open_store(root).MlflowClient()
    experiments = [one.experiment_id for one in client.search_experiments() if one.name.startswith(EXPERIMENT)]
    latest = client.search_runs(experiments, max_results=1) if experiments else []
    return f"/#/experiments/{latest[0].info.experiment_id}/runs?viewStateShareKey={VIEW}" if latest else "/"


# --- The parts of a run


@contextmanager
def _run(
    mlflow: Any, root: Path, task: Task, title: str, tags: dict[str, str], command: str, seconds: float
) -> Iterator[Any]:
    """Yield a run of a task's experiment, open for as long as the block lasts. In MLflow it began so many seconds ago:
    its work is done, and its duration is that of the work. One that the store does not take whole is removed."""
    tags = {
        **tags,
        "aisr.task": task.name,
        "mlflow.source.name": f"aisr {tags['aisr.kind']}",
        # A block of Markdown that no word of the command can end: one line.
        "mlflow.note.content": f"    {' '.join(command.split())}",
    }
    name = f"{title} · {tags[LM_TAG]}"  # the list of an experiment shows its first words, and the date beside
    began = int((time.time() - seconds) * 1000)
    client, experiment = mlflow.MlflowClient(), find_experiment(mlflow, root, task)
    created = client.create_run(experiment.experiment_id, began, tags, name)
    try:
        yield created
        client.set_terminated(created.info.run_id)
    except Exception:
        with suppress(Exception):  # the reason is the error; the store may be gone, or not allow it
            client.delete_run(created.info.run_id)
        raise


def _describe_run(mlflow: Any, run: Any) -> str:
    """Return a run as a command names it; of a tracking server also where a browser finds it, without user and
    password."""
    uri, number = redact.secrets(mlflow.get_tracking_uri()).rstrip("/"), run.info.run_id
    if not uri.startswith("http"):
        return f"run {number}"
    workspace = os.environ.get("MLFLOW_WORKSPACE")
    query = f"?workspace={quote(workspace, safe='')}" if workspace else ""
    return f"run {number} · {uri}/#/experiments/{run.info.experiment_id}/runs/{number}{query}"


def _metrics(scores: Mapping[str, Score], spend: Mapping[str, Any], seconds: float) -> dict[str, float]:
    """Return the scores in 0-1 by their prefix, the ranking score with the ends of its 95 % interval; what a run cost,
    in USD only where the price is known. spend: `Spend.as_dict`."""
    metrics = {name: spend[name] for name in ("prompt_tokens", "completion_tokens")}
    metrics |= {f"lm_{name}": spend[name] for name in ("calls", "cached_calls")}
    metrics["seconds"] = round(seconds, 1)
    if spend["usd"] is not None:
        metrics["usd"] = round(spend["usd"], 6)
    for prefix, score in scores.items():
        low, high = score.interval
        exact = {**score.model_dump(exclude={"interval", "records"}), "score_low": low, "score_high": high}
        metrics |= {f"{prefix}{name}": round(value, DIGITS) for name, value in exact.items()}
    return metrics


def _entities(metrics: Mapping[str, float], steps: Mapping[str, Sequence[float]]) -> list[Any]:
    """Return metrics as MLflow has them, so that all go in one request. steps: of some, the value at each step."""
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    single = [Metric(name, value, now, 0) for name, value in metrics.items()]
    return single + [Metric(name, value, now, k) for name, values in steps.items() for k, value in enumerate(values)]


def _params(params: Mapping[str, Any]) -> list[Any]:
    from mlflow.entities import Param

    return [Param(name, str(value)) for name, value in params.items()]


def _datasets(files: Mapping[str, tuple[Path, str, int]]) -> list[Any]:
    """Return datasets by name and digest alone: task data may not be redistributed, so no record is stored. files: by
    what they were used for, the file, its digest, and the number of records."""
    from mlflow.data.code_dataset_source import CodeDatasetSource
    from mlflow.entities import Dataset, DatasetInput, InputTag

    inputs = []
    for context, (path, digest, records) in files.items():
        source = CodeDatasetSource(tags={"file": path.name, "records": str(records)})
        dataset = Dataset(f"{path.parent.name}/{path.name}", digest, "code", source.to_json())
        inputs.append(DatasetInput(dataset, [InputTag("mlflow.data.context", context)]))
    return inputs


# --- Traces of a few records: the steps and LM calls behind an answer, and each label beside its gold label

MOST_TRACES = 5
LONGEST_ASSESSMENT = 250  # characters of an assessment


def log_traces(
    mlflow: Any, task: Task, program: Program, lm: OpenLM, replayed: Sequence[ReplayedRecord], run: Any
) -> None:
    """Judge at most `MOST_TRACES` records again, as traces of a run: failed and wrong ones before right ones, of those
    that are still in the response cache. The cache answers, and nothing is sent to an LM."""
    from mlflow.entities import AssessmentSource
    from mlflow.entities.trace_location import MlflowExperimentLocation

    judged = [(one, judged_record(task, one)) for one in replayed if one.outcome.failure != FORGOTTEN]
    chosen = sorted(judged, key=lambda pair: pair[1].right)[:MOST_TRACES]
    cached, track_usage = from_cache_only(lm), dspy.settings.track_usage
    experiment = MlflowExperimentLocation(run.info.experiment_id)
    mlflow.tracing.configure(span_processors=[clear_events])
    mlflow.dspy.autolog(log_traces=True, silent=True)
    try:
        for one, record in reversed(chosen):  # the UI shows the latest first
            of = {"trace_destination": experiment, "run_id": run.info.run_id}
            with mlflow.start_span(redact.addresses(record.id), **of) as span, suppress(BudgetSpent):
                failed = {FAILED: record.failure} if record.failure else None
                span.set_inputs({"record": task.text(one.record)})
                span.set_outputs(failed or task.prediction.line(one.outcome.answer))
                for k, statement in enumerate(record.statements, start=1):
                    about = {
                        "trace_id": span.trace_id,
                        "name": f"sentence {k}" if len(record.statements) > 1 else "answer",
                        "source": AssessmentSource("CODE", "aisr"),
                    }
                    gold = " or ".join(statement.gold)[:LONGEST_ASSESSMENT]
                    predicted = (statement.said or FAILED)[:LONGEST_ASSESSMENT]
                    mlflow.log_feedback(**about, value=predicted, rationale=f"gold {gold}")
                    mlflow.log_expectation(**about, value=gold)
                judge(task, program, one.case, cached)
    finally:
        mlflow.dspy.autolog(disable=True, silent=True)
        mlflow.flush_trace_async_logging()
        dspy.settings.configure(track_usage=track_usage)  # autolog turns it on, and leaves it on
        mlflow.tracing.configure(span_processors=[])
