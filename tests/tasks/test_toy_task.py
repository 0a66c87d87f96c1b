"""A task without labels goes through everything that needs none, and is told so by what does."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from aisr.tasks import all as tasks
from aisr.tasks import names
from aisr.tracking.store import open_store
from support import scripted
from support.corpora import write
from support.loopback import Asked, Loopback, serve
from support.toy_task import TOY

Aisr = Callable[..., Any]
WORDS = {0.1: "a tenth", 0.25: "a quarter", 0.5: "half", 0.75: "three quarters", 0.9: "nine tenths"}
NOUNS = ("pears", "lamps", "wells", "boats", "nests", "maps", "coins", "tiles", "reeds", "kites", "bells", "drums")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tasks._TASKS, TOY.name, TOY)
    monkeypatch.setattr(names, "TASK_NAMES", (*names.TASK_NAMES, TOY.name))


def rows(count: int) -> list[dict[str, Any]]:
    draw = Random(0)
    shares = list(WORDS)
    return [
        {
            "id": f"shares-{k}",
            "text": f"Lot {k}: {WORDS[shares[k % 5]]} of the {draw.choice(NOUNS)} {draw.choice(NOUNS)} {k} were {k}.",
            "share": shares[k % 5],
        }
        for k in range(count)
    ]


def reader(asked: Asked) -> str:
    """Reads the words once a demo or a better instruction shows it how; says a half before."""
    prompt = asked.question
    if scripted.field(prompt, "current_instruction") is not None:  # GEPA asks for a better one
        return scripted.written(prompt, {"new_instruction": "READ THE WORDS that name the share."})
    taught = asked.has_demos or "READ THE WORDS" in str(asked.body["messages"][0]["content"])
    (share,) = [share for share, words in WORDS.items() if f": {words} of" in prompt]
    return scripted.written(prompt, {"share": share if taught else 0.5})


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serve() as running:
        running.reply = reader
        yield running


@pytest.fixture
def split(tmp_path: Path, aisr: Aisr) -> Path:
    file = write(tmp_path / "all.jsonl", [json.dumps(row) for row in rows(60)])
    checked = aisr("check", file, "--task", "shares")
    assert checked.code == 0, checked.err
    assert "60 good records, 0 bad lines" in checked.out
    made = aisr("split", file, "--task", "shares", "--out", tmp_path / "split")
    assert made.code == 0, made.err
    return tmp_path / "split"


def test_the_walk(split: Path, server: Loopback, artifacts: Path, aisr: Aisr, tmp_path: Path) -> None:
    lm = ["--lm", "openai/local", "--api-base", server.url, "--artifacts", artifacts]
    at = ["--task", "shares"]
    words = ["--data", split, "--optimizer", "gepa", "--candidates", 2, "--demos", 2, "--name", "mine"]
    compiled = aisr("compile", *at, *words, *lm)
    assert compiled.code == 0, compiled.err
    assert "decision layer" not in compiled.out
    assert re.search(r"difference from uncompiled on test: .*: better than uncompiled", compiled.out)
    folder = artifacts / "shares" / "mine"
    made = json.loads((folder / "manifest.json").read_text())
    assert made["champion"].startswith("gepa")
    assert made["scores"]["test"]["score"] == pytest.approx(1)
    assert made["scores"]["test"]["close"] == 1
    assert made["scores"]["baseline_test"]["score"] < 0.9
    assert {file.name for file in (folder / "figures").iterdir()} == {"search.png"}

    evaluated = aisr("evaluate", *at, "--program", folder, "--data", split / "test.jsonl", *lm)
    assert evaluated.code == 0, evaluated.err
    assert "ranking score 100.0" in evaluated.out
    assert "within a tenth 100.0" in evaluated.out
    runs = open_store(artifacts).search_runs(search_all_experiments=True, output_format="list")
    assert {run.data.tags["aisr.kind"] for run in runs} == {"compile", "evaluate"}
    assert all({*run.data.metrics} & {"test_close", "close"} for run in runs)

    champion = ["--program", "models:/aisr-shares@champion"]
    out = tmp_path / "predictions.jsonl"
    predicted = aisr("predict", *at, *champion, "--data", split / "test.jsonl", "--out", out, *lm)
    assert predicted.code == 0, predicted.err
    assert "100.0" in aisr("score", split / "test.jsonl", out, *at).out
    packed = aisr("submit", *at, "--data", split / "test.jsonl", "--predictions", out, "--out", tmp_path / "s.json")
    assert packed.code == 0, packed.err
    gold = {row["id"]: row["share"] for row in rows(60)}
    submitted = json.loads((tmp_path / "s.json").read_text())
    assert submitted
    assert all(line["share"] == gold[line["id"]] for line in submitted)

    assert aisr("report", folder, "--artifacts", artifacts).code == 0
    assert aisr("techreport", folder, *at, "--out", tmp_path / "tech.md", "--artifacts", artifacts).code == 0
    assert "within a tenth" in (tmp_path / "tech.md").read_text()
    assert aisr("inspect", *at, "--program", folder, "--artifacts", artifacts).code == 0
