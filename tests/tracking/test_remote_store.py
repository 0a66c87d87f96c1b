"""A tracking server: everything that is logged and registered goes through HTTP, as it does for a team."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aisr.cli.report import OFFLINE
from aisr.tracking.store import open_store
from support.commands import Aisr
from support.loopback import serve
from support.paths import SAMPLE
from support.servers import answering, free_port

KEY, TOKEN, PASSWORD = "sk-planted-c07d1e", "planted-t0ken-a4", "planted-passw0rd"
FEW = ("--max-train", 6, "--max-dev", 4, "--max-test", 2, "--candidates", 1, "--budget", "light")


@pytest.mark.slow
def test_what_one_compiles_another_uses_with_nothing_but_the_address(
    aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_store: Callable[[Path], Path]
) -> None:
    """And no secret is printed or stored."""
    fresh_store(tmp_path / "server").joinpath(".mlflow", "mlflow.db").rename(tmp_path / "server" / "mlflow.db")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    port, folder = free_port(), tmp_path / "server"
    command = [
        *(sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        *("--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"),
        *("--serve-artifacts", "--artifacts-destination", str(folder / "files")),
    ]
    env = {**os.environ, **OFFLINE}
    with serve() as language, answering(command, port, env, folder, folder / "log"):
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://me:{PASSWORD}@127.0.0.1:{port}")
        lm = ["--lm", "openai/gpt-4o-mini", "--api-base", language.url.replace("/v1", f"/{TOKEN}/v1")]
        search = ["--task", "track1", "--data", SAMPLE / "track1", "--optimizer", "labeled", *FEW, *lm]
        compiled = aisr("compile", *search, "--name", "first", "--artifacts", "mine")
        other = ["--program", "models:/aisr-track1@champion", "--task", "track1", "--artifacts", "other", *lm]
        evaluated = aisr("evaluate", *other, "--data", SAMPLE / "track1" / "test.jsonl", "--limit", 3)
        assert (compiled.code, evaluated.code) == (0, 0), compiled.err + evaluated.err
        client = open_store(tmp_path / "other").MlflowClient()
        (experiment,) = [e for e in client.search_experiments() if e.name == "aisr track1"]
        runs = client.search_runs([experiment.experiment_id], order_by=["start_time"])
        page = f"http://127.0.0.1:{port}/#/experiments/{experiment.experiment_id}/runs"
        for run, done in zip(runs, (compiled, evaluated), strict=True):
            assert run.info.artifact_uri.startswith("mlflow-artifacts:/")
            assert f"run {run.info.run_id} · {page}/{run.info.run_id}" in done.out
        assert {"program.json", "manifest.json", "records.json", "report.html"} <= {
            file.name for file in (folder / "files").rglob("*") if file.is_file()
        }
    assert not (tmp_path / "mine" / ".mlflow").exists()
    assert not (tmp_path / "mlruns").exists()
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    for secret in (KEY, TOKEN, PASSWORD):
        assert secret not in "".join(done.out + done.err for done in (compiled, evaluated))
        assert not [file for file in files if secret.encode() in file.read_bytes()]
