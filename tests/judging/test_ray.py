"""Prediction by the processes of a Ray cluster: the same file, also when one of them is killed."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import psutil
import pytest

from aisr.judging import ray as ray_module
from aisr.programs.program import Program
from aisr.programs.track1 import TRACK1
from support.commands import Aisr, as_process, run_apart
from support.corpora import read_rows
from support.loopback import HttpRequest, Loopback
from support.paths import ROOT
from support.runs import predict_words, save_program
from support.scripted import write_corpus
from support.servers import free_port

COUNT = 60
LOOPBACK = {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


def command(folder: Path, url: str, out: str = "out.jsonl") -> list[object]:
    words = predict_words(TRACK1, folder / "mine", folder / "records.jsonl", folder / out, url)
    return [*words, "-L", "threads=2"]


def large_program() -> Program:
    """A program of 200 kB, of whose demos each record is shown two, as those of knn are."""
    program = TRACK1.build({"demos_per_record": 2})
    (predictor,) = program.predictors()
    text = " ".join(f"word{k}" for k in range(250))
    predictor.demos = [
        {"evidence": f"{text} {k}", "sentences": [f"S{k}: {text} {k}"], "sentence_labels": ["Supported"]}
        for k in range(60)
    ]
    return program


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A program, and records to predict."""
    save_program(tmp_path / "mine", TRACK1, large_program())
    assert (tmp_path / "mine" / "program.json").stat().st_size > 200_000
    write_corpus(tmp_path, TRACK1, COUNT)
    return tmp_path


def below(pid: int) -> dict[psutil.Process, str]:
    """The processes below this one that live, with their titles: Ray gives them some."""
    titles = {}
    for process in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            titles[process] = " ".join(process.cmdline())
    return titles


def workers_of(pid: int) -> list[psutil.Process]:
    return [process for process, title in below(pid).items() if title.startswith("ray::_Worker")]


def listening_addresses(pid: int) -> set[str]:
    """The addresses that a process and those below it listen on."""
    connections = []
    for process in (psutil.Process(pid), *below(pid)):
        with suppress(psutil.NoSuchProcess):
            connections += process.net_connections("inet")
    return {one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN}


@contextmanager
def held_at(loopback: Loopback, count: int, together: int) -> Iterator[Callable[[], int]]:
    """Answers nothing more from the request `count` on until the block ends; waits until `together` are held."""
    answer, release = loopback.reply, threading.Event()
    held = threading.Barrier(together + 1, timeout=400)

    def hold(request: HttpRequest) -> Any:
        if len(loopback.requests) > count and not release.is_set():
            held.wait()
            release.wait(400)
        return answer(request)

    loopback.reply = hold
    try:
        yield held.wait
    finally:
        release.set()
        held.abort()
        loopback.reply = answer


@contextmanager
def ray_node(log: Path, *words: object) -> Iterator[None]:
    """A node of a cluster with one CPU, as `ray start` begins it."""
    start = [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--block", "--num-cpus=1"]
    with log.open("wb") as out:
        command = [*start, "--disable-usage-stats", *map(str, words)]
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
        try:
            for _ in range(600):
                if b"Ray runtime started" in log.read_bytes():
                    break
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.2)
                    break
            assert b"Ray runtime started" in log.read_bytes(), log.read_text()
            yield
        finally:
            with suppress(subprocess.TimeoutExpired):
                process.terminate()  # it ends the processes of the node
                process.wait(30)
            with suppress(ProcessLookupError):  # all of them have ended
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


@contextmanager
def begun(words: list[object]) -> Iterator[subprocess.Popen[str]]:
    """A command that runs; it does not outlive the block."""
    with subprocess.Popen(
        as_process(*words), cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.slow
def test_a_limit_holds_for_all_workers_and_a_killed_one_costs_nothing(
    loopback: Loopback, folder: Path, aisr: Aisr
) -> None:
    """The second command goes on where the limit stopped the first. Nothing listens on more than the loopback address,
    and RAY_ADDRESS is no matter of it."""
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    words = [*command(folder, loopback.url), "--ray", "local", "--workers", 2]
    stopped = run_apart([[*words, "--max-calls", 10]])
    assert stopped.returncode == 1, stopped.stderr
    assert "LM calls were sent and --max-calls is 10" in stopped.stdout
    assert 10 <= len(loopback.requests) < 10 + 4  # what was under way is ended
    with mock.patch.dict(os.environ, RAY_ADDRESS="nowhere:1"), begun(words) as process:
        with held_at(loopback, COUNT // 2, 4) as wait:
            wait()  # four calls in flight, two of each worker
            workers = workers_of(process.pid)
            assert len(workers) == 2
            assert listening_addresses(process.pid) <= LOOPBACK
            workers[0].kill()
        output, _ = process.communicate(timeout=400)
    assert process.returncode == 0, output
    assert f"{COUNT} records" in output
    assert aisr(*command(folder, loopback.url, "whole.jsonl")).code == 0
    out = folder / "out.jsonl"
    assert out.read_bytes() == (folder / "whole.jsonl").read_bytes()
    assert [row["id"] for row in read_rows(out)] == [f"track1-{k:06d}" for k in range(1, COUNT + 1)]


@pytest.mark.slow
def test_workers_know_a_task_of_the_current_folder(loopback: Loopback, tmp_path: Path) -> None:
    """Its package is not installed, and lies nowhere near the project."""
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    mine = copy(TRACK1)
    mine.name = "mine"
    package = tmp_path / "foreign"
    package.mkdir()
    (package / "__init__.py").touch()
    code = "import copy\nfrom aisr.programs.track1 import TRACK1\nMINE = copy.copy(TRACK1)\nMINE.name = 'mine'\n"
    (package / "tasks.py").write_text(code)
    program = save_program(tmp_path / "program", mine, mine.build({}))
    words = predict_words(mine, program, write_corpus(tmp_path, TRACK1, 4), tmp_path / "out.jsonl", loopback.url)
    words[words.index("mine")] = "foreign.tasks:MINE"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = as_process(*words, "--ray", "local", "--workers", 1)
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert [len(row["labels"]) for row in read_rows(tmp_path / "out.jsonl")] == [3] * 4


@pytest.mark.slow
def test_the_processes_of_a_command_that_was_killed_end(loopback: Loopback, folder: Path) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    words = [*command(folder, loopback.url), "--ray", "local", "--workers", 1]
    with held_at(loopback, 0, 2) as wait, begun(words) as process:
        wait()
        titles = below(process.pid)
        process.kill()
    assert any(title.startswith("ray::") for title in titles.values())
    _, left = psutil.wait_procs(titles, timeout=30)
    assert [titles[one] for one in left if one.status() != psutil.STATUS_ZOMBIE] == []


@pytest.mark.slow
def test_two_nodes_judge_and_what_keeps_them_from_it_is_one_line(
    loopback: Loopback, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    port = free_port()
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "120")  # seconds; the machine may be busy
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 4)
    at = f"127.0.0.1:{port}"
    words = [*command(folder, loopback.url), "--ray", at, "--workers", 2]
    keyless = ["openai/gpt-4o-mini" if word == "openai/local" else word for word in words]
    keyless = [word for word in keyless if word not in ("--api-base", loopback.url)]
    head = ray_node(folder / "head", "--head", "--port", port, "--include-dashboard=false")
    with head, ray_node(folder / "second", "--address", at):
        done = run_apart([words])
        assert done.returncode == 0, done.stderr
        for commands, changes, reason in (
            (
                keyless,
                {"OPENAI_API_KEY": "sk-x"},
                "a worker cannot start: --lm openai/gpt-4o-mini needs OPENAI_API_KEY;",
            ),
            (words, {"RAY_AUTH_TOKEN": "fedcba9876543210" * 4}, f"--ray {at}: "),
            (words, {"RAY_AUTH_TOKEN": "", "HOME": str(folder)}, f"--ray {at}: "),
        ):
            refused = run_apart([commands], {**os.environ, **changes})
            assert refused.returncode == 2
            line = refused.stderr.splitlines()[-1]  # Ray's core may warn before
            assert line.startswith(f"error: {reason}")
            assert "a worker" in line or "is its token that of RAY_AUTH_TOKEN or ~/.ray/auth_token?" in line
            assert "Traceback" not in refused.stderr
    assert len(read_rows(folder / "out.jsonl")) == COUNT


def test_a_cluster_that_does_not_answer_is_an_error(folder: Path, aisr: Aisr, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself would wait for minutes."""
    monkeypatch.setattr(ray_module, "CLUSTER_PATIENCE", 0.01)
    never = threading.Event()
    fake = SimpleNamespace(init=lambda **_: never.wait(), shutdown=lambda: None)
    with mock.patch.dict(sys.modules, {"ray": fake}):
        finished = aisr(*command(folder, "http://127.0.0.1:9/v1"), "--ray", "10.0.0.1:6379")
    never.set()
    assert finished.code == 2
    assert "error: --ray 10.0.0.1:6379: no answer within 0 s; is a cluster running there" in finished.err


def test_a_dead_worker_is_not_handed_out_again() -> None:
    slots = ray_module.Slots(["one", "two"], threads=2)
    slots.drop("one")
    assert {slots.take(), slots.take()} == {"two"}
    slots.put_back("two")
    slots.drop("two")
    assert slots.take() is slots.take() is None  # also for those that wait


def test_without_ray_its_user_is_told_how_to_get_it(folder: Path, aisr: Aisr) -> None:
    with mock.patch.dict(sys.modules, {"ray": None}):
        finished = aisr(*command(folder, "http://127.0.0.1:9/v1"), "--ray", "local")
    assert finished.code == 2
    assert "pip install 'aisr[ray]'" in finished.err
