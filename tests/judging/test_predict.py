"""Predicting a file: every record accounted for, nothing sent twice, whatever happens in between."""

import re
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from aisr.base.errors import UserError
from aisr.base.files import digest_file
from aisr.judging.judge import PREFETCH_PER_THREAD, Outcome
from aisr.judging.predict import PredictionSummary, predict, sidecar
from aisr.programs.records import Record
from aisr.programs.task import Task
from aisr.programs.track1 import TRACK1
from aisr.programs.track2 import TRACK2
from support.commands import Aisr
from support.corpora import beginning, read_rows
from support.loopback import Loopback, answer_with, judged
from support.paths import SAMPLE
from support.runs import predict_words, save_program
from support.scripted import TRACKS, corpus, question, record_of, requests, right, scripted, write_corpus

IDENTITY = {"task": "track1", "program": "abc", "lm": "scripted"}


def run(
    data: Path, out: Path, answer: Any, task: Task = TRACK1, identity: dict[str, Any] | None = None, threads: int = 1
) -> tuple[PredictionSummary, list[int]]:
    """The summary of a run, and the numbers of the records that were sent, in that order."""
    lm = scripted(answer, threads=threads)
    summary = predict(task, task.build({}), lm, data, out, identity or IDENTITY)
    return summary, [number(request) for request in requests(lm)]


def number(request: Any) -> int:
    return int(record_of(question(request)).id[-6:])


def failing_on(*numbers: int) -> Callable[[Any], str]:
    return lambda request: "garbage" if number(request) in numbers else right(request)


@pytest.mark.parametrize("task", TRACKS)
@pytest.mark.parametrize("threads", [1, 8])
def test_one_official_line_a_record_in_input_order(task: Task, threads: int, tmp_path: Path) -> None:
    out = tmp_path / "new folder" / "out.jsonl"
    summary, _ = run(write_corpus(tmp_path, task), out, right, task, threads=threads)
    assert summary == PredictionSummary(12, 12)
    assert {file.name for file in out.parent.iterdir()} == {out.name, ".aisr"}
    for line, record in zip(read_rows(out), corpus(task), strict=True):
        answer = task.prediction.model_validate(line).answer
        assert list(line) == ["id", *task.prediction.line(answer), "probabilities"]
        assert line["id"] == record.id
        assert line.get("labels", [line.get("label")]) == task.first_labels(record.gold)


@pytest.mark.parametrize(
    "torn", [b'{"id": "track1-000004", "lab', b"\x00\x00", None], ids=["torn", "zeros", "without its end"]
)
def test_a_line_torn_by_a_kill_or_forged_is_judged_again(torn: bytes | None, tmp_path: Path) -> None:
    data, out = write_corpus(tmp_path, TRACK1), tmp_path / "out.jsonl"
    run(data, out, right)
    whole = out.read_bytes()
    kept = whole.splitlines(keepends=True)
    forged = [
        b'{"id": "track1-000001"}\n',
        b'{"id": "track1-000002", "labels": ["Fine"]}\n',
        b'{"id": "nobody", "labels": ["Supported"]}\n',
        b"[]\n",
        b"\x00\xff\n",
    ]
    out.write_bytes(b"".join([*forged, kept[6], kept[6], kept[4], kept[3][:-1] if torn is None else torn]))
    summary, judged_numbers = run(data, out, right)
    assert judged_numbers == [1, 2, 3, 4, 6, 8, 9, 10, 11, 12]
    assert summary == PredictionSummary(12, 10, kept=2)
    assert out.read_bytes() == whole


def test_failed_records_have_a_line_and_are_tried_again(tmp_path: Path) -> None:
    data, out = write_corpus(tmp_path, TRACK1), tmp_path / "out.jsonl"
    summary, _ = run(data, out, failing_on(3, 7))
    assert list(summary.failures) == ["track1-000003", "track1-000007"]
    assert [line["id"] for line in read_rows(out)] == [record.id for record in corpus(TRACK1)]
    for line in read_rows(out):
        assert ("failed" in line) == (line["id"] in summary.failures)
        assert ("labels" in line) != ("failed" in line)
    assert read_rows(out)[2]["failed"] == summary.failures["track1-000003"]

    again, judged_numbers = run(data, out, failing_on(7))
    assert sorted(set(judged_numbers)) == [3, 7]
    assert list(again.failures) == ["track1-000007"]

    last, judged_numbers = run(data, out, right)
    assert (last.failures, judged_numbers) == ({}, [7])
    run(data, tmp_path / "fresh.jsonl", right)
    assert out.read_bytes() == (tmp_path / "fresh.jsonl").read_bytes()


def test_another_run_is_refused_and_the_same_one_asks_nothing(tmp_path: Path) -> None:
    data, out = write_corpus(tmp_path, TRACK1), tmp_path / "out.jsonl"
    run(data, out, right)
    before = out.read_bytes()
    with pytest.raises(UserError, match="begun with another program: abc then, new now"):
        run(data, out, [], identity={**IDENTITY, "program": "new"})
    assert out.read_bytes() == before
    assert run(data, out, []) == (PredictionSummary(12, kept=12), [])
    data.write_bytes(data.read_bytes().replace(b"Row 1.", b"Row 1!"))
    with pytest.raises(UserError, match=f"another input: .* then, {digest_file(data)} now"):
        run(data, out, [])


def test_a_file_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("precious\n")
    with pytest.raises(UserError, match="was not written by aisr"):
        run(write_corpus(tmp_path, TRACK1), out, [])
    assert out.read_text() == "precious\n"


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    data, out = write_corpus(tmp_path, TRACK1), tmp_path / "out.jsonl"
    sidecar(out, "lock").parent.mkdir()
    with FileLock(sidecar(out, "lock")), pytest.raises(UserError, match="another process is writing it"):
        run(data, out, [])
    assert not out.exists()


def test_a_bad_input_line_is_named_before_anything_is_asked(tmp_path: Path) -> None:
    data, out = write_corpus(tmp_path, TRACK1), tmp_path / "out.jsonl"
    data.write_text(data.read_text() + "{}\n")
    with pytest.raises(ValueError, match=rf"{re.escape(str(data))}:13: "):
        run(data, out, [])  # a script that would run dry at the first call
    assert not out.exists()


def test_no_more_records_are_held_than_are_judged_at_a_time(tmp_path: Path) -> None:
    data, threads, task = write_corpus(tmp_path, TRACK1, 100), 2, TRACK1
    given: list[weakref.ref[Record]] = []
    held: list[int] = []

    def judge_record(record: Record) -> Outcome:
        given.append(weakref.ref(record))
        held.append(sum(one() is not None for one in given))
        return Outcome(None, "not judged")

    lm, out = scripted([]), tmp_path / "out.jsonl"
    summary = predict(task, task.build({}), lm, data, out, IDENTITY, judge_record=judge_record, threads=threads)
    assert summary.judged == 100
    assert max(held) <= PREFETCH_PER_THREAD * threads + threads + 2


# --- A record that failed for its answers is sent again by the next run, and by no second look of the same one


@pytest.fixture
def words(tmp_path: Path, loopback: Loopback) -> list[object]:
    """`aisr predict` of two records."""
    data = beginning(SAMPLE / "track2" / "dev.jsonl", 2, tmp_path / "two.jsonl")
    program = save_program(tmp_path / "mine", TRACK2)
    return predict_words(TRACK2, program, data, tmp_path / "out.jsonl", loopback.url)


def test_the_same_command_asks_again(aisr: Aisr, words: list[object], loopback: Loopback, tmp_path: Path) -> None:
    loopback.reply = answer_with(lambda body: body["choices"][0]["message"].update(content=None))
    failed = aisr(*words)
    assert failed.code == 1
    assert len(loopback.requests) == 4  # an answer and its repair each
    loopback.reply = judged
    assert aisr(*words).code == 0
    assert len(loopback.requests) == 6
    assert all(row["label"] for row in read_rows(tmp_path / "out.jsonl"))


def test_what_was_repaired_is_not_asked_for_again(
    aisr: Aisr, words: list[object], loopback: Loopback, tmp_path: Path
) -> None:
    loopback.reply = lambda request: judged(request) if "correction" in request.question else "garbage"
    for number in range(2):
        assert aisr(*words, "--out", tmp_path / f"{number}.jsonl").code == 0
    assert len(loopback.requests) == 4
