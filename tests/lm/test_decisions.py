"""A decision model as an LM: what it is asked, what is read from its answers, and what is made of bad ones."""

import asyncio
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import dspy
import pytest
from dspy.utils.exceptions import LMBillingError
from litellm.types.decisions import (
    DecisionsRequest,
    DecisionsResponse,
    OpenAIDecisionRequest,
    OpenAIDecisionResponse,
)
from pydantic import BaseModel

from aisr.inference.judge import Outcome, judge
from aisr.lm.budget import Ledger, Limits
from aisr.lm.client import OpenLM
from aisr.lm.open import open_lm
from aisr.lm.prices import Price
from aisr.lm.rate_limit import Pace
from aisr.lm.unavailable import LMUnavailable
from aisr.programs.asking.label_probabilities import judgements_of
from aisr.programs.asking.stated import stated
from aisr.programs.questions.closed import Each
from aisr.programs.records.track1 import Track1Record
from aisr.programs.records.track2 import Track2Record
from aisr.programs.retrieval.content import heading
from aisr.programs.vision.images import Gallery
from aisr.tasks.task import Task
from aisr.tasks.track1 import TRACK1
from aisr.tasks.track2 import TRACK2
from support import decisions
from support.commands import Aisr
from support.corpora import read_rows
from support.loopback import Asked, Loopback, Reply, completion
from support.paths import SAMPLE, TESTS
from support.scripted import claim

GOLDEN = json.loads((TESTS / "golden" / "decisions.json").read_text(encoding="utf-8"))
FORMS = {"openai": "decide:openai/gpt-6-luna", "system one": "decide:hosted_vllm/decider"}
WIRE: dict[str, tuple[type[BaseModel], type[BaseModel]]] = {
    "openai": (OpenAIDecisionRequest, OpenAIDecisionResponse),
    "system one": (DecisionsRequest, DecisionsResponse),
}
BOTH = pytest.mark.parametrize("form", FORMS)
RECORD = claim("Supported", "Contradiction")
CITED = Track2Record.model_validate(read_rows(SAMPLE / "track2" / "test.jsonl")[0] | {"id": "track2-000001"})


def opened(server: Loopback, form: str, ledger: Ledger | None = None, more: str = "", **options: Any) -> OpenLM:
    server.reply = decisions.decided
    lm = open_lm(FORMS[form] + more, api_base=server.url, ledger=ledger, timeout=2, **options)
    lm.lm.pace = Pace(4, first_wait=0.001)
    return lm


def judged(lm: OpenLM, record: Any = RECORD, task: Task = TRACK1, **options: Any) -> Outcome:
    program = task.build(options)
    return judge(task, program, program.prepare(record), lm)


class IsItWet(dspy.Signature):
    """Judge whether the claim holds."""

    passages: str = dspy.InputField()
    claim: str = dspy.InputField()
    label: Literal["True", "False"] = dspy.OutputField(desc="True = it is so; False = it is not")
    ids: Annotated[list[str], Each("Does [{}] say so?")] = dspy.OutputField()
    how_sure: str = dspy.OutputField()


@BOTH
def test_a_request_and_its_answer_are_those_of_the_wire(form: str, loopback: Loopback) -> None:
    request, response = GOLDEN[form]["request"], GOLDEN[form]["response"]
    asked_type, answered_type = WIRE[form]
    asked_type.model_validate(request)
    answered_type.model_validate(response)
    lm = opened(loopback, form)
    loopback.reply = lambda asked: (200, json.dumps(response))
    held = {"ids": {"items": {"enum": ["P1", "P2"]}, "maxItems": 3}}
    config = {"metadata": {"constraints": held}, "logprobs": True, "top_logprobs": 5}
    with lm.context():
        said = dspy.Predict(IsItWet)(passages="[P1] It rains.\n[P2] It pours.", claim="It is wet.", config=config)
    (asked,) = loopback.asked
    assert asked.body == request
    assert asked.path.endswith({"openai": "/v1/decisions", "system one": "/v1/systemone"}[form])
    assert (said.label, said.ids) == ("True", ["P2"])  # P1 is rather not true
    (judged,) = judgements_of(said, "label", [said.label], ("True", "False"), states=False)
    assert judged.chances == pytest.approx(GOLDEN["chances"])
    # A program that was compiled to read what a model states reads the same.
    assert stated(said.how_sure, "True", ("True", "False")) == pytest.approx(GOLDEN["chances"])
    spend = lm.ledger.spend
    assert (spend.calls, spend.prompt_tokens, spend.completion_tokens, spend.prefix_tokens) == (1, 512, 0, 128)


@BOTH
def test_track_2_names_the_paragraphs_that_are_rather_true(form: str, loopback: Loopback) -> None:
    found = judged(opened(loopback, form), CITED, TRACK2)
    assert found.answer is not None, found.failure
    assert found.judgements[0].chances[1] == pytest.approx(decisions.SURE)
    assert found.judgements[0].source == "options"
    (asked,) = loopback.asked
    questions = asked.body["questions"]
    names = [one["name"] for one in questions] if isinstance(questions, list) else list(questions)
    assert found.answer.evidence_para_ids[0] == names[1].removeprefix("evidence_ids ")  # to which the rule says yes
    headings = {key for key, text in CITED.paragraphs.items() if heading(text)}
    assert headings
    assert headings.isdisjoint(name.removeprefix("evidence_ids ") for name in names)
    assert "shown_ids" not in (asked.body.get("input") or asked.body["state"])  # its questions name them


@BOTH
@pytest.mark.parametrize("fault", decisions.UNUSABLE)
def test_an_unusable_answer_fails_the_record_with_the_reason(form: str, fault: str, loopback: Loopback) -> None:
    lm = opened(loopback, form)
    loopback.reply, said = decisions.UNUSABLE[fault]
    found = judged(lm)
    assert found.answer is None
    assert said in str(found.failure)
    assert len(loopback.asked) == 1  # the same question has the same answer


@BOTH
def test_an_answer_counts_for_the_question_that_it_names(form: str, loopback: Loopback) -> None:
    record = claim("Supported", "Contradiction", "Scope Overgeneralization")
    right = judged(opened(loopback, form), record)
    lm = opened(loopback, form)
    loopback.reply = decisions.reordered
    lm.lm.cache = False
    found = judged(lm, record)
    assert (found.failure, found.judgements) == (None, right.judgements)
    assert len({judgement.label for judgement in found.judgements}) > 1
    assert len(loopback.asked) == 2


def test_what_was_paid_for_an_unusable_answer_is_counted(loopback: Loopback) -> None:
    lm = opened(loopback, "openai", Ledger(Limits(usd=1e-6)))
    loopback.reply, _ = decisions.UNUSABLE["sum off"]
    assert judged(lm).failure
    spend = lm.ledger.spend
    assert (spend.calls, spend.prompt_tokens > 100) == (1, True)
    assert spend.usd == pytest.approx(spend.prompt_tokens * 1e-7)
    with pytest.raises(LMBillingError, match="--max-usd"):
        judged(lm)


def test_a_request_that_was_answered_is_counted_where_the_next_one_is_refused(loopback: Loopback) -> None:
    lm = opened(loopback, "openai")

    def second_fails(asked: Asked) -> Reply:
        whole = len(asked.body["questions"]) == 128
        return (decisions.decided if whole else decisions.FINAL["too many questions"])(asked)

    loopback.reply = second_fails
    record, program = claim(*["Supported"] * 130), TRACK1.build({})
    assert "at most 2" in str(judged(lm, record).failure)
    once = lm.ledger.spend.prompt_tokens
    assert once > 1000

    async def awaited() -> None:
        with lm.context(), pytest.raises(Exception, match="at most 2"):
            await program.acall(**program.prepare(record).inputs())

    asyncio.run(awaited())
    assert lm.ledger.spend.prompt_tokens == 2 * once


@BOTH
@pytest.mark.parametrize("fault", decisions.USED)
def test_a_number_of_tokens_that_none_can_have_is_refused(form: str, fault: str, loopback: Loopback) -> None:
    lm = opened(loopback, form, price=Price(1, 1))
    loopback.reply = decisions.USED[fault]
    assert re.search("a usage whose (in|out)put_tokens is .*; expected a whole number", str(judged(lm).failure))
    assert (len(loopback.asked), lm.ledger.spend.prompt_tokens, lm.ledger.spend.usd) == (1, 0, None)


@BOTH
@pytest.mark.parametrize("fault", decisions.PASSING)
def test_a_fault_that_passes_is_waited_out(form: str, fault: str, loopback: Loopback) -> None:
    lm = opened(loopback, form)

    def first_fails(asked: Asked) -> Reply:
        return (decisions.PASSING[fault] if len(loopback.asked) == 1 else decisions.decided)(asked)

    loopback.reply = first_fails
    found = judged(lm)
    assert (found.failure, len(loopback.asked)) == (None, 2)


@BOTH
@pytest.mark.parametrize("fault", decisions.FINAL)
def test_a_fault_of_the_one_call_fails_the_record(form: str, fault: str, loopback: Loopback) -> None:
    lm = opened(loopback, form)
    lm.lm.pace = Pace(4, retries=0)
    loopback.reply = decisions.FINAL[fault]
    assert judged(lm).failure


def test_more_questions_than_a_request_takes_are_several_requests(loopback: Loopback) -> None:
    record = claim(*["Supported"] * 130)
    lm = opened(loopback, "openai")
    found = judged(lm, record)
    assert found.answer is not None, found.failure
    assert len(found.answer) == 130
    assert [len(asked.body["questions"]) for asked in loopback.asked] == [128, 2]
    assert lm.ledger.spend.prompt_tokens > 2000


def test_an_answer_is_paid_for_once_and_the_event_loop_gives_the_same(loopback: Loopback) -> None:
    lm = opened(loopback, "openai")
    first = judged(lm)
    assert judged(lm) == first
    assert (len(loopback.asked), lm.ledger.spend.cached_calls) == (1, 1)
    program = TRACK1.build({})

    async def awaited() -> dspy.Prediction:
        with lm.context():
            return await program.acall(**program.prepare(RECORD).inputs())

    assert asyncio.run(awaited()).judgements == first.judgements
    assert loopback.asked[0].body == loopback.asked[1].body
    assert asyncio.run(awaited()).judgements == first.judgements
    assert len(loopback.asked) == 2  # DSPy keeps awaited answers apart


def test_a_limit_holds_and_the_price_is_that_of_decisions(loopback: Loopback) -> None:
    lm = opened(loopback, "openai", Ledger(Limits(usd=1.0, calls=1)))
    assert lm.lm.price == pytest.approx((0.1, 0.0))
    assert judged(lm).failure is None
    with pytest.raises(LMBillingError, match="--max-calls is 1"):
        judged(lm, claim("Supported", number=2))
    assert lm.ledger.spend.usd == pytest.approx(lm.ledger.spend.prompt_tokens * 1e-7)


def test_pictures_go_along_where_the_provider_takes_some(loopback: Loopback) -> None:
    rows = read_rows(SAMPLE / "track1" / "test.jsonl")
    row = next(row for row in rows if any("img_path" in one for one in row["evidence_bundle"]))
    record = Track1Record.model_validate(row | {"id": "track1-000001"})
    program = TRACK1.build({"evidence": "image"})
    program.gallery = Gallery(SAMPLE, lambda file: [])
    lm = opened(loopback, "openai")
    found = judge(TRACK1, program, program.prepare(record), lm)
    assert found.failure is None
    (message,) = loopback.asked[0].body["input"]
    kinds = [part["type"] for part in message["content"]]
    assert kinds == ["input_image", "input_text"]
    assert message["content"][0]["image_url"].startswith("data:image/jpeg;base64,")
    assert "[picture 1]" in message["content"][1]["text"]
    blind = opened(loopback, "system one")
    assert (lm.sees, blind.sees) == (True, False)
    assert "images" in str(judge(TRACK1, program, program.prepare(record), blind).failure)


def test_what_must_be_written_is_asked_of_the_model_behind(loopback: Loopback) -> None:
    text = "What is known of it?"
    question = dspy.Predict("claim -> question")
    alone = opened(loopback, "openai")
    with alone.context(), pytest.raises(Exception, match=r"writes no text.*,writer="):
        question(claim="So it is.")
    both = opened(loopback, "openai", more=",writer=openai/writer")
    loopback.reply = lambda asked: (200, completion(asked, json.dumps({"question": text})))
    with both.context():
        assert question(claim="So it is.").question == text
    assert loopback.asked[-1].path.endswith("/chat/completions")
    assert "metadata" not in loopback.asked[-1].body
    assert both.ledger.spend.calls == 1


def test_a_limit_of_dollars_needs_the_price_of_the_model_behind() -> None:
    """--price is that of the decision model, and advice to give it would not help."""
    with pytest.raises(LMUnavailable, match=r"price of the writer openai/nobody is unknown.*--max-calls"):
        open_lm(
            "decide:openai/gpt-6-luna,writer=openai/nobody",
            ledger=Ledger(Limits(usd=1.0)),
            price=Price(1, 1),
            keyed=False,
        )


@pytest.mark.parametrize(
    ("spec", "api_base", "said"),
    [
        ("decide:gpt-6-luna", None, "expected decide:PROVIDER/MODEL"),
        ("decide:openai/gpt-6-luna", None, "needs OPENAI_API_KEY"),
        ("decide:hosted_vllm/decider", None, "give --api-base ADDRESS"),
        ("decide:anthropic/claude", None, "knows no decision models of 'anthropic'"),
        ("decide:openai/gpt-6-luna", "localhost:8000", "expected an address"),
    ],
)
def test_what_cannot_be_asked_is_said_at_once(spec: str, api_base: str | None, said: str) -> None:
    with pytest.raises(LMUnavailable, match=said):
        open_lm(spec, api_base=api_base)


def test_a_price_that_nobody_knows_must_be_given(loopback: Loopback) -> None:
    with pytest.raises(LMUnavailable, match="--price"):
        opened(loopback, "system one", Ledger(Limits(usd=1.0)))


def test_the_doctor_says_what_is_asked_for(loopback: Loopback, aisr: Aisr, tmp_path: Path) -> None:
    words = ["doctor", "--lm", FORMS["openai"], "--api-base", loopback.url, "--artifacts", tmp_path / "none"]
    said = aisr(*words)
    assert "LM: decide:openai/gpt-6-luna, at --api-base, a probability for every option" in said.out
    assert not loopback.asked
