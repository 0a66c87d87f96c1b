"""A record that failed for its answers is sent again by the next run, and by no second look of the same one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest

from aisr.artifact.manifest import save_files
from aisr.artifact.program import program_text
from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.predict.judge import judge
from aisr.programs.records import read
from aisr.programs.track2.task import TRACK2
from support.commands import Aisr
from support.corpora import beginning, read_rows
from support.loopback import HttpRequest, Loopback, completion, judged
from support.paths import SAMPLE

DEV = SAMPLE / "track2" / "dev.jsonl"


def answering(**message: Any) -> Callable[[HttpRequest], tuple[int, str]]:
    def reply(request: HttpRequest) -> tuple[int, str]:
        body = json.loads(completion(request, judged(request)))
        body["choices"][0]["message"].update(message)
        return 200, json.dumps(body)

    return reply


UNUSABLE = {
    "nothing": answering(content=None),
    "a wrong label": answering(content='{"label": "Wrong", "evidence_ids": []}'),
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    save_files(tmp_path / "mine", {"program.json": program_text(TRACK2, TRACK2.build({}))})
    return tmp_path / "mine"


@pytest.mark.parametrize("process", ["another", "the same"])
@pytest.mark.parametrize("answer", UNUSABLE)
def test_the_same_command_asks_again(
    answer: str,
    process: str,
    aisr: Aisr,
    cache_anew: Callable[[], None],
    program: Path,
    loopback: Loopback,
    tmp_path: Path,
) -> None:
    data = beginning(DEV, 2, tmp_path / "two.jsonl")
    lm = ["--lm", "openai/local", "--api-base", loopback.url, "--artifacts", tmp_path]
    words = ["predict", "--task", "track2", "--program", program, "--data", data, "--out", tmp_path / "out.jsonl", *lm]
    loopback.reply = UNUSABLE[answer]
    failed = aisr(*words)
    assert failed.code == 1
    assert len(loopback.requests) == 4  # an answer and its repair each
    assert "'text'" not in failed.out
    assert "'logprobs'" not in failed.out
    if process == "another":
        cache_anew()
    loopback.reply = judged
    assert aisr(*words).code == 0
    assert len(loopback.requests) == 6
    assert all(row["label"] for row in read_rows(tmp_path / "out.jsonl"))


def test_what_was_repaired_is_not_asked_for_again(
    aisr: Aisr, cache_anew: Callable[[], None], program: Path, loopback: Loopback, tmp_path: Path
) -> None:
    data = beginning(DEV, 1, tmp_path / "one.jsonl")
    lm = ["--lm", "openai/local", "--api-base", loopback.url, "--artifacts", tmp_path]
    words = ["predict", "--task", "track2", "--program", program, "--data", data, *lm]
    loopback.reply = lambda request: judged(request) if "correction" in request.question else "garbage"
    for number in range(2):
        assert aisr(*words, "--out", tmp_path / f"{number}.jsonl").code == 0
        cache_anew()
    assert len(loopback.requests) == 2


@pytest.mark.usefixtures("cache_anew")
def test_one_run_that_judges_a_record_twice_asks_once(loopback: Loopback) -> None:
    """A compile does: its scores would move otherwise, and each look would cost again."""
    loopback.reply = UNUSABLE["a wrong label"]
    lm, made = open_lm(LMConfig("openai/local", api_base=loopback.url)), TRACK2.build({})
    example = made.prepare(next(iter(read(DEV, TRACK2.record, TRACK2.name))))
    first = judge(TRACK2, made, example, lm)
    assert first.failure is not None
    dspy.cache.reset_memory_cache()
    assert judge(TRACK2, made, example, lm) == first
    assert len(loopback.requests) == 2
