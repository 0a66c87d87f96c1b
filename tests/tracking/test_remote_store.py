"""A tracking server: everything that is logged and registered goes through HTTP, as it does for a team."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from aisr.tracking.store import open_store
from support.commands import Aisr
from support.loopback import HttpRequest, Loopback, judged, serve
from support.paths import SAMPLE
from support.servers import Store, tracking_server

KEY, TOKEN, PASSWORD = "sk-planted-c07d1e", "planted-t0ken-a4", "planted-passw0rd"
FEW = ("--max-train", "6", "--max-dev", "4", "--max-test", "2", "--candidates", "1", "--budget", "light")


class Team(NamedTuple):
    """What two people did through one server: `mine` compiled and evaluated, `other` has the address alone.
    printed: what each command printed."""

    place: Path
    server: Store
    language: Loopback
    lm: list[object]
    printed: list[str]

    def run(self, aisr: Aisr, *words: object, code: int = 0) -> str:
        finished = aisr(*words, *self.lm)
        assert finished.code == code, finished.err
        self.printed.append(finished.out + finished.err)
        return self.printed[-1]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory, fresh_store: Callable[[Path], Path]) -> Iterator[Team]:
    place = tmp_path_factory.mktemp("team")
    fresh_store(place / "server").joinpath(".mlflow", "mlflow.db").rename(place / "server" / "mlflow.db")
    with serve() as language, tracking_server(place / "server") as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.setenv("MLFLOW_TRACKING_URI", f"http://me:{PASSWORD}@127.0.0.1:{server.port}")
        patch.chdir(place)
        lm: list[object] = ["--lm", "openai/gpt-4o-mini", "--api-base", language.url.replace("/v1", f"/{TOKEN}/v1")]
        yield Team(place, server, language, lm, [])


DATA = SAMPLE / "track1" / "test.jsonl"


@pytest.mark.slow
def test_what_one_compiles_another_uses_with_nothing_but_the_address(team: Team, aisr: Aisr) -> None:
    search = ["--task", "track1", "--data", SAMPLE / "track1", "--optimizer", "labeled", *FEW]
    compiled = team.run(aisr, "compile", *search, "--name", "first", "--artifacts", "mine")
    other: list[object] = ["--program", "models:/aisr-track1@champion", "--task", "track1", "--artifacts", "other"]
    evaluated = team.run(aisr, "evaluate", *other, "--data", DATA, "--limit", 3)
    client = open_store(team.place / "other").MlflowClient()
    (experiment,) = [e for e in client.search_experiments() if e.name == "aisr track1"]
    runs = client.search_runs([experiment.experiment_id], order_by=["start_time"])
    page = f"http://127.0.0.1:{team.server.port}/#/experiments/{experiment.experiment_id}/runs"
    for run, output in zip(runs, (compiled, evaluated), strict=True):
        assert run.info.artifact_uri.startswith("mlflow-artifacts:/")
        assert f"run {run.info.run_id} · {page}/{run.info.run_id}" in output
        read = aisr("report", run.info.run_id, "--artifacts", "other", "--out", team.place / "page.html")
        assert read.code == 0, read.err
    assert {"program.json", "manifest.json", "records.json", "report.html", "confusion.png"} <= team.server.files()
    assert not (team.place / "mine" / ".mlflow").exists()
    assert not (team.place / "mlruns").exists()


@pytest.mark.slow
def test_a_server_that_goes_away_takes_no_result_with_it(team: Team, aisr: Aisr) -> None:
    """It ends while the LM is asked. Then nothing is asked any more. And no secret was ever printed or stored."""

    def answer(request: HttpRequest) -> str:
        team.server.stop()
        return judged(request)

    team.language.reply = answer
    words = ["evaluate", "--task", "track1", "--program", team.place / "mine" / "track1" / "first", "--data", DATA]
    lost = team.run(aisr, *words, "--limit", 8, code=1)
    assert "ranking score" in lost
    assert "error: not logged to MLflow: MLFLOW_TRACKING_URI http://127.0.0.1:" in lost
    sent = len(team.language.requests)
    assert "Connection refused" in team.run(aisr, *words, code=2)
    assert len(team.language.requests) == sent
    files = [file for file in team.place.rglob("*") if file.is_file()]
    assert {"mlflow.db", "log", "manifest.json"} <= {file.name for file in files}
    for secret in (KEY, TOKEN, PASSWORD):
        assert not [output for output in team.printed if secret in output]
        assert not [file for file in files if secret.encode() in file.read_bytes()]
