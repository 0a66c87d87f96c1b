"""A tracking server: everything that is logged and registered goes through HTTP, as it does for a team."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aisr.tracking.store import open_store
from support.commands import Aisr, sets
from support.loopback import HttpRequest, Loopback, judged, serve
from support.paths import SAMPLE
from support.servers import Store, tracking_server

KEY, TOKEN, PASSWORD = "sk-planted-c07d1e", "planted-t0ken-a4", "planted-passw0rd"
FEW = sets("limits.train=6", "limits.dev=4", "limits.test=2", "search.decide=false")  # with a layer no LM is asked


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("inspect", "models:/aisr-track1@champion"), r'{"model_version": {"version": "\ud800"}}'),
        (
            ("inspect", "models:/aisr-track1@champion"),
            '{"model_version": {"name": "a", "version": "1", "source": "models:/m"}, "artifact_uri": "s3://a/b"}',
        ),
        (("promote", "models:/aisr-track1/1"), '{"model_version": 5}'),
        (("report", "0123456789abcdef0123456789abcdef"), '{"run": {"info": 7}}'),
    ],
)
def test_a_server_that_is_no_store_is_told_in_a_line(
    aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, str], answer: str
) -> None:
    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer.encode())

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
        finished = aisr(*words, "--artifacts", tmp_path)
        server.shutdown()
    assert finished.code == 2
    assert f"http://127.0.0.1:{server.server_port}: " in finished.err
    assert "expected the answer of an MLflow server" in finished.err
    assert len(finished.err.splitlines()) == 1


class Team(NamedTuple):
    """What two people did through one server: `mine` compiled twice, evaluated and promoted, `other` has the address
    alone. printed: what each command said, by its name."""

    place: Path
    server: Store
    language: Loopback
    lm: list[object]
    printed: dict[str, str]

    def run(self, aisr: Aisr, name: str, *words: object) -> str:
        finished = aisr(*words)
        assert finished.code == 0, finished.err
        self.printed[name] = finished.out + finished.err
        return str(finished.out)

    @property
    def client(self) -> Any:
        return open_store(self.place / "mine").MlflowClient()

    @property
    def runs(self) -> list[Any]:
        (experiment,) = [e for e in self.client.search_experiments() if e.name == "aisr track1"]
        return list(self.client.search_runs([experiment.experiment_id], order_by=["start_time"]))


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory, fresh_store: Callable[[Path], Path], aisr: Aisr) -> Iterator[Team]:
    place = tmp_path_factory.mktemp("team")
    fresh_store(place / "server").joinpath(".mlflow", "mlflow.db").rename(place / "server" / "mlflow.db")
    with serve() as language, tracking_server(place / "server") as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.setenv("MLFLOW_TRACKING_URI", f"http://me:{PASSWORD}@127.0.0.1:{server.port}")
        patch.chdir(place)
        lm: list[object] = ["--lm", "openai/gpt-4o-mini", "--api-base", language.url.replace("/v1", f"/{TOKEN}/v1")]
        made = Team(place, server, language, lm, {})
        mine = ["--artifacts", place / "mine"]
        search = ["--task", "track1", "--data", SAMPLE / "track1", "--set", "search.candidates=1", *FEW, *lm, *mine]
        made.run(aisr, "first", "compile", "--optimizer", "labeled", "--name", "first", *search)
        made.run(aisr, "second", "compile", "--optimizer", "labeled", "--demos", 1, "--name", "second", *search)
        made.run(aisr, "promote", "promote", "models:/aisr-track1/2", "--anyway", *mine)
        data = ["--data", SAMPLE / "track1" / "test.jsonl", "--limit", 3]
        made.run(aisr, "evaluate", "evaluate", *champion(place), *data, *lm)
        yield made


def champion(place: Path) -> list[object]:
    return ["--program", "models:/aisr-track1@champion", "--task", "track1", "--artifacts", place / "other"]


@pytest.mark.slow
def test_all_runs_of_a_team_are_on_the_server_and_are_named_with_its_address(team: Team) -> None:
    runs = team.runs
    assert [run.data.tags["aisr.kind"] for run in runs] == ["compile", "compile", "evaluate"]
    assert [run.data.tags.get("aisr.champion") for run in runs] == ["no", "yes", None]
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert all(run.info.artifact_uri.startswith("mlflow-artifacts:/") for run in runs)
    page = f"http://127.0.0.1:{team.server.port}/#/experiments/{runs[0].info.experiment_id}/runs"
    for run, name in zip(runs, ("first", "second", "evaluate"), strict=True):
        assert f"run {run.info.run_id} · {page}/{run.info.run_id}" in team.printed[name]
    assert {"program.json", "manifest.json", "records.json", "report.html", "confusion.png"} <= team.server.files()
    assert not (team.place / "mine" / ".mlflow").exists()
    assert not (team.place / "mlruns").exists()


@pytest.mark.slow
def test_another_predicts_and_reads_with_nothing_but_the_address(team: Team, aisr: Aisr) -> None:
    inputs, out = team.place / "inputs.jsonl", team.place / "out.jsonl"
    lines = (SAMPLE / "track1" / "test-inputs.jsonl").read_bytes().splitlines(keepends=True)
    inputs.write_bytes(b"".join(lines[:3]))
    other = champion(team.place)
    team.run(aisr, "predict", "predict", *other, "--data", inputs, "--out", out, *team.lm)
    assert len(out.read_text(encoding="utf-8").splitlines()) == 3
    assert "Decision layer" in team.run(aisr, "inspect", "inspect", other[1], *other[4:])
    written = ["--out", team.place / "technical.md", *other[4:]]
    team.run(aisr, "techreport", "techreport", "models:/aisr-track1/1", *written)
    for run in team.runs[1:]:
        team.run(aisr, run.info.run_id, "report", run.info.run_id, *other[4:], "--out", team.place / "page.html")
        assert (team.place / "page.html").stat().st_size > 10_000


@pytest.mark.slow
def test_a_server_that_goes_away_takes_no_result_with_it(team: Team, aisr: Aisr) -> None:
    """It ends while the LM is asked. Then nothing is asked any more."""
    other = ["--task", "track1", "--program", team.place / "mine" / "track1" / "second", *team.lm]
    data = ["--data", SAMPLE / "track1" / "dev.jsonl", "--limit", 8]

    def answer(request: HttpRequest) -> str:
        team.server.stop()
        return judged(request)

    team.language.reply = answer
    lost = aisr("evaluate", *other, *data)
    assert lost.code == 1
    assert "ranking score" in lost.out
    assert lost.err.startswith("error: not logged to MLflow: MLFLOW_TRACKING_URI http://127.0.0.1:")
    sent = len(team.language.requests)
    refused = aisr("evaluate", *other, *data[:2])
    assert refused.code == 2
    assert "Connection refused; expected a store that answers" in refused.err
    assert len(team.language.requests) == sent
    team.printed["lost"] = lost.out + lost.err + refused.out + refused.err


@pytest.mark.slow
def test_no_secret_is_printed_or_stored(team: Team) -> None:
    files = [file for file in team.place.rglob("*") if file.is_file()]
    assert {"mlflow.db", "log", "manifest.json"} <= {file.name for file in files}
    for secret in (KEY, TOKEN, PASSWORD):
        assert not [name for name, text in team.printed.items() if secret in text]
        assert not [file for file in files if secret.encode() in file.read_bytes()]
