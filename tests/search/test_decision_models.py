"""A program compiled with a decision model: what is searched, what is sent, what it would cost, and how it is shown."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aisr.compat.reanchor import reanchored
from support import decisions
from support.commands import Aisr, Finished
from support.corpora import read_rows
from support.loopback import Asked, Loopback, Reply, completion
from support.paths import SAMPLE

FEW = ("--limit-train", 6, "--limit-dev", 4, "--limit-test", 2, "--demos", 2, "--candidates", 2)
LM = "decide:openai/gpt-6-luna"
BRIEF = "the evidence itself states otherwise: another value, direction or ranking for the same thing, or another of "
BRIEF += "its own names; what it merely lacks conflicts with nothing"
MEANING = "the table itself has another value"


def compiled(aisr: Aisr, artifacts: Path, server: Loopback, *words: object, lm: str = LM) -> Finished:
    at = ["--task", "track1", "--data", SAMPLE / "track1", "--lm", lm, "--api-base", server.url]
    return aisr("compile", *at, "--artifacts", artifacts, "--name", "decided", "--no-track", *FEW, *words)


def described(asked: Asked) -> str:
    """How a request describes Contradiction."""
    return str(re.findall(r"^- Contradiction: (.*)$", asked.body["input"], re.MULTILINE)[0])


def test_it_is_compiled_saved_shown_and_predicted_with(aisr: Aisr, artifacts: Path, loopback: Loopback) -> None:
    loopback.reply = decisions.decided
    finished = compiled(aisr, artifacts, loopback, "--optimizer", "labeled")
    assert finished.code == 0, finished.err
    folder = artifacts / "track1" / "decided"
    made = json.loads((folder / "manifest.json").read_text())
    assert made["lm"]["spec"] == LM
    assert made["options"]["chances"] == "logprobs"
    assert "(options)" in " ".join(finished.out.split())  # where the decision layer's probabilities come from
    with_demos = [asked.body["input"] for asked in loopback.asked if "Example:" in asked.body["input"]]
    assert with_demos
    assert all(text.index("Example:") < text.index("Answer:") < text.rindex("To be judged:") for text in with_demos)
    page = (folder / "PROMPT.md").read_text()
    assert "### Questions" in page
    assert "Which label fits sentence 1?" in page
    assert f"- Contradiction: {BRIEF}" in page
    out, data = artifacts / "predicted.jsonl", artifacts / "few.jsonl"
    data.write_text("".join((SAMPLE / "track1" / "test.jsonl").read_text().splitlines(keepends=True)[:3]))
    words = ["--task", "track1", "--program", folder, "--data", data, "--out", out, "--lm", LM]
    assert aisr("predict", *words, "--api-base", loopback.url, "--artifacts", artifacts).code == 0
    assert [len(line["labels"]) for line in read_rows(out)] == [len(row["sentence_label"]) for row in read_rows(data)]


def test_gepa_rewrites_how_an_option_is_described(aisr: Aisr, artifacts: Path, loopback: Loopback) -> None:
    def reply(asked: Asked) -> Reply:
        if "questions" in asked.body:
            return decisions.decided(asked)
        written = f"Judge each sentence.\n\nOptions:\n- Contradiction: {MEANING}"
        return 200, completion(asked, json.dumps({"new_instruction": written}))

    loopback.reply = reply
    finished = compiled(aisr, artifacts, loopback, "--optimizer", "gepa", lm=f"{LM},writer=openai/writer")
    assert finished.code == 0, finished.err
    requests = [asked for asked in loopback.asked if "questions" in asked.body]
    assert set(map(described, requests)) == {BRIEF, MEANING}
    rewritten = next(asked for asked in requests if described(asked) == MEANING)
    assert rewritten.body["input"].startswith("Judge each sentence.\n\nOptions:\n")
    # What the new instruction lost is described by the field's own definition.
    assert "- Supported: the evidence adequately supports the sentence\n" in rewritten.body["input"]


def test_without_a_model_that_writes_no_instructions_are_searched(
    aisr: Aisr, artifacts: Path, loopback: Loopback
) -> None:
    finished = compiled(aisr, artifacts, loopback, "--optimizer", "gepa")
    assert finished.code == 2
    assert "a decision model writes none: give --teacher-lm" in " ".join(finished.err.split())
    assert not loopback.asked


@pytest.mark.parametrize("track", ["track1", "track2"])
def test_an_estimate_counts_the_questions_and_nothing_written(
    track: str, aisr: Aisr, artifacts: Path, loopback: Loopback
) -> None:
    from aisr.inference.judge import judge
    from aisr.lm.open import open_lm
    from aisr.optimize.search.record_cost import costs
    from aisr.programs.questions.closed import describe_options
    from aisr.programs.reading.lines import read
    from aisr.tasks.all import TASKS

    loopback.reply = decisions.decided
    task, lm = TASKS[track], open_lm(LM, api_base=loopback.url)
    program: Any = task.build({})
    describe_options(program)
    for record in list(read(SAMPLE / track / "dev.jsonl", task.record, track))[:3]:
        example = program.prepare(record)
        (cost,) = costs(program, [example], lm, (), 0, most=False)
        judge(task, program, example, lm)
        body = loopback.asked[-1].body
        questions = [
            text
            for question in body["questions"]
            for text in (question["instructions"], json.dumps(question.get("choices", "")))
        ]
        sent = len(body["input"] + "".join(questions)) / 4
        assert (cost.calls, cost.completion) == (1, 0)
        assert 0.7 * sent < cost.prompt < 1.3 * sent


def test_reanchor_fits_a_weight_that_mends_a_lean() -> None:
    chances = [[0.6, 0.4] if k % 2 else [0.9, 0.1] for k in range(20)]
    worth = np.eye(2)[[k % 2 for k in range(20)]]
    weights = reanchored(["yes", "no"], chances, worth.tolist())
    assert (np.array(chances) * weights).argmax(axis=1).tolist() == [k % 2 for k in range(20)]
