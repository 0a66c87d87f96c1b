"""DSPy's response cache, fit for long runs with many threads.

As it comes, it keeps the last million answers in memory, and each thread opens sixteen databases of its own: 64 threads
spend a third of their time on them. Here a few answers stay in memory and one thread looks after the databases.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

REMEMBERED = 1_000  # answers; the others are on disk
SMALL = {"sqlite_cache_size": 128, "sqlite_mmap_size": 0}  # pages; bytes. 32 MB and 64 MB for each of 16 databases else


def tame(cache: Any) -> None:
    """Do that to `dspy.cache`, once."""
    from cachetools import LRUCache

    if isinstance(cache.disk_cache, _Keeper):
        return
    cache.memory_cache = LRUCache(REMEMBERED)
    if cache.enable_disk_cache:
        cache.disk_cache = _Keeper(cache.disk_cache)


class _Keeper:
    """The databases of the cache, all behind one thread."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="response cache")
        for pragma, value in SMALL.items():
            self._thread.submit(store.reset, pragma, value).result()

    def get(self, key: str) -> Any:
        return self._thread.submit(self._store.get, key).result()

    def set(self, key: str, value: Any) -> None:
        """Soon: nobody waits for it, and whoever asks for the key afterwards stands behind it in the queue."""
        self._thread.submit(self._store.set, key, value)

    def delete(self, key: str) -> None:
        self._thread.submit(self._store.delete, key).result()

    def __contains__(self, key: str) -> bool:
        return bool(self._thread.submit(self._store.__contains__, key).result())
