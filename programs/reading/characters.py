"""Text of strangers that can be written again: half of a pair of surrogates is no character, and no file holds one."""

from typing import Any


def whole(text: str) -> str:
    """The text with a question mark in the place of each half, such as `"\\ud800"` in the JSON of a cut page."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def all_whole(value: Any) -> Any:
    """The same throughout what a JSON text is of."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [all_whole(one) for one in value]
    if isinstance(value, dict):
        return {whole(key): all_whole(one) for key, one in value.items()}
    return value
