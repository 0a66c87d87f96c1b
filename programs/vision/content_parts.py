"""The form in which a picture stands inside text: DSPy puts content parts between two marks, and makes of them parts of
the message again when it is sent.

Demos keep pictures in that form (`Exhibits`), and demos come out of files. A part of somebody else's making would be
sent as it is: a picture's address, for the provider to fetch; a file; a sound.
"""

import json
import re
from typing import Any

from dspy.adapters.types.base_type import CUSTOM_TYPE_END_IDENTIFIER, CUSTOM_TYPE_START_IDENTIFIER

BEGIN, END = CUSTOM_TYPE_START_IDENTIFIER, CUSTOM_TYPE_END_IDENTIFIER
PICTURE = re.compile(r"data:image/jpeg;base64,[A-Za-z0-9+/]++={0,2}")


def is_harmless(value: Any) -> bool:
    """Whether a value of a demo, at any depth, has no content parts but those that `Exhibits` writes."""
    if isinstance(value, str):
        return BEGIN not in value or _only_ours(value)
    if isinstance(value, dict):
        return all(is_harmless(key) and is_harmless(inner) for key, inner in value.items())
    return not isinstance(value, list | tuple) or all(map(is_harmless, value))


def _only_ours(text: str) -> bool:
    rest = ""
    while BEGIN in text:
        before, _, text = text.partition(BEGIN)
        parts, end, text = text.partition(END)
        if not end or not _is_ours(parts):
            return False
        rest += before
    return END not in rest + text


def _is_ours(written: str) -> bool:
    try:
        parts = json.loads(written)
    except (ValueError, RecursionError):
        return False
    return isinstance(parts, list) and bool(parts) and all(map(_is_text_or_picture, parts))


def _is_text_or_picture(part: Any) -> bool:
    match part:
        case {"type": "text", "text": str(), **more}:
            return not more
        case {"type": "image_url", "image_url": {"url": str(url), **inner}, **more}:
            return not more and not inner and bool(PICTURE.fullmatch(url))
    return False
