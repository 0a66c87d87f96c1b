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

CHAMPION = "models:/aisr-track1@champion"


class Trap:
    """Unpickling it leaves a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


def test_code_and_pickles_beside_a_registered_program_are_not_run(
    compiled: Compiled, aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`aisr` reads the program's JSON alone. MLflow's own `load_model` runs the stored code, as it says it does, and
    refuses a pickle in its place."""
    monkeypatch.chdir(tmp_path)
    copied = compiled.copied(tmp_path / "artifacts")
    programs = (copied.root / ".mlflow" / "files" / "models").rglob("program.json")
    (program,) = [file for file in programs if json.loads(file.read_text())["task"] == "track1"]
    mark, model = tmp_path / "was-run", program.parents[1]
    code, description = model / "serving.py", model / "MLmodel"
    code.write_text(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n{code.read_text()}")
    code.with_name("python_model.pkl").write_bytes(pickle.dumps(Trap(mark)))
    code.with_name("sitecustomize.py").write_text(code.read_text())

    words = ["--task", "track1", "--program", CHAMPION, "--data", SAMPLE / "track1" / "test.jsonl", *copied.lm]
    finished = aisr("evaluate", *words, "--limit", 2)
    assert finished.code == 0, finished.err
    assert aisr("predict", *words, "--out", tmp_path / "out.jsonl").code == 0
    assert not mark.exists()

    mlflow = open_store(copied.root)
    monkeypatch.setenv("AISR_LM", "openai/local")
    monkeypatch.setenv("AISR_API_BASE", compiled.address)
    mlflow.pyfunc.load_model(CHAMPION)
    assert mark.exists(), "the trap does not work"

    mark.unlink()
    changed = re.sub(r"model_code_path: .*", "python_model: python_model.pkl", description.read_text())
    description.write_text(changed.replace("mlflow.pyfunc.loaders.code_model", "mlflow.pyfunc.model"))
    with pytest.raises(mlflow.MlflowException, match="pickle is disallowed"):
        mlflow.pyfunc.load_model(CHAMPION)
    assert not mark.exists()
