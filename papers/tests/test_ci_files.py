"""What CI and pre-commit run: the hook and the action of the repository, as far as they go offline."""

import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from paper_support.commands import CheckPaper
from paper_support.paths import PAPERS, ROOT

WRONG = "# Birds\n\nIn Bog, 37 of 120 wrens (38.8 %) sang.\n"


def action() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "action.yml").read_text()))


def step(name: str) -> dict[str, Any]:
    return next(one for one in action()["runs"]["steps"] if one.get("name") == name)


def test_the_hook_runs_on_papers_and_fails_where_a_sum_is_wrong(
    check_paper: CheckPaper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (settings,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert settings["id"] == "aisr-check-paper"
    assert [bool(re.search(settings["files"], name)) for name in ("sections/a.tex", "README.md")] == [True, False]
    text = r"\documentclass{article}\begin{document}\section{Birds}" + WRONG.replace("%", r"\%").replace("# Birds", "")
    (tmp_path / "main.tex").write_text(text + r"\end{document}")
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(settings["entry"])
    failed = check_paper(*words, *settings["args"])  # pre-commit appends `args` to `entry`
    assert (program, failed.code, "main.tex:3: Wrong percentage" in failed.out) == ("check-paper", 3, True)
    (tmp_path / "right.md").write_text(WRONG.replace("38.8", "30.8"))
    assert check_paper(*words, "right.md").code == 0


def run_check(folder: Path, **inputs: str) -> tuple[int, str, str]:
    """The script of the action's check, as a runner runs it: its exit code, what it printed, and its outputs."""
    bin_ = folder / "bin"
    bin_.mkdir(exist_ok=True)
    (bin_ / "check-paper").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m aisr_papers.cli "$@"\n')
    (bin_ / "check-paper").chmod(0o755)
    values = {name: one["default"] for name, one in action()["inputs"].items()} | inputs
    env = {
        name: values[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in step("check")["env"].items()
    }
    outputs = folder / "outputs"
    outputs.write_text("")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step("check")["run"]],
        cwd=folder, capture_output=True, text=True, check=False,
        env={
            **os.environ, **env, "GITHUB_OUTPUT": str(outputs), "PATH": f"{bin_}:{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{PAPERS}",
        },
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr, outputs.read_text()


def test_the_action_fails_by_its_labels_and_leaves_the_sarif_in_whatever_folder(tmp_path: Path) -> None:
    (tmp_path / "paper.md").write_text(WRONG)
    hostile = "of; touch $(echo owned)"
    code, output, outputs = run_check(tmp_path, paper="paper.md", out=hostile)
    assert (code, "paper.md:3: Wrong percentage" in output) == (3, True), output
    assert outputs == f"sarif={hostile}/paper.sarif\n"
    assert (tmp_path / hostile / "paper.sarif").is_file()
    assert not (tmp_path / "owned").exists()
    code, output, outputs = run_check(tmp_path, paper="gone.md", out=hostile)  # there is a report of the first step
    assert (code, outputs) == (2, ""), output
    code, output, outputs = run_check(tmp_path, paper="paper.md", out="x\nsarif=/etc/passwd\ny")
    assert (code, outputs, "expected the name of a folder" in output) == (2, "", True)


def test_the_light_list_has_the_versions_that_are_tested() -> None:
    """It is whole: pip installs it without looking at what its packages require."""
    lock = set(re.findall(r"^([\w-]+==[\w.]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    light = re.findall(r"^([\w-]+==[\w.]+)$", (PAPERS / "requirements-light.txt").read_text(), re.MULTILINE)
    assert set(light) <= lock
    names = {one.partition("==")[0] for one in light}
    assert len(names) > 15
    for name in names:
        wanted = [Requirement(one) for one in requires(name) or []]
        needed = {canonicalize_name(one.name) for one in wanted if one.marker is None or one.marker.evaluate()}
        assert needed <= names, name


@pytest.mark.parametrize(("encoding", "closed"), [("latin-1", ""), ("utf-8", ">&-"), ("utf-8", "| true")])
def test_files_and_exit_code_are_right_whatever_the_terminal_is(tmp_path: Path, encoding: str, closed: str) -> None:
    """One that cannot show the paper's characters, one that is closed, one that nobody reads."""
    (tmp_path / "paper.md").write_text(WRONG.replace("sang", "sang \u2192"), "utf-8")
    words = [sys.executable, "-m", "aisr_papers.cli", "paper.md", "--lm", "none", "--out", "review"]
    done = subprocess.run(
        ["bash", "-c", f"({shlex.join(words)} --fail-on statistics; echo $? > code) {closed}"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": f"{ROOT}{os.pathsep}{PAPERS}"},
    )  # fmt: skip
    assert (tmp_path / "code").read_text().strip() == "3", done.stderr
    assert "sang \u2192" in (tmp_path / "review" / "paper.html").read_text("utf-8")
    assert closed or "sang ?" in done.stdout
