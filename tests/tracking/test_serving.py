"""The registered model behind `mlflow.pyfunc.load_model` and `mlflow models serve`: clear about bad input."""

import json
import logging
import os
import sys
import threading
import urllib.request
from collections.abc import Callable
from copy import copy
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError

import pytest

import aisr
from aisr import LMUnavailable
from aisr.programs.track1 import TRACK1
from aisr.tracking.store import open_store
from support.compiled import Compiled
from support.corpora import read_rows, write
from support.paths import ROOT, SAMPLE
from support.runs import save_program
from support.servers import answering, free_port, listens

KEY = "sk-planted-91c4d2"


@pytest.fixture(scope="module")
def registered(compiled: Compiled, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """An artifacts folder with a champion of each track, and the LM that they were compiled with."""
    return compiled.copied(tmp_path_factory.mktemp("serving") / "artifacts")


def records(task: str, count: int = 2) -> list[dict[str, Any]]:
    return read_rows(SAMPLE / task / "test-inputs.jsonl")[:count]


@pytest.fixture
def model(registered: Compiled, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Loads the champion of a task, as a user of MLflow does."""
    monkeypatch.setenv("AISR_LM", "openai/gpt-4o-mini")
    monkeypatch.setenv("AISR_API_BASE", registered.server.url)
    mlflow = open_store(registered.root)
    return lambda task: mlflow.pyfunc.load_model(f"models:/aisr-{task}@champion")


def predicted(aisr: Any, registered: Compiled, task: str, folder: Path) -> list[dict[str, Any]]:
    """What `aisr predict` says of the same records, without probabilities."""
    data, out = write(folder / "inputs.jsonl", records(task)), folder / "out.jsonl"
    words = ["predict", "--task", task, "--program", f"models:/aisr-{task}@champion", "--data", data, "--out", out]
    lm = ["--lm", "openai/gpt-4o-mini", "--api-base", registered.server.url, "--artifacts", registered.root]
    assert aisr(*words, *lm).code == 0
    return [{key: value for key, value in line.items() if key != "probabilities"} for line in read_rows(out)]


@pytest.mark.parametrize("task", ["track1", "track2"])
def test_it_predicts_what_the_command_does(
    registered: Compiled, model: Callable[[str], Any], aisr: Any, tmp_path: Path, task: str
) -> None:
    assert model(task).predict(records(task)) == predicted(aisr, registered, task, tmp_path)


def test_a_bad_record_is_named_with_its_field_and_not_repeated(model: Callable[[str], Any]) -> None:
    import mlflow

    loaded = model("track1")
    with pytest.raises(mlflow.MlflowException) as refused:
        loaded.predict([*records("track1"), {"claim_text": "x"}])
    assert "records[2]: evidence_bundle: Field required" in refused.value.message
    assert refused.value.get_http_status_code() == 400
    assert len(refused.value.message) < 300


def test_loading_from_python_changes_nothing_of_the_process_and_makes_no_store(
    registered: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dspy
    import mlflow

    def state() -> list[Any]:
        levels = [logging.getLogger(name).level for name in ("mlflow", "alembic", "dspy", "LiteLLM")]
        return [dict(os.environ), mlflow.get_tracking_uri(), mlflow.get_registry_uri(), dspy.settings.lm, levels]

    monkeypatch.chdir(tmp_path)
    before = state()
    lm = aisr.open_lm("openai/gpt-4o-mini", api_base=registered.server.url)
    program = aisr.load("models:/aisr-track1@champion", artifacts=registered.root)
    assert [one.failure for one in program.judge_all(records("track1"), lm)] == [None, None]
    assert state() == before
    assert list(tmp_path.iterdir()) == []


def test_no_stored_file_names_what_is_imported_or_asked(
    registered: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task of another package, and any LM but the built-in one, are named by whoever loads the program."""
    from aisr.serving import RegisteredProgram

    mlflow = open_store(registered.root)
    with pytest.raises(LMUnavailable, match="compiled with openai/gpt-4o-mini: set AISR_LM to that"):
        mlflow.pyfunc.load_model("models:/aisr-track1@champion")
    mine = copy(TRACK1)
    mine.name = "mine"
    file, served = save_program(tmp_path / "mine", mine, mine.build({})) / "program.json", RegisteredProgram()
    config = {"lm": "embedded", "schema": True, "logprobs": True, "task": "stranger:MINE"}
    context = SimpleNamespace(artifacts={"program": str(file)}, model_config=config)
    with pytest.raises(aisr.UserError, match=r"'mine' is none of .* or in AISR_TASK where MLflow serves it"):
        served.load_context(context)
    code = "import copy\nfrom aisr.programs.track1 import TRACK1\nMINE = copy.copy(TRACK1)\nMINE.name = 'mine'\n"
    (tmp_path / "stranger.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("AISR_TASK", "stranger:MINE")
    served.load_context(context)
    assert (served.program.task, served.lm.spec) == ("mine", "embedded")


@pytest.mark.slow
def test_over_http(registered: Compiled, aisr: Any, tmp_path: Path) -> None:
    """By MLflow's own command, with what docs/mlflow.md says must be set."""
    port, home, here = free_port(), tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    serve = ["models", "serve", "-m", "models:/aisr-track1@champion", "--env-manager", "local", "--port", str(port)]
    unset = ("DSPY_", "MLFLOW_", "AISR_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(unset)} | {
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "MLFLOW_TRACKING_URI": f"sqlite:///{registered.root / '.mlflow' / 'mlflow.db'}",
        "AISR_LM": "openai/gpt-4o-mini",
        "AISR_API_BASE": registered.server.url,
        "DSPY_CACHEDIR": str(tmp_path / "cache"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = [sys.executable, "-m", "mlflow", *serve, "--host", "127.0.0.1"]
    with answering(command, port, "/health", env, here, tmp_path / "log") as process:
        status, answer = post(port, {"inputs": records("track1")})
        assert status == 200
        assert answer["predictions"] == predicted(aisr, registered, "track1", tmp_path)
        bad: list[Any] = [{"inputs": [{"claim_text": "x"}]}, {}, {"inputs": 3}, {"dataframe_split": {}}, []]
        for body in bad:
            status, answer = post(port, body)
            assert status == 400
            assert "Traceback" not in json.dumps(answer)
        process.terminate()
        process.wait(30)
        gone = (not listens(port) or threading.Event().wait(0.1) for _ in range(300))
        assert any(gone), "the server outlived the command"
    assert list(here.iterdir()) == []


def post(port: int, body: Any) -> tuple[int, Any]:
    sent = urllib.request.Request(
        f"http://127.0.0.1:{port}/invocations", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(sent, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except HTTPError as error:
        with error:
            return error.code, json.loads(error.read())
