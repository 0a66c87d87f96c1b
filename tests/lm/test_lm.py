"""One spec string, one language model: what is refused, what is sent, what is counted."""

import math

import dspy
import pytest

from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.programs.track1 import TRACK1
from support.loopback import Loopback, add_logprobs, answer_with, judged
from support.scripted import claim


@pytest.mark.parametrize("logprobs", [True, False])
def test_a_server_that_gives_log_probabilities_is_asked_for_them(loopback: Loopback, logprobs: bool) -> None:
    """They are not in what optimizers reflect on: GEPA's question was twenty times as long for them."""
    top = {"Supported": math.log(0.6), "Contradiction": math.log(0.2)}
    spelled = answer_with(lambda body: add_logprobs(body, top))
    loopback.reply = lambda request: spelled(request) if request.body.get("logprobs") else judged(request)
    lm = open_lm(LMConfig("openai/local", api_base=loopback.url, logprobs=logprobs))
    program = TRACK1.build({})
    with lm.context(), dspy.context(trace=[]):
        (judgement,) = program(**program.prepare(claim("Supported")).inputs()).judgements
        ((_, _, reflected),) = dspy.settings.trace
    assert [request.body.get("top_logprobs") for request in loopback.requests] == [20 if logprobs else None]
    assert judgement.source == ("logprobs" if logprobs else "vote")
    expected = [0.75, 0, 0, 0, 0.25] if logprobs else [1.5 / 3.5, *[0.5 / 3.5] * 4]
    assert judgement.probabilities == pytest.approx(expected)
    assert dict(reflected) == {"sentence_labels": ["Supported"]}


@pytest.mark.parametrize(("model", "at_provider"), [("openai/o3", True), ("openai/gpt-5-mini", False)])
def test_a_model_that_reasons_is_sent_no_setting_that_it_refuses(
    model: str, at_provider: bool, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a temperature, nor a bound on the answer, nor a wish for log-probabilities."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("OPENAI_BASE_URL", loopback.url)
    program = TRACK1.build({})
    with open_lm(LMConfig(model, api_base=None if at_provider else loopback.url)).context():
        assert program(**program.prepare(claim("Supported")).inputs()).sentence_labels == ["Supported"]
    assert [set(request.body) - {"model", "messages", "response_format"} for request in loopback.requests] == [set()]
