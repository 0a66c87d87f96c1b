"""A decision model on the loopback address: both wire forms, OpenAI's list of questions and System One's map, answers
by rule, and what such a server can do wrong. LiteLLM's own types check what comes in and write what goes out.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from litellm.types.decisions import (
    DecisionsRequest,
    DecisionsResponse,
    OpenAIDecisionRequest,
    OpenAIDecisionResponse,
)

from support.faults import cut_short_body, hang, hang_up, refused
from support.loopback import Asked, Reply, claim_label

SURE = 0.8  # of what a rule says; the rest is shared by the other options
OPENAI, SYSTEM_ONE = "/v1/decisions", "/v1/systemone"
MOST = 128  # questions
Answer = dict[str, Any]


def decided(asked: Asked) -> Reply:
    """The answer to either form, by the wording alone."""
    return 200, json.dumps(served(asked))


def served(asked: Asked, label: Callable[[str], str] = claim_label) -> Answer:
    """The body of that answer; label: that of a sentence. Raises where the request is none by LiteLLM's types."""
    body = asked.body
    read = len(json.dumps(body)) // 4
    if asked.path.endswith(OPENAI):
        request = OpenAIDecisionRequest.model_validate(body)
        text = _text(body["input"])
        answers = [_openai(text, question, label) for question in body["questions"]]
        usage = {"input_tokens": read, "output_tokens": 0, "total_tokens": read}
        said = {"model": request.model, "answers": answers, "usage": usage}
        answer: Answer = OpenAIDecisionResponse.model_validate(said).model_dump(mode="json")
        return answer
    assert asked.path.endswith(SYSTEM_ONE), asked.path
    DecisionsRequest.model_validate(body)
    found = {name: _system_one(body["state"], question, label) for name, question in body["questions"].items()}
    usage = {"input_tokens": read, "output_tokens": 0}
    said = {"model": body["model"], "answers": found, "usage": usage}
    mapped: Answer = DecisionsResponse.model_validate(said).model_dump(mode="json")
    return mapped


def chosen(text: str, instructions: str, options: list[str], label: Callable[[str], str]) -> str:
    """Which option the rule takes: of a sentence that which `label` says, of a claim by its length."""
    record = text.rpartition("To be judged:")[2]
    number = re.search(r"sentence (\d+)\?", instructions)
    if number:
        return label(re.search(rf"^{number[1]}\. (.*)$", record, re.MULTILINE)[1])  # type: ignore[index]
    claim = re.search(r"^(?:claim|sentence):\n(.*)$", record, re.MULTILINE)
    said = claim[1] if claim else record
    return label(said) if "Contradiction" in options else options[len(said) % len(options)]


def true(text: str, instructions: str) -> float:
    """How likely a yes-or-no question is answered with yes: more for the ids that stand first."""
    key = re.search(r"\[([^\]]+)\]", instructions)
    shown = re.findall(r"^\[([^\]]+)\] ", text.rpartition("To be judged:")[2], re.MULTILINE)
    place = shown.index(key[1]) if key and key[1] in shown else len(shown)
    return round(0.9 / math.sqrt(place + 1), 4)


def shares(best: str, options: list[str]) -> dict[str, float]:
    """`SURE` for one option, the rest shared evenly."""
    rest = (1 - SURE) / max(len(options) - 1, 1)
    return {option: SURE if option == best else rest for option in options}


def _text(given: Any) -> str:
    if isinstance(given, str):
        return given
    return "".join(part.get("text", "") for message in given for part in message["content"])


def _openai(text: str, question: Mapping[str, Any], label: Callable[[str], str]) -> Answer:
    if question["type"] == "predicate":
        return {"type": "predicate", "name": question["name"], "probability": true(text, question["instructions"])}
    options = [choice["value"] for choice in question["choices"]]
    best = chosen(text, question["instructions"], options, label)
    listed = [{"value": option, "probability": share} for option, share in shares(best, options).items()]
    about = {"type": "choice", "name": question["name"], "choice": best, "confidence": SURE}
    return {**about, "probabilities": listed}


def _system_one(text: str, question: Mapping[str, Any], label: Callable[[str], str]) -> Answer:
    if question["type"] == "noul":
        return {"type": "noul", "noul": true(text, question["instructions"])}
    options = list(question["criteria"])
    best = chosen(text, question["instructions"], options, label)
    return {"type": "choice", "choice": best, "confidence": SURE, "probabilities": shares(best, options)}


def _first(answers: Any) -> Answer:
    found: Answer = next(
        answer for answer in (answers.values() if isinstance(answers, dict) else answers) if answer["type"] == "choice"
    )
    return found


def mangled(change: Callable[[Answer], None]) -> Callable[[Asked], Reply]:
    """The right body with something wrong in it."""

    def reply(asked: Asked) -> Reply:
        body = served(asked)
        change(body)
        return 200, json.dumps(body)  # NaN as Python and some servers write it

    return reply


def changed(change: Callable[[Answer], None]) -> Callable[[Asked], Reply]:
    """The right answer with something wrong in its first choice."""
    return mangled(lambda body: change(_first(body["answers"])))


def _reordered(body: Answer) -> None:
    """All answers the other way round, and their options."""
    answers = body["answers"]
    if isinstance(answers, list):
        answers.reverse()
    else:
        body["answers"] = dict(reversed(answers.items()))
    for answer in answers if isinstance(answers, list) else answers.values():
        rows = answer["probabilities"]
        answer["probabilities"] = rows[::-1] if isinstance(rows, list) else dict(reversed(rows.items()))


def _junk_name(body: Answer) -> None:
    answers = body["answers"]
    if isinstance(answers, list):
        answers[0]["name"] = "sentence_labels 99"
    else:
        answers["sentence_labels 99"] = answers.pop(next(iter(answers)))


def _without_a_name(body: Answer) -> None:
    if isinstance(body["answers"], list):
        del body["answers"][0]["name"]
    else:
        body["answers"] = list(body["answers"].values())  # a list whose items name nothing


def _duplicate(asked: Asked) -> Reply:
    """The last answer also stands for the first question, before or behind its own."""
    body = served(asked)
    answers = body["answers"]
    if isinstance(answers, list):
        answers.append({**answers[-1], "name": answers[0]["name"]})
        return 200, json.dumps(body)
    name, text = next(iter(answers)), json.dumps(body)
    return 200, text.replace(
        '"answers": {', '"answers": {' + f"{json.dumps(name)}: {json.dumps(list(answers.values())[-1])}, "
    )


def _duplicate_option(asked: Asked) -> Reply:
    body = served(asked)
    answer = _first(body["answers"])
    if isinstance(answer["probabilities"], list):
        answer["probabilities"].append(dict(answer["probabilities"][0]))
        return 200, json.dumps(body)
    name = next(iter(answer["probabilities"]))
    return 200, json.dumps(body).replace('"probabilities": {', '"probabilities": {' + f'"{name}": 0.8, ', 1)


def _as_text(answer: Answer) -> None:
    """Numbers as some libraries write them; a reader that helps takes them for numbers."""
    _each(answer, str)


def _as_truth(answer: Answer) -> None:
    _each(answer, lambda share: share == SURE)


def _of_another_kind(answer: Answer) -> None:
    answer.clear()
    answer.update({"type": "noul", "name": "sentence_labels 1", "noul": 0.5})


def _using(**tokens: Any) -> Callable[[Asked], Reply]:
    return mangled(lambda body: body["usage"].update(tokens))


def _without_an_option(answer: Answer) -> None:
    """The others still sum to 1, so that only who counts the options can tell."""
    rows = answer["probabilities"]
    kept = [row["value"] for row in rows][1:] if isinstance(rows, list) else list(rows)[1:]
    _set(answer, shares(kept[0], kept))


def _sum_off(answer: Answer) -> None:
    _each(answer, lambda share: share * 0.7)


def _not_a_number(answer: Answer) -> None:
    _each(answer, lambda share: float("nan"))


def _below_zero(answer: Answer) -> None:
    names = _names(answer)
    _set(answer, {name: -0.5 if k == 0 else 1.5 if k == 1 else 0.0 for k, name in enumerate(names)})


def _another_option(answer: Answer) -> None:
    names = [*_names(answer)[1:], "Mostly Fine"]
    _set(answer, shares(names[0], names))


def _names(answer: Answer) -> list[str]:
    rows = answer["probabilities"]
    return [row["value"] for row in rows] if isinstance(rows, list) else list(rows)


def _each(answer: Answer, of: Callable[[float], Any]) -> None:
    rows = answer["probabilities"]
    pairs = [(row["value"], row["probability"]) for row in rows] if isinstance(rows, list) else list(rows.items())
    _set(answer, {name: of(share) for name, share in pairs})


def _set(answer: Answer, row: Mapping[str, Any]) -> None:
    listed = [{"value": name, "probability": share} for name, share in row.items()]
    answer["probabilities"] = listed if isinstance(answer["probabilities"], list) else dict(row)


def _refusing(asked: Asked) -> Reply:
    answer = served(asked)
    if isinstance(answer["answers"], list):
        answer["answers"][0] = {"type": "refusal", "name": asked.body["questions"][0]["name"]}
    else:
        del answer["answers"][next(iter(answer["answers"]))]
    return 200, json.dumps(answer)


def _too_many(asked: Asked) -> Reply:
    count = len(asked.body["questions"])
    message = f"questions: expected at most {MOST // 64} of them, got {count}"
    return 400, json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": None}})


# Answers of which nothing can be used: the record fails, with what is wrong of it.
UNUSABLE: dict[str, tuple[Callable[[Asked], Reply], str]] = {
    "missing option": (changed(_without_an_option), "sentence_labels 1: no probability for 'Supported'"),
    "sum off": (changed(_sum_off), "sentence_labels 1: probabilities sum to 0.7"),
    "NaN": (changed(_not_a_number), "is no probability"),
    "negative": (changed(_below_zero), "-0.5 is no probability"),
    "another option": (changed(_another_option), "no probability for 'Supported'"),
    "text": (changed(_as_text), "' is no probability"),
    "true and false": (changed(_as_truth), "is no probability"),
    "another kind": (changed(_of_another_kind), "sentence_labels 1: an answer of type 'noul'"),
    "refusal": (_refusing, "sentence_labels 1: no answer; the model may have refused it"),
    "junk name": (mangled(_junk_name), "an answer to 'sentence_labels 99', which was not asked"),
    "no name": (mangled(_without_a_name), "an answer to None, which was not asked"),
    "duplicate": (_duplicate, "sentence_labels 1"),
    "duplicate option": (_duplicate_option, "'Supported'"),
    "body of the wrong shape": (lambda asked: (200, '{"answers": 3}'), "expected `answers`"),
    "list for a body": (lambda asked: (200, "[]"), "expected `answers`"),
    "body that is not JSON": (lambda asked: (200, "<html>It works!</html>"), "expected value"),
    "deep body": (lambda asked: (200, "[" * 10**5), "recursion"),
    "large body": (lambda asked: (200, " " * (4 * 2**20 + 1)), "more than 4 MiB"),
}
# Numbers of tokens that nobody can have used: what such an answer cost is not known.
USED: dict[str, Callable[[Asked], Reply]] = {
    "negative": _using(input_tokens=-5),
    "more than there are": _using(output_tokens=10**18),
    "text": _using(input_tokens="512"),
    "NaN": _using(output_tokens=float("nan")),
    "true": _using(input_tokens=True),
}
reordered = mangled(_reordered)  # harmless: each names what it answers
# Faults that pass: sent again until they do.
PASSING: dict[str, Callable[[Asked], Reply]] = {
    "429 with Retry-After": refused(429, "slow down", Retry_After="0.01"),
    "429 without Retry-After": refused(429, "slow down"),
    "500": refused(500, "oops"),
    "503": refused(503, "overloaded"),
    "closed connection": hang_up,
    "cut": cut_short_body(lambda asked: json.dumps(served(asked))),
}
# Faults of the one call, for good.
FINAL: dict[str, Callable[[Asked], Reply]] = {
    "too many questions": _too_many,
}
__all__ = ["FINAL", "PASSING", "UNUSABLE", "USED", "decided", "hang", "reordered", "served"]
