"""How a prompt is rendered and an answer read: DSPy's adapters, and a shorter one where options are scored."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError
from pydantic import BaseModel

from aisr.programs.questions import AGAIN, is_closed, with_options


def adapter_for(schema: bool) -> dspy.Adapter:
    """JSON under a schema where the model takes one, DSPy's marked fields elsewhere. The fallback of the latter to JSON
    would double a weak model's calls in silence."""
    return _guarded(dspy.JSONAdapter() if schema else dspy.ChatAdapter(use_json_adapter_fallback=False))


def lean_adapter() -> dspy.Adapter:
    """That of the built-in model and of decision models."""
    return _guarded(LeanAdapter())


class LeanAdapter(dspy.JSONAdapter):
    """The instruction with its options, the values of the inputs, and answers as JSON in one line. The form of an
    answer is not told in words, as to a model that writes: the schema or the questions carry it. What must be written
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


def _guarded(adapter: dspy.Adapter) -> dspy.Adapter:
    """The adapter, with every way not to be able to read an answer as its own error: DSPy lets what its parsers raise
    pass, where an answer nests too deep for them or holds a number of ten thousand digits."""
    parse = adapter.parse

    def guarded(signature: Any, completion: str) -> dict[str, Any]:
        try:
            return parse(signature, completion)  # type: ignore[no-any-return]
        except AdapterParseError:
            raise
        except (ValueError, RecursionError, MemoryError) as error:
            raise AdapterParseError(type(adapter).__name__, signature, completion, message=str(error)) from error

    adapter.parse = guarded
    return adapter


def _written(value: Any) -> str:
    """A value of an input; the items of a list one a line, numbered."""
    if isinstance(value, list | tuple):
        return "\n".join(f"{number}. {one}" for number, one in enumerate(value, start=1))
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value  # DSPy's types mark pictures there
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


@lru_cache(maxsize=64)
def _instruction(signature: Any, instructions: str) -> str:
    return str(with_options(signature).instructions)
