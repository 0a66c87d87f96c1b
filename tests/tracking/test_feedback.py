"""What people say of traces in MLflow, on a real store: the questions that they are asked, and what becomes of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlflow
import pytest
from mlflow.entities import AssessmentSource, Feedback
from mlflow.genai.label_schemas import list_label_schemas
from mlflow.genai.review_queues import list_review_queue_items, list_review_queues

from aisr.inference.judge import judge_all
from aisr.inference.replay import replay
from aisr.programs.records.base import Record
from aisr.tasks.context24_figures import CONTEXT24_FIGURES
from aisr.tasks.task import Task
from aisr.tasks.track1 import TRACK1
from aisr.tasks.track2 import TRACK2
from aisr.tracking import questions, runs, traces
from aisr.tracking.store import open_store
from support.commands import Aisr
from support.corpora import read_rows
from support.scripted import citation, claim, flat, scripted

Traced = Callable[[Task, list[Record]], tuple[str, Path]]


@pytest.fixture
def traced(artifacts: Path, tmp_path: Path) -> Traced:
    """Judges records by a scripted LM and logs them as traces of a run: its id, and the file of the records."""

    def trace(task: Task, records: list[Record]) -> tuple[str, Path]:
        lm, program = scripted(flat), task.build({})
        judge_all(task, program, [program.prepare(record) for record in records], lm)
        path = tmp_path / f"{task.name}.jsonl"
        path.write_text("".join(record.model_dump_json() + "\n" for record in records), encoding="utf-8")
        store = open_store(artifacts)
        with runs.begun(store, artifacts, task, "an evaluation", {"aisr.task": task.name}, 0) as run:
            pass
        assert traces.log(store, run, task, replay(task, program, path, lm), 5, seed=0).queue
        return run, path

    return trace


def of(run: str) -> dict[str, str]:
    """The traces of a run, by their records."""
    experiment = mlflow.get_run(run).info.experiment_id
    found = mlflow.search_traces(locations=[experiment], run_id=run, return_type="list")
    return {one.info.tags["aisr.record"]: one.info.trace_id for one in found}


def say(trace: str, name: str, value: Any, who: str = "anna", kind: str = "HUMAN") -> Any:
    return mlflow.log_feedback(trace_id=trace, name=name, value=value, source=AssessmentSource(kind, who))


def test_what_people_say_of_traces_becomes_labelled_records(
    traced: Traced, aisr: Aisr, artifacts: Path, tmp_path: Path
) -> None:
    records: list[Any] = [citation("Supported", "P1", number=k) for k in (1, 2, 3)]
    run, data = traced(TRACK2, records)
    trace = of(run)
    first, second, third = (trace[one.id] for one in records)
    before = say(first, "right label", "Supported")
    mlflow.override_feedback(
        trace_id=first, assessment_id=before.assessment_id, value="Overstate", source=AssessmentSource("HUMAN", "bo")
    )
    say(first, "right evidence", "P3, P1", "bo")
    say(second, "right label", "Irrelevant", "a judge", "LLM_JUDGE")  # no person
    say(second, "helpful", "Supported")  # no question of ours
    say(third, "right label", "Nonsense")
    say(third, "right label", ["Supported", "Overstate"], "bo")
    for who, time in (("cy", 10**18), ("di", -(10**17))):
        source = AssessmentSource("HUMAN", who)
        mlflow.log_assessment(
            third, Feedback(name="right label", value="Overstate", source=source, last_update_time_ms=time)
        )
    out = tmp_path / "out"
    done = aisr(
        "corrections", f"runs:/{run}", "--task", "track2", "--data", data, "--out", out, "--artifacts", artifacts
    )
    assert done.code == 0, done.err
    (row,) = read_rows(out / "corrections.jsonl")
    assert (row["id"], row["label"], row["evidence_para_ids"]) == (records[0].id, "Overstate", ["P1", "P3"])
    (label,) = read_rows(out / "corrections-provenance.jsonl")
    assert [(one["who"], one["line"]) for one in label["by"]] == [("bo", f"trace {first}")]
    assert label["verdict"]["label"] == "Supported"
    assert "unknown label 'Nonsense'" in done.out
    assert "1000000000000000000 is no time" in done.out
    assert "expected one of: Supported" in done.out  # of the list


def test_each_sentence_is_asked_about_and_the_record_must_be_the_one_that_was_judged(
    traced: Traced, aisr: Aisr, artifacts: Path, tmp_path: Path
) -> None:
    record = claim("Supported", "Supported")
    run, data = traced(TRACK1, [record])
    (trace,) = of(run).values()
    say(trace, "right label of 2", "Contradiction")
    at = ("corrections", f"runs:/{run}", "--task", "track1", "--artifacts", artifacts)
    assert aisr(*at, "--data", data, "--out", tmp_path / "out").code == 0
    (row,) = read_rows(tmp_path / "out" / "corrections.jsonl")
    assert [one["types"] for one in row["sentence_label"]] == [["Supported"], ["Contradiction"]]
    done = aisr(*at, "--out", tmp_path / "none")
    assert done.code == 2
    assert f"there is no record {record.id!r}" in done.out
    changed = data.with_name("changed.jsonl")
    changed.write_text(data.read_text().replace(record.evidence_bundle[0].text or "", "Something else."))
    done = aisr(*at, "--data", changed, "--out", tmp_path / "none")
    assert done.code == 2
    assert "other evidence than were judged" in done.out
    wrong = aisr(*at, "--task", "track2", "--out", tmp_path / "none")
    assert wrong.code == 2
    assert "is no run of track2" in wrong.err


def test_the_questions_of_a_task_are_made_once_and_each_run_has_its_queue(traced: Traced) -> None:
    first, _ = traced(TRACK1, [claim("Supported", "Supported")])
    second, _ = traced(TRACK1, [claim("Supported", "Supported", "Supported", number=7)])
    experiment = mlflow.get_run(first).info.experiment_id
    known = {one.name: one for one in list_label_schemas(experiment) if not one.is_default}
    assert sorted(known) == [f"right label of {k}" for k in (1, 2, 3)]
    assert known["right label of 1"].input.options == list(TRACK1.labelled.labels)
    assert "Contradiction:" in known["right label of 2"].instruction
    queues = {one.name: one for one in list_review_queues(experiment_id=experiment)}
    assert {name.partition(" · ")[0] for name in queues} == {"an evaluation"}
    queued = [
        {item.item_id for item in list_review_queue_items(queue.queue_id)}
        for queue in sorted(queues.values(), key=lambda one: one.creation_time_ms)
    ]
    assert queued == [set(of(first).values()), set(of(second).values())]


def test_nothing_is_asked_where_nobody_can_correct_and_instructions_fit() -> None:
    assert questions.asked(CONTEXT24_FIGURES, 1) == []
    assert len(questions.asked(TRACK1, 500)) == questions.MOST
    assert questions.asked(TRACK2, 1) == ["right label", "right evidence"]
