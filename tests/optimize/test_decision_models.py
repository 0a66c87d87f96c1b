"""A program compiled with a decision model: what is searched, and what it would cost."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.optimize.estimate import spend_of
from aisr.predict.judge import judge
from aisr.programs.questions import describe_options
from aisr.programs.records import read
from support import decisions
from support.commands import Aisr, Finished, sets
from support.loopback import HttpRequest, Loopback, Reply, completion
from support.paths import SAMPLE
from support.tracks import BOTH

FEW = (*sets("limits.train=6", "limits.dev=4", "limits.test=2"), "--demos", 2, "--set", "search.candidates=2")
LM = "decide:openai/gpt-6-luna"
BRIEF = "the evidence itself states otherwise: another value, direction or ranking for the same thing, or another of "
BRIEF += "its own names; what it merely lacks conflicts with nothing"
MEANING = "the table itself has another value"


def compiled(aisr: Aisr, tmp_path: Path, server: Loopback, *words: object) -> Finished:
    at = ["--task", "track1", "--data", SAMPLE / "track1", "--lm", LM, "--api-base", server.url]
    return aisr("compile", *at, "--artifacts", tmp_path, "--name", "decided", "--no-track", *FEW, *words)


def described(request: HttpRequest) -> str:
    """How a request describes Contradiction."""
    return str(re.findall(r"^- Contradiction: (.*)$", request.body["input"], re.MULTILINE)[0])


def test_gepa_rewrites_how_an_option_is_described(aisr: Aisr, tmp_path: Path, loopback: Loopback) -> None:
    def reply(request: HttpRequest) -> Reply:
        if "questions" in request.body:
            return decisions.decide(request)
        written = f"Judge each sentence.\n\nOptions:\n- Contradiction: {MEANING}"
        return 200, completion(request, json.dumps({"new_instruction": written}))

    loopback.reply = reply
    teacher = ["--teacher-lm", "openai/writer", "--set", f"teacher.api_base={loopback.url}"]
    finished = compiled(aisr, tmp_path, loopback, "--optimizer", "gepa", *teacher)
    assert finished.code == 0, finished.err
    requests = [request for request in loopback.requests if "questions" in request.body]
    assert set(map(described, requests)) == {BRIEF, MEANING}


def test_without_a_model_that_writes_no_instructions_are_searched(
    aisr: Aisr, tmp_path: Path, loopback: Loopback
) -> None:
    finished = compiled(aisr, tmp_path, loopback, "--optimizer", "gepa")
    assert finished.code == 2
    assert "a decision model writes none: give --teacher-lm" in " ".join(finished.err.split())
    assert not loopback.requests


@pytest.mark.parametrize("track", ["track1", "track2"])
def test_an_estimate_counts_the_questions_and_nothing_written(track: str, loopback: Loopback) -> None:
    loopback.reply = decisions.decide
    task, lm = BOTH[track], open_lm(LMConfig(LM, api_base=loopback.url))
    program: Any = task.build({})
    describe_options(program)
    for record in list(read(SAMPLE / track / "dev.jsonl", task.record, track))[:3]:
        example = program.prepare(record)
        spend = spend_of(program, [example], lm)
        loopback.requests.clear()
        judge(task, program, example, lm)
        (request,) = loopback.requests
        arrived = len(request.body["input"] + str(request.body["questions"])) / 4
        assert (spend.calls, spend.completion_tokens) == (1, 0)
        assert 0.5 * arrived < spend.prompt_tokens < 1.3 * arrived
