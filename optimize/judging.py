"""Running a program over records: every record ends as an answer or as a failure with its reason."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from queue import SimpleQueue
from typing import TypeVar

import dspy
from dspy.utils.exceptions import (
    AdapterParseError,
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
    LMError,
    LMUnsupportedModelError,
)

from optimize import redact
from optimize.lm import OpenLM
from optimize.pacing import AskedToWait
from optimize.tasks import Answer, Task
from programs.asking import UnusableAnswer
from programs.distribution import Judgement

THOUGHTS = ("judgements", "named", "ranking")  # what a prediction holds beside the answer
# What would meet every record alike.
RAISED = (LMAuthError, LMBillingError, LMConfigurationError, LMUnsupportedModelError, AskedToWait)
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Outcome:
    """What became of one record: an answer, or None and the reason; what the model thinks of each judgement in it; the
    evidence ids that it named itself, and all of them as they were ranked."""

    answer: Answer | None
    failure: str | None = None
    judgements: Sequence[Judgement] = ()
    named: Sequence[str] = ()
    ranking: Sequence[str] = ()


def judge(task: Task, program: dspy.Module, example: dspy.Example, lm: OpenLM) -> Outcome:
    """The program's answer to one example.

    A failed call or an unusable answer is a failed record. What would fail every record alike (a refused key, an
    account without credit, an unknown model, a wrong configuration, a server closed for long) is raised.
    """
    try:
        with lm.context():
            said = program(**example.inputs())
        return Outcome(task.answer(said), None, *(said.get(name, ()) for name in THOUGHTS))
    except RAISED:
        raise
    except (UnusableAnswer, AdapterParseError, LMError) as error:
        return Outcome(None, redact.addresses(" ".join(f"{type(error).__name__}: {error}".split()))[:500])


def judge_all(
    task: Task,
    program: dspy.Module,
    examples: Iterable[dspy.Example],
    lm: OpenLM,
    done: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """The outcomes of all examples, in their order; `done` is called after each."""
    outcomes = {}
    numbered = enumerate(examples)
    for (place, _), outcome in finished(numbered, lambda item: judge(task, program, item[1], lm), lm.threads):
        outcomes[place] = outcome
        done()
    return [outcomes[place] for place in range(len(outcomes))]


def finished(items: Iterable[ItemT], work: Callable[[ItemT], ResultT], threads: int) -> Iterator[tuple[ItemT, ResultT]]:
    """Each item with its result, as soon as it is there, with up to `threads` at work.

    At most four times as many items as threads are read ahead of the slowest, however many there are in all. What
    `work` raises is raised here, after the results of the items that were at work by then.
    """
    if threads == 1:
        yield from ((item, work(item)) for item in items)
        return
    rest = iter(items)
    done: SimpleQueue[tuple[ItemT, Future[ResultT]]] = SimpleQueue()
    raised: BaseException | None = None
    with ThreadPoolExecutor(threads) as pool:

        def submit(count: int) -> int:
            """Begin on that many more items, as far as there are some; how many that were."""
            some = list(islice(rest, count))
            for item in some:
                pool.submit(work, item).add_done_callback(partial(_put, done, item))
            return len(some)

        try:
            pending = submit(4 * threads)
            while pending:
                item, future = done.get()
                pending -= 1
                if future.cancelled():
                    continue
                error = future.exception()
                if error is None:
                    pending += submit(1) if raised is None else 0
                    yield item, future.result()
                elif raised is None:
                    raised = error
                    pool.shutdown(wait=False, cancel_futures=True)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    if raised is not None:
        raise raised


def _put(done: "SimpleQueue[tuple[ItemT, Future[ResultT]]]", item: ItemT, future: "Future[ResultT]") -> None:
    done.put((item, future))
