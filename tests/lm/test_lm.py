"""One spec string, one language model: what is refused, what is sent, what is counted."""

import json
import math
from typing import TYPE_CHECKING

import dspy
import pytest

from aisr.lm.budget import Spend
from aisr.lm.client import OpenLM
from aisr.lm.config import LMConfig, LMUnavailable
from aisr.lm.open import open_lm
from aisr.programs.track1.task import TRACK1
from support.loopback import completion
from support.scripted import claim, corpus, prompt_tokens, requests, right, scripted

if TYPE_CHECKING:
    from support.loopback import HttpRequest, Loopback

KEY = "sk-planted-0123456789"
RECORD = claim("Supported", "Contradiction")


def judge(lm: OpenLM) -> list[str]:
    program = TRACK1.build({})
    with lm.context():
        labels: list[str] = program(**program.prepare(RECORD).inputs()).sentence_labels
    return labels


@pytest.mark.parametrize(
    ("spec", "variable"), [("openai/gpt-4o-mini", "OPENAI_API_KEY"), ("anthropic/claude-3-haiku", "ANTHROPIC_API_KEY")]
)
def test_a_missing_key_is_named_with_what_helps(spec: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(LMUnavailable) as refused:
        open_lm(LMConfig(spec))
    for expected in (spec, f"export {variable}=", "--api-base", "--lm embedded"):
        assert expected in str(refused.value)


@pytest.mark.parametrize("spec", ["gpt-4o-mini", "", "openai/", "Embedded"])
def test_a_bad_spec_is_refused_with_an_example(spec: str) -> None:
    with pytest.raises(LMUnavailable, match="expected `embedded` or PROVIDER/MODEL, such as openai/gpt-4o-mini"):
        open_lm(LMConfig(spec))


@pytest.mark.parametrize("address", ["127.0.0.1:8000", "ftp://127.0.0.1", "localhost/v1"])
def test_an_address_must_be_one_of_the_web(address: str) -> None:
    with pytest.raises(LMUnavailable, match="expected an address that begins with http"):
        open_lm(LMConfig("openai/local", api_base=address))


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    """DSPy's client takes `user:password@host` for the name of a host, and writes it into every error."""
    with pytest.raises(LMUnavailable, match="OPENAI_API_KEY") as refused:
        open_lm(LMConfig("openai/local", api_base="http://user:sw0rdfish@127.0.0.1:1/v1"))
    assert "sw0rdfish" not in str(refused.value)


def test_an_endpoint_gets_the_json_schema(loopback: "Loopback") -> None:
    lm = open_lm(LMConfig("openai/local", api_base=loopback.url))
    assert judge(lm) == ["Supported", "Supported"]
    body = loopback.requests[0].body
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["sentence_labels"]["items"]["enum"] == list(TRACK1.labelled.labels)
    assert isinstance(lm.adapter, dspy.JSONAdapter)
    assert (body["model"], body["temperature"]) == ("local", 0)


def test_an_endpoint_without_schemas_is_asked_for_marked_fields(loopback: "Loopback") -> None:
    lm = open_lm(LMConfig("openai/local", api_base=loopback.url, schema=False))
    assert judge(lm) == ["Supported", "Supported"]
    assert len(loopback.requests) == 1
    assert "response_format" not in loopback.requests[0].body
    assert "[[ ## completed ## ]]" in loopback.requests[0].question


def test_an_endpoint_that_fails_to_parse_twice_is_not_asked_a_third_time(loopback: "Loopback") -> None:
    loopback.reply = lambda request: "no labels at all"
    for schema in (True, False):
        loopback.requests.clear()
        with pytest.raises(ValueError, match="unusable answer"):
            judge(open_lm(LMConfig("openai/local", api_base=loopback.url, schema=schema)))
        assert len(loopback.requests) == 2


@pytest.mark.parametrize(("key", "sent"), [(KEY, f"Bearer {KEY}"), (None, "Bearer none")])
def test_the_key_goes_into_the_header_and_nowhere_else(
    loopback: "Loopback", monkeypatch: pytest.MonkeyPatch, key: str | None, sent: str
) -> None:
    if key:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    lm = open_lm(LMConfig("openai/local", api_base=loopback.url))
    judge(lm)
    assert loopback.requests[0].authorization == sent
    assert KEY not in str(loopback.requests[0].body)
    assert KEY not in str(lm.describe())
    assert KEY not in repr(lm)
    assert loopback.url not in str(lm.describe())


def test_two_servers_never_share_cached_answers(loopback: "Loopback") -> None:
    from support.loopback import serve

    judge(open_lm(LMConfig("openai/local", api_base=loopback.url)))
    with serve() as other:
        judge(open_lm(LMConfig("openai/local", api_base=other.url)))
        assert len(other.requests) == 1
    assert len(loopback.requests) == 1


def test_the_ledger_counts_calls_tokens_and_cache_hits(loopback: "Loopback") -> None:
    lm = open_lm(LMConfig("openai/gpt-4o-mini", api_base=loopback.url))
    judge(lm)
    judge(lm)
    usd = 200 * 0.15e-6 + 20 * 0.6e-6  # OpenAI's price for a million tokens: 0.15 and 0.60 USD
    assert lm.ledger.spend == Spend(1, 1, 200, 20, usd=lm.ledger.spend.usd)
    assert lm.ledger.spend.usd == pytest.approx(usd)
    assert len(loopback.requests) == 1


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
    loopback: "Loopback",
) -> None:
    def reply(request: "HttpRequest") -> tuple[int, str]:
        answer = json.loads(completion(request, "yes"))
        del answer["usage"]
        return 200, json.dumps(answer)

    loopback.reply = reply
    lm = open_lm(LMConfig("openai/local", api_base=loopback.url + "/silent"))
    for _ in range(2):
        lm.lm(messages=[{"role": "user", "content": "is it so?"}])
    assert len(loopback.requests) == 1
    assert (lm.ledger.spend.calls, lm.ledger.spend.cached_calls) == (1, 1)


def spelled(request: "HttpRequest", answer: str, chances: dict[str, float]) -> tuple[int, str]:
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
def test_a_server_that_gives_log_probabilities_is_asked_for_them(loopback: "Loopback", logprobs: bool) -> None:
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


def test_log_probabilities_are_not_in_what_optimizers_reflect_on(loopback: "Loopback") -> None:
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
