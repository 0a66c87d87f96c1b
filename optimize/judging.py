"""Running a program over records: every record ends as an answer or as a failure with its reason."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
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
from optimize.tasks import Answer, Task
from programs.asking import UnusableAnswer
from programs.distribution import Judgement

THOUGHTS = ("judgements", "named", "ranking")  # what a prediction holds beside the answer
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
    account without credit, an unknown model, a wrong configuration) is raised.
    """
    try:
        with lm.context():
            said = program(**example.inputs())
        return Outcome(task.answer(said), None, *(said.get(name, ()) for name in THOUGHTS))
    except (LMAuthError, LMBillingError, LMConfigurationError, LMUnsupportedModelError):
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

    At most four times as many items as threads are read ahead of the slowest, however many there are in all.
    """
    if threads == 1:
        yield from ((item, work(item)) for item in items)
        return
    rest = iter(items)
    with ThreadPoolExecutor(threads) as pool:
        pending = {pool.submit(work, item): item for item in islice(rest, 4 * threads)}
        try:
            while pending:
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    item = pending.pop(future)
                    pending |= {pool.submit(work, following): following for following in islice(rest, 1)}
                    yield item, future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
