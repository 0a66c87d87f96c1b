"""Running a program over records: every record ends as an answer or as a failure with its reason, in input order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import dspy
from dspy.utils.exceptions import AdapterParseError, LMAuthError, LMBillingError, LMConfigurationError, LMError

from optimize.lm import OpenLM
from optimize.tasks import Answer, Task
from programs.asking import UnusableAnswer

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Outcome:
    """What became of one record: an answer, or None and the reason."""

    answer: Answer | None
    failure: str | None = None


def judge(task: Task, program: dspy.Module, example: dspy.Example, lm: OpenLM) -> Outcome:
    """The program's answer to one example.

    A failed call or an unusable answer is a failed record. What would fail every record alike (a refused key, an
    account without credit, a wrong configuration) is raised.
    """
    try:
        with lm.context():
            return Outcome(task.answer(program(**example.inputs())))
    except (LMAuthError, LMBillingError, LMConfigurationError):
        raise
    except (UnusableAnswer, AdapterParseError, LMError) as error:
        return Outcome(None, " ".join(f"{type(error).__name__}: {error}".split())[:500])


def judge_all(
    task: Task,
    program: dspy.Module,
    examples: Iterable[dspy.Example],
    lm: OpenLM,
    done: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """The outcomes of all examples, in order; `done` is called after each."""
    outcomes = []
    for outcome in in_order(examples, lambda example: judge(task, program, example, lm), lm.threads):
        outcomes.append(outcome)
        done()
    return outcomes


def in_order(items: Iterable[ItemT], work: Callable[[ItemT], ResultT], threads: int) -> Iterator[ResultT]:
    """The result of each item, in the order of the items, with up to `threads` at work.

    Reads at most four times as many items ahead as there are threads, however many there are in all.
    """
    if threads == 1:
        yield from map(work, items)
        return
    rest = iter(items)
    with ThreadPoolExecutor(threads) as pool:
        pending: deque[Future[ResultT]] = deque(pool.submit(work, item) for item in islice(rest, 4 * threads))
        try:
            while pending:
                result = pending.popleft().result()
                pending.extend(pool.submit(work, item) for item in islice(rest, 1))
                yield result
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
