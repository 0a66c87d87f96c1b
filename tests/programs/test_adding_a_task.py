"""The task of docs/adding-a-task.md works in a folder of one's own, and what is no task is refused in a line."""

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from aisr.base.errors import UserError
from aisr.programs.registry import find_task
from support import scripted
from support.commands import Aisr
from support.corpora import write
from support.loopback import HttpRequest, Loopback
from support.paths import ROOT

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
    (place / "tone_task.py").write_text(blocks("python")[0], encoding="utf-8")
    write(place / "headlines.jsonl", headlines(90))
    monkeypatch.chdir(place)
    monkeypatch.setenv("AISR_API_BASE", loopback.url)
    output = {}
    for command in blocks("sh")[0].replace("\\\n", " ").splitlines():
        words = shlex.split(command.replace("--lm embedded", "--lm openai/local"))
        done = aisr(*words[1:])
        assert done.code == 0, f"{command}: {done.err}"
        output[words[1]] = done.out
    assert "90 good records, 0 bad lines" in output["check"]
    assert "better than" in output["compile"]
    assert "ranking score 100.0" in output["score"]
    few = write(place / "few.jsonl", headlines(2))
    program = ["--program", "artifacts/tone/mine", "--lm", "embedded", "--data", few]
    monkeypatch.delenv("AISR_API_BASE")
    done = aisr("predict", "--task", "tone_task:TONE", *program, "--out", place / "built-in.jsonl")
    assert done.code == 0, f"the built-in model: {done.err}"
    done = aisr("inspect", "artifacts/tone/mine")
    assert "its task 'tone' is none of track1" in done.err  # no file says what is imported
    assert aisr("inspect", "artifacts/tone/mine", "--task", "tone_task:TONE").code == 0


def test_long_inputs_are_evidence_and_labels_are_known_by_their_type(
    artifacts: Path, aisr: Aisr, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {
        "    headline: str = ": "    abstract: str = dspy.InputField()\n    headline: str = ",
        "    headline: str\n": "    headline: str\n    abstract: str\n",
        "label: Tone": "tone: Tone",
        '{"label": record.gold}': '{"tone": record.gold}',
        '{"headline": record.headline}': '{"headline": record.headline, "abstract": record.abstract}',
        "def forward(self, headline)": "def forward(self, headline, abstract)",
        'headline=headline), "label")': 'headline=headline, abstract=abstract), "tone")',
    }
    source = blocks("python")[0]
    for before, after in changes.items():
        assert before in source
        source = source.replace(before, after)
    (artifacts.parent / "about_task.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(artifacts.parent)
    shared = " ".join(f"word{k}" for k in range(60))
    rows = [{**row, "abstract": f"{shared} {k // 2}"} for k, row in enumerate(headlines(60))]
    apart = [{**row, "abstract": " ".join(f"w{k}x{n}" for n in range(60))} for k, row in enumerate(headlines(60))]
    done = aisr("split", write(artifacts.parent / "one.jsonl", rows), "--task", "about_task:TONE", "--out", "one")
    assert "60 records form 1 groups that share no claim" in done.err
    done = aisr("split", write(artifacts.parent / "all.jsonl", apart), "--task", "about_task:TONE", "--out", "data")
    assert done.code == 0, done.err
    words = ["compile", "--task", "about_task:TONE", "--data", "data", "--lm", "embedded", "--optimizer", "labeled"]
    done = aisr(*words, "--estimate")
    assert "Nothing was sent" in done.out, done.err


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "task odd:TASK: AttributeError: module 'odd' has no attribute 'TASK'; expected package.module:VALUE"),
        ("raise SystemExit(3)", "task odd:TASK: SystemExit: 3"),
        ("from json import loads as TASK", "it is function; expected an instance of aisr.task.Task"),
        ("from aisr.programs.track1 import TRACK1 as TASK", "it calls itself 'track1'; expected"),
    ],
)
def test_what_is_no_task_is_told_in_a_line(
    source: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "odd.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "odd", raising=False)
    with pytest.raises(UserError, match=re.escape(message)):
        find_task("odd:TASK")
