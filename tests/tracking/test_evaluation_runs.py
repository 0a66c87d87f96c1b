"""Evaluations as MLflow runs, and the error browser of a run that was logged."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aisr.tracking import runs
from aisr.tracking.store import open_store
from support.commands import Aisr, Finished
from support.compiled import KEY, Compiled, compile_words
from support.loopback import Loopback
from support.paths import SAMPLE

TEST = SAMPLE / "track1" / "test.jsonl"


class Logged(NamedTuple):
    """A compile, and an evaluation of its program with --output."""

    root: Path
    client: Any
    runs: dict[str, Any]
    evaluated: Finished

    @property
    def output(self) -> Path:
        return self.root.parent / "scores.json"

    @property
    def program(self) -> Path:
        return self.root / "track1" / "first"


@pytest.fixture(scope="module")
def logged(compiled: Compiled, tmp_path_factory: pytest.TempPathFactory, aisr: Aisr) -> Logged:
    made = compiled.copied(tmp_path_factory.mktemp("logged") / "artifacts")
    root = made.root
    words = ["--task", "track1", "--program", made.folder(), "--data", TEST, "--limit", 6]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.chdir(root.parent)
        evaluated = aisr("evaluate", *words, "--output", root.parent / "scores.json", *made.lm)
    assert evaluated.code == 0, evaluated.err
    client = open_store(root).MlflowClient()
    (experiment,) = [e for e in client.search_experiments() if e.name == "aisr track1"]
    found = client.search_runs([experiment.experiment_id], order_by=["start_time"])
    return Logged(root, client, dict(zip(("compile", "evaluate"), found, strict=True)), evaluated)


def test_an_evaluation_has_the_scores_that_it_printed(logged: Logged) -> None:
    run, printed = logged.runs["evaluate"], logged.evaluated.out
    metrics = run.data.metrics
    scores = re.search(
        r"ranking score (\S+)   95 % interval \[(\S+), (\S+)\]\n  macro-F1 (\S+)   paragraph exact match (\S+)\n",
        printed,
    )
    assert scores is not None
    stored = [100 * metrics[part] for part in ("score", "score_low", "score_high", "macro_f1", "pem")]
    assert stored == pytest.approx([*map(float, scores.groups())], abs=0.056)  # a tenth, from a hundredth of a point
    assert metrics["failed"] == 0
    assert run.info.end_time - run.info.start_time >= 1000 * metrics["seconds"] - 100  # the work, not its logging
    calls, cached = int(metrics["lm_calls"]), int(metrics["lm_cached_calls"])
    assert f"{calls} LM calls (+{cached} from the cache), {int(metrics['prompt_tokens'])} prompt and " in printed
    assert f"{metrics['usd']:.4f} USD" in printed


def test_an_evaluation_keeps_scores_records_page_and_figures(logged: Logged, tmp_path: Path) -> None:
    run = logged.runs["evaluate"]
    place = Path(logged.client.download_artifacts(run.info.run_id, "evaluation", str(tmp_path)))
    files = {str(file.relative_to(place)) for file in place.rglob("*") if file.is_file()}
    assert files == {"report.json", "records.json", "report.html", "figures/confusion.png"}
    report = json.loads((place / "report.json").read_text(encoding="utf-8"))
    assert round(report["score"], 4) == run.data.metrics["score"]
    assert report == json.loads(logged.output.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["compile", "evaluate"])
def test_the_page_of_a_logged_run_is_written_again(
    logged: Logged, aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run = logged.runs[name].info.run_id
    finished = aisr("report", run, "--artifacts", logged.root)
    assert finished.code == 0, finished.err
    page = tmp_path / f"report-{run[:8]}.html"
    assert "data:image/webp;base64," in page.read_text(encoding="utf-8")
    assert f"wrote {page.name}: 6 records" in finished.out
    beside = logged.program if name == "compile" else logged.root.parent / "scores-report"
    assert aisr("report", beside, "--out", tmp_path / "again.html").code == 0
    assert page.read_bytes() == (tmp_path / "again.html").read_bytes()


# --- stores that are not there


@pytest.mark.parametrize("address", ["http://me:sw0rdfish-9@127.0.0.1:9", "foo://x"])
def test_a_store_out_of_reach_shows_itself_before_anything_is_spent(
    logged: Logged, aisr: Aisr, loopback: Loopback, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    lm = ["--lm", "openai/x", "--api-base", loopback.url, "--artifacts", logged.root, "--task", "track1"]
    for words in (
        compile_words("track1", "other", "labeled", lm),
        ["evaluate", "--program", logged.program, "--data", TEST, "--limit", 2, *lm],
    ):
        finished = aisr(*words)
        assert finished.code == 2
        assert finished.err.startswith(f"error: MLFLOW_TRACKING_URI {address.replace('me:sw0rdfish-9@', '')}: ")
        assert "sw0rdfish-9" not in finished.err
        assert len(finished.err.splitlines()) == 1
    assert not loopback.requests
    assert aisr(*words, "--no-track").code == 0


def gone(*args: object) -> None:
    raise ConnectionResetError("the store went away")


def test_a_store_that_goes_away_takes_no_result_with_it(
    logged: Logged, aisr: Aisr, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scores are printed and the artifact is whole; the same command logs it without another call."""
    lm = ["--lm", "openai/x", "--api-base", loopback.url, "--artifacts", logged.root]
    words = compile_words("track1", "late", "labeled", lm)
    with monkeypatch.context() as patch:
        patch.setattr(runs, "_experiment", gone)
        finished = aisr(*words)
    assert finished.code == 1
    assert "the store went away; the same command " in finished.err
    assert "on the held-out test split" in finished.out
    files = {file.name for file in (logged.root / "track1" / "late").iterdir()}
    assert {"program.json", "manifest.json", "report.html"} <= files
    sent = len(loopback.requests)
    again = aisr(*words)
    assert again.code == 0, again.err
    assert re.search(r"\brun [0-9a-f]{32}", again.out)
    assert len(loopback.requests) == sent
