"""Traces of a few records in MLflow: which are taken, what they hold, and what they leave behind."""

from pathlib import Path
from typing import Any

import dspy
import pytest

from aisr.predict.judge import judge_all, replay
from aisr.programs.task import Task
from aisr.tracking.runs import log_traces
from aisr.tracking.store import open_store
from support.scripted import TRACKS, corpus, flat, scripted


@pytest.fixture
def traced(artifacts: Path, tmp_path: Path) -> Any:
    """Judges records, logs traces of them, and returns these as MLflow finds them, in the order of its UI."""

    def traced(task: Task, records: list[Any], answer: Any = flat) -> list[Any]:
        lm, program, mlflow = scripted(answer), task.build({}), open_store(artifacts)
        judge_all(task, program, [program.prepare(record) for record in records], lm)
        path = tmp_path / "records.jsonl"
        path.write_text("".join(record.model_dump_json() + "\n" for record in records), encoding="utf-8")
        calls = lm.ledger.spend.as_dict()
        with mlflow.start_run(experiment_id=mlflow.create_experiment("x")) as run:
            log_traces(mlflow, task, program, lm, replay(task, program, path, lm))
        assert lm.ledger.spend.as_dict() == calls
        where = {"locations": [run.info.experiment_id], "run_id": run.info.run_id}
        traces = mlflow.search_traces(**where, return_type="list", order_by=["timestamp DESC"])
        return list(traces)

    return traced


@pytest.mark.parametrize("task", TRACKS)
def test_a_trace_has_prediction_calls_and_each_label_beside_its_gold_label(task: Task, traced: Any) -> None:
    settings = dspy.settings.track_usage, list(dspy.settings.callbacks)
    traces = traced(task, corpus(task))
    assert len(traces) == 5
    golds = {one.id: task.build({}).prepare(one).gold for one in corpus(task)}
    for trace in traces:
        record, *steps = trace.data.spans
        assert list(record.outputs) == list(task.prediction.line(golds[record.name]))
        names = [span.name.partition(".")[2] for span in steps]
        assert {"forward", "format", "__call__", "parse"} <= set(names)
        (call,) = [span for span in steps if span.name.endswith("LM.__call__")]
        assert [message["role"] for message in call.inputs["messages"]] == ["system", "user"]
        assessed = [(one.name, one.value, one.rationale) for one in trace.info.assessments if one.feedback]
        gold = task.gold_labels(golds[record.name])
        names = [f"sentence {k}" for k in range(1, len(gold) + 1)] if len(gold) > 1 else ["answer"]
        assert assessed == [(n, "Supported", f"gold {' or '.join(g)}") for n, g in zip(names, gold, strict=True)]
        expected = [(one.name, one.value) for one in trace.info.assessments if one.expectation]
        assert expected == [(n, " or ".join(g)) for n, g in zip(names, gold, strict=True)]
    assert settings == (dspy.settings.track_usage, list(dspy.settings.callbacks))  # nothing goes on tracing
