"""Labelled records as chat-format training examples, for providers that tune models."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import dspy

from aisr.base.files import replacing
from aisr.programs.asking import stated
from aisr.programs.base import Judge
from aisr.programs.errors import UserError


def chats(program: Judge, examples: Iterable[dspy.Example], adapter: dspy.Adapter) -> Iterator[dict[str, Any]]:
    """One conversation for each call that the program makes for a labelled example: `{"messages": [system, user,
    assistant]}`, the assistant giving the right answer.

    The prompts are the program's own, word for word, but for its demos: a tuned model has learnt what they show, so it
    goes with the same program without them. Raises UserError for one that asks other questions first.
    """
    if len(program.predictors()) > 1:
        raise UserError("--program asks other questions before it judges; export one that reads captions or OCR only")
    signature = program.judging.signature
    for example in examples:
        for row in program.demo_rows(example):
            messages = adapter.format(signature, [], {name: row[name] for name in signature.input_fields})
            fields = signature.output_fields
            # Of a labelled record nobody knows how likely its label is: an empty field makes it a vote.
            outputs = {name: row[name] if name in row else stated.in_form(row, fields, [""]) for name in fields}
            answer = adapter.format_assistant_message_content(signature, outputs)
            yield {"messages": [*messages, {"role": "assistant", "content": answer}]}


def write(out: Path, conversations: Iterable[dict[str, Any]]) -> int:
    """Write conversations into a file, one a line; how many there were. Raises `CannotWrite`."""
    count = 0
    with replacing(out) as file:
        for conversation in conversations:
            file.write(json.dumps(conversation, ensure_ascii=False).encode() + b"\n")
            count += 1
    return count
