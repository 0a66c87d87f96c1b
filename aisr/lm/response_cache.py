"""DSPy's response cache, fit for long runs with many threads.

As it comes, it keeps the last million answers in memory, and each thread opens sixteen databases of its own, with a
cache of their pages each. Here a few answers stay in memory, one thread looks after the databases, and whoever asks for
what they do not hold is told so without them. What another process stores meanwhile is found by the next one. On disk
the answers are text (`aisr/lm/text_disk.py`).
"""

import atexit
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

REMEMBERED = 1_000  # answers; the others are on disk
WAITING = 100  # answers that may wait to be stored: more would fill the memory, and be lost by a kill
SMALL = {"sqlite_cache_size": 128, "sqlite_mmap_size": 0}  # pages; bytes. 32 MB and 64 MB for each of 16 databases else
SHARDS, TIMEOUT = 16, 10  # databases; seconds: as DSPy has them
_taming = threading.Lock()


def tame(cache: Any) -> None:
    """Do that to `dspy.cache`, once."""
    from cachetools import LRUCache

    with _taming:
        if isinstance(cache.disk_cache, _Keeper):
            return
        cache.memory_cache = LRUCache(REMEMBERED)
        if cache.enable_disk_cache:
            cache.disk_cache = _Keeper(_as_text(cache.disk_cache))


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
        self._asked.put(_Request(self._look_around, ()))

    def get(self, key: str) -> Any:
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
