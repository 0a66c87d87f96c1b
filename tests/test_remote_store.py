"""A tracking server: everything that is logged and registered goes through HTTP, as it does for a team."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from corpora import SAMPLE
from loopback import Loopback
from test_server import READY_SECONDS, free_port, ready, wait_until

from optimize.server import OFFLINE
from optimize.store import open_store

KEY, TOKEN, PASSWORD = "sk-planted-c07d1e", "planted-t0ken-a4", "planted-passw0rd"
FEW = ("--limit-train", 6, "--limit-dev", 4, "--limit-test", 2)


class Server(NamedTuple):
    port: int
    folder: Path  # its database, and below `files` what was handed to it

    def files(self) -> set[str]:
        return {file.name for file in (self.folder / "files").rglob("*") if file.is_file()}


@contextmanager
def tracking_server(folder: Path) -> Iterator[Server]:
    """`mlflow server` with SQLite, that keeps artifacts itself and hands them out over HTTP."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        *("--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"),
        *("--serve-artifacts", "--artifacts-destination", str(folder / "files")),
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, env={**os.environ, **OFFLINE}, stdout=log, stderr=log, start_new_session=True, cwd=folder
        )
        try:
            assert wait_until(lambda: ready(port), READY_SECONDS, process), (folder / "log").read_text()
            yield Server(port, folder)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait(10)


@pytest.mark.slow
def test_a_team_shares_a_tracking_server(
    tmp_path: Path,
    fresh_store: Callable[[Path], Path],
    aisr: Callable[..., Any],
    loopback: Loopback,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """compile, evaluate, promote, report and predict through it; on the machine of another nothing but the address is
    known."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    fresh_store(tmp_path / "server").joinpath(".mlflow", "mlflow.db").rename(tmp_path / "server" / "mlflow.db")
    lm = ["--lm", "openai/gpt-4o-mini", "--api-base", loopback.url.replace("/v1", f"/{TOKEN}/v1")]
    mine, other = (["--artifacts", tmp_path / name] for name in ("mine", "other"))
    at = ["--task", "track1"]
    said = ""

    def run(*words: object) -> str:
        nonlocal said
        finished = aisr(*words)
        assert finished.code == 0, finished.err
        said += finished.out + finished.err
        return finished.out

    with tracking_server(tmp_path / "server") as server:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://me:{PASSWORD}@127.0.0.1:{server.port}")
        search = ["--data", SAMPLE / "track1", "--candidates", 1, *FEW, *lm, *mine, *at]
        first = run("compile", "--optimizer", "labeled", "--name", "first", *search)
        assert "registered models:/aisr-track1@champion (version 1)" in first
        run("compile", "--optimizer", "labeled", "--demos", 1, "--name", "second", *search)
        run("promote", "models:/aisr-track1/2", "--anyway", *mine)
        champion = ["--program", "models:/aisr-track1@champion", *at, *other]
        data = ["--data", SAMPLE / "track1" / "test.jsonl"]
        evaluated = run("evaluate", *champion, *data, "--limit", 3, *lm)
        run("inspect", *champion)
        run("techreport", "models:/aisr-track1/1", "--out", tmp_path / "technical", *at, *other)
        inputs = tmp_path / "inputs.jsonl"
        inputs.write_bytes(
            b"".join((SAMPLE / "track1" / "test-inputs.jsonl").read_bytes().splitlines(keepends=True)[:3])
        )
        run("predict", *champion, "--data", inputs, "--out", tmp_path / "out.jsonl", *lm)
        assert len((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()) == 3

        client = open_store(tmp_path / "mine").MlflowClient()
        (experiment,) = [e for e in client.search_experiments() if e.name == "aisr track1"]
        assert experiment.artifact_location.startswith("mlflow-artifacts:/")
        runs = client.search_runs([experiment.experiment_id], order_by=["start_time"])
        assert [run.data.tags["aisr.kind"] for run in runs] == ["compile", "compile", "evaluate"]
        assert [run.data.tags.get("aisr.champion") for run in runs] == ["no", "yes", None]
        assert {run.info.status for run in runs} == {"FINISHED"}
        assert runs[2].data.tags["aisr.version"] == "aisr-track1/2"
        page = f"http://127.0.0.1:{server.port}/#/experiments/{experiment.experiment_id}/runs"
        assert f"run {runs[0].info.run_id} · {page}/{runs[0].info.run_id}" in first
        assert f"run {runs[2].info.run_id} · {page}/{runs[2].info.run_id}" in evaluated
        for alias, version, name in (("champion", "2", "second"), ("previous", "1", "first")):
            found = client.get_model_version_by_alias("aisr-track1", alias)
            assert (found.version, found.tags["aisr.artifact"]) == (version, name)
        for logged in runs[1:]:
            assert "records" in run("report", logged.info.run_id, *other)
            assert (tmp_path / f"report-{logged.info.run_id[:8]}.html").stat().st_size > 10_000

    assert {"program.json", "manifest.json", "records.json", "report.html", "confusion.png"} <= server.files()
    assert not (tmp_path / "mine" / ".mlflow").exists()
    assert not (tmp_path / "mlruns").exists()
    for secret in (KEY, TOKEN, PASSWORD):
        assert secret not in said
        for file in tmp_path.rglob("*"):
            assert not file.is_file() or secret.encode() not in file.read_bytes(), (secret, file)
