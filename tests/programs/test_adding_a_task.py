"""The task of the documents' page is installed from a folder of its own, and used as that page says."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aisr.base.errors import UserError
from aisr.programs.registry import TASKS
from support import scripted
from support.commands import Aisr
from support.corpora import write
from support.loopback import HttpRequest, Loopback
from support.paths import ROOT
from support.plugins import install, refresh

PAGE = (ROOT / "docs" / "adding-a-task.md").read_text(encoding="utf-8")
WORDS = {"neutral": "opens on Monday", "praise": "delights all", "blame": "bores everybody"}


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def headlines(count: int) -> list[dict[str, Any]]:
    tones = list(WORDS)
    return [
        {"headline": f"Film {k} of {k * 7919 % 1000} {WORDS[tones[k % 3]]}", "tone": tones[k % 3]} for k in range(count)
    ]


def reader(request: HttpRequest) -> str:
    """Reads the headline once a demo shows it how; says neutral before."""
    (tone,) = [tone for tone, words in WORDS.items() if words in request.question.rsplit("headline", 1)[-1]]
    return scripted.written(request.question, {"label": tone if request.has_demos else "neutral"})


def test_the_task_of_the_page_goes_through_its_commands(
    loopback: Loopback, artifacts: Path, aisr: Aisr, monkeypatch: pytest.MonkeyPatch
) -> None:
    loopback.reply = reader
    place = artifacts.parent
    for name, kind in (("pyproject.toml", "toml"), ("tone_task.py", "python")):
        (place / name).write_text(blocks(kind)[0], encoding="utf-8")
    write(place / "headlines.jsonl", headlines(90))
    (build, *commands) = blocks("sh")[0].splitlines()
    assert build == "pip install ."
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--target", str(place / "site")]
    subprocess.run([sys.executable, "-m", *shlex.split(build), *offline], cwd=place, check=True)
    monkeypatch.syspath_prepend(place / "site")
    monkeypatch.chdir(place)
    monkeypatch.setenv("AISR_LM", "openai/local")
    monkeypatch.setenv("AISR_API_BASE", loopback.url)
    refresh(monkeypatch, TASKS)
    output = {}
    for command in commands:
        words = shlex.split(command)
        done = aisr(*words[1:])
        assert done.code == 0, f"{command}: {done.err}"
        output[words[1]] = done.out
    assert "90 good records, 0 bad lines" in output["check"]
    assert "better than" in output["compile"]
    assert "ranking score 100.0" in output["score"]
    few = write(place / "few.jsonl", headlines(2))
    program = ["--task", "tone", "--program", "artifacts/tone/mine", "--lm", "embedded"]
    monkeypatch.delenv("AISR_API_BASE")
    done = aisr("predict", *program, "--data", few, "--out", place / "built-in.jsonl")
    assert done.code == 0, f"the built-in model: {done.err}"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module:TASK", "task 'odd' of package odd 1.0 cannot be used: ModuleNotFoundError: No module named"),
        ("json:loads", "cannot be used: it is function; expected an instance of aisr.programs.task.Task"),
        ("aisr.programs.draft.task:DRAFT", "cannot be used: the task calls itself 'draft'"),
        ("exits:TASK", "cannot be used: SystemExit: 3"),
    ],
)
def test_a_package_that_cannot_be_used_is_named(
    value: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "exits.py").write_text("raise SystemExit(3)\n")
    install(monkeypatch, tmp_path, "odd", f"odd = {value}")
    usable = TASKS.usable()
    assert "draft" in usable
    assert "odd" not in usable
    with pytest.raises(UserError, match=re.escape(message)):
        TASKS["odd"]


def test_a_name_can_be_taken_neither_from_us_nor_by_two(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    point = "same = aisr.programs.draft.task:DRAFT"
    for package, points in (("evil", f"draft = json:loads\nBad Name = json:loads\n{point}"), ("two", point)):
        install(monkeypatch, tmp_path / package, package, points)
    with pytest.warns(UserWarning, match="package evil 1.0") as warned:
        assert "bad-name" not in TASKS
    assert TASKS["draft"].name == "draft"
    assert [str(one.message).rpartition(": ")[2] for one in warned] == [
        "expected at most 40 lower-case letters, digits and dashes",
        "aisr has one of that name",
    ]
    with pytest.raises(UserError, match=r"package evil 1.0 and package two 1.0 both have one of that name"):
        TASKS["same"]
