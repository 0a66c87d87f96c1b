"""What is planted in data or beside a program stays where it is: code is not run, and markup is text."""

import json
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from aisr.tracking.store import open_store
from support import scripted
from support.commands import Aisr, sets
from support.compiled import copied
from support.corpora import read_rows, write
from support.loopback import HttpRequest, Loopback, judged, serve
from support.paths import SAMPLE
from support.trap import Trap

SCRIPT = "<script>document.title = 'planted'; window.planted = true</script><img src=x onerror='window.planted = true'>"
PICTURE = "![pixel](//planted.invalid/pixel.png)"  # Markdown, which would tell a stranger who reads it
FEW = sets("limits.train=6", "limits.dev=4", "limits.test=2", "search.decide=false")


class Planted(NamedTuple):
    """A program that was compiled on records with markup in all their texts, registered, and its LM's server."""

    root: Path
    data: Path
    server: Loopback

    @property
    def lm(self) -> list[object]:
        return ["--lm", "openai/local", "--api-base", self.server.url, "--artifacts", self.root]

    def stored(self, name: str) -> Path:
        """A file of the registered model."""
        (stored,) = [file for file in (self.root / ".mlflow" / "files").rglob(name) if "models" in file.parts]
        return stored


@pytest.fixture(scope="module")
def compiled_hostile(
    tmp_path_factory: pytest.TempPathFactory, fresh_store: Callable[[Path], Path], aisr: Aisr
) -> Iterator[Planted]:
    place = tmp_path_factory.mktemp("planted")
    root, data = fresh_store(place / "artifacts"), place / "data"
    data.mkdir()
    for split in ("train", "dev", "test"):
        rows = read_rows(SAMPLE / "track1" / f"{split}.jsonl")
        for row in rows:
            row["claim_text"] = SCRIPT + PICTURE + row["claim_text"]
            row["evidence_bundle"][0]["text"] = SCRIPT + PICTURE
            for sentence in row["sentence_label"]:
                sentence["sentence"] += SCRIPT + PICTURE
        write(data / f"{split}.jsonl", rows)
    with serve() as server, pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        # Demos help this model, so the champion has some, and its prompt shows them.
        server.reply = lambda request: judged(request) if request.has_demos else flat(request)
        made = Planted(root, data, server)
        words = ["compile", "--task", "track1", "--data", data, "--optimizer", "labeled", "--name", "mine", *FEW]
        finished = aisr(*words, *made.lm)
        assert finished.code == 0, finished.err
        yield made


@pytest.fixture
def planted(compiled_hostile: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planted:
    """A copy to do harm to."""
    monkeypatch.chdir(tmp_path)
    return compiled_hostile._replace(root=copied(compiled_hostile.root, tmp_path / "artifacts"))


def flat(request: HttpRequest) -> str:
    labels = ["Contradiction"] * len(json.loads(scripted.field(request.question, "sentences") or ""))
    return scripted.written(request.question, {"sentence_labels": labels})


def test_code_beside_a_registered_program_is_not_run(
    planted: Planted, aisr: Aisr, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`aisr` reads the program's JSON alone. MLflow's own `load_model` runs the stored code, as it says it does."""
    mark = planted.root.parent / "was-run"
    code = planted.stored("stored_model.py")
    code.write_text(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n{code.read_text()}")
    code.with_name("python_model.pkl").write_bytes(pickle.dumps(Trap(mark)))
    code.with_name("sitecustomize.py").write_text(code.read_text())
    out = planted.root.parent / "out.jsonl"
    words = ["--task", "track1", "--program", "models:/aisr-track1@champion", "--data", planted.data / "test.jsonl"]
    finished = aisr("evaluate", *words, "--limit", 2, *planted.lm)
    assert finished.code == 0, finished.err
    assert aisr("predict", *words, "--out", out, "--batch", "export", *planted.lm).code == 0
    assert not mark.exists()
    monkeypatch.setenv("AISR_LM", "openai/local")
    monkeypatch.setenv("AISR_API_BASE", str(planted.lm[3]))
    open_store(planted.root).pyfunc.load_model("models:/aisr-track1@champion")
    assert mark.exists(), "the trap does not work"


def test_a_pickle_in_place_of_a_registered_model_is_refused(planted: Planted) -> None:
    mlflow = open_store(planted.root)
    mark = planted.root.parent / "was-run"
    description = planted.stored("MLmodel")
    description.with_name("python_model.pkl").write_bytes(pickle.dumps(Trap(mark)))
    changed = re.sub(r"model_code_path: .*", "python_model: python_model.pkl", description.read_text())
    description.write_text(changed.replace("mlflow.pyfunc.loaders.code_model", "mlflow.pyfunc.model"))
    with pytest.raises(mlflow.MlflowException, match="pickle is disallowed"):
        mlflow.pyfunc.load_model("models:/aisr-track1@champion")
    assert not mark.exists()


def test_nothing_that_a_browser_would_run_is_logged(planted: Planted) -> None:
    """MLflow shows an HTML or SVG artifact as a page. A compile leaves one, in which no text is markup."""
    files = [file for file in (planted.root / ".mlflow" / "files").rglob("*") if file.is_file()]
    assert any(SCRIPT.encode() in file.read_bytes() for file in files)
    pages = [
        file
        for file in files
        if file.suffix not in {".json", ".md", ".png", ".py", ".toml", ".txt", ".yaml", ".yml", ""}
    ]
    assert {page.name for page in pages} == {"report.html"}
    assert not any(SCRIPT.encode() in page.read_bytes() for page in pages)
