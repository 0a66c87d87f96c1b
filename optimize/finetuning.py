"""Labelled records as chat-format training examples, for providers that tune models."""

from collections.abc import Iterable, Iterator
from typing import Any

import dspy

from programs.ensemble import Ensemble


def chats(program: dspy.Module, examples: Iterable[dspy.Example], adapter: dspy.Adapter) -> Iterator[dict[str, Any]]:
    """One conversation for each call that the program makes for a labelled example: `{"messages": [system, user,
    assistant]}`, the assistant giving the right answer.

    The prompts are the program's own, word for word, but for its demos: a tuned model has learnt what they show, so it
    goes with the same program without them. Raises ValueError for an ensemble and for a program that reranks or
    transcribes.
    """
    if isinstance(program, Ensemble):
        raise ValueError("--program is an ensemble; its members have prompts of their own, so export one of them")
    if len(program.predictors()) > 1:
        raise ValueError("--program asks other questions before it judges; export one that reads captions or OCR only")
    signature = program.judging.signature
    for example in examples:
        for row in program.demo_rows(example):
            messages = adapter.format(signature, [], {name: row[name] for name in signature.input_fields})
            outputs = {name: row[name] for name in signature.output_fields}
            answer = adapter.format_assistant_message_content(signature, outputs)
            yield {"messages": [*messages, {"role": "assistant", "content": answer}]}
