"""What is said of a server's errors: who sent it, its status, the first words of its body, and what may be wrong."""

import json
from typing import Any

import pytest
from dspy.utils.exceptions import LMAuthError, LMError

from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from support.loopback import Loopback

BODIES: dict[str, tuple[int, Any, str]] = {
    "OpenAI's": (400, {"error": {"message": "no such option", "code": "odd"}}, "HTTP 400: no such option"),
    "vLLM's": (400, {"object": "error", "message": "max_tokens is too large", "code": 400}, "HTTP 400: max_tokens is"),
    "Ollama's": (400, {"error": "model not found, pull it"}, "HTTP 400: model not found, pull it"),
    "FastAPI's": (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "HTTP 422: .*field required"),
    "not there": (404, {"detail": "Not Found"}, r"HTTP 404: .*Not Found.* \(is --api-base right\? .*/chat/completions"),
    "a page under status 200": (200, "<html>gateway</html>", "HTTP 200.*<html>gateway</html>"),
    "no choice": (200, {"id": "x", "choices": []}, "the answer holds no choice"),
}


@pytest.mark.parametrize(("status", "body", "words"), BODIES.values(), ids=BODIES)
def test_an_error_is_told_with_status_and_words_by_the_names_that_were_typed(
    status: int, body: Any, words: str, loopback: Loopback
) -> None:
    loopback.reply = lambda request: (status, body if isinstance(body, str) else json.dumps(body))
    lm = open_lm(LMConfig("openai/local", api_base=loopback.url, threads=1))
    lm.lm.contact.first_wait = 0.001
    with pytest.raises(LMError, match=f"^openai/local at {loopback.url}: .*{words}") as raised:
        lm.lm("Hello?")
    assert "\n" not in str(raised.value)
    assert "endpoint" not in str(raised.value)


def test_a_refused_key_is_told_in_one_line(loopback: Loopback) -> None:
    loopback.reply = lambda request: (401, '{"error": {"message": "Incorrect API key provided"}}')
    with pytest.raises(LMAuthError) as raised:
        open_lm(LMConfig("openai/local", api_base=loopback.url)).lm("Hello?")
    assert str(raised.value) == (
        f"openai/local at {loopback.url}: HTTP 401: Incorrect API key provided (its key comes from AISR_API_KEY, else "
        "OPENAI_API_KEY)"
    )
