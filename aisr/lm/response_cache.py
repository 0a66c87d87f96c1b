"""DSPy's response cache, with its answers on disk as text.

DSPy pickles them; its restriction of pickles (`restrict_pickle`) trusts whole modules, and a pickle reaches through
those into the modules that they import. What servers answer is plain data, so it is written as JSON, without secrets,
and all else is no answer.
"""

import json
import os
import threading
from collections.abc import Iterable
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

import dspy
from dspy.clients import DISK_CACHE_DIR, Cache
from pydantic import BaseModel

from aisr.base import redact
from aisr.programs.text_store import TextTable

REMEMBERED = 1_000  # answers in memory; the others are on disk
# Of what a server sends, all else can hold anything and is never read again.
UNUSED = {"id", "provider_data"}  # of a response of DSPy's own engine
USED = ("model", "choices", "usage")  # of a response of LiteLLM
_configuring = threading.Lock()
_recorded: ContextVar[list[str] | None] = ContextVar("keys that were looked for", default=None)


def configure_cache(folder: Path | None = None) -> None:
    """Have DSPy keep its answers so, once: in the folder of the cache that the caller configured, else as DSPY_CACHEDIR
    says, else in `folder`, else in DSPy's own. Nothing is changed where the caller wants none on disk. Raises UserError
    where the folder cannot be written."""
    with _configuring:
        known = vars(dspy).get("cache")
        if known is None:
            dspy.cache = AnswerCache(Path(os.environ.get("DSPY_CACHEDIR") or folder or DISK_CACHE_DIR))
        elif not isinstance(known, AnswerCache) and known.enable_disk_cache:
            known.disk_cache.close()
            dspy.cache = AnswerCache(Path(known.disk_cache_dir))


def record_keys() -> list[str]:
    """A list that the keys of all answers are put into that are looked for from here on in this thread or task."""
    keys: list[str] = []
    _recorded.set(keys)
    return keys


def invalidate(keys: Iterable[str]) -> None:
    """Answers that failed a record are kept for as long as this process judges the same over and over, as a compile
    does, and not on disk: whoever runs the command again has them asked for again."""
    if isinstance(dspy.cache, AnswerCache):
        for key in dict.fromkeys(keys):
            dspy.cache.disk_cache.set_aside(key, dspy.cache.memory_cache.get(key))


def retry_failed() -> None:
    """Have those asked for again from here on."""
    if isinstance(dspy.cache, AnswerCache):
        for key in dspy.cache.disk_cache.forget_aside():
            dspy.cache.memory_cache.pop(key, None)


class AnswerCache(Cache):
    """DSPy's cache with text in place of pickles, whose keys are recorded for whoever asked for that."""

    def __init__(self, folder: Path) -> None:
        super().__init__(False, True, str(folder), memory_max_entries=REMEMBERED)
        self.enable_disk_cache = True
        self.disk_cache = Answers(folder)

    def cache_key(self, *given: Any, **named: Any) -> str:
        key = str(super().cache_key(*given, **named))
        if (keys := _recorded.get()) is not None:
            keys.append(key)
        return key


class Answers:
    """What DSPy's cache asks of its disk."""

    def __init__(self, folder: Path) -> None:
        self._table = TextTable(folder)
        self._aside: dict[str, Any] = {}  # see `invalidate`

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def get(self, key: str) -> Any:
        if (aside := self._aside.get(key)) is not None:
            return aside
        text = self._table.get(key)
        try:
            found = None if text is None else json.loads(text)
        except (ValueError, RecursionError):
            return None
        return found if _is_dspys(found) else attributes(found)

    def set(self, key: str, value: Any) -> None:
        """Raises TypeError for what is no plain data."""
        self._table.set(key, written(value))

    def set_aside(self, key: str, value: Any) -> None:
        """Keep a value, or else what is stored, in this process alone."""
        value = self.get(key) if value is None else value
        if value is not None:
            self._aside[key] = value
            self._table.delete(key)

    def forget_aside(self) -> list[str]:
        """Forget these, and the keys of them."""
        keys = list(self._aside)
        for key in keys:
            self._aside.pop(key, None)
        return keys

    def close(self) -> None:
        self._table.close()


class Attributes(dict[str, Any]):
    """A dictionary whose keys are attributes, as DSPy reads an answer of LiteLLM."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def model_dump(self, **_: Any) -> Any:
        return plain(self)


def attributes(value: Any) -> Any:
    """Plain data with `Attributes` in place of its dictionaries."""
    if isinstance(value, dict):
        return Attributes({key: attributes(item) for key, item in value.items()})
    return [attributes(item) for item in value] if isinstance(value, list) else value


def plain(value: Any) -> Any:
    """Dictionaries in place of pydantic's models, without their serializers."""
    if isinstance(value, BaseModel):
        value = dict(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _is_dspys(value: Any) -> bool:
    """Whether it is an answer of DSPy's own engines, in the form in which DSPy keeps it."""
    return isinstance(value, dict) and "_dspy_format" in value


def written(value: Any) -> str:
    """An answer as text, without the values of secret variables."""
    known = redact.secret_values()
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
    if _is_dspys(value):
        responses = [{name: one[name] for name in one if name not in UNUSED} for one in value["responses"]]
        return {**value, "responses": responses}
    if isinstance(value, dict) and "choices" in value:
        return {name: value[name] for name in USED if name in value}
    return value
