"""DSPy's response cache, with its answers on disk as text.

DSPy pickles them; its restriction of pickles (`restrict_pickle`) trusts whole modules, and a pickle reaches through
those into the modules that they import. What servers answer is plain data, so it is written as JSON, without secrets,
and all else is no answer.
"""

import json
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import dspy
from dspy.clients import DISK_CACHE_DIR, Cache
from pydantic import BaseModel

from aisr.base import redact
from aisr.base.errors import UserError
from aisr.base.files import digest_text
from aisr.programs.text_store import FILE, TextTable

log = logging.getLogger("aisr")
ResultT = TypeVar("ResultT")

MEMORY_ANSWERS = 1_000  # the others are on disk
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# Of what a server sends, all else can hold anything and is never read again.
UNUSED = {"id", "provider_data"}  # of a response of DSPy's own engine
USED = ("model", "choices", "usage")  # of a response of LiteLLM
_configuring = threading.Lock()
_recorded: ContextVar[list[str] | None] = ContextVar("recorded keys", default=None)


def configure_cache(folder: Path | None = None) -> None:
    """Have DSPy keep its answers as text, once: in the folder of the cache that the caller configured, else as
    DSPY_CACHEDIR says, else in `folder`, else in DSPy's own. Nothing is changed where the caller wants none on disk.
    Raises UserError where the folder cannot be written."""
    with _configuring:
        known = vars(dspy).get("cache")
        if known is None:
            dspy.cache = AnswerCache(Path(os.environ.get("DSPY_CACHEDIR") or folder or DISK_CACHE_DIR))
        elif not isinstance(known, AnswerCache) and known.enable_disk_cache:
            known.disk_cache.close()
            dspy.cache = AnswerCache(Path(known.disk_cache_dir))


def record_keys() -> list[str]:
    """A list that gets the key of every answer that this thread or task looks for from here on."""
    keys: list[str] = []
    _recorded.set(keys)
    return keys


def invalidate(keys: Iterable[str]) -> None:
    """Take answers that failed a record from the disk. This process keeps them, as a compile judges the same records
    over and over; the next run of the command requests them again."""
    if isinstance(dspy.cache, AnswerCache):
        for key in dict.fromkeys(keys):
            dspy.cache.disk_cache.set_aside(key, dspy.cache.memory_cache.get(key))


def retry_failed() -> None:
    """Forget invalidated answers, so that they are requested again."""
    if isinstance(dspy.cache, AnswerCache):
        for key in dspy.cache.disk_cache.forget_aside():
            dspy.cache.memory_cache.pop(key, None)


def address_in_environment(model: str) -> str | None:
    """The address of a model's server by the variables of its provider, such as OPENAI_BASE_URL, which DSPy and LiteLLM
    read; None where there is none."""
    provider = model.partition("/")[0] if "/" in model else "openai"
    name = provider.removesuffix("_chat").replace("-", "_").upper()
    return os.environ.get(f"{name}_BASE_URL") or os.environ.get(f"{name}_API_BASE") or None


def address_digest(address: str) -> str:
    """What tells a server from others without its address, which may hold a key."""
    return digest_text(address.rstrip("/"))


class AnswerCache(Cache):
    """DSPy's cache with text in place of pickles, a part for each server of the environment, and a record of its keys
    (`record_keys`)."""

    def __init__(self, folder: Path) -> None:
        super().__init__(False, True, str(folder), memory_max_entries=MEMORY_ANSWERS)
        self.enable_disk_cache = True
        self.disk_cache = Answers(folder)

    def cache_key(self, request: dict[str, Any], ignored_args_for_cache_key: list[str] | None = None) -> str:
        model = request.get("model") or (request.get("request") or {}).get("model") or ""
        if isinstance(model, str) and (address := address_in_environment(model)):
            request = {**request, "server": address_digest(address)}
        key = str(super().cache_key(request, ignored_args_for_cache_key))
        if (keys := _recorded.get()) is not None:
            keys.append(key)
        return key


class Answers:
    """What DSPy's cache asks of its disk. DSPy is silent where that fails; here the first failure is logged, with what
    to do, and a damaged file is put aside. Raises UserError where the folder cannot hold any."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._has_warned = False
        self._aside: dict[str, Any] = {}  # see `invalidate`
        try:
            self._open()
        except UserError as error:
            if not _is_damage(error.__cause__):
                raise
            self._put_aside(error.__cause__)

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def get(self, key: str) -> Any:
        if (aside := self._aside.get(key)) is not None:
            return aside
        text = self._use("read", lambda table: table.get(key))
        try:
            answer = None if text is None else json.loads(text)
        except (ValueError, RecursionError):
            return None
        return answer if _is_dspy_result(answer) else attributes(answer)

    def set(self, key: str, value: Any) -> None:
        """Raises TypeError for what is no plain data."""
        text = to_text(value)
        self._use("written", lambda table: table.set(key, text))

    def set_aside(self, key: str, value: Any) -> None:
        """Keep a value, or else what is stored, in this process alone."""
        value = self.get(key) if value is None else value
        if value is not None:
            self._aside[key] = value
            self._use("written", lambda table: table.delete(key))

    def forget_aside(self) -> list[str]:
        """Forget these, and the keys of them."""
        keys = list(self._aside)
        for key in keys:
            self._aside.pop(key, None)
        return keys

    def close(self) -> None:
        self._table.close()

    def _open(self) -> None:
        self._table = TextTable(self._folder)
        self._number = (self._folder / FILE).stat().st_ino

    def _use(self, verb: str, use: Callable[[TextTable], ResultT]) -> ResultT | None:
        """What is done with the table; None where that fails."""
        table = self._table
        try:
            return use(table)
        except sqlite3.ProgrammingError:  # it was closed
            raise
        except sqlite3.Error as error:
            if not _is_damage(error):
                self._warn(
                    f"the response cache in {self._folder} cannot be {verb} ({error}): the same command will pay for "
                    "the same answers again. Make room there, make it writable, or set DSPY_CACHEDIR to another folder"
                )
                return None
            with self._lock:
                if self._table is table:  # else another thread was here
                    self._put_aside(error)
        try:
            return use(self._table)
        except sqlite3.Error:
            return None

    def _put_aside(self, error: BaseException | None) -> None:
        """Begin with an empty file in the place of a damaged one, unless another process has done so."""
        file = self._folder / FILE
        if not hasattr(self, "_number") or file.stat().st_ino == self._number:
            aside = file.with_name(f"{FILE}.damaged")
            self._warn(
                f"the response cache {file} is damaged ({error}): it is put aside as {aside.name}, and its answers "
                "will be paid for again"
            )
            file.replace(aside)
            for rest in ("-wal", "-shm"):
                file.with_name(f"{FILE}{rest}").unlink(missing_ok=True)
        self._open()

    def _warn(self, message: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            log.warning(message)


def _is_damage(error: BaseException | None) -> bool:
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGED


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


def _is_dspy_result(value: Any) -> bool:
    """Whether it is an answer of DSPy's own engines, in the form in which DSPy keeps it."""
    return isinstance(value, dict) and "_dspy_format" in value


def to_text(value: Any) -> str:
    """An answer as text, without the values of secret variables."""
    secrets = redact.secret_values()
    content = _content(plain(value))
    text = json.dumps(content)
    # Looking through the text is quicker than through each string; it finds too much rather than too little.
    if any(_within_json(secret) in text for _, secret in secrets):
        text = json.dumps(redact.throughout(content, secrets))
    return text


@lru_cache(maxsize=4096)
def _within_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _content(value: Any) -> Any:
    if _is_dspy_result(value):
        responses = [{name: one[name] for name in one if name not in UNUSED} for one in value["responses"]]
        return {**value, "responses": responses}
    if isinstance(value, dict) and "choices" in value:
        return {name: value[name] for name in USED if name in value}
    return value
