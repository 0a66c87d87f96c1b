"""The adapter of LMs whose options are scored: the built-in model, and decision models.

What such a model reads is short: the instruction with its options, demos with their answers, the values of the inputs.
The form of an answer is not told in words, as to a model that writes: the schema or the questions carry it.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import dspy
from pydantic import BaseModel

from aisr.lm.adapters import remembering
from aisr.programs.questions import AGAIN, is_closed, with_options


class LeanAdapter(dspy.JSONAdapter):
    """The instruction with its options, the values of the inputs, and answers as JSON in one line. What must be written
    is asked for as DSPy does."""

    def format_system_message(self, signature: Any) -> str:
        if not is_closed(signature):
            return str(super().format_system_message(signature))
        return _instruction(signature, signature.instructions)

    def format_user_message_content(
        self, signature: Any, inputs: Mapping[str, Any], prefix: str = "", suffix: str = "", main_request: bool = False
    ) -> str:
        if not is_closed(signature):
            return str(super().format_user_message_content(signature, inputs, prefix, suffix, main_request))
        wanted = [name for name in signature.input_fields if name != AGAIN and inputs.get(name) is not None]
        given = {name: inputs[name] for name in wanted}
        return "\n\n".join(f"{name}:\n{_written(value)}" for name, value in given.items())

    def format_assistant_message_content(
        self, signature: Any, outputs: Mapping[str, Any], missing_field_message: str | None = None
    ) -> str:
        if not is_closed(signature):
            return str(super().format_assistant_message_content(signature, outputs, missing_field_message))
        said = {name: outputs.get(name) for name in signature.output_fields if outputs.get(name) is not None}
        return json.dumps(said, ensure_ascii=False, default=str)


def lean_adapter() -> dspy.Adapter:
    """That adapter, ready for use."""
    return remembering(LeanAdapter())


def _written(value: Any) -> str:
    """A value of an input; the items of a list one a line, numbered."""
    if isinstance(value, list | tuple):
        return "\n".join(f"{number}. {one}" for number, one in enumerate(value, start=1))
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value  # DSPy's types mark pictures there
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


@lru_cache(maxsize=64)
def _instruction(signature: Any, instructions: str) -> str:
    return str(with_options(signature).instructions)
