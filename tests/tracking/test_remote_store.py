"""A tracking server with users, behind a proxy: all that is logged and registered goes there, as it does for a team."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from aisr.tracking.store import open_store
from aisr.tracking.ui import OFFLINE
from support.commands import Aisr
from support.loopback import Loopback, serve
from support.paths import ROOT, SAMPLE
from support.servers import Proxy, answering, free_port, proxy

KEY, TOKEN, PASSWORD = "sk-planted-c07d1e", "planted-t0ken-a4", "planted-passw0rd"
FEW = ("--max-train", 6, "--max-dev", 4, "--max-test", 2, "--candidates", 1, "--budget", "light")
HOST = "ml.example"  # the server's name
USERS = ("mia", "ada", "bob")  # an administrator, one who may edit runs alone, one who may read
SETTINGS = f"""[mlflow]
default_permission = READ
database_uri = sqlite:///auth.db
admin_username = mia
admin_password = {PASSWORD}
authorization_function = mlflow.server.auth:authenticate_request_basic_auth
"""
pytestmark = pytest.mark.slow


class Team(NamedTuple):
    """A server with users; `folder` is where it keeps everything, and `address` what a user sets."""

    folder: Path
    proxy: Proxy

    def address(self, user: str) -> str:
        return f"http://{user}:{PASSWORD}@127.0.0.1:{self.proxy.port}"


@pytest.fixture(scope="module")
def team(fresh_store: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    pytest.importorskip("flask_wtf", reason="the extra `auth` of MLflow is not installed")
    folder, port = tmp_path_factory.mktemp("server"), free_port()
    fresh_store(folder).joinpath(".mlflow", "mlflow.db").rename(folder / "mlflow.db")
    (folder / "auth.ini").write_text(SETTINGS)
    secret = {"MLFLOW_AUTH_CONFIG_PATH": str(folder / "auth.ini"), "MLFLOW_FLASK_SERVER_SECRET_KEY": "of-a-test"}
    env, command = {**os.environ, **OFFLINE, **secret}, documented(folder, port)
    with answering(command, port, env, folder, folder / "log"), proxy(port, HOST) as before:
        yield Team(folder, before)


def documented(folder: Path, port: int) -> list[str]:
    """The command of docs/mlflow.md that starts the server, over SQLite in the place of PostgreSQL."""
    (line,) = re.findall(
        r"mlflow server --app-name (?:.*\\\n)*.*", (ROOT / "docs" / "mlflow.md").read_text(encoding="utf-8")
    )
    changes = {"postgresql:///mlflow": f"sqlite:///{folder / 'mlflow.db'}", "$PWD": str(folder), "NAME": HOST}
    for written, ours in {"--port 5000": f"--port {port} --workers 1", **changes}.items():
        assert written in line
        line = line.replace(written, ours)
    return [sys.executable, "-m", *shlex.split(line.replace("\\\n", " "))]


@pytest.fixture
def language(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Loopback]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    with serve() as server:
        yield server


def lm_words(language: Loopback) -> list[object]:
    return ["--lm", "openai/gpt-4o-mini", "--api-base", language.url.replace("/v1", f"/{TOKEN}/v1")]


def search_words(language: Loopback, name: str) -> list[object]:
    search = ["--task", "track1", "--data", SAMPLE / "track1", "--optimizer", "labeled", *FEW, *lm_words(language)]
    return ["compile", *search, "--name", name, "--artifacts", "mine"]


def test_what_one_compiles_another_uses_with_nothing_but_the_address(
    aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, team: Team, language: Loopback
) -> None:
    """In at most 60 requests, by how the spans of traces go together; no secret is printed or stored, and traces go
    nowhere else."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", team.address("mia"))
    with serve() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        compiled = aisr(*search_words(language, "first"))
        assert collector.requests == []
    sent = len(team.proxy.requests)
    assert sent <= 60, "\n".join(team.proxy.requests)
    other = ["--program", "models:/aisr-track1@champion", "--task", "track1", "--artifacts", "other"]
    data = ["--data", SAMPLE / "track1" / "test.jsonl", "--limit", 3]
    evaluated = aisr("evaluate", *other, *lm_words(language), *data)
    assert (compiled.code, evaluated.code) == (0, 0), compiled.err + evaluated.err
    client = open_store(tmp_path / "other").MlflowClient()
    (experiment,) = [e for e in client.search_experiments() if e.name == "aisr track1"]
    runs = client.search_runs([experiment.experiment_id], order_by=["start_time"])
    page = f"http://127.0.0.1:{team.proxy.port}/#/experiments/{experiment.experiment_id}/runs"
    for run, done in zip(runs, (compiled, evaluated), strict=True):
        assert run.info.artifact_uri.startswith("mlflow-artifacts:/")
        assert f"run {run.info.run_id} · {page}/{run.info.run_id}\n" in done.out
        assert client.search_traces(locations=[experiment.experiment_id], run_id=run.info.run_id)
    logged = {file.name for file in (team.folder / "files").rglob("*.*")}
    assert {"program.json", "manifest.json", "records.json", "report.html", "PROMPT.md"} <= logged
    assert not (tmp_path / "mine" / ".mlflow").exists()
    assert not (tmp_path / "mlruns").exists()
    (team.folder / "auth.ini").unlink()
    stored = subprocess.run(["grep", "-rlE", f"{KEY}|{TOKEN}|{PASSWORD}", tmp_path, team.folder], capture_output=True)
    assert (stored.returncode, stored.stdout) == (1, b"")
    assert not re.search(f"{KEY}|{TOKEN}|{PASSWORD}", f"{compiled}{evaluated}")


def test_what_the_server_will_not_take_is_said_before_anything_is_spent(
    aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, team: Team, language: Loopback
) -> None:
    """And leaves no run."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", team.address("mia"))
    assert aisr(*search_words(language, "known")).code == 0
    admin = open_store(tmp_path).MlflowClient()
    number = admin.get_experiment_by_name("aisr track1").experiment_id
    add_users(team, number)
    runs, spent = len(admin.search_runs([number])), len(language.requests)

    def refusal(user: str, *words: object) -> str:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", team.address(user))
        finished = aisr(*(words or search_words(language, "other")))
        assert (finished.code, len(finished.messages)) == (2, 1), finished.err
        assert "the same command" not in finished.err
        return finished.err

    assert f"a run of the experiment aisr track1 (its id is {number})" in refusal("bob")
    refused = refusal("ada")
    assert "does not take a version of the registered model aisr-track1: " in refused
    assert "whoever runs the server may grant it (EDIT)" in refused
    grant(team, number, granted()[1:])
    monkeypatch.setenv("MLFLOW_TRACKING_URI", team.address("ada"))
    allowed = aisr(*search_words(language, "allowed"))
    assert allowed.code == 0, allowed.err
    runs, spent = runs + 1, len(language.requests)
    monkeypatch.setattr(team.proxy, "most", 1_000_000)
    assert "a proxy before the server takes no file of 1.2 MB: raise its limit" in refusal("mia")
    monkeypatch.setattr(team.proxy, "most", 10**9)
    assert len(admin.search_runs([number], run_view_type=3)) == runs
    admin.delete_experiment(number)
    evaluate = ["evaluate", "--program", "mine/track1/known", "--task", "track1", *lm_words(language)]
    for words in ([], [*evaluate, "--data", SAMPLE / "track1" / "test.jsonl", "--artifacts", "mine"]):
        assert f"mlflow experiments restore -x {number}`" in refusal("mia", *words)
    assert len(language.requests) == spent


def test_a_server_below_a_path_is_reached_by_an_address_with_that(
    fresh_store: Callable[[Path], Path], aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loopback: Loopback
) -> None:
    port = free_port()
    store = fresh_store(tmp_path / "server") / ".mlflow" / "mlflow.db"
    serve_at = ["--static-prefix", "/ml", "--port", str(port), "--workers", "1", "--host", "127.0.0.1"]
    places = ["--backend-store-uri", f"sqlite:///{store}", "--artifacts-destination", str(tmp_path / "files")]
    command = [sys.executable, "-m", "mlflow", "server", *serve_at, *places]
    address = f"http://127.0.0.1:{port}/ml"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    lm = ["--lm", "openai/local", "--api-base", loopback.url, "--artifacts", tmp_path / "mine"]
    few = ["--data", SAMPLE / "track1" / "test.jsonl", "--limit", 2]
    with answering(command, port, {**os.environ, **OFFLINE}, tmp_path, tmp_path / "log", "/ml/health"):
        done = aisr("evaluate", "--task", "track1", "--program", ROOT / "artifacts" / "example-track1", *few, *lm)
        assert f" · {address}/#/experiments/1/runs/" in done.out, done.err
        assert httpx.get(f"{address}/").status_code == 200
    assert {"report.html", "records.json"} <= {file.name for file in (tmp_path / "files").rglob("*")}


def test_the_page_of_the_server_may_post_and_another_may_not(team: Team) -> None:
    for origin, status in ((f"https://{HOST}", 200), ("https://elsewhere.example", 403)):
        answer = httpx.post(
            f"http://127.0.0.1:{team.proxy.port}/ajax-api/2.0/mlflow/experiments/search",
            json={"max_results": 1},
            headers={"Origin": origin},
            auth=("mia", PASSWORD),
        )
        assert answer.status_code == status


def add_users(team: Team, experiment: str) -> None:
    for user in USERS[1:]:
        ask_server(team, "2.0/mlflow/users/create", {"username": user, "password": PASSWORD})
    grant(team, experiment, granted()[:1])


def granted() -> list[tuple[str, str]]:
    """What docs/mlflow.md grants to whoever compiles: kinds and names, the experiment first."""
    page = (ROOT / "docs" / "mlflow.md").read_text(encoding="utf-8")
    return re.findall(r'grant_user_permission\("ada", "(\w+)", "([^"]+)", "EDIT"\)', page)


def grant(team: Team, experiment: str, permissions: list[tuple[str, str]]) -> None:
    for kind, name in permissions:
        about = {"resource_type": kind, "resource_id": experiment if kind == "experiment" else name}
        ask_server(team, "3.0/mlflow/users/permissions/grant", {"username": "ada", **about, "permission": "EDIT"})


def ask_server(team: Team, path: str, body: dict[str, str]) -> None:
    """As `mlflow.server.get_app_client` does, whose import warns."""
    address = f"http://127.0.0.1:{team.proxy.port}/api/{path}"
    httpx.post(address, json=body, auth=("mia", PASSWORD), timeout=60).raise_for_status()
