"""What the servers that people run at home do beyond OpenAI's API, each as a rule for a loopback server.

Taken from their documents and bug reports; none of them runs here.
"""

import json
import math
from collections.abc import Callable
from typing import Any

from support.loopback import Asked, Reply, completion, judged

MODEL = "house-8b"
Habit = Callable[[Asked], Reply]


def ollama(context: int = 4096) -> Habit:
    """Cuts off the beginning of what does not fit, without a word, ignores fields that it does not know, and has no
    model but those that were pulled."""

    def reply(asked: Asked) -> Reply:
        if asked.body["model"] != MODEL:
            return _error(404, f'model "{asked.body["model"]}" not found, try pulling it first', type="not_found_error")
        read = min(_tokens(asked), context)
        return _answer(asked, usage=_usage(read), system_fingerprint="fp_ollama")

    return reply


def llama_cpp(context: int = 32_768) -> Habit:
    """Minds no model name, gives log-probabilities and timings, and refuses what does not fit with its own kind of
    error."""

    def reply(asked: Asked) -> Reply:
        needed = _tokens(asked)
        if needed > context:
            said = "the request exceeds the available context size, try increasing it"
            more = {"type": "exceed_context_size_error", "n_prompt_tokens": needed, "n_ctx": context}
            return _error(400, said, code=400, **more)
        own = {"logprobs": _spelled(asked)}
        return _answer(asked, own, usage=_usage(needed), timings={"prompt_ms": 1.5}, model="gpt-3.5-turbo")

    return reply


def _tokens(asked: Asked) -> int:
    return math.ceil(sum(len(str(message["content"])) for message in asked.body["messages"]) / 4)


def _usage(prompt: int) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": 20, "total_tokens": prompt + 20}


def _spelled(asked: Asked) -> dict[str, Any] | None:
    """The answer as tokens of one character, each all but sure."""
    if not asked.body.get("logprobs"):
        return None
    return {
        "content": [
            {"token": letter, "logprob": -0.01, "bytes": None, "top_logprobs": [{"token": letter, "logprob": -0.01}]}
            for letter in _said(asked)
        ]
    }


def _said(asked: Asked) -> str:
    """The loopback server's own answer, with how sure it is, which a model that is asked for that states."""
    answer = json.loads(str(judged(asked)))
    return json.dumps(answer | {"how_sure": ["80, Contradiction 15" for _ in answer["sentence_labels"]]})


def _answer(asked: Asked, choice: dict[str, Any] | None = None, **fields: Any) -> Reply:
    whole = json.loads(completion(asked, _said(asked)))
    whole["choices"][0] |= choice or {}
    return 200, json.dumps(whole | fields)


def _error(status: int, message: str, **fields: Any) -> Reply:
    return status, json.dumps({"error": {"message": message, **fields}})
