"""An answer of the right form that says nothing: what a program is told where its questions are only written down."""

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

import dspy
from pydantic import BaseModel


def stand_in(signature: type[dspy.Signature], constraints: Mapping[str, Mapping[str, Any]]) -> str:
    """The text of an answer that parses and passes: first labels, lists as short as `constraints` allow."""
    values = {
        name: _value(field.annotation, constraints.get(name, {}).get("minItems", 0))
        for name, field in signature.output_fields.items()
    }
    adapter = dspy.settings.adapter or dspy.ChatAdapter()
    return str(adapter.format_assistant_message_content(signature, values))


def _value(annotation: Any, items: int) -> Any:
    if get_origin(annotation) is list:
        return [_value(get_args(annotation)[0], 0)] * items
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {name: _value(field.annotation, 0) for name, field in annotation.model_fields.items()}
    return get_args(annotation)[0] if get_origin(annotation) is Literal else "-"
