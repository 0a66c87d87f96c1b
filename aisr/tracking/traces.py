"""Traces of a few records in MLflow: the steps and LM calls behind an answer, and each label beside its gold label."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import dspy

from aisr.base import redact
from aisr.base.private import clear_events
from aisr.lm.budget import BudgetSpent
from aisr.lm.client import OpenLM
from aisr.predict.judge import judge
from aisr.predict.replay import FORGOTTEN, ReplayedRecord, from_cache_only
from aisr.programs.program import Program
from aisr.programs.task import Task
from aisr.report.records import judged_record

MOST = 5  # records
LONGEST = 250  # characters of an assessment


def log_traces(mlflow: Any, task: Task, program: Program, lm: OpenLM, replayed: Sequence[ReplayedRecord]) -> int:
    """Judge a sample of records again, as traces of the active run; how many. The response cache answers, and nothing
    is sent."""
    from mlflow.entities import AssessmentSource

    cached, source = from_cache_only(lm), AssessmentSource("CODE", "aisr")
    records, track_usage = sample(task, replayed), dspy.settings.track_usage
    mlflow.tracing.configure(span_processors=[_remove_secrets])
    mlflow.dspy.autolog(log_traces=True, silent=True)
    try:
        for one in reversed(records):  # the UI shows the latest first
            with mlflow.start_span(redact.addresses(one.record.id)) as span, suppress(BudgetSpent):
                span.set_inputs({"record": task.text(one.record)})
                failure, answer = one.outcome.failure, one.outcome.answer
                span.set_outputs({"failed": failure} if failure else task.prediction.line(answer))
                for name, label, gold in _labels(task, one):
                    about = {"trace_id": span.trace_id, "name": name, "source": source}
                    mlflow.log_feedback(**about, value=label, rationale=f"gold {gold}")
                    mlflow.log_expectation(**about, value=gold)
                judge(task, program, one.example, cached)
    finally:
        mlflow.dspy.autolog(disable=True, silent=True)
        dspy.settings.configure(track_usage=track_usage)  # autolog turns it on, and leaves it on
        mlflow.tracing.configure(span_processors=[])
    return len(records)


def sample(task: Task, replayed: Sequence[ReplayedRecord]) -> list[ReplayedRecord]:
    """Return at most `MOST` records in their order: failed and wrong ones before right ones, those that are no longer
    in the response cache left out."""

    def is_right(record: ReplayedRecord) -> bool:
        return bool(task.score([record.example.gold], [record.outcome.answer]).right()[0])

    cached = [record for record in replayed if record.outcome.failure != FORGOTTEN]
    chosen = sorted(range(len(cached)), key=lambda k: is_right(cached[k]))[:MOST]
    return [cached[k] for k in sorted(chosen)]


def _labels(task: Task, one: ReplayedRecord) -> list[tuple[str, str, str]]:
    """Return name, predicted and gold label of each statement; for a task without labels both answers in words."""
    statements = judged_record(task, one, []).statements
    numbers = range(1, len(statements) + 1)
    names = [f"sentence {k}" for k in numbers] if len(statements) > 1 else ["answer"]
    return [
        (name, (statement.said or "failed")[:LONGEST], " or ".join(statement.gold)[:LONGEST])
        for name, statement in zip(names, statements, strict=True)
    ]


def _remove_secrets(span: Any) -> None:
    """Take keys and addresses out of a span: a server may repeat them in its answer."""
    for name, content in span.attributes.items():
        span.set_attribute(name, _without_secrets(content))
    clear_events(span)


def _without_secrets(content: Any) -> Any:
    if isinstance(content, str):
        return redact.addresses(content)
    if isinstance(content, dict):
        return {_without_secrets(key): _without_secrets(value) for key, value in content.items()}
    return [_without_secrets(one) for one in content] if isinstance(content, (list, tuple)) else content
