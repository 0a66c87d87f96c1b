"""Code that is planted beside a program is not run."""

import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from aisr.tracking.store import open_store
from support.commands import Aisr
from support.compiled import Compiled
from support.paths import SAMPLE


class Trap:
    """Unpickling it leaves a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


@pytest.fixture
def root(compiled: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An artifacts folder to do harm to."""
    monkeypatch.chdir(tmp_path)
    return compiled.copied(tmp_path / "artifacts").root


def stored(root: Path, name: str) -> Path:
    """A file of the registered model of Track 1."""
    programs = (root / ".mlflow" / "files" / "models").rglob("program.json")
    (program,) = [file for file in programs if json.loads(file.read_text())["task"] == "track1"]
    return program.parents[1] / name


def test_code_beside_a_registered_program_is_not_run(
    root: Path, compiled: Compiled, aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`aisr` reads the program's JSON alone. MLflow's own `load_model` runs the stored code, as it says it does."""
    mark, code = tmp_path / "was-run", stored(root, "serving.py")
    code.write_text(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n{code.read_text()}")
    code.with_name("python_model.pkl").write_bytes(pickle.dumps(Trap(mark)))
    code.with_name("sitecustomize.py").write_text(code.read_text())
    program = ["--task", "track1", "--program", "models:/aisr-track1@champion"]
    words = [*program, "--data", SAMPLE / "track1" / "test.jsonl"]
    lm = compiled._replace(root=root).lm
    finished = aisr("evaluate", *words, "--limit", 2, *lm)
    assert finished.code == 0, finished.err
    assert aisr("predict", *words, "--out", tmp_path / "out.jsonl", *lm).code == 0
    assert not mark.exists()
    monkeypatch.setenv("AISR_LM", "openai/local")
    monkeypatch.setenv("AISR_API_BASE", compiled.address)
    open_store(root).pyfunc.load_model("models:/aisr-track1@champion")
    assert mark.exists(), "the trap does not work"


def test_a_pickle_in_place_of_a_registered_model_is_refused(root: Path, tmp_path: Path) -> None:
    mlflow, mark, description = open_store(root), tmp_path / "was-run", stored(root, "MLmodel")
    description.with_name("python_model.pkl").write_bytes(pickle.dumps(Trap(mark)))
    changed = re.sub(r"model_code_path: .*", "python_model: python_model.pkl", description.read_text())
    description.write_text(changed.replace("mlflow.pyfunc.loaders.code_model", "mlflow.pyfunc.model"))
    with pytest.raises(mlflow.MlflowException, match="pickle is disallowed"):
        mlflow.pyfunc.load_model("models:/aisr-track1@champion")
    assert not mark.exists()
