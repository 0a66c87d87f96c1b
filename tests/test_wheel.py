"""The wheel as a user has it, used from a project whose own files have common names; and a checkout without links."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aisr.artifact.manifest import FILE, read_manifest
from support.paths import ROOT
from support.wheels import build_wheel, files_in, install, make_project


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


def test_the_wheel_takes_one_name_and_holds_every_file_of_the_package(wheel: Path) -> None:
    held = files_in(wheel)
    assert {name.partition("/")[0] for name in held} == {"aisr"}
    tracked = subprocess.run(
        ["git", "ls-files", "aisr", "programs", "metrics", "optimize", "data/sample"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    files_of_it = {name for name in tracked if not (ROOT / name).is_symlink()}
    assert held == {f"aisr/{name.removeprefix('aisr/').removeprefix('data/')}" for name in files_of_it}


@pytest.mark.slow
def test_the_wheel_alone_walks_the_sample_in_a_project_with_a_metrics_py(wheel: Path, tmp_path: Path) -> None:
    """`aisr demo` needs no checkout, no key and no server: the wheel holds records and answers. And no library may
    import a user's own files."""
    project = make_project(tmp_path / "project")
    ours = ("PYTHONPATH", "PYTHONSAFEPATH", "MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI")
    env = {name: value for name, value in os.environ.items() if name not in ours}
    env |= {
        "DSPY_CACHEDIR": str(tmp_path / "cache"),
        "AISR_API_BASE": "http://127.0.0.1:9/v1",
    }  # a server of the user's
    words = [str(install(tmp_path / "venv", wheel)), "-m", "aisr.cli", "demo", "track2"]
    done = subprocess.run(words, cwd=project, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    example = read_manifest(ROOT / "artifacts" / "example-track2" / FILE)
    assert f"program digest {example.digest}" in done.stdout
    assert "track2_pred.jsonl with 80 records" in done.stdout


def test_a_checkout_without_links_runs_where_it_stands(tmp_path: Path) -> None:
    links = ("programs", "metrics", "optimize")
    for folder in ("aisr", *links):
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for link in links:
        (tmp_path / "aisr" / link).unlink()
        (tmp_path / "aisr" / link).write_text(f"../{link}")
    code = "import aisr.programs.track1 as record; print(record.__file__)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(tmp_path / "programs" / "track1.py"), done.stderr
