"""A task without labels goes through everything that needs none, and is told so by what does."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from aisr.tracking.store import open_store
from support import scripted
from support.loopback import HttpRequest, Loopback
from support.plugins import install
from support.walks import replying, walk

Aisr = Callable[..., Any]
WORDS = {0.1: "a tenth", 0.25: "a quarter", 0.5: "half", 0.75: "three quarters", 0.9: "nine tenths"}
NOUNS = ("pears", "lamps", "wells", "boats", "nests", "maps", "coins", "tiles", "reeds", "kites", "bells", "drums")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, tmp_path / "site", "shares", "shares = support.toy_task:TOY")


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


def reader(request: HttpRequest) -> str:
    """Reads the words once a demo or a better instruction shows it how; says a half before."""
    prompt = request.question
    if scripted.field(prompt, "current_instruction") is not None:  # GEPA asks for a better one
        return scripted.written(prompt, {"new_instruction": "READ THE WORDS that name the share."})
    taught = request.has_demos or "READ THE WORDS" in str(request.body["messages"][0]["content"])
    (share,) = [share for share, words in WORDS.items() if f": {words} of" in prompt]
    return scripted.written(prompt, {"share": share if taught else 0.5})


server = replying(reader)


def test_the_walk(server: Loopback, artifacts: Path, aisr: Aisr) -> None:
    walked = walk(server, artifacts, aisr, "shares", rows(60), ["share"], "--optimizer", "gepa")
    assert "decision layer" not in walked.output["compile"]
    assert re.search(r"difference from uncompiled on test: .*: better than uncompiled", walked.output["compile"])
    made = walked.manifest
    assert made["champion"].startswith("gepa")
    assert made["scores"]["test"]["score"] == pytest.approx(1)
    assert made["scores"]["test"]["close"] == 1
    assert made["scores"]["baseline_test"]["score"] < 0.9
    assert {file.name for file in (walked.folder / "figures").iterdir()} == {"search.png"}
    assert "ranking score 100.0" in walked.output["evaluate"]
    assert "within a tenth 100.0" in walked.output["evaluate"]
    runs = open_store(artifacts).search_runs(search_all_experiments=True, output_format="list")
    assert {run.data.tags["aisr.kind"] for run in runs} == {"compile", "evaluate"}
    assert all({*run.data.metrics} & {"test_close", "close"} for run in runs)
    assert "100.0" in walked.output["score"]
    gold = {row["id"]: row["share"] for row in walked.gold}
    assert {line["id"]: line["share"] for line in json.loads(walked.packed.read_text())} == gold
    assert "within a tenth" in (artifacts.parent / "tech.md").read_text()
