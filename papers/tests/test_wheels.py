"""Both distributions as a user has them: what their wheels hold and require, used beside a user's own files."""

import os
import site
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from paper_support.paths import PAPERS, ROOT, SAMPLE


def build(folder: Path, kind: str, target: Path) -> Path:
    """The wheel or sdist of a distribution."""
    words = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return max(target.iterdir(), key=lambda file: file.stat().st_mtime_ns)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Those of aisr and of papers."""
    folder = tmp_path_factory.mktemp("wheels")
    return build(ROOT, "wheel", folder / "aisr"), build(PAPERS, "wheel", folder / "papers")


def test_papers_are_in_their_own_wheel_and_in_no_file_of_aisr(wheels: tuple[Path, Path], tmp_path: Path) -> None:
    held = []
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as files:
            held.append({name for name in files.namelist() if ".dist-info/" not in name})
    assert {name.partition("/")[0] for name in held[0]} == {"aisr"}
    tracked = subprocess.run(["git", "ls-files", "aisr_papers"], cwd=PAPERS, check=True, capture_output=True, text=True)
    assert held[1] == set(tracked.stdout.split())
    with tarfile.open(build(ROOT, "sdist", tmp_path)) as archive:
        assert not [name for name in archive.getnames() if "aisr_papers" in name or "/papers/" in name]


def test_a_project_with_a_metrics_py_checks_its_paper(wheels: tuple[Path, Path], tmp_path: Path) -> None:
    """No library may import a user's own files."""
    place, project = tmp_path / "venv", tmp_path / "project"
    venv.create(place, with_pip=False)
    packages = place / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as files:
            files.extractall(packages)
    (packages / "required.pth").write_text("\n".join(site.getsitepackages()) + "\n", encoding="utf-8")
    for name in ("metrics.py", "optimize.py", "programs/__init__.py", "benchmarks/__init__.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("raise ImportError('this file is the user\\'s own')\n", encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    words = [str(SAMPLE / "paper" / "main.tex"), "--out", "review"]
    code = "import aisr_papers.cli as cli; print(cli.__file__); cli.main()"
    command = [str(place / "bin" / "python"), "-c", code, *words]
    ran = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=100, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(str(packages))
    assert (project / "review" / "paper.html").is_file()
