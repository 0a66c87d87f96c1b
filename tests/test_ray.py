"""Prediction by the processes of a Ray cluster: the same file, also when one of them is killed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from corpora import write
from faults import refused
from scripted import claim

from optimize.artifact import program_text, save
from optimize.tasks import TRACK1

if TYPE_CHECKING:
    from loopback import Asked, Loopback

ROOT = Path(__file__).parents[1]
COUNT = 60


def command(folder: Path, url: str, out: Path, *more: object) -> list[str]:
    words = ["predict", "--task", "track1", "--program", folder / "mine", "--data", folder / "records.jsonl"]
    words += ["--out", out, "--lm", "openai/local", "--api-base", url, "--threads", 4, *more]
    return [sys.executable, "-m", "optimize.cli", *map(str, words)]


def start(words: list[str], cache: Path) -> subprocess.Popen[str]:
    env = {**os.environ, "DSPY_CACHEDIR": str(cache)}
    return subprocess.Popen(words, env=env, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def ids(out: Path) -> list[str]:
    return [json.loads(line)["id"] for line in out.read_text().splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A program, and records to predict."""
    save(tmp_path / "mine", {"program.json": program_text(TRACK1, TRACK1.build({}))})
    records = [claim("Supported", "Contradiction", number=k).model_dump(mode="json") for k in range(1, COUNT + 1)]
    write(tmp_path / "records.jsonl", records)
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
def test_a_killed_worker_costs_nothing(loopback: "Loopback", folder: Path) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    answer, release = loopback.reply, threading.Event()
    held = threading.Barrier(5)  # four calls in flight, two of each worker, and this test

    def hold(asked: "Asked") -> Any:
        if len(loopback.asked) > COUNT // 2 and not release.is_set():
            held.wait(120)
            release.wait(60)
        return answer(asked)

    loopback.reply = hold
    out = folder / "out.jsonl"
    process = start(command(folder, loopback.url, out, "--engine", "ray", "--workers", 2), folder / "cache")
    try:
        held.wait(120)
        workers = workers_of(process)
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
    finally:
        release.set()
        said, _ = process.communicate(timeout=180)
    assert process.returncode == 0, said
    whole = folder / "whole.jsonl"
    local = start(command(folder, loopback.url, whole), folder / "other cache")
    local.communicate(timeout=120)
    assert local.returncode == 0
    assert out.read_bytes() == whole.read_bytes()
    assert ids(out) == [f"track1-{k:06d}" for k in range(1, COUNT + 1)]
    assert f"{COUNT} records" in said


@pytest.mark.slow
def test_limits_hold_for_all_workers_together(loopback: "Loopback", folder: Path) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    out = folder / "out.jsonl"
    ray = ["--engine", "ray", "--workers", 2, "--max-calls", 20]
    process = start(command(folder, loopback.url, out, *ray), folder / "cache")
    said, _ = process.communicate(timeout=180)
    assert process.returncode == 1, said
    assert "LM calls were sent and --max-calls is 20; a higher limit goes on from here" in said
    assert 20 <= len(loopback.asked) <= 20 + 4  # those in flight
    assert len(ids(out)) == len(loopback.asked)


@pytest.mark.slow
def test_what_the_server_asks_of_one_worker_all_heed(loopback: "Loopback", folder: Path) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    answer, busy = loopback.reply, refused(429, "slow down", Retry_After="6")
    arrived: list[float] = []

    def reply(asked: "Asked") -> Any:
        arrived.append(time.monotonic())
        return busy(asked) if len(arrived) == COUNT // 2 else answer(asked)

    loopback.reply = reply
    out = folder / "out.jsonl"
    process = start(command(folder, loopback.url, out, "--engine", "ray", "--workers", 2), folder / "cache")
    said, _ = process.communicate(timeout=180)
    assert (process.returncode, len(arrived)) == (0, COUNT + 1), said
    told = arrived[COUNT // 2 - 1]
    # Three calls were in flight, and may have come in a little after it.
    assert [moment - told for moment in arrived if 3 < moment - told < 6] == []
    assert sum(moment - told >= 6 for moment in arrived) >= COUNT // 2 + 1 - 4


def test_without_ray_its_user_is_told_how_to_get_it(folder: Path, aisr: Any) -> None:
    with mock.patch.dict(sys.modules, {"ray": None}):
        finished = aisr(*command(folder, "http://127.0.0.1:9/v1", folder / "out.jsonl", "--engine", "ray")[3:])
    assert finished.code == 2
    assert "pip install 'aisr[ray]'" in finished.err
