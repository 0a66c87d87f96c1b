"""The registered model behind `mlflow.pyfunc.load_model` and `mlflow models serve`: clear about bad input."""

import os
import sys
import warnings
from copy import copy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from mlflow import MlflowException

import aisr
from aisr import LMUnavailable
from aisr.programs.track1 import TRACK1
from aisr.tracking.store import open_store
from support.compiled import Compiled
from support.corpora import read_rows
from support.paths import ROOT, SAMPLE
from support.runs import save_program
from support.servers import answering, free_port


@pytest.fixture(scope="module")
def registered(compiled: Compiled, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """An artifacts folder with a champion of each track, and the LM that they were compiled with."""
    return compiled.copied(tmp_path_factory.mktemp("serving") / "artifacts")


def test_no_stored_file_names_what_is_imported_or_asked(
    registered: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task of another package, and any LM but the built-in one, are named by whoever loads the program."""
    from aisr.serving import RegisteredProgram

    monkeypatch.delenv("AISR_LM")
    mlflow = open_store(registered.root)
    needed = pytest.raises(LMUnavailable, match="compiled with openai/gpt-4o-mini: set AISR_LM to that")
    with warnings.catch_warnings(record=True) as shown, needed:
        mlflow.pyfunc.load_model("models:/aisr-track1@champion")
    assert not [one for one in shown if "AnyType" in str(one.message)]  # records have a type
    mine = copy(TRACK1)
    mine.name = "mine"
    file, served = save_program(tmp_path / "mine", mine, mine.build({})) / "program.json", RegisteredProgram()
    config = {"lm": "embedded", "schema": True, "logprobs": True, "task": "another_task:MINE"}
    context = SimpleNamespace(artifacts={"program": str(file)}, model_config=config)
    with pytest.raises(aisr.UserError, match=r"'mine' is none of .* or in AISR_TASK where MLflow serves it"):
        served.load_context(context)
    code = "import copy\nfrom aisr.programs.track1 import TRACK1\nMINE = copy.copy(TRACK1)\nMINE.name = 'mine'\n"
    (tmp_path / "another_task.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("AISR_TASK", "another_task:MINE")
    served.load_context(context)
    assert (served.program.task, served.lm.spec) == ("mine", "embedded")


def test_calls_at_a_time_seconds_and_dollars_are_of_the_environment_and_no_answer_holds_the_address(
    registered: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aisr.serving import RegisteredProgram, ServedRecord

    address = f"http://127.0.0.1:{free_port()}/v1"
    settings = {"LM": "openai/gpt-4o-mini", "API_BASE": address, "THREADS": "3", "TIMEOUT": "5", "MAX_USD": "0.5"}
    for name, value in settings.items():
        monkeypatch.setenv(f"AISR_{name}", value)
    config = {"lm": "openai/gpt-4o-mini", "schema": True, "logprobs": False}
    file, served = registered.folder() / "program.json", RegisteredProgram()
    served.load_context(SimpleNamespace(artifacts={"program": str(file)}, model_config=config))
    opened = served.lm.opened
    assert (served.lm.threads, opened.config.timeout, opened.ledger.limits.usd) == (3, 5, 0.5)
    opened.contact.first_wait = 0.001
    (row, *_) = read_rows(SAMPLE / "track1" / "test-inputs.jsonl")
    with pytest.raises(MlflowException, match="the language model does not answer: ") as refused:
        served.predict([ServedRecord.model_validate(row)])
    assert refused.value.get_http_status_code() == 503
    assert address not in refused.value.message
    monkeypatch.setenv("AISR_MAX_USD", "much")
    with pytest.raises(aisr.UserError, match="AISR_MAX_USD: 'much' is no number"):
        served.load_context(SimpleNamespace(artifacts={"program": str(file)}, model_config=config))


@pytest.mark.slow
def test_over_http(registered: Compiled, tmp_path: Path) -> None:
    """By MLflow's own command, with what docs/mlflow.md says must be set."""
    records = read_rows(SAMPLE / "track1" / "test-inputs.jsonl")[:2]
    lm = aisr.open_lm("openai/gpt-4o-mini", api_base=registered.server.url)
    verdicts = aisr.load(registered.folder()).judge_all(records, lm)
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
    with answering(command, port, env, here, tmp_path / "log"), httpx.Client(timeout=60) as client:
        address = f"http://127.0.0.1:{port}/invocations"
        done = client.post(address, json={"inputs": records})
        assert done.status_code == 200
        assert done.json()["predictions"] == [verdict.line for verdict in verdicts]
        bad: list[Any] = [{"inputs": [{"claim_text": "x"}]}, {}, {"inputs": 3}, {"dataframe_split": {}}, []]
        for body in bad:
            done = client.post(address, json=body)
            assert done.status_code == 400
            assert "Traceback" not in done.text
    assert list(here.iterdir()) == []
