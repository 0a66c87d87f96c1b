"""The registered model behind `mlflow.pyfunc.load_model` and `mlflow models serve`: typed, clear about bad input."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.error import HTTPError

import pytest
from corpora import SAMPLE
from loopback import Loopback, serve
from test_server import free_port, wait_until

from optimize import artifact
from optimize.store import open_store
from optimize.tasks import TRACK1

KEY = "sk-planted-91c4d2"
FEW = ("--limit-train", 6, "--limit-dev", 4, "--limit-test", 2)


class Registered(NamedTuple):
    """An artifacts folder with a champion of each track, and the LM that they were compiled with."""

    root: Path
    server: Loopback


@pytest.fixture(scope="module")
def registered(
    tmp_path_factory: pytest.TempPathFactory, fresh_store: Callable[[Path], Path], aisr: Callable[..., Any]
) -> Iterator[Registered]:
    root = fresh_store(tmp_path_factory.mktemp("serving") / "artifacts")
    with serve() as server, pytest.MonkeyPatch.context() as patch:
        patch.chdir(root.parent)
        lm = ["--lm", "openai/local", "--api-base", server.url, "--artifacts", root]
        for task in ("track1", "track2"):
            words = ["compile", "--task", task, "--data", SAMPLE / task, "--optimizer", "labeled", "--name", "mine"]
            finished = aisr(*words, *FEW, *lm)
            assert finished.code == 0, finished.err
        yield Registered(root, server)


def records(task: str, count: int = 2) -> list[dict[str, Any]]:
    lines = (SAMPLE / task / "test-inputs.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[:count]]


@pytest.fixture
def model(registered: Registered, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Loads the champion of a task, as a user of MLflow does."""
    monkeypatch.setenv("AISR_LM", "openai/local")
    monkeypatch.setenv("AISR_API_BASE", registered.server.url)
    mlflow = open_store(registered.root)
    return lambda task: mlflow.pyfunc.load_model(f"models:/aisr-{task}@champion")


def predicted(aisr: Any, registered: Registered, task: str, folder: Path) -> list[dict[str, Any]]:
    """What `aisr predict` says of the same records."""
    data, out = folder / "inputs.jsonl", folder / "out.jsonl"
    data.write_text("".join(json.dumps(record) + "\n" for record in records(task)), encoding="utf-8")
    words = ["predict", "--task", task, "--program", f"models:/aisr-{task}@champion", "--data", data, "--out", out]
    lm = ["--lm", "openai/local", "--api-base", registered.server.url, "--artifacts", registered.root]
    assert aisr(*words, *lm).code == 0
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("task", ["track1", "track2"])
def test_a_loaded_model_says_what_the_command_says(
    task: str, registered: Registered, model: Callable[[str], Any], aisr: Any, tmp_path: Path
) -> None:
    assert model(task).predict(records(task)) == predicted(aisr, registered, task, tmp_path)


def test_the_signature_has_the_fields_of_the_task(model: Callable[[str], Any]) -> None:
    (claims,) = model("track1").metadata.signature.inputs.to_dict()
    assert claims["type"] == "object"
    fields = claims["properties"]
    assert {name for name, field in fields.items() if field["required"]} == {
        "claim_text",
        "evidence_bundle",
        "sentence_label",
    }
    sentence = fields["sentence_label"]["items"]["properties"]
    assert (sentence["sentence"]["required"], sentence["types"]["required"]) == (True, False)
    said = model("track1").metadata.signature.outputs.to_dict()[0]["properties"]
    assert set(said) == {"id", "labels", "failed"}
    (citations,) = model("track2").metadata.signature.inputs.to_dict()
    assert set(citations["properties"]) == {"id", "claim_text", "cited_paper_full_text"}
    assert set(model("track2").metadata.signature.outputs.to_dict()[0]["properties"]) == {
        "id",
        "label",
        "evidence_para_ids",
        "failed",
    }


def without(task: str, field: str) -> list[dict[str, Any]]:
    (record,) = records(task, 1)
    return [*records(task), {name: value for name, value in record.items() if name != field}]


def having(task: str, **fields: Any) -> list[dict[str, Any]]:
    return [{**records(task, 1)[0], **fields}]


BAD = [
    pytest.param("track1", without("track1", "sentence_label"), "inputs[2]: sentence_label: Field", id="missing field"),
    pytest.param("track1", having("track1", claim_text=3), "inputs[0]: claim_text: Input should be", id="wrong type"),
    pytest.param("track1", having("track1", sentence_label=[]), "inputs[0]: sentence_label: List", id="no sentence"),
    pytest.param(
        "track1",
        having("track1", evidence_bundle=[{"type": "video"}]),
        "inputs[0]: evidence_bundle[0].type: Input should be 'text', 'table' or 'image'",
        id="unknown kind",
    ),
    pytest.param("track2", having("track2", cited_paper_full_text={}), "inputs[0]: cited_paper", id="no paper"),
    pytest.param(
        "track2", having("track2", cited_paper_full_text=[{"P1": "a"}, {"P1": "b"}]), "more than once", id="id twice"
    ),
]


@pytest.mark.parametrize(("task", "given", "said"), BAD)
def test_a_bad_record_is_named_with_its_field_and_not_repeated(
    task: str, given: Any, said: str, model: Callable[[str], Any]
) -> None:
    import mlflow

    loaded = model(task)
    with pytest.raises(mlflow.MlflowException) as refused:
        loaded.predict(given)
    assert said in refused.value.message
    assert refused.value.get_http_status_code() == 400
    assert len(refused.value.message) < 300


def test_an_optional_field_may_be_missing_and_an_id_is_given(model: Callable[[str], Any]) -> None:
    given = [{k: v for k, v in record.items() if k not in ("id", "types")} for record in records("track1")]
    assert [row["id"] for row in model("track1").predict(given)] == ["track1-000001", "track1-000002"]


def test_a_record_that_fails_says_so_and_the_others_are_judged(
    registered: Registered, model: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = records("track2")
    first["claim_text"] = "a claim that the model refuses to judge"
    usual = registered.server.reply
    monkeypatch.setattr(
        registered.server, "reply", lambda asked: "I refuse." if "refuses" in asked.question else usual(asked)
    )
    failed, fine = model("track2").predict([first, second])
    assert failed["id"] == first["id"]
    assert "I refuse." in failed["failed"]
    assert fine["label"]


def test_a_key_that_is_refused_is_an_error_of_the_service_without_the_key(
    registered: Registered, model: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    error = json.dumps({"error": {"message": f"wrong key {KEY} at {registered.server.url}", "type": "auth"}})
    monkeypatch.setattr(registered.server, "reply", lambda asked: (401, error))
    given = having("track1", claim_text="never asked before", evidence_bundle=[])
    loaded = model("track1")
    with pytest.raises(mlflow.MlflowException) as refused:
        loaded.predict(given)
    assert refused.value.get_http_status_code() == 503
    assert "wrong key <OPENAI_API_KEY> at <address>" in refused.value.message


def test_pictures_are_where_the_service_is_told(
    registered: Registered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that shows pictures needs to know; a record without any does not."""
    import mlflow

    from optimize.serving import ClaimModel

    monkeypatch.setenv("AISR_LM", "openai/local")
    monkeypatch.setenv("AISR_API_BASE", registered.server.url)
    file = tmp_path / "program.json"
    file.write_text(artifact.program_text(TRACK1, TRACK1.build({"evidence": "image"})), encoding="utf-8")
    model = ClaimModel()
    model.load_context(SimpleNamespace(artifacts={"program": str(file)}))
    with pytest.raises(mlflow.MlflowException, match=r"inputs\[0\]: .*where the pictures are") as refused:
        model.predict(records("track1", 1))
    assert refused.value.get_http_status_code() == 400
    monkeypatch.setenv("AISR_IMAGE_ROOT", str(SAMPLE))
    model.load_context(SimpleNamespace(artifacts={"program": str(file)}))
    (record,) = records("track1", 1)
    labels = ["Supported"] * len(record["sentence_label"])
    monkeypatch.setattr(registered.server, "reply", lambda asked: json.dumps({"sentence_labels": labels}))
    assert model.predict([record]) == [{"id": record["id"], "labels": labels}]
    assert "data:image/jpeg;base64" in json.dumps(registered.server.asked[-1].body)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["track1", "track2"])
def test_over_http(task: str, registered: Registered, aisr: Any, tmp_path: Path) -> None:
    port = free_port()
    environment = {
        **os.environ,
        "MLFLOW_TRACKING_URI": f"sqlite:///{registered.root / '.mlflow' / 'mlflow.db'}",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "AISR_LM": "openai/local",
        "AISR_API_BASE": registered.server.url,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = ["models", "serve", "-m", f"models:/aisr-{task}@champion", "--env-manager", "local", "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", "mlflow", *command, "--host", "127.0.0.1"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert wait_until(lambda: alive(port), 120, process), "never became ready"
        status, said = post(port, {"inputs": records(task)})
        assert status == 200
        judged = [{name: value for name, value in row.items() if value is not None} for row in said["predictions"]]
        assert judged == predicted(aisr, registered, task, tmp_path)
        for of_task, given, message in (case.values for case in BAD):
            if of_task == task:
                status, said = post(port, {"inputs": given})
                assert (status, message in said["message"]) == (400, True)
                assert "Traceback" not in json.dumps(said)
        for body in ({}, {"inputs": 3}, {"inputs": [3]}, {"dataframe_split": {}}, []):
            assert post(port, body)[0] == 400
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def alive(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


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
