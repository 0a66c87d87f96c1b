"""Prediction by the processes of a Ray cluster: the same file, also when one of them is killed."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from aisr.base.errors import UserError
from aisr.judging import ray as ray_module
from aisr.judging.ray import join_cluster
from aisr.programs.track1 import TRACK1
from support.commands import Aisr, as_process
from support.corpora import read_rows
from support.loopback import HttpRequest, Loopback
from support.paths import ROOT
from support.runs import predict_words, save_program
from support.scripted import write_corpus

COUNT = 60


def command(folder: Path, url: str, out: str = "out.jsonl") -> list[object]:
    words = predict_words(TRACK1, folder / "mine", folder / "records.jsonl", folder / out, url)
    return [*words, "-L", "threads=4"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A program, and records to predict."""
    save_program(tmp_path / "mine", TRACK1)
    write_corpus(tmp_path, TRACK1, COUNT)
    return tmp_path


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The processes below this one that judge, by the title that Ray gives them."""
    parents, titles = {}, {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit():
                titles[int(entry.name)] = (entry / "cmdline").read_bytes()
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    below = {process.pid}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return [pid for pid in below if titles[pid].startswith(b"ray::_Worker")]


@pytest.mark.slow
def test_a_limit_holds_for_all_workers_and_a_killed_one_costs_nothing(
    loopback: Loopback, folder: Path, aisr: Aisr
) -> None:
    """The second command goes on where the limit stopped the first."""
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    answer, release = loopback.reply, threading.Event()
    held = threading.Barrier(5)  # four calls in flight, two of each worker, and this test

    def hold(request: HttpRequest) -> Any:
        if len(loopback.requests) > COUNT // 2 and not release.is_set():
            held.wait(120)
            release.wait(60)
        return answer(request)

    loopback.reply = hold
    words = [*command(folder, loopback.url), "--ray", "local", "--workers", 2]
    stopped = aisr(*words, "--max-calls", 10)
    assert stopped.code == 1
    assert "LM calls were sent and --max-calls is 10" in stopped.out
    assert 10 <= len(loopback.requests) < 10 + 4  # what was under way is ended
    process = subprocess.Popen(
        as_process(*words), cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        held.wait(120)
        workers = workers_of(process)
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
    finally:
        release.set()
        output, _ = process.communicate(timeout=180)
    assert process.returncode == 0, output
    assert f"{COUNT} records" in output
    loopback.reply = answer
    assert aisr(*command(folder, loopback.url, "whole.jsonl")).code == 0
    out = folder / "out.jsonl"
    assert out.read_bytes() == (folder / "whole.jsonl").read_bytes()
    assert [row["id"] for row in read_rows(out)] == [f"track1-{k:06d}" for k in range(1, COUNT + 1)]


def test_a_cluster_that_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself would wait for minutes."""
    monkeypatch.setattr(ray_module, "PATIENCE", 0.01)
    never = threading.Event()
    with pytest.raises(UserError, match=r"--ray 10\.0\.0\.1:6379: no answer within 0 s; is a cluster running there"):
        join_cluster(SimpleNamespace(init=lambda **_: never.wait()), 2, "10.0.0.1:6379")
    never.set()


def test_without_ray_its_user_is_told_how_to_get_it(folder: Path, aisr: Aisr) -> None:
    with mock.patch.dict(sys.modules, {"ray": None}):
        finished = aisr(*command(folder, "http://127.0.0.1:9/v1"), "--ray", "local")
    assert finished.code == 2
    assert "pip install 'aisr[ray]'" in finished.err
