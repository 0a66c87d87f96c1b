"""Threads that judge: kept for as long as a compile, and gone after it."""

import threading

import pytest

from aisr.judging.judge import keep_threads, map_ordered
from support.scripted import scripted


def test_evaluations_of_a_compile_share_threads_and_leave_none() -> None:
    seen: set[threading.Thread] = set()

    def work(number: int) -> int:
        seen.add(threading.current_thread())
        if number == 5:
            raise ValueError(number)
        return number

    with keep_threads(scripted([], threads=2)):
        for _ in range(3):
            assert list(map_ordered(work, range(5), 2)) == [0, 1, 2, 3, 4]
        with pytest.raises(ValueError, match="5"):
            list(map_ordered(work, range(9), 2))
        assert list(map_ordered(work, range(5), 2)) == [0, 1, 2, 3, 4]
    assert len(seen) <= 2
    assert not any(thread.is_alive() for thread in seen)
