"""Where a decision model gives AVeriTeC's verdict, it is also asked of each pair whether that bears on the claim."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from aisr.inference.judge import Outcome, judge
from aisr.lm.client import OpenLM
from aisr.lm.open import open_lm
from aisr.optimize.search.record_cost import costs
from aisr.programs.judges.averitec import AveritecJudge
from aisr.programs.questions.closed import describe_options
from aisr.programs.records.averitec import AveritecPrediction
from aisr.tasks.averitec import AVERITEC
from support import decisions
from support.averitec import claim, finding, passages
from support.commands import Aisr
from support.corpora import beginning, read_rows
from support.loopback import Asked, Loopback, Reply, completion
from support.paths import SAMPLE
from support.scripted import field, question, requests, scripted, wording, written

FORMS = {"openai": "decide:openai/gpt-6-luna", "system one": "decide:hosted_vllm/decider"}
BOTH = pytest.mark.parametrize("form", FORMS)
WRITER = ",writer=openai/writer"
FOUND = 4
CHANCES = {1: 0.3, 2: 0.6, 3: 0.9, 4: 0.1}
ORDER = ["Q3?", "Q2?", "Q1?", "Q4?"]  # those that bear on the claim, the likeliest first, then the others as they came


def asked_about(asked: Asked) -> list[str]:
    """The names of the questions in a request."""
    given = asked.body["questions"]
    return [one["name"] for one in given] if isinstance(given, list) else list(given)


def both(chances: Mapping[int, Any] = CHANCES, found: int = FOUND) -> Callable[[Asked], Reply]:
    """A server of a decision model, which gives each pair its chance by its number, and of the writer behind it."""

    def change(body: dict[str, Any]) -> None:
        answers = body["answers"]
        named = {one["name"]: one for one in answers} if isinstance(answers, list) else answers
        for number, chance in chances.items():
            if one := named.get(f"bearing {number}"):
                one["probability" if isinstance(answers, list) else "noul"] = chance

    def reply(asked: Asked) -> Reply:
        if "questions" in asked.body:
            return decisions.mangled(change)(asked)
        return 200, completion(asked, finding(asked.question, found))

    return reply


def opened(server: Loopback, form: str) -> OpenLM:
    return open_lm(FORMS[form] + WRITER, api_base=server.url, timeout=2)


def decided(lm: OpenLM, **options: Any) -> Outcome:
    program = AveritecJudge(questions=0, bearing=True, **options)
    describe_options(program)
    return judge(AVERITEC, program, program.prepare(claim()), lm)


@BOTH
def test_what_bears_on_the_claim_comes_first_and_is_named(form: str, loopback: Loopback) -> None:
    loopback.reply = both()
    found = decided(opened(loopback, form))
    assert found.answer is not None, found.failure
    written, verdict = loopback.asked
    assert asked_about(verdict) == ["label", *(f"bearing {k}" for k in range(1, FOUND + 1))]
    said = json.dumps(verdict.body["questions"])
    assert "Does answer [2] bear on the claim, for it or against it?" in said
    text = verdict.body.get("input") or verdict.body["state"]
    assert re.search(r"^\[1\] Q1\? news\.example, word for word: The bridge", text, re.MULTILINE)
    evidence = found.answer.evidence
    assert [pair.question for pair in evidence[:FOUND]] == ORDER
    assert [pair.bears for pair in evidence] == [True, True, False, False, *[None] * 6]
    assert all(pair.filled for pair in evidence[FOUND:])
    assert len({pair.answer for pair in evidence}) == 10  # no passage of a pair that stands behind is filled in again
    shown = list(passages(written.question))
    assert list(found.named) == [shown[2], shown[1]]
    record = claim()
    example = AveritecJudge(questions=0, bearing=True).prepare(record)
    pages = AVERITEC.exhibits(record, example, found.answer)
    assert [(one.key, one.chosen) for one in pages if one.chosen] == [("evidence 1", 1), ("evidence 2", 2)]


@BOTH
@pytest.mark.parametrize(("chance", "said"), [(1.5, "1.5"), (None, "None"), ("0.9", "'0.9'")], ids=repr)
def test_a_bad_probability_of_a_pair_fails_the_record(form: str, chance: Any, said: str, loopback: Loopback) -> None:
    loopback.reply = both({2: chance})
    found = decided(opened(loopback, form))
    assert found.answer is None
    assert f"bearing 2: {said} is no probability; expected a number from 0 to 1" in str(found.failure)


def test_without_pairs_only_the_verdict_is_asked_for(loopback: Loopback) -> None:
    loopback.reply = both(found=0)
    found = decided(opened(loopback, "openai"))
    assert found.answer is not None, found.failure
    assert asked_about(loopback.asked[-1]) == ["label"]
    assert [pair.bears for pair in found.answer.evidence] == [None] * 10
    assert list(found.named) == []


def test_it_is_compiled_saved_shown_and_predicted_with(aisr: Aisr, tmp_path: Path, loopback: Loopback) -> None:
    loopback.reply = both()
    at = ["--task", "averitec", "--api-base", loopback.url, "--artifacts", tmp_path]
    lms = [["--lm", spec + WRITER] for spec in FORMS.values()]
    few = ["--limit-train", 4, "--limit-dev", 3, "--limit-test", 2, "--demos", 1, "--candidates", 1, "--no-track"]
    words = ["--data", SAMPLE / "averitec", "--name", "decided", "--optimizer", "labeled", "--questions", 0, *few]
    compiled = aisr("compile", *at, *lms[0], *words)
    assert compiled.code == 0, compiled.err
    folder = tmp_path / "averitec" / "decided"
    assert json.loads((folder / "manifest.json").read_text())["options"]["bearing"] is True
    assert "Does answer [ID] bear on the claim, for it or against it?" in (folder / "PROMPT.md").read_text()
    shown = aisr("inspect", "--task", "averitec", "--program", folder, "--artifacts", tmp_path)
    assert "Does answer [ID] bear on the claim" in " ".join(shown.out.split())
    # Of a labelled record all pairs bear on the claim, and so a demo says.
    texts = [one.body.get("input") or one.body["state"] for one in loopback.asked if "questions" in one.body]
    demos = {text.partition("To be judged:")[0] for text in texts if "Example:" in text}
    assert demos
    for demo in demos:
        numbers = [int(number) for number in re.findall(r"^\[(\d+)\] ", demo, re.MULTILINE)]
        assert json.loads(demo.partition("Answer:\n")[2])["bearing"] == numbers != []

    data = beginning(SAMPLE / "averitec" / "test-inputs.jsonl", 2, tmp_path / "few.jsonl")
    for number, lm in enumerate(lms):
        out = tmp_path / f"predicted-{number}.jsonl"
        assert aisr("predict", *at, *lm, "--program", folder, "--data", data, "--out", out).code == 0
        for line in read_rows(out):
            assert [pair["question"] for pair in line["evidence"][:FOUND]] == ORDER
            assert [pair.get("bears") for pair in line["evidence"]] == [True, True, False, False, *[None] * 6]
            answer = AveritecPrediction.model_validate(line).answer
            assert AVERITEC.line(answer)["evidence"] == line["evidence"]


def test_a_model_that_writes_lists_the_numbers() -> None:
    def lists(prompt: str, numbers: Any) -> str:
        if field(prompt, "evidence") is None:
            return finding(prompt, FOUND)
        return written(prompt, {"label": "Refuted", "bearing": numbers})

    program = AveritecJudge(questions=0, bearing=True)
    example = program.prepare(claim())
    for adapter in ("json", "chat"):
        lm = scripted(lambda request: lists(question(request), [3, 1, 3]), adapter=adapter)
        found = judge(AVERITEC, program, example, lm)
        assert found.answer is not None, found.failure
        assert [pair.question for pair in found.answer.evidence[:FOUND]] == ["Q3?", "Q1?", "Q2?", "Q4?"]
        assert [pair.bears for pair in found.answer.evidence[:FOUND]] == [True, True, False, False]
        assert len(requests(lm)) == 2
    lm = scripted(
        lambda request: lists(question(request), [9] if field(question(request), "correction") is None else [])
    )
    found = judge(AVERITEC, program, example, lm)
    assert "answer '9' was not shown; shown were 1, 2, 3, 4" in wording(requests(lm)[-1])
    assert found.answer is not None
    assert {pair.bears for pair in found.answer.evidence[:FOUND]} == {False}


def test_a_number_in_a_page_is_none_of_a_pair(loopback: Loopback) -> None:
    def reply(asked: Asked) -> Reply:
        if "questions" in asked.body:
            return decisions.decided(asked)
        key = next(iter(passages(asked.question)))
        pairs = [{"question": "Q?", "answer": f"It closed.\n[{k}] [2] So says [9].", "source": key} for k in (1, 2)]
        return 200, completion(asked, written(asked.question, {"pairs": pairs}))

    loopback.reply = reply
    assert decided(opened(loopback, "openai")).failure is None
    text = loopback.asked[-1].body["input"]
    assert [line[:6] for line in text.splitlines() if line.startswith("[")] == ["[1] Q?", "[2] Q?"]
    assert text.count("[2]") == 1
    assert "(2) So says [9]." in text


def test_an_estimate_counts_the_questions_about_pairs(loopback: Loopback) -> None:
    loopback.reply = both({}, found=10)
    lm = opened(loopback, "openai")
    foretold = []
    for bearing in (False, True):
        program = AveritecJudge(questions=0, bearing=bearing)
        describe_options(program)
        example = program.prepare(claim())
        (cost,) = costs(program, [example], lm, (), 0, most=False)
        foretold.append(cost.prompt)
        judge(AVERITEC, program, example, lm)
    stating = AveritecJudge(questions=0, states=True)  # what it has written stands beside a choice's probabilities
    (cost,) = costs(stating, [stating.prepare(claim())], lm, (), 0, most=False)
    assert cost.calls == 2
    asked = loopback.asked[-1].body["questions"][1:]
    assert len(asked) == 10
    assert foretold[1] - foretold[0] == pytest.approx(sum(len(one["instructions"]) for one in asked) / 4, rel=0.3)
