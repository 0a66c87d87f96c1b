"""A compile that recorded the answers of its LMs is repeated from the file alone."""

import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest

import aisr as api
from aisr.lm.budget import Ledger
from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.lm.recorded import recording
from aisr.lm.response_cache import AnswerCache
from support import scripted
from support.commands import Aisr, Finished, sets
from support.loopback import HttpRequest, Loopback, Reply, add_logprobs, completion, judged, serve
from support.paths import SAMPLE

FEW = sets("limits.train=10", "limits.dev=6", "limits.test=4", "search.candidates=2", "search.demos=2")
DATA = SAMPLE / "track1"
NONSENSE = "I would rather not say."


@pytest.fixture
def new_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Gives this process a response cache without any answer, as another machine has it."""

    def replace() -> None:
        monkeypatch.setattr(dspy, "cache", AnswerCache(tmp_path / f"cache-{len(list(tmp_path.glob('cache-*')))}"))

    return replace


def compile_(aisr: Aisr, root: Path, *words: object) -> Finished:
    at = ["--task", "track1", "--data", DATA, "--artifacts", root, "--name", "it", "--no-track"]
    return aisr("compile", *at, *FEW, *words)


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def write_lines(path: Path, lines: list[Any]) -> Path:
    path.write_bytes(gzip.compress("".join(f"{json.dumps(line)}\n" for line in lines).encode()))
    return path


def saved(root: Path) -> dict[str, Any]:
    """What a compile must come to again."""
    folder = root / "track1" / "it"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    names = ("digest", "champion", "decision", "lm", "teacher", "scores", "gain_on_dev", "gain_on_test")
    reports = {name: (folder / name).read_text(encoding="utf-8") for name in ("program.json", "report.json")}
    pages = {"records": json.loads((folder / "records.json").read_text(encoding="utf-8"))}
    return {name: manifest[name] for name in names} | reports | pages


def hard_to_please(request: HttpRequest) -> Reply:
    """Answers with log-probabilities. One paragraph in three gets an answer only after a complaint, and one never."""
    words = request.question.split()
    repairing = any("correction" in word for word in words)
    if "sentences" in request.question and len(request.question) % 3 == 0 and not repairing:
        return NONSENSE
    if "sentences" in request.question and len(request.question) % 10 == 0:
        return NONSENSE
    body = json.loads(completion(request, judged(request)))
    label = re.search(r'"(Supported|Unsupported[^"]*|Scope[^"]*|Contradiction)"', body["choices"][0]["message"]["content"])
    if label and request.body.get("logprobs"):
        sure = -0.1 - len(request.question) % 7 / 10
        add_logprobs(body, {label[1]: sure, "Contradiction": -2.5}, chosen=sure)
    return 200, json.dumps(body)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--optimizer", "knn"], id="knn with a decision layer"),
        pytest.param(["--optimizer", "random-search", "--set", "search.decide=false"], id="rollouts"),
    ],
)
def test_a_compile_is_repeated_without_its_server(
    aisr: Aisr, tmp_path: Path, new_cache: Callable[[], None], words: list[str]
) -> None:
    file = tmp_path / "answers.jsonl.gz"
    with serve() as server:
        server.reply = hard_to_please
        lm = ["--lm", "openai/local", "--api-base", server.url]
        first = compile_(aisr, tmp_path / "first", *lm, *words, "--record", file)
        assert first.code in (0, 1), first.err  # 1: some record failed
        asked = len(server.requests)
    new_cache()
    second = compile_(aisr, tmp_path / "second", "--lm", f"recorded:{file}", *words)
    assert second.code == first.code, second.err
    assert saved(tmp_path / "second") == saved(tmp_path / "first")
    assert f"wrote {file}: {asked} answers" in first.out
    assert "\n0 LM calls (+" in second.out
    assert any(NONSENSE in str(line) for line in lines_of(file))
    assert any("top_logprobs" in str(line) for line in lines_of(file))
