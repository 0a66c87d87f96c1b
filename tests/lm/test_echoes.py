"""A server may repeat the key that it was sent in any field of its answer; none of them brings it to a file."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dspy
import pytest
from dspy.clients.cache import Cache
from dspy.clients.legacy_outputs import plain

from aisr.lm.client import OpenLM
from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from support.loopback import HttpRequest, Loopback, answer_with, serve

KEY = "sk-planted-7c21f0"
PATH = "/planted-t0ken-in-the-path/v1"
Body = dict[str, Any]


def message(body: Body) -> Body:
    message: Body = body["choices"][0]["message"]
    return message


def spelled(body: Body, *tokens: str) -> None:
    """The answer's log-probabilities, with tokens behind those of the answer."""
    entries = [{"token": text, "logprob": -0.1, "top_logprobs": []} for text in (message(body)["content"], *tokens)]
    body["choices"][0]["logprobs"] = {"content": entries}


def alternative(body: Body, key: str) -> None:
    spelled(body)
    entry = body["choices"][0]["logprobs"]["content"][0]
    entry["top_logprobs"] = [{"token": key, "logprob": -1.0, "bytes": None}]


def call(body: Body, key: str) -> None:
    function = {"name": key, "arguments": json.dumps({"said": key})}
    message(body)["tool_calls"] = [{"id": key, "type": "function", "function": function}]


ECHOES: dict[str, Callable[[Body, str], None]] = {
    "id": lambda body, key: body.update(id=key),
    "system_fingerprint": lambda body, key: body.update(system_fingerprint=key),
    "a field of its own": lambda body, key: body.update(debug={"headers": [key]}),
    "the name of a field": lambda body, key: body.update({key: 1}),
    "usage": lambda body, key: body["usage"].update(note=key),
    "details of the usage": lambda body, key: body["usage"].update(prompt_tokens_details={key: 3, "cached_tokens": 1}),
    "reasoning_content": lambda body, key: message(body).update(reasoning_content=key),
    "a tool call": call,
    "a token": lambda body, key: spelled(body, key),
    "several tokens": lambda body, key: spelled(body, key[:5], key[5:]),
    "an alternative token": alternative,
    "the answer": lambda body, key: message(body).update(content=f"Called with {key}."),
}


def echo_of(change: Callable[[Body, str], None], secret: str) -> Callable[[Body], None]:
    return lambda body: change(body, secret)


def hosted(loopback: Loopback, engine: str) -> OpenLM:
    """An LM as it is opened without an address, but for the address."""
    opened = open_lm(LMConfig("openai/gpt-4o-mini"))
    return replace(opened, lm=opened.lm.copy(engine=engine, api_base=loopback.url, gives_logprobs=True))


def answers_of(lm: OpenLM, echo: str) -> list[str]:
    """What it answers, called and awaited, as text."""
    question: Body = {"prompt": f"Which label? ({echo})", "logprobs": True, "top_logprobs": 2}

    async def main() -> Any:
        try:
            return await lm.lm.acall(**question)
        finally:
            await lm.lm.aclose()

    with lm.context():
        return [json.dumps(plain(answers)) for answers in (lm.lm(**question), asyncio.run(main()))]


def assert_nowhere(secret: str, folder: Path) -> None:
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert any(file.stat().st_size for file in files)
    for file in files:
        assert secret.encode() not in file.read_bytes(), file


def all_echoes(folder: Path, secret: str, open_: Callable[[Loopback], OpenLM]) -> list[HttpRequest]:
    """The secret is in no answer, not even in one from the cache's files, where all answers are; the requests."""
    dspy.cache = Cache(True, True, str(folder / "cache"))
    with serve() as loopback:
        lm = open_(loopback)
        for number, (echo, change) in enumerate(ECHOES.items(), start=1):
            loopback.reply = answer_with(echo_of(change, secret))
            answers = answers_of(lm, echo)
            assert not [answer for answer in answers if secret in answer], echo
            dspy.cache.reset_memory_cache()
            assert answers_of(lm, echo) == answers, echo
            assert len(loopback.requests) == 2 * number
    dspy.cache.disk_cache.close()
    return loopback.requests


def at_path(loopback: Loopback) -> OpenLM:
    """An LM whose address holds a token, as those of gateways do."""
    return open_lm(LMConfig("openai/local", api_base=f"http://{urlsplit(loopback.url).netloc}{PATH}"))


@pytest.mark.parametrize(
    ("secret", "open_"),
    [
        (KEY, lambda loopback: open_lm(LMConfig("openai/local", api_base=loopback.url))),
        (KEY, lambda loopback: hosted(loopback, "lm15")),
        (KEY, lambda loopback: hosted(loopback, "litellm")),
        (PATH, at_path),
    ],
    ids=["an address", "no address", "litellm", "a token in the address"],
)
def test_an_echoed_key_or_path_reaches_no_file(
    secret: str, open_: Callable[[Loopback], OpenLM], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")  # as `$(cat key)` may leave it
    monkeypatch.setattr(dspy, "cache", dspy.cache)  # and back
    sent = all_echoes(tmp_path, secret, open_)
    assert {one.authorization for one in sent} == {f"Bearer {KEY}"}
    assert secret == KEY or all(one.path.startswith(PATH) for one in sent)
    assert_nowhere(secret, tmp_path)
