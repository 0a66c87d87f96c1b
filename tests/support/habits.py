"""What the servers that people run at home do beyond OpenAI's API, each as a rule for a loopback server.

Taken from their documents and bug reports; none of them runs here.
"""

import json
import math
from collections.abc import Callable
from typing import Any

from support.loopback import HttpRequest, Reply, completion, judged

MODEL = "house-8b"
Habit = Callable[[HttpRequest], Reply]


def ollama(context: int = 4096) -> Habit:
    """Cuts off the beginning of what does not fit, without a word, ignores fields that it does not know, and has no
    model but those that were pulled."""

    def reply(request: HttpRequest) -> Reply:
        if request.body["model"] != MODEL:
            return _error(
                404, f'model "{request.body["model"]}" not found, try pulling it first', type="not_found_error"
            )
        read = min(_tokens(request), context)
        return _answer(request, usage=_usage(read), system_fingerprint="fp_ollama")

    return reply


def llama_cpp(context: int = 32_768) -> Habit:
    """Minds no model name, gives log-probabilities and timings, and refuses what does not fit with its own kind of
    error."""

    def reply(request: HttpRequest) -> Reply:
        needed = _tokens(request)
        if needed > context:
            message = "the request exceeds the available context size, try increasing it"
            more = {"type": "exceed_context_size_error", "n_prompt_tokens": needed, "n_ctx": context}
            return _error(400, message, code=400, **more)
        own = {"logprobs": _spelled(request)}
        return _answer(request, own, usage=_usage(needed), timings={"prompt_ms": 1.5}, model="gpt-3.5-turbo")

    return reply


def _tokens(request: HttpRequest) -> int:
    return math.ceil(sum(len(str(message["content"])) for message in request.body["messages"]) / 4)


def _usage(prompt: int) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": 20, "total_tokens": prompt + 20}


def _spelled(request: HttpRequest) -> dict[str, Any] | None:
    """The answer as tokens of one character, each all but sure."""
    if not request.body.get("logprobs"):
        return None
    return {
        "content": [
            {"token": letter, "logprob": -0.01, "bytes": None, "top_logprobs": [{"token": letter, "logprob": -0.01}]}
            for letter in _text(request)
        ]
    }


def _text(request: HttpRequest) -> str:
    """The loopback server's own answer, with its confidence where the request wants that stated."""
    answer = json.loads(str(judged(request)))
    return json.dumps(answer | {"how_sure": ["80, Contradiction 15" for _ in answer["sentence_labels"]]})


def _answer(request: HttpRequest, choice: dict[str, Any] | None = None, **fields: Any) -> Reply:
    whole = json.loads(completion(request, _text(request)))
    whole["choices"][0] |= choice or {}
    return 200, json.dumps(whole | fields)


def _error(status: int, message: str, **fields: Any) -> Reply:
    return status, json.dumps({"error": {"message": message, **fields}})
