"""DSPy's adapters, which remember what they made of a signature.

They render the same system message for each call, and build the same pydantic model and JSON schema for its answer:
half of what a call costs this process. A signature is a class, and optimizers make new ones: once is enough.
"""

from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError
from pydantic import TypeAdapter

from aisr.compat.dspy import build_type_adapters_by, format_preparation, prepare_formats_by

SIGNATURES = 64  # remembered at a time; a program has one, and each complaint about an answer makes another


def adapter_for(schema: bool) -> dspy.Adapter:
    """JSON under a schema where the model takes one, DSPy's marked fields elsewhere. The fallback of the latter to JSON
    would double a weak model's calls in silence."""
    return remembering(dspy.JSONAdapter() if schema else dspy.ChatAdapter(use_json_adapter_fallback=False))


@lru_cache(4 * SIGNATURES)
def _type_adapter(annotation: Any) -> Any:
    return TypeAdapter(annotation)


def type_adapter(annotation: Any) -> Any:
    """What DSPy has pydantic build anew for each value that it writes or reads: a third of what a call costs."""
    try:
        return _type_adapter(annotation)
    except TypeError:  # an annotation that cannot be remembered
        return TypeAdapter(annotation)


def reading(adapter: dspy.Adapter) -> Callable[[Any, str], dict[str, Any]]:
    """How the adapter reads an answer, with every way not to be able to as its own error: DSPy lets what its parsers
    raise pass, where an answer nests too deep for them or holds a number of ten thousand digits."""
    parse = adapter.parse

    def read(signature: Any, completion: str) -> dict[str, Any]:
        try:
            return parse(signature, completion)  # type: ignore[no-any-return]
        except AdapterParseError:
            raise
        except (ValueError, RecursionError, MemoryError) as error:
            raise AdapterParseError(type(adapter).__name__, signature, completion, message=str(error)) from error

    return read


def remembering(adapter: dspy.Adapter) -> dspy.Adapter:
    """The same adapter; its prompts, formats and readings are those that it would have made."""
    build_type_adapters_by(type_adapter)
    adapter.parse = reading(adapter)
    system_message = adapter.format_system_message

    @lru_cache(SIGNATURES)
    def rendered(signature: Any, instructions: str) -> str:
        return str(system_message(signature))

    # The instructions are the one part of a signature that can be set on the class itself.
    adapter.format_system_message = lambda signature: rendered(signature, signature.instructions)
    if isinstance(adapter, dspy.JSONAdapter):
        prepare = format_preparation(adapter)

        @lru_cache(SIGNATURES)
        def chosen(params: frozenset[str], schema: bool, signature: Any) -> Any:
            given: dict[str, Any] = {}
            prepare(SimpleNamespace(supported_params=params, supports_response_schema=schema), given, signature)
            return given.get("response_format")

        def remembered(lm: Any, lm_kwargs: dict[str, Any], signature: Any) -> None:
            found = chosen(frozenset(lm.supported_params), lm.supports_response_schema, signature)
            if found is not None:
                lm_kwargs["response_format"] = found

        prepare_formats_by(adapter, remembered)
    return adapter
