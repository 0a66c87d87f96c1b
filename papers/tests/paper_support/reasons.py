"""Answers about papers in the place of a language model: labels of statements, and why they are flagged."""

import json
import re
from typing import Any

from support.loopback import HttpRequest, judged
from support.scripted import field, written

SENTENCE = re.compile(r"sentence (\d+) \([^)]*\): (.*)", re.DOTALL)
BEYOND = re.compile(r"because|due to|explained|thereby|\b(?:all|any|every)\b")
ITEM = re.compile(r"^\[([^\]]+)\] (.*)$", re.MULTILINE)


def asks_why(prompt: str) -> bool:
    """Whether a question is that one."""
    return "`reasons`" in prompt


def flagged(prompt: str) -> list[tuple[int, str]]:
    """The numbers and the words of the sentences that it is about."""
    sentences = map(SENTENCE.fullmatch, json.loads(field(prompt, "sentences") or "[]"))
    return [(int(one[1]), one[2]) for one in sentences if one]


def stated(**fields: Any) -> dict[str, Any]:
    """A reason as a model states it, of the first sentence."""
    empty = {"row": "", "column": "", "quote": ""}
    return {"sentence": "1", "says": "The evidence has something else.", "item": "Table 1", **empty, **fields}


def first_words(prompt: str) -> str:
    """An answer that quotes for each sentence the first words of the evidence."""
    key, text = ITEM.findall(field(prompt, "evidence") or "")[0]
    quote = " ".join(text.split()[:6])
    return written(
        prompt, {"reasons": [stated(sentence=number, item=key, quote=quote) for number, _ in flagged(prompt)]}
    )


def judged_paper(request: HttpRequest) -> str:
    """An answer about a paper that depends on the wording alone, in the requested form."""
    prompt = request.question
    if asks_why(prompt):
        return first_words(prompt)
    if field(prompt, "passage") is None:  # citations
        return judged(request)
    sentences = json.loads(field(prompt, "sentences") or "[]")
    labels = ["Beyond the evidence" if BEYOND.search(sentence) else "Supported" for sentence in sentences]
    return written(prompt, {"sentence_labels": labels})
