"""A decision model on the loopback address: both wire forms, OpenAI's list of questions and System One's map, answers
by rule, and what such a server can do wrong. LiteLLM's own types check what comes in and write what goes out.
"""

import json
import math
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any

from support.loopback import HttpRequest, Reply, claim_label

SURE = 0.8  # of what a rule says; the rest is shared by the other options
OPENAI, SYSTEM_ONE = "/v1/decisions", "/v1/systemone"
IMPORTING = threading.Lock()  # LiteLLM's modules import one another: two threads that begin at once fail
Answer = dict[str, Any]


def decide(request: HttpRequest) -> Reply:
    """The answer to either form, by the wording alone."""
    return 200, json.dumps(served(request))


def served(received: HttpRequest) -> Answer:
    """The body of that answer. Raises where the request is none by LiteLLM's types."""
    with IMPORTING:
        from litellm.types import decisions
    body = received.body
    read = len(json.dumps(body)) // 4
    if received.path.endswith(OPENAI):
        request = decisions.OpenAIDecisionRequest.model_validate(body)
        text = _text(body["input"])
        answers = [_openai(text, question) for question in body["questions"]]
        usage = {"input_tokens": read, "output_tokens": 0, "total_tokens": read}
        reply = {"model": request.model, "answers": answers, "usage": usage}
        answer: Answer = decisions.OpenAIDecisionResponse.model_validate(reply).model_dump(mode="json")
        return answer
    assert received.path.endswith(SYSTEM_ONE), received.path
    decisions.DecisionsRequest.model_validate(body)
    by_name = {name: _system_one(body["state"], question) for name, question in body["questions"].items()}
    usage = {"input_tokens": read, "output_tokens": 0}
    reply = {"model": body["model"], "answers": by_name, "usage": usage}
    mapped: Answer = decisions.DecisionsResponse.model_validate(reply).model_dump(mode="json")
    return mapped


def chosen(text: str, instructions: str, options: list[str]) -> str:
    """Which option the rule takes: of a sentence that of `claim_label`, of a claim by its length."""
    record = text.rpartition("To be judged:")[2]
    number = re.search(r"sentence (\d+)\?", instructions)
    if number:
        return claim_label(re.search(rf"^{number[1]}\. (.*)$", record, re.MULTILINE)[1])  # type: ignore[index]
    claim = re.search(r"^(?:claim|sentence):\n(.*)$", record, re.MULTILINE)
    statement = claim[1] if claim else record
    return claim_label(statement) if claim_label(statement) in options else options[len(statement) % len(options)]


def true(text: str, instructions: str) -> float:
    """How likely a yes-or-no question is answered with yes: more for the ids that stand first."""
    key = re.search(r"\[([^\]]+)\]", instructions)
    ids = re.findall(r"^\[([^\]]+)\] ", text.rpartition("To be judged:")[2], re.MULTILINE)
    place = ids.index(key[1]) if key and key[1] in ids else len(ids)
    return round(0.9 / math.sqrt(place + 1), 4)


def shares(best: str, options: list[str]) -> dict[str, float]:
    """`SURE` for one option, the rest shared evenly; in an order of the server's own."""
    rest = (1 - SURE) / max(len(options) - 1, 1)
    return {option: SURE if option == best else rest for option in reversed(options)}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for message in content for part in message["content"])


def _openai(text: str, question: Mapping[str, Any]) -> Answer:
    if question["type"] == "predicate":
        return {"type": "predicate", "name": question["name"], "probability": true(text, question["instructions"])}
    options = [choice["value"] for choice in question["choices"]]
    best = chosen(text, question["instructions"], options)
    listed = [{"value": option, "probability": share} for option, share in shares(best, options).items()]
    about = {"type": "choice", "name": question["name"], "choice": best, "confidence": SURE}
    return {**about, "probabilities": listed}


def _system_one(text: str, question: Mapping[str, Any]) -> Answer:
    if question["type"] == "noul":
        return {"type": "noul", "noul": true(text, question["instructions"])}
    options = list(question["criteria"])
    best = chosen(text, question["instructions"], options)
    return {"type": "choice", "choice": best, "confidence": SURE, "probabilities": shares(best, options)}


def changed(change: Callable[[dict[str, float]], dict[str, float]]) -> Callable[[HttpRequest], Reply]:
    """The right answer of System One with something wrong in the probabilities of its first choice."""

    def reply(request: HttpRequest) -> Reply:
        body = served(request)
        answer = next(iter(body["answers"].values()))
        answer["probabilities"] = change(answer["probabilities"])
        return 200, json.dumps(body)  # NaN as Python and some servers write it

    return reply


def _share(factor: float) -> Callable[[HttpRequest], Reply]:
    return changed(lambda shares: {name: factor * share for name, share in shares.items()})


# Answers of which nothing can be used: the record fails, with what is wrong of it.
UNUSABLE: dict[str, tuple[Callable[[HttpRequest], Reply], str]] = {
    "missing option": (changed(lambda shares: dict([*shares.items()][:-1])), "sentence_labels 1: "),
    "sum off": (_share(0.7), "sentence_labels 1: probabilities sum to 0.7"),
    "negative": (_share(-1.0), "is no probability"),
    "NaN": (_share(math.nan), "is no probability"),
    "body that is not JSON": (lambda request: (200, "<html>It works!</html>"), ""),
}
