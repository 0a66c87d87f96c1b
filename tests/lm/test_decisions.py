"""A decision model as an LM: its requests, its answers, and bad ones."""

import asyncio
import json
import re
from typing import Any

import dspy
import pytest
from dspy.utils.exceptions import LMBillingError

from aisr.base.errors import UserError
from aisr.lm.budget import Limits
from aisr.lm.client import OpenLM
from aisr.lm.config import LMUnavailable
from aisr.lm.rate_limit import RETRIES
from aisr.predict.judge import Outcome, judge
from aisr.predict.prepare import check_compatible
from aisr.programs.averitec.task import AVERITEC
from aisr.programs.images import Gallery
from aisr.programs.questions import describe_options
from aisr.programs.retrieval import heading
from aisr.programs.task import Task
from aisr.programs.track1.record import CLAIM_LABELS, Track1Record
from aisr.programs.track1.task import TRACK1
from aisr.programs.track2.record import Track2Record
from aisr.programs.track2.task import TRACK2
from support import decisions, runs
from support.corpora import read_rows
from support.faults import hang_up, refused
from support.loopback import HttpRequest, Loopback, Reply
from support.paths import SAMPLE
from support.scripted import claim

FORMS = {"openai": "decide:openai/gpt-6-luna", "system one": "decide:hosted_vllm/decider"}
BOTH = pytest.mark.parametrize("form", FORMS)
RECORD = claim("Supported", "Contradiction")
CITED = Track2Record.model_validate(read_rows(SAMPLE / "track2" / "test.jsonl")[0] | {"id": "track2-000001"})


def opened(server: Loopback, form: str, limits: Limits | None = None, retries: int = RETRIES) -> OpenLM:
    server.reply = decisions.decide
    return runs.opened(server.url, 4, limits, timeout=5, retries=retries, model=FORMS[form])


def judged(lm: OpenLM, record: Any = RECORD, task: Task = TRACK1, **options: Any) -> Outcome:
    program = task.build(options)
    describe_options(program)  # as a compile has it
    return judge(task, program, program.prepare(record), lm)


@BOTH
def test_a_sentence_is_a_choice_and_its_probabilities_are_the_judgement(form: str, loopback: Loopback) -> None:
    lm = opened(loopback, form)
    outcome = judged(lm)
    assert outcome.answer is not None, outcome.failure
    assert [one.source for one in outcome.judgements] == ["options"] * 2
    assert max(outcome.judgements[0].probabilities) == pytest.approx(decisions.SURE)
    (request,) = loopback.requests
    assert request.path.endswith({"openai": "/v1/decisions", "system one": "/v1/systemone"}[form])
    assert "- Contradiction: " in str(request.body)  # the options are described once
    assert "Which label fits sentence 2?" in str(request.body["questions"])
    options = re.findall("|".join(CLAIM_LABELS), str(request.body["questions"]))
    assert (options[0], options[4]) == ("Contradiction", "Supported")  # as described: "take the first that fits"
    assert (lm.ledger.spend.calls, lm.ledger.spend.prompt_tokens > 100) == (1, True)


@BOTH
def test_track_2_names_the_paragraphs_that_are_rather_true(form: str, loopback: Loopback) -> None:
    outcome = judged(opened(loopback, form), CITED, TRACK2)
    assert outcome.answer is not None, outcome.failure
    assert outcome.judgements[0].source == "options"
    (request,) = loopback.requests
    expected = str(request.body["questions"])
    assert outcome.answer.evidence_para_ids
    assert f"Is [{outcome.answer.evidence_para_ids[0]}] decisive?" in expected  # to which the rule says yes
    headings = {key for key, text in CITED.paragraphs.items() if heading(text)}
    assert headings
    assert not any(f"Is [{key}] decisive?" in expected for key in headings)


@pytest.mark.parametrize("fault", decisions.UNUSABLE)
def test_an_unusable_answer_fails_the_record_with_the_reason(fault: str, loopback: Loopback) -> None:
    lm = opened(loopback, "system one", retries=0)
    loopback.reply, expected = decisions.UNUSABLE[fault]
    outcome = judged(lm)
    assert outcome.answer is None
    assert expected in str(outcome.failure)


@BOTH
@pytest.mark.parametrize("fault", [refused(503, "overloaded"), hang_up], ids=["503", "closed connection"])
def test_a_fault_that_passes_is_waited_out(form: str, fault: Any, loopback: Loopback) -> None:
    lm = opened(loopback, form)

    def first_fails(request: HttpRequest) -> Reply:
        return (fault if len(loopback.requests) == 1 else decisions.decide)(request)

    loopback.reply = first_fails
    outcome = judged(lm)
    assert (outcome.failure, len(loopback.requests)) == (None, 2)


def test_an_answer_is_paid_for_once_and_the_event_loop_gives_the_same(loopback: Loopback) -> None:
    lm = opened(loopback, "openai")
    first = judged(lm)
    assert judged(lm) == first
    assert (len(loopback.requests), lm.ledger.spend.cached_calls) == (1, 1)
    program = TRACK1.build({})
    describe_options(program)

    async def awaited() -> dspy.Prediction:
        with lm.context():
            return await program.acall(**program.prepare(RECORD).inputs())

    assert asyncio.run(awaited()).judgements == first.judgements


def test_pictures_go_along_where_the_provider_takes_some(loopback: Loopback) -> None:
    rows = read_rows(SAMPLE / "track1" / "test.jsonl")
    row = next(row for row in rows if any("img_path" in one for one in row["evidence_bundle"]))
    record = Track1Record.model_validate(row | {"id": "track1-000001"})
    program = TRACK1.build({"evidence": "image"})
    program.gallery = Gallery(SAMPLE, lambda file: [])
    outcome = judge(TRACK1, program, program.prepare(record), opened(loopback, "openai"))
    assert outcome.failure is None
    (message,) = loopback.requests[0].body["input"]
    content = {part["type"]: part for part in message["content"]}
    assert content["input_image"]["image_url"].startswith("data:image/jpeg;base64,")
    assert "[picture 1]" in content["input_text"]["text"]


def test_a_program_that_needs_text_is_refused(loopback: Loopback) -> None:
    lm = opened(loopback, "openai")
    check_compatible(TRACK2.build({}), lm)
    with pytest.raises(UserError, match="writes no text, and AskAboutClaim asks for questions"):
        check_compatible(AVERITEC.build({}), lm)


def test_the_price_is_that_of_decisions_and_what_was_paid_for_an_unusable_answer_is_counted(loopback: Loopback) -> None:
    with pytest.raises(LMUnavailable, match=r"lm\.price"):
        opened(loopback, "system one", Limits(usd=1.0))
    lm = opened(loopback, "openai", Limits(usd=1e-6))
    assert lm.lm.price == pytest.approx((0.1, 0.0))
    loopback.reply = lambda request: (200, json.dumps({**decisions.served(request), "answers": []}))
    assert judged(lm).failure
    assert len(loopback.requests) == 1  # the same question has the same answer
    assert lm.ledger.spend.usd == pytest.approx(lm.ledger.spend.prompt_tokens * 1e-7)
    with pytest.raises(LMBillingError, match="--max-usd"):
        judged(lm)
