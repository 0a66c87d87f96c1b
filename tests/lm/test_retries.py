"""When a server ends the run, and what is said of its errors. How often a call is sent again: `test_faults.py`."""

import json
from typing import Any

import pytest
from dspy.utils.exceptions import LMError

from aisr.lm.client import Unreachable, WaitTooLong
from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.predict.judge import judge_all
from aisr.programs.track1 import TRACK1
from support.faults import refused
from support.loopback import Loopback, serve
from support.scripted import claim


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited for, which nobody does."""
    waited: list[float] = []
    monkeypatch.setattr("aisr.lm.client.time.sleep", waited.append)
    return waited


def test_a_wait_of_minutes_ends_the_run(loopback: Loopback) -> None:
    loopback.reply = refused(429, "come back tomorrow", Retry_After="121")
    program = TRACK1.build({})
    examples = [program.prepare(claim("Supported", number=k)) for k in range(3)]
    with pytest.raises(WaitTooLong, match="asks to wait for 121 s; run the same command again after that"):
        judge_all(TRACK1, program, examples, open_lm(LMConfig("openai/local", api_base=loopback.url, threads=1)))
    assert len(loopback.requests) == 1


def test_a_wrong_port_ends_the_run_at_once(waits: list[float]) -> None:
    with serve() as gone:
        pass
    program = TRACK1.build({})
    with pytest.raises(Unreachable, match=f"^openai/local at {gone.url}: .*refused"):
        judge_all(TRACK1, program, [claim("Supported")], open_lm(LMConfig("openai/local", api_base=gone.url)))
    assert sum(waits) <= 1


# --- Who sent the error, its status, the first words of its body, and what may be wrong

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
    lm.contact.first_wait = 0.001
    with pytest.raises(LMError, match=f"^openai/local at {loopback.url}: .*{words}") as raised:
        lm("Hello?")
    assert "\n" not in str(raised.value)
    assert "endpoint" not in str(raised.value)
