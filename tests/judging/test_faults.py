"""What a run survives: faults of the server, kills, full disks, two processes at once. No record is lost, none written
twice."""

import multiprocessing
import os
import random
import re
import resource
import signal
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from dspy.utils.exceptions import LMAuthError, LMBillingError, LMError

from aisr.base.files import CannotWrite
from aisr.lm.client import OpenLM
from aisr.programs.task import Task
from aisr.programs.track1 import TRACK1
from aisr.programs.track2 import TRACK2
from support.commands import Aisr
from support.corpora import read_rows
from support.loopback import HttpRequest, Loopback, Reply, completion, hang, judged, refused, send
from support.paths import ROOT, SAMPLE, TESTS
from support.runs import opened, predict_in_child, predict_words, run, save_program
from support.scripted import TRACKS, record_of, right, scripted, write_corpus

PATIENT = 5.0  # seconds that no answer takes but one that hangs, however busy the machine


def hang_up(request: HttpRequest) -> Reply:
    return lambda handler: handler.connection.shutdown(socket.SHUT_RDWR)


def cut_short(request: HttpRequest) -> Reply:
    """An answer that ends before it is over."""
    return lambda handler: send(handler, 200, completion(request, judged(request)), missing=40)


STILL = "UnusableAnswer: unusable answer, also after one repair"
# What the server does; the calls of a record that meets it each time, and the reason of its failure then.
FAULTS: dict[str, tuple[Reply | Callable[[HttpRequest], Reply], int, str]] = {
    # The same call may succeed the next time: it is retried.
    "429 with Retry-After": (refused(429, "slow down", Retry_After="0.01"), 9, "LMRateLimitError: .*slow down"),
    "429 without Retry-After": (refused(429, "slow down"), 9, "LMRateLimitError: .*slow down"),
    "500": (refused(500, "oops"), 4, "LMServerError: .*oops"),
    "503": (refused(503, "overloaded"), 9, "LMServerError: .*overloaded"),
    "closed connection": (hang_up, 4, "LMTransportError: "),
    "truncated body": (cut_short, 4, "LMTransportError: "),
    # Answers that cannot be used, to either track: they are sent again once, with the reason.
    "not JSON": ("The labels are as follows", 2, STILL),
    "JSON of the wrong shape": ('[{"answer": {"labels": 3}}]', 2, STILL),
    "unknown label": ('{"sentence_labels": ["Fine"], "label": "Mostly Fine", "evidence_ids": []}', 2, STILL),
    "wrong label count": ('{"sentence_labels": ["Supported"], "label": ["Overstate", "Irrelevant"]}', 2, STILL),
    "empty content": ("", 2, STILL),
    "refusal": ("I'm sorry, but I can't help with that.", 2, STILL),
    "missing field, or ids not in the paper": ('{"label": "Supported", "evidence_ids": ["P999"]}', 2, STILL),
    # The one call fails for good.
    "context length": (
        refused(400, "maximum context length is 8192 tokens", "context_length_exceeded"),
        1,
        "ContextWindowExceededError: .*maximum context length is 8192 tokens",
    ),
    "body that is not JSON": ((200, "<html>It works!</html>"), 1, "LM"),
    "body of the wrong shape": ((200, '{"choices": {"no": "list"}}'), 1, "LM"),
}
PASSING = {"hang": hang, **{name: reply for name, (reply, calls, _) in FAULTS.items() if calls > 1}}


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """No file may grow over so many bytes: what a full disk is like."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    wrote, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # of a module, a part would be kept
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        sys.dont_write_bytecode = wrote
        signal.signal(signal.SIGXFSZ, before)


def inject(faults: Iterable[Any], loopback: Loopback, most: int = 99) -> Counter[str]:
    """Let the server answer record k by fault k as often as that, and right after that; gets the requests a record, by
    the end of its id."""
    replies = {f"{number:06d}": fault for number, fault in enumerate(faults, start=1)}
    counts, lock = Counter[str](), threading.Lock()

    def reply(request: HttpRequest) -> Reply:
        number = record_of(request.question).id[-6:]
        with lock:
            counts[number] += 1
            wrong = replies.get(number, judged) if counts[number] <= most else judged
        return wrong(request) if callable(wrong) else wrong

    loopback.reply = reply
    return counts


@pytest.mark.parametrize("task", TRACKS)
def test_records_are_accounted_for_where_a_fault_passes_at_one_more_call(
    task: Task, loopback: Loopback, tmp_path: Path
) -> None:
    count = len(PASSING) + 4
    data, out, whole = write_corpus(tmp_path, task, count), tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    run(task, data, whole, opened(loopback.url + "/undisturbed", threads=16, timeout=PATIENT))
    counts = inject(PASSING.values(), loopback, most=1)
    summary = run(task, data, out, opened(loopback.url, threads=16, timeout=PATIENT))
    assert (summary.judged, summary.failures) == (count, {})
    assert out.read_bytes() == whole.read_bytes()
    assert [counts[row["id"][-6:]] for row in read_rows(data)] == [2] * len(PASSING) + [1] * 4


def test_records_are_accounted_for_where_a_fault_stays_and_fails_one_alone(loopback: Loopback, tmp_path: Path) -> None:
    counts = inject([reply for reply, _, _ in FAULTS.values()], loopback)
    count = len(FAULTS) + 4
    data, out = write_corpus(tmp_path, TRACK2, count), tmp_path / "out.jsonl"
    summary = run(TRACK2, data, out, opened(loopback.url, threads=16, timeout=PATIENT))
    assert (summary.records, summary.judged, len(summary.failures)) == (count, count, len(FAULTS))
    rows = read_rows(out)
    assert [row["id"] for row in rows] == [row["id"] for row in read_rows(data)]
    for row, (_, calls, reason) in zip(rows, FAULTS.values(), strict=False):
        assert set(row) == {"id", "failed"}
        assert re.match(reason, row["failed"]), row
        assert counts[row["id"][-6:]] == calls, row
    assert not any("failed" in row for row in rows[len(FAULTS) :])


@pytest.mark.parametrize("error", [LMAuthError("bad key"), LMBillingError("no credit left")], ids=str)
def test_what_is_in_flight_is_written_before_an_error_ends_the_run(error: LMError, tmp_path: Path) -> None:
    others = threading.Barrier(4)

    def refuse_one(request: Any) -> str:
        others.wait(10)  # all four are in flight
        if "Row 2." in str(request):
            raise error
        return right(request)

    lm = scripted(refuse_one, threads=4)
    data, out = write_corpus(tmp_path, TRACK1, 4), tmp_path / "out.jsonl"
    with pytest.raises(type(error)):
        run(TRACK1, data, out, lm)
    assert sorted(line["id"][-1] for line in read_rows(out)) == ["1", "3", "4"]


def uncached(answer: Any) -> OpenLM:
    """A scripted LM without the response cache, which would meet a full disk before the predictions do."""
    lm = scripted(answer)
    lm.cache = False
    return lm


def test_a_full_disk_is_named_and_leaves_whole_lines(tmp_path: Path) -> None:
    data, out = write_corpus(tmp_path, TRACK1, 40), tmp_path / "out.jsonl"
    message = r"out.jsonl: cannot be written \(.+\); what was finished before is kept"
    with small_files(1000), pytest.raises(CannotWrite, match=message):
        run(TRACK1, data, out, uncached(right))
    assert out.read_bytes().endswith(b"\n")
    kept = len(read_rows(out))
    assert 5 < kept < 40
    summary = run(TRACK1, data, out, uncached(right))
    assert (summary.kept, summary.judged) == (kept, 40 - kept)
    run(TRACK1, data, tmp_path / "whole.jsonl", uncached(right))
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize("name", ["out.jsonl", "new/out.jsonl"])
def test_a_folder_that_cannot_be_written_is_named_before_anything_is_asked(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(CannotWrite, match=rf"{name}: cannot be written \(Not a directory\)"):
        run(TRACK1, SAMPLE / "track1" / "test.jsonl", tmp_path / "file" / name, uncached([]))


def test_evaluate_finds_an_output_that_cannot_be_written_before_it_asks(
    aisr: Aisr, loopback: Loopback, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    data, program = write_corpus(tmp_path, TRACK1, 2), save_program(tmp_path / "mine", TRACK1)
    words = predict_words(TRACK1, program, data, tmp_path / "out.jsonl", loopback.url)
    out = words.index("--out")
    done = aisr("evaluate", *words[1:out], *words[out + 2 :], "--no-track", "--output", tmp_path / "file" / "x.json")
    assert (done.code, loopback.requests) == (2, [])
    assert re.search(r"x.json: cannot be written \((File exists|Not a directory)\)", done.err)


def size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


@pytest.mark.slow
def test_kills_leave_the_file_of_an_undisturbed_run(
    loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kill -9 at random moments, each time going on from what was left; no kill loses a line that was written."""
    data, out, whole = write_corpus(tmp_path, TRACK1, 400), tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    run(TRACK1, data, whole, opened(loopback.url + "/undisturbed", threads=4))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{TESTS}")
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["support.runs"])  # so that a child is there at once
    rng, cut = random.Random(6), 0
    before: set[bytes] = set()
    for number in range(6):
        enough = size(out) + rng.randint(0, 4000)  # bytes: up to 55 lines
        cache = tmp_path / f"cache {number}"
        child = processes.Process(target=predict_in_child, args=(loopback.url, data, out, cache), daemon=True)
        child.start()
        while child.is_alive() and size(out) <= enough:
            child.join(0.001)
        child.join(rng.uniform(0, 0.02))
        child.kill()
        child.join()
        cut += child.exitcode == -signal.SIGKILL
        now = set(out.read_bytes().splitlines(keepends=True))
        assert before <= now
        before = {text for text in now if text.endswith(b"\n")}
    assert cut >= 4
    summary = run(TRACK1, data, out, opened(loopback.url, threads=4))
    assert summary.kept == len(before) > 0
    assert out.read_bytes() == whole.read_bytes()


def test_the_command_takes_a_timeout_and_limits(aisr: Aisr, loopback: Loopback, tmp_path: Path) -> None:
    data, out = write_corpus(tmp_path, TRACK1, 6), tmp_path / "out.jsonl"
    words = predict_words(TRACK1, save_program(tmp_path / "mine", TRACK1), data, out, loopback.url)
    inject([hang], loopback, most=1)
    stopped = aisr(*words, "-L", "threads=1", "-L", "timeout=0.2", "--max-calls", "3")
    assert (stopped.code, stopped.err) == (1, "")
    assert "stopped with 4 records left: 3 LM calls were sent and --max-calls is 3" in stopped.out
    assert len(loopback.requests) == 3  # the one that hung, and two that were answered
    assert len(read_rows(out)) == 2
    ended = aisr(*words)
    assert ended.code == 0, ended.err
    assert "6 records, 2 of them from an earlier run" in ended.out
    assert len(loopback.requests) == 7
