"""What version 0.1 made, when its code had four import names: a program of each track, registered, and a Ray run that a
limit stopped. All are used as they are, send the same prompts and give the same answers."""

import hashlib
import json
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aisr.artifact.program_file import parse
from support.commands import Aisr
from support.compiled import copied
from support.corpora import read_rows
from support.paths import TESTS

if TYPE_CHECKING:
    from support.loopback import Loopback

TRACKS = ("track1", "track2")
MADE_IN = Path("/data/made/artifacts")  # where that version's MLflow store was


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("former")
    with tarfile.open(TESTS / "golden" / "version-0.1.tar.gz") as made:
        made.extractall(folder, filter="data")
    return folder


@pytest.fixture
def former(unpacked: Path, tmp_path: Path) -> Path:
    """A folder with what version 0.1 left, whose store knows where it is."""
    shutil.copytree(unpacked, tmp_path / "made")
    copied(tmp_path / "made" / "artifacts", tmp_path / "made" / "moved", was=MADE_IN)
    return tmp_path / "made"


def predicted(
    aisr: Aisr, former: Path, loopback: "Loopback", track: str, program: object, out: Path, *more: object
) -> None:
    lm = ["--lm", "openai/gpt-4o-mini", "--api-base", loopback.url, "--artifacts", former / "moved"]
    what = ["--task", track, "--program", program, "--data", former / f"{track}.jsonl", "--out", out]
    finished = aisr("predict", *what, *lm, "--threads", 1, *more)
    assert finished.code == 0, finished.err


@pytest.mark.parametrize("track", TRACKS)
@pytest.mark.parametrize("registered", [False, True], ids=["folder", "registered"])
def test_its_programs_send_the_same_prompts_and_answer_the_same(
    former: Path, loopback: "Loopback", aisr: Aisr, track: str, registered: bool
) -> None:
    program = f"models:/aisr-{track}@champion" if registered else former / "moved" / track / "first"
    predicted(aisr, former, loopback, track, program, former / "out.jsonl")
    assert (former / "out.jsonl").read_bytes() == (former / f"{track}.predicted.jsonl").read_bytes()
    sent = [json.dumps(asked.body["messages"], sort_keys=True).encode() for asked in loopback.asked]
    assert [hashlib.sha256(text).hexdigest() for text in sent] == json.loads(
        (former / f"{track}.prompts.json").read_text(encoding="utf-8")
    )


def test_its_stored_model_file_still_serves(
    former: Path, loopback: "Loopback", monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow

    monkeypatch.setenv("AISR_LM", "openai/gpt-4o-mini")
    monkeypatch.setenv("AISR_API_BASE", loopback.url)
    folders = [file.parent for file in sorted((former / "moved").rglob("MLmodel"))]
    assert len(folders) == len(TRACKS)
    served: list[Any] = []
    for folder in folders:
        task = parse((folder / "artifacts" / "program.json").read_text(encoding="utf-8"), "it").task.name
        model = mlflow.pyfunc.load_model(str(folder))
        served.append(
            (model.predict(read_rows(former / f"{task}.jsonl")), read_rows(former / f"{task}.predicted.jsonl"))
        )
    for answers, before in served:
        assert [{name: answer[name] for name in row} for answer, row in zip(answers, before, strict=True)] == before


@pytest.mark.slow
def test_its_ray_run_goes_on(former: Path, loopback: "Loopback", aisr: Aisr) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    out, begun = former / "ray" / "predictions.jsonl", 3
    assert len(read_rows(out)) == begun
    program = former / "moved" / "track1" / "first"
    predicted(aisr, former, loopback, "track1", program, out, "--engine", "ray", "--workers", 1)
    assert out.read_bytes() == (former / "track1.predicted.jsonl").read_bytes()
    assert len(loopback.asked) == len(read_rows(out)) - begun
