"""What of an answer counts, and what is said of one that is none: forms that servers and models really send."""

import json
import re
from typing import Any

import dspy
import pytest

from aisr.judging.judge import Outcome, judge
from aisr.lm.answers import last_object
from aisr.lm.config import LMConfig
from aisr.lm.open import open_config
from aisr.programs.track1 import TRACK1
from support import runs
from support.loopback import Loopback, answer_with
from support.scripted import claim

LABELS = ["Contradiction", "Supported"]
OTHERS = ["Unsupported Entity", "Unsupported Entity"]


def text(labels: list[str], sure: str | None = "80, Supported 10") -> str:
    fields: dict[str, Any] = {"sentence_labels": labels}
    return json.dumps(fields if sure is None else fields | {"how_sure": [sure] * len(labels)})


def fields(labels: list[str]) -> str:
    return (
        f"[[ ## sentence_labels ## ]]\n{json.dumps(labels)}\n\n"
        f"[[ ## how_sure ## ]]\n{json.dumps(['80, Supported 10'] * len(labels))}\n\n"
    )


def judged(loopback: Loopback, schema: bool = True) -> Outcome:
    """What comes of a record of two sentences."""
    lm = open_config(LMConfig("openai/local", api_base=loopback.url, logprobs=False, schema=schema, threads=1))
    program = TRACK1.build({"verbalized_confidence": True})
    return judge(TRACK1, program, program.prepare(claim(*LABELS)), lm)


def labels_of(outcome: Outcome) -> object:
    return outcome.failure if outcome.answer is None else outcome.answer


DRAFT, ANSWER = text(OTHERS), text(LABELS)
READ = {
    "alone": ANSWER,
    "thought with a whole draft": f"<think>\nFirst {DRAFT}, but no.\n</think>\n\n{ANSWER}",
    "thought without the opening tag": f"Let me think. {DRAFT}\n</think>\n\n{ANSWER}",
    "thought behind": f"{ANSWER}\n<think>or {DRAFT}</think>",
    "another tag": f"<reasoning>{DRAFT}</reasoning>{ANSWER}",
    "channels": f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final "
    f"<|constrain|>json<|message|>{ANSWER}<|return|>",
    "marked thought": f"<think>\n{fields(OTHERS)}No.\n</think>\n\n{fields(LABELS)}[[ ## completed ## ]]",
    "plain draft": f"My first idea is {text(OTHERS, None)}, but no.\n\n{ANSWER}",
    "whole draft": f"My first idea is {DRAFT}, but no.\n\n{ANSWER}",
    "note with half an answer": f"{ANSWER}\n\nHad I been laxer: {text(OTHERS, None)}",
    "braces before": f"The set {{A, B}} is small, {{C is not. {ANSWER}",
    "marked fields": fields(LABELS),
    "control tokens": ANSWER + "<|eot_id|><|im_end|>",
    "other quotes": str(json.loads(ANSWER)),
    "its brace is missing": ANSWER[:-1],
    "in an object": f'{{"answer": {ANSWER}}}',
    "no confidence": text(LABELS, None),
}


@pytest.mark.parametrize("schema", [True, False], ids=["json", "marked"])
@pytest.mark.parametrize("answer", READ.values(), ids=READ)
def test_the_last_whole_answer_outside_of_thoughts_counts(answer: str, schema: bool, loopback: Loopback) -> None:
    loopback.reply = lambda request: answer
    assert labels_of(judged(loopback, schema)) == LABELS
    assert len(loopback.requests) == 1


@pytest.mark.parametrize("around", ["{}", "The set {{A, B}}: {}", "{} It is of {{A, B}}.", "{{'pairs': []}}, or: {}"])
def test_a_list_of_objects_that_is_not_quite_json_is_read_beside_other_braces(around: str) -> None:
    """As AVeriTeC's pairs of question and answer."""
    answer = "{'pairs': [{'question': 'Who?', 'answer': 'She, of course.'},]}"
    pairs = [{"question": "Who?", "answer": "She, of course."}]
    assert last_object(around.format(answer), ["pairs"]) == {"pairs": pairs}


UNREAD = {
    "a thought that does not end": f"<think>\nFirst {ANSWER}",
    "a channel but the final one": f"<|channel|>analysis<|message|>{ANSWER}",
    "a draft, and the answer is cut": f"{DRAFT}\nNo: {ANSWER[:45]}",
    "a last object with other labels": f"{ANSWER}\n{text(['Fine', 'Fine'])}",
}


@pytest.mark.parametrize("answer", UNREAD.values(), ids=UNREAD)
def test_an_answer_without_one_is_repaired_once(answer: str, loopback: Loopback) -> None:
    answers = [answer, text(["Supported", "Supported"])]
    loopback.reply = lambda request: answers[len(loopback.requests) - 1]
    assert labels_of(judged(loopback)) == ["Supported", "Supported"]


def ended(reason: str, content: str | None = "", tokens: int = 20, **message: Any) -> Any:
    def change(body: Any) -> None:
        body["usage"]["completion_tokens"] = tokens
        body["choices"][0]["finish_reason"] = reason
        body["choices"][0]["message"].update(content=content, **message)

    return answer_with(change, "")


CALL = {"id": "a", "type": "function", "function": {"name": "json_tool_call", "arguments": ANSWER}}
ENDED = {
    "cut": (
        ended("length", ANSWER[:45], 8000),
        "the answer was cut after 8000 tokens, .*; -L max_tokens=16000 allows",
    ),
    "context": (ended("length", ANSWER[:45]), "the answer was cut after 20 tokens: the server's context is full"),
    "endless": (ended("length", ANSWER[:45] + '"70.7%", ' * 99), "the answer was cut .*: it repeats itself at its end"),
    "refused": (ended("stop", None, refusal="I can't help with that."), "the model refused to answer: I can't help"),
    "filtered": (ended("content_filter"), "the answer was filtered"),
    "tool": (ended("tool_calls", None, tool_calls=[CALL]), "the model called a tool, which none was offered"),
}


@pytest.mark.parametrize(("reply", "reason"), ENDED.values(), ids=ENDED)
def test_an_answer_that_ended_otherwise_fails_its_record_with_the_reason_and_is_asked_for_again(
    reply: Any, reason: str, loopback: Loopback
) -> None:
    """At once: a repair would end likewise. And not again from the cache, by the next run."""
    program = TRACK1.build({"verbalized_confidence": True})

    def outcome() -> Outcome:
        lm = runs.opened(loopback.url, timeout=5.0, logprobs=False)
        return judge(TRACK1, program, program.prepare(claim(*LABELS)), lm)

    loopback.reply = reply
    first = outcome()
    assert first.failure is not None
    assert re.search(reason, first.failure), first.failure
    assert len(loopback.requests) == 1
    loopback.reply = lambda request: ANSWER
    assert outcome() == first
    dspy.cache.reset_memory_cache()
    assert labels_of(outcome()) == LABELS
