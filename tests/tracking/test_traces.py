"""Traces of a few records in MLflow: which are taken, what they hold, and what they leave behind."""

import threading
from pathlib import Path
from typing import Any

import pytest

from aisr.predict.judge import judge_all
from aisr.predict.replay import ReplayedRecord, replay
from aisr.programs.task import Task
from aisr.programs.track1 import TRACK1
from aisr.tracking import traces
from aisr.tracking.store import open_store
from support.scripted import TRACKS, claim, corpus, flat, question, scripted, written

KEY = "sk-planted-c41f88"


def replayed(
    task: Task, records: list[Any], folder: Path, answer: Any = flat, program: Any = None
) -> list[ReplayedRecord]:
    """The records as a program judged them, replayed."""
    lm, program = scripted(answer), program or task.build({})
    judge_all(task, program, [program.prepare(record) for record in records], lm)
    path = folder / "records.jsonl"
    path.write_text("".join(record.model_dump_json() + "\n" for record in records), encoding="utf-8")
    return replay(task, program, path, lm)


@pytest.fixture
def run(artifacts: Path) -> Any:
    """An MLflow run that has ended."""
    mlflow = open_store(artifacts)
    with mlflow.start_run(experiment_id=mlflow.create_experiment("x")) as run:
        pass
    return run


def logged(run: Any) -> list[Any]:
    """The traces of a run as MLflow finds them, in the order of its UI."""
    import mlflow

    return list(
        mlflow.search_traces(
            locations=[run.info.experiment_id], run_id=run.info.run_id, return_type="list", order_by=["timestamp DESC"]
        )
    )


# --- what a trace holds


@pytest.mark.parametrize("task", TRACKS)
def test_a_trace_has_record_prediction_gold_and_every_call(
    task: Task, run: Any, artifacts: Path, tmp_path: Path
) -> None:
    records = replayed(task, corpus(task), tmp_path)
    before = threading.enumerate()
    assert traces.write_traces(open_store(artifacts), run.info.run_id, task, records, 4, seed=0) == 4
    by_record = {trace.info.tags["aisr.record"]: trace for trace in logged(run)}
    assert list(by_record) == [one.record.id for one in traces.sample(task, records, 4, seed=0)]
    for one in records:
        if one.record.id not in by_record:
            continue
        trace = by_record[one.record.id]
        root, *calls = trace.data.spans
        assert root.name == one.record.id
        assert root.inputs["record"]["id"] == one.record.id
        assert all(text in root.inputs["record"]["statements"] for text in task.statements(one.example))
        assert root.outputs == {"prediction": task.prediction.line(one.outcome.answer)}
        assert root.attributes["gold"] == task.prediction.line(one.example.gold)
        right = bool(task.score([one.example.gold], [one.outcome.answer]).right()[0])
        assert root.attributes["right"] is right
        assert [span.parent_id for span in calls] == [root.span_id] * len(one.calls)
        (heard,) = one.calls
        (call,) = calls
        assert call.inputs == {"messages": [{role: text} for role, text in heard.messages]}
        assert call.outputs == {"answer": [heard.answer]}
        assessed = {part.name: part for part in trace.info.assessments}
        assert assessed["right"].value is right
        assert assessed["right"].rationale == task.feedback(one.example.gold, one.outcome.answer)
        assert assessed["gold"].expectation.value.startswith(("all ", *task.labels, "1", "2", "3"))
    assert set(threading.enumerate()) <= set(before)  # no queue that waits, nothing that goes on tracing


def test_a_failed_record_is_an_error_with_its_reason(run: Any, artifacts: Path, tmp_path: Path) -> None:
    records = replayed(TRACK1, [claim("Supported", "Supported")], tmp_path, lambda request: "no idea")
    traces.write_traces(open_store(artifacts), run.info.run_id, TRACK1, records, 5, seed=0)
    (trace,) = logged(run)
    assert trace.info.state.value == "ERROR"
    assert "unusable answer" in trace.data.spans[0].outputs["failed"][0]
    assert trace.info.response_preview.startswith("failed: UnusableAnswer")
    assert "prediction" not in trace.data.spans[0].outputs
    assert [span.outputs["answer"] for span in trace.data.spans[1:]] == [["no idea"], ["no idea"]]
    assert not {part.name: part for part in trace.info.assessments}["right"].value


def test_no_key_and_no_address_is_in_a_trace(
    run: Any, artifacts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever they were planted: in a claim, an id, the evidence, or by a server that repeats them in its answer."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    planted = f"{KEY} at http://127.0.0.1:9/planted-path"
    record = claim("Supported")
    texts = {"id": f"{record.id} {planted}", "claim_text": f"{record.claim_text} {planted}"}
    evidence = [record.evidence_bundle[0].model_copy(update={"text": planted})]
    hostile = record.model_copy(update={**texts, "evidence_bundle": evidence})

    def answer(request: Any) -> str:
        return written(question(request), {"sentence_labels": ["Supported"], "note": planted})

    records = replayed(TRACK1, [hostile], tmp_path, answer)
    assert traces.write_traces(open_store(artifacts), run.info.run_id, TRACK1, records, 5, seed=0) == 1
    stored = b"".join(file.read_bytes() for file in (artifacts / ".mlflow").rglob("*") if file.is_file())
    assert b"<OPENAI_API_KEY> at <address>" in stored
    assert KEY.encode() not in stored
    assert b"planted-path" not in stored
