"""The wheel of papers as a user has it: what it holds, and used beside a user's own files."""

import os
import subprocess
from pathlib import Path

from paper_support.paths import PAPERS, ROOT, SAMPLE
from support.wheels import build_wheel, files_in, install, make_project


def test_a_project_with_a_metrics_py_checks_its_paper_by_the_wheel_which_holds_every_file(tmp_path: Path) -> None:
    wheel = build_wheel(PAPERS, tmp_path / "wheel")
    tracked = subprocess.run(["git", "ls-files", "aisr_papers"], cwd=PAPERS, check=True, capture_output=True, text=True)
    assert files_in(wheel) == set(tracked.stdout.split())
    python = install(tmp_path / "venv", wheel, build_wheel(ROOT, tmp_path / "aisr"))
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    words = [str(SAMPLE / "paper" / "main.tex"), "--out", "review"]
    code = "import aisr_papers.cli as cli; print(cli.__file__); cli.main()"
    project = make_project(tmp_path / "project")
    command = [str(python), "-c", code, *words]
    ran = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=100, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(str(tmp_path / "venv"))
    assert (project / "review" / "paper.html").is_file()
