"""DSPy's response cache, fit for long runs with many threads.

As it comes, it keeps the last million answers in memory, and each thread opens sixteen databases of its own, with a
cache of their pages each. Here a few answers stay in memory, one thread looks after the databases, and whoever asks for
what they do not hold is told so without them. What another process stores meanwhile is found by the next one. On disk
the answers are text (`aisr/lm/text_disk.py`).
"""

import atexit
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from queue import SimpleQueue
from typing import Any

REMEMBERED = 1_000  # answers; the others are on disk
WAITING = 100  # answers that may wait to be stored: more would fill the memory, and be lost by a kill
SMALL = {"sqlite_cache_size": 128, "sqlite_mmap_size": 0}  # pages; bytes. 32 MB and 64 MB for each of 16 databases else
SHARDS, TIMEOUT = 16, 10  # databases; seconds: as DSPy has them
_taming = threading.Lock()
_heard: ContextVar[list[str] | None] = ContextVar("keys that were looked for", default=None)


def tame(cache: Any) -> None:
    """Do that to `dspy.cache`, once."""
    from cachetools import LRUCache

    with _taming:
        if isinstance(cache.disk_cache, _Keeper):
            return
        cache.memory_cache = LRUCache(REMEMBERED)
        if cache.enable_disk_cache:
            cache.disk_cache = _Keeper(_as_text(cache.disk_cache))
            cache.cache_key = _overheard(cache.cache_key)


def _overheard(cache_key: Callable[..., str]) -> Callable[..., str]:
    """The same, whose keys whoever listens is told."""

    def key_of(*given: Any, **named: Any) -> str:
        key = cache_key(*given, **named)
        if (heard := _heard.get()) is not None:
            heard.append(key)
        return key

    return key_of


def listen() -> list[str]:
    """A list that the keys of all answers are put into that are looked for from here on in this thread or task."""
    keys: list[str] = []
    _heard.set(keys)
    return keys


def not_to_be_used(cache: Any, keys: Iterable[str]) -> None:
    """Answers that failed a record are kept for as long as this process judges the same over and over, as a compile
    does, and not on disk: whoever runs the command again has them asked for again."""
    if isinstance(cache.disk_cache, _Keeper):
        for key in dict.fromkeys(keys):
            cache.disk_cache.set_aside(key, cache.memory_cache.get(key))


def ask_again(cache: Any) -> None:
    """Have those asked for again from here on."""
    if isinstance(cache.disk_cache, _Keeper):
        for key in cache.disk_cache.forget_aside():
            cache.memory_cache.pop(key, None)


def _as_text(store: Any) -> Any:
    """The same databases, opened as text."""
    from diskcache import FanoutCache

    from aisr.lm.text_disk import AnswerDisk

    limit = store.size_limit * SHARDS  # it tells that of one database
    store.close()
    return FanoutCache(store.directory, shards=SHARDS, timeout=TIMEOUT, size_limit=limit, disk=AnswerDisk, **SMALL)


class _Keeper:
    """The databases of the cache, all behind one thread, which is asked by a plain queue: a future a call would cost
    more than the answer. Of the keys a hash each is known, some 10 MB for 100,000."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._asked: SimpleQueue[_Request | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="response cache", daemon=True)
        self._thread.start()
        atexit.register(self.close)
        self._known: set[int] = set()
        self._knows_all = False
        self._aside: dict[str, Any] = {}  # see `not_to_be_used`
        self._asked.put(_Request(self._look_around, ()))

    def set_aside(self, key: str, value: Any) -> None:
        """Keep a value, or else what is stored, in this process alone."""
        value = self.get(key) if value is None else value
        if value is not None:
            self._aside[key] = value
            self.delete(key)

    def forget_aside(self) -> list[str]:
        """Forget these, and the keys of them."""
        keys = list(self._aside)
        for key in keys:
            self._aside.pop(key, None)
        return keys

    def get(self, key: str) -> Any:
        if (aside := self._aside.get(key)) is not None:
            return aside
        return self._ask(self._store.get, key) if self._may_hold(key) else None

    def set(self, key: str, value: Any) -> None:
        """Soon: nobody waits for it as long as few do, and whoever asks for the key afterwards stands behind it in the
        queue."""
        self._known.add(hash(key))
        request = _Request(self._store.set, (key, value))
        if self._asked.qsize() < WAITING:
            self._asked.put(request)
        else:
            with suppress(Exception):  # an answer less to find, as below
                self._answer(request)

    def delete(self, key: str) -> None:
        self._ask(self._store.delete, key)

    def close(self) -> None:
        """Write what is still to be written. Nothing can be asked afterwards."""
        self._asked.put(None)
        self._thread.join()

    def __contains__(self, key: str) -> bool:
        return self._may_hold(key) and bool(self._ask(self._store.__contains__, key))

    def _may_hold(self, key: str) -> bool:
        return not self._knows_all or hash(key) in self._known

    def _look_around(self) -> None:
        """Learn which keys there are. Whoever asks before that stands behind it in the queue."""
        for key in self._store:
            self._known.add(hash(key))
        self._knows_all = True

    def _ask(self, what: Any, *about: Any) -> Any:
        return self._answer(_Request(what, about))

    def _answer(self, request: "_Request") -> Any:
        request.answered.acquire()
        self._asked.put(request)
        request.answered.acquire()
        if request.error is not None:
            raise request.error
        return request.answer

    def _work(self) -> None:
        while (request := self._asked.get()) is not None:
            try:
                request.answer = request.what(*request.about)
            except Exception as error:  # whoever asked decides; a failed `set` is an answer less to find, as in DSPy
                request.error = error
            if request.answered.locked():
                request.answered.release()


class _Request:
    """Something to do with the databases, and what came of it."""

    __slots__ = ("about", "answer", "answered", "error", "what")

    def __init__(self, what: Any, about: tuple[Any, ...]) -> None:
        self.what = what
        self.about = about
        self.answer: Any = None
        self.error: Exception | None = None
        self.answered = threading.Lock()
