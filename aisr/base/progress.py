"""How far a piece of work is: a stage with a count of a total, for whoever shows it.

Work that may take longer than two seconds counts its items by `counted`, or by `stage_of` where others loop. A command
shows them (`aisr.cli.display.Live`) while it listens (`heard_by`); without a listener nothing is shown.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

CountedT = TypeVar("CountedT")


@dataclass
class Stage:
    """A piece of work that is under way."""

    text: str  # what happens, such as "preparing the records of train"
    total: int | None  # items; None where that is not known
    done: int = 0
    is_over: bool = False
    began: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        """Return what happens, the count, and the time that is left if all items take as long as those so far."""
        if self.total is None:
            return f"{self.text}: {self.done:,}"
        count = f"{self.text}: {self.done:,} of {self.total:,}"
        if not 0 < self.done < self.total:
            return count
        seconds = (time.monotonic() - self.began) / self.done * (self.total - self.done)
        return f"{count}, about {_duration(seconds)} left"


def _duration(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


_listener: ContextVar[Callable[[Stage], object] | None] = ContextVar("listener to stages", default=None)


@contextmanager
def heard_by(listener: Callable[[Stage], object]) -> Iterator[None]:
    """Have `listener` called with each stage that this thread begins within the block; the stage goes on counting."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def stage_of(text: str, total: int | None) -> Iterator[Stage]:
    """Begin a stage whose count is raised within the block, by whoever does the work."""
    stage = Stage(text, total)
    if listener := _listener.get():
        listener(stage)
    try:
        yield stage
    finally:
        stage.is_over = True


def counted(items: Iterable[CountedT], text: str, total: int | None = None, step: int = 1) -> Iterator[CountedT]:
    """Yield the items, each counted as `step` once it is worked on. total: by default their number, if known."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with stage_of(text, total) as stage:
        for item in items:
            yield item
            stage.done += step
