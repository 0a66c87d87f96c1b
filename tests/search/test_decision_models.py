"""A program compiled with a decision model: what is searched, and what it would cost."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from aisr.inference.judge import judge
from aisr.lm.open import open_lm
from aisr.lm.prices import Price
from aisr.optimize.datasets.examples import labelled
from aisr.optimize.search.record_cost import costs, usd_per_1000
from aisr.programs.questions.closed import describe_options
from aisr.programs.reading.lines import read
from aisr.tasks.averitec import AVERITEC
from support import decisions
from support.commands import Aisr, Finished
from support.loopback import Asked, Loopback, Reply, completion
from support.paths import SAMPLE
from support.scripted import claim
from support.tracks import BOTH

FEW = ("--limit-train", 6, "--limit-dev", 4, "--limit-test", 2, "--demos", 2, "--candidates", 2)
LM = "decide:openai/gpt-6-luna"
BRIEF = "the evidence itself states otherwise: another value, direction or ranking for the same thing, or another of "
BRIEF += "its own names; what it merely lacks conflicts with nothing"
MEANING = "the table itself has another value"


def compiled(aisr: Aisr, tmp_path: Path, server: Loopback, *words: object, lm: str = LM) -> Finished:
    at = ["--task", "track1", "--data", SAMPLE / "track1", "--lm", lm, "--api-base", server.url]
    return aisr("compile", *at, "--artifacts", tmp_path, "--name", "decided", "--no-track", *FEW, *words)


def described(asked: Asked) -> str:
    """How a request describes Contradiction."""
    return str(re.findall(r"^- Contradiction: (.*)$", asked.body["input"], re.MULTILINE)[0])


def test_gepa_rewrites_how_an_option_is_described(aisr: Aisr, tmp_path: Path, loopback: Loopback) -> None:
    def reply(asked: Asked) -> Reply:
        if "questions" in asked.body:
            return decisions.decided(asked)
        written = f"Judge each sentence.\n\nOptions:\n- Contradiction: {MEANING}"
        return 200, completion(asked, json.dumps({"new_instruction": written}))

    loopback.reply = reply
    finished = compiled(aisr, tmp_path, loopback, "--optimizer", "gepa", lm=f"{LM},writer=openai/writer")
    assert finished.code == 0, finished.err
    requests = [asked for asked in loopback.asked if "questions" in asked.body]
    assert set(map(described, requests)) == {BRIEF, MEANING}
    rewritten = next(asked for asked in requests if described(asked) == MEANING)
    assert rewritten.body["input"].startswith("Judge each sentence.\n\nOptions:\n")
    # What the new instruction lost is described by the field's own definition.
    assert "- Supported: the evidence adequately supports the sentence\n" in rewritten.body["input"]


def test_without_a_model_that_writes_no_instructions_are_searched(
    aisr: Aisr, tmp_path: Path, loopback: Loopback
) -> None:
    finished = compiled(aisr, tmp_path, loopback, "--optimizer", "gepa")
    assert finished.code == 2
    assert "a decision model writes none: give --teacher-lm" in " ".join(finished.err.split())
    assert not loopback.asked


def sent(asked: Asked) -> float:
    """The tokens of a request, its text and its questions."""
    questions = [
        text
        for question in asked.body["questions"]
        for text in (question["instructions"], json.dumps(question.get("choices", "")))
    ]
    return len(asked.body["input"] + "".join(questions)) / 4


@pytest.mark.parametrize("track", ["track1", "track2"])
def test_an_estimate_counts_the_questions_and_nothing_written(track: str, loopback: Loopback) -> None:
    loopback.reply = decisions.decided
    task, lm = BOTH[track], open_lm(LM, api_base=loopback.url)
    program: Any = task.build({})
    describe_options(program)
    given = list(read(SAMPLE / track / "dev.jsonl", task.record, track))[:3]
    if track == "track1":
        given.append(claim(*["Supported"] * 130))  # more questions than a request takes: two, each with the text
    for record in given:
        example = program.prepare(record)
        (cost,) = costs(program, [example], lm, (), 0, most=False)
        loopback.asked.clear()
        judge(task, program, example, lm)
        assert (cost.calls, cost.completion) == (1, 0)
        arrived = sum(map(sent, loopback.asked))
        assert 0.7 * arrived < cost.prompt < 1.3 * arrived
        assert costs(program, [example], lm, (), 0, most=True) == [cost]  # nothing is asked for twice


def test_what_the_model_behind_writes_is_estimated_at_its_own_price() -> None:
    program: Any = AVERITEC.build({})
    rows = [row.example for row in labelled(AVERITEC, program, SAMPLE / "averitec" / "dev.jsonl", 2)]

    def told(writer: str) -> float | None:
        return usd_per_1000(program, rows, open_lm(f"{LM},writer=openai/{writer}", price=Price(0, 0), keyed=False))

    found = costs(program, rows, open_lm(f"{LM},writer=openai/gpt-4o-mini", keyed=False), (), 0, most=False)
    written = sum(cost.completion for cost in found) / len(rows)
    assert (told("gpt-4o-mini") or 0) > 1000 * written * 0.6e-6 > 0  # beside what it reads
    assert told("of-ones-own") is None
