"""One spec string, one language model: what is refused, what is sent, what is counted."""

import json
import math
from typing import Literal

import dspy
import pytest

from aisr.cli import display
from aisr.lm.config import LMConfig, LMUnavailable
from aisr.lm.embedded import load, usable_cores
from aisr.lm.open import open_lm
from aisr.predict.judge import judge
from aisr.programs.track1.task import TRACK1
from support.loopback import HttpRequest, Loopback, completion, judged
from support.scripted import claim, corpus, prompt_tokens, requests, right, scripted


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    """DSPy's client takes `user:password@host` for the name of a host, and writes it into every error."""
    with pytest.raises(LMUnavailable, match="OPENAI_API_KEY") as refused:
        open_lm(LMConfig("openai/local", api_base="http://user:sw0rdfish@127.0.0.1:1/v1"))
    assert "sw0rdfish" not in str(refused.value)


def test_the_ledger_is_right_under_threads() -> None:
    from aisr.predict.judge import judge_all

    lm = scripted(right, threads=8)
    program = TRACK1.build({})
    records = [record.model_copy(update={"id": f"{k}"}) for record in corpus(TRACK1) for k in range(5)]
    judge_all(TRACK1, program, [program.prepare(record) for record in records], lm)
    spend = lm.ledger.spend
    assert spend.calls + spend.cached_calls == 60
    assert spend.prompt_tokens == sum(map(prompt_tokens, requests(lm)))
    assert spend.calls >= 12


def test_an_answer_from_the_cache_is_none_that_was_sent_also_where_the_server_states_no_usage(
    loopback: Loopback,
) -> None:
    def reply(request: HttpRequest) -> tuple[int, str]:
        answer = json.loads(completion(request, "yes"))
        del answer["usage"]
        return 200, json.dumps(answer)

    loopback.reply = reply
    lm = open_lm(LMConfig("openai/local", api_base=loopback.url + "/silent"))
    for _ in range(2):
        lm.lm(messages=[{"role": "user", "content": "is it so?"}])
    assert len(loopback.requests) == 1
    assert (lm.ledger.spend.calls, lm.ledger.spend.cached_calls) == (1, 1)


def spelled(request: HttpRequest, answer: str, chances: dict[str, float]) -> tuple[int, str]:
    """An answer with log-probabilities, cut into tokens before and behind its first label."""
    label = next(iter(chances))
    before, behind = answer.split(label, 1)
    top = [{"token": text, "logprob": math.log(chance), "bytes": None} for text, chance in chances.items()]
    content = [
        {"token": before, "logprob": 0.0, "bytes": None, "top_logprobs": []},
        {**top[0], "top_logprobs": top},
        {"token": behind, "logprob": 0.0, "bytes": None, "top_logprobs": []},
    ]
    body = json.loads(completion(request, answer))
    body["choices"][0]["logprobs"] = {"content": content, "refusal": None}
    return 200, json.dumps(body)


@pytest.mark.parametrize("logprobs", [True, False])
def test_a_server_that_gives_log_probabilities_is_asked_for_them(loopback: Loopback, logprobs: bool) -> None:
    answer = '{"sentence_labels": ["Supported"]}'
    loopback.reply = lambda request: (
        spelled(request, answer, {"Supported": 0.6, "Contradiction": 0.2}) if request.body.get("logprobs") else answer
    )
    lm = open_lm(LMConfig("openai/local", api_base=loopback.url, logprobs=logprobs))
    program = TRACK1.build({})
    with lm.context():
        (judged,) = program(**program.prepare(claim("Supported")).inputs()).judgements
    assert [request.body.get("top_logprobs") for request in loopback.requests] == [20 if logprobs else None]
    assert judged.source == ("logprobs" if logprobs else "vote")
    assert judged.probabilities == pytest.approx([0.75, 0, 0, 0, 0.25] if logprobs else [1.5 / 3.5, *[0.5 / 3.5] * 4])


@pytest.mark.parametrize("model", ["openai/o3", "openai/gpt-5-mini"])
@pytest.mark.parametrize("at_provider", [False, True])
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


def test_log_probabilities_are_not_in_what_optimizers_reflect_on(loopback: Loopback) -> None:
    """Twenty alternatives a token of ten answers: GEPA's question about them was twenty times as long for it."""
    answer = '{"sentence_labels": ["Supported"]}'
    loopback.reply = lambda request: spelled(request, answer, {"Supported": 0.6, "Contradiction": 0.2})
    program = TRACK1.build({})
    with open_lm(LMConfig("openai/local", api_base=loopback.url)).context(), dspy.context(trace=[]):
        (judged,) = program(**program.prepare(claim("Supported")).inputs()).judgements
        ((predictor, _, expected),) = dspy.settings.trace
    assert judged.source == "logprobs"
    assert predictor is program.judging
    assert dict(expected) == {"sentence_labels": ["Supported"]}


# --- Servers that people run themselves: llama.cpp's own, and one that cuts prompts off without a word

CONTEXT = 4096  # tokens, Ollama's default


class IsBlue(dspy.Signature):
    thing: str = dspy.InputField()
    blue: Literal["yes", "no"] = dspy.OutputField()


def test_llama_cpps_own_server_answers_under_the_schema_with_log_probabilities() -> None:
    """Not a stand-in: xllamacpp serves OpenAI's API on a port."""
    lm = open_lm(LMConfig("openai/smollm2", api_base=f"{load(usable_cores()).address}/v1", threads=1))
    with lm.context():
        outcome = dspy.Predict(IsBlue)(thing="the sky", config={"logprobs": True, "top_logprobs": 5})
    assert outcome.blue in ("yes", "no")
    assert all(one.top_logprobs for one in outcome.logprobs.content)
    assert lm.ledger.spend.prompt_tokens > 0


def cut_off(request: HttpRequest) -> tuple[int, str]:
    """The answer of a server that reads as much of a prompt as its context takes."""
    body = json.loads(completion(request, judged(request)))
    sent = sum(len(str(message["content"])) for message in request.body["messages"]) // 4
    body["usage"]["prompt_tokens"] = min(sent, CONTEXT)
    return 200, json.dumps(body)


def test_a_prompt_that_was_cut_off_without_a_word_is_noticed(
    loopback: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    loopback.reply = cut_off
    lm, program = open_lm(LMConfig("openai/local", api_base=loopback.url, threads=1)), TRACK1.build({})
    short = claim("Supported")
    table = {"type": "table", "table_caption": ["a row of many values, and another " * 1500]}
    long = type(short).model_validate(short.model_dump() | {"evidence_bundle": [table]})
    for record, cut in ((short, 0), (long, 1)):
        judge(TRACK1, program, program.prepare(record), lm)
        assert lm.ledger.spend.cut_prompts == cut
    display.print_spend(lm.ledger.spend)
    assert "of 1 prompts the server counted far fewer tokens" in "".join(capsys.readouterr())
