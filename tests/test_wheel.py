"""The wheel as a user has it, used from a project whose own files have common names; and a checkout without links."""

import json
import os
import shutil
import site
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from support import processes
from support.commands import sets
from support.corpora import beginning, read_rows
from support.loopback import Loopback
from support.paths import ROOT, SAMPLE


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture
def python(wheel: Path, tmp_path: Path) -> Path:
    """The interpreter of a new environment that has the wheel, and what it requires from the present one."""
    venv.create(tmp_path / "venv", with_pip=False)
    interpreter = tmp_path / "venv" / "bin" / "python"
    place = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(
        subprocess.run([interpreter, "-c", place], check=True, capture_output=True, text=True).stdout.strip()
    )
    with zipfile.ZipFile(wheel) as files:
        files.extractall(packages)
    (packages / "required.pth").write_text("\n".join(site.getsitepackages()) + "\n", encoding="utf-8")
    return interpreter


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's own project, whose files no library may import."""
    folder = tmp_path / "project"
    own = "raise ImportError('this file is the user\\'s own')\n"
    for name in ("metrics.py", "optimize.py", "programs/__init__.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(own, encoding="utf-8")
    shutil.copytree(SAMPLE / "paper", folder / "paper")
    return folder


def test_the_wheel_takes_one_name_and_holds_every_file_of_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        held = {name for name in files.namelist() if ".dist-info/" not in name}
    assert {name.partition("/")[0] for name in held} == {"aisr"}
    tracked = subprocess.run(
        ["git", "ls-files", "aisr", "programs", "metrics", "optimize"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    files_of_it = {name for name in tracked if not (ROOT / name).is_symlink()}
    assert held == {name if name.startswith("aisr/") else f"aisr/{name}" for name in files_of_it}


@pytest.mark.slow
def test_a_project_with_a_metrics_py_compiles_predicts_and_checks_a_paper(
    python: Path, project: Path, loopback: Loopback, tmp_path: Path
) -> None:
    ours = ("PYTHONPATH", "PYTHONSAFEPATH", "MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI")
    env = {name: value for name, value in os.environ.items() if name not in ours}
    env |= {"DSPY_CACHEDIR": str(tmp_path / "cache"), "OPENAI_API_KEY": "sk-none"}
    lm = ["--lm", "openai/local", "--api-base", loopback.url]
    data = ["--task", "track2", "--data", SAMPLE / "track2"]
    few = sets("limits.train=8", "limits.dev=4", "limits.test=3", "search.decide=false")
    champion = ["--program", "models:/aisr-track2@champion"]
    one = beginning(SAMPLE / "track2" / "test.jsonl", 1, tmp_path / "one.jsonl")
    commands: list[list[object]] = [
        ["compile", *data, *few, "--optimizer", "labeled", "--name", "mine", *lm],
        ["predict", "--task", "track2", *champion, "--data", one, "--out", "out.jsonl", *lm],
        ["check-paper", "paper/main.tex", "--papers", "paper/papers", "--out", "review",
         "--set", "limits.max_calls=3", *lm],
    ]  # fmt: skip
    words = [python, *processes.several(commands)[1:]]
    ran = subprocess.run(words, cwd=project, env=env, capture_output=True, text=True, timeout=300, check=False)
    codes = json.loads(ran.stdout.splitlines()[-1])
    assert codes[:2] == [0, 0], ran.stderr
    assert (project / "review" / "paper.html").exists(), ran.stderr  # it stops at its limit, and says so
    (row,) = read_rows(project / "out.jsonl")
    assert "label" in row


LINKS = ("programs", "metrics", "optimize")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for folder in ("aisr", *LINKS):
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for link in LINKS:
        (tmp_path / "aisr" / link).unlink()
        (tmp_path / "aisr" / link).write_text(f"../{link}")
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False)


def test_it_runs_where_it_stands(checkout: Path) -> None:
    data = ROOT / "data" / "sample" / "track1" / "dev.jsonl"
    checked = run(checkout, "-m", "aisr.cli", "check", str(data), "--task", "track1")
    assert checked.returncode == 0, checked.stderr
    assert "100 good records" in checked.stdout
    place = run(checkout, "-c", "import aisr.programs.track1.record as record; print(record.__file__)")
    assert place.stdout.strip() == str(checkout / "programs" / "track1" / "record.py")
