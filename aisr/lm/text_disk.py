"""Answers as the response cache keeps them on disk: text without secrets, and read as text alone.

DSPy's own restriction of pickles (`restrict_pickle`) trusts whole modules, and a pickle reaches through those into the
modules that they import. What servers answer is plain data, so it is written as JSON, and all else there is no answer.
"""

import json
from functools import lru_cache
from typing import Any

from diskcache import UNKNOWN

from aisr.base import redact
from aisr.compat.dspy import CACHE_FORMAT, DeserializationError, attributes, plain
from aisr.programs.reading.text_store import NotText, TextDisk

# Of what a server sends, all else can hold anything and is never read again.
UNUSED = {"id", "provider_data"}  # of a response of DSPy's own engine
USED = ("model", "choices", "usage")  # of a response of LiteLLM


class AnswerDisk(TextDisk):
    """What `diskcache.FanoutCache(disk=...)` asks of a disk, for answers under keys that are strings."""

    def store(self, value: Any, read: bool, key: Any = UNKNOWN) -> tuple[int, int, None, str]:
        """Raises TypeError for what is no plain data."""
        return super().store(written(value), read, key)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """Raises `DeserializationError`, whereupon DSPy forgets the answer and asks anew."""
        try:
            found = json.loads(super().fetch(mode, filename, value, read))
        except (NotText, ValueError, RecursionError) as error:
            raise DeserializationError(f"a row of the response cache is no JSON: {error}") from error
        is_litellms = isinstance(found, dict) and found.get("_dspy_format") != CACHE_FORMAT
        return attributes(found) if is_litellms else found


def written(value: Any) -> str:
    """An answer as text, without the values of secret variables."""
    known = redact.environment()
    needed = _needed(plain(value))
    text = json.dumps(needed)
    # Looking through the text is quicker than through each string; it finds too much rather than too little.
    if any(_within_json(secret) in text for _, secret in known):
        text = json.dumps(redact.throughout(needed, known))
    return text


@lru_cache(maxsize=4096)
def _within_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _needed(value: Any) -> Any:
    if isinstance(value, dict) and value.get("_dspy_format") == CACHE_FORMAT:
        responses = [{name: one[name] for name in one if name not in UNUSED} for one in value["responses"]]
        return {**value, "responses": responses}
    if isinstance(value, dict) and "choices" in value:
        return {name: value[name] for name in USED if name in value}
    return value
