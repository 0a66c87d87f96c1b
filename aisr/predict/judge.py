"""Running a program over records: every record ends as an answer or as a failure with its reason."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from queue import SimpleQueue
from typing import TypeVar

import dspy
from dspy.utils.exceptions import AdapterParseError, LMError

from aisr.base import redact
from aisr.lm.client import OpenLM
from aisr.lm.rate_limit import RAISED
from aisr.programs.asking.ask import UnusableAnswer
from aisr.programs.asking.label_probabilities import Judgement
from aisr.programs.base import Judge
from aisr.programs.task import Answer, Task

THOUGHTS = ("judgements", "named", "ranking")  # what a prediction holds beside the answer
FAILED = (UnusableAnswer, AdapterParseError, LMError)  # what it takes for a record to fail, or all
AHEAD = 4  # items that may be read for each thread before they are needed
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Outcome:
    """What became of one record: an answer, or None and the reason; what the model thinks of each judgement in it; the
    evidence ids that it named itself, all of them as they were ranked."""

    answer: Answer | None
    failure: str | None = None
    judgements: Sequence[Judgement] = ()
    named: Sequence[str] = ()
    ranking: Sequence[str] = ()


def judge(task: Task, program: Judge, example: dspy.Example, lm: OpenLM) -> Outcome:
    """The program's answer to one example.

    A failed call or an unusable answer is a failed record. What would fail every record alike (a refused key, an
    account without credit, an unknown model, a wrong configuration, a server closed for long) is raised.
    """
    try:
        with lm.context():
            said = program(**example.inputs())
    except FAILED as error:
        return _failed(error)
    return _answered(task, said)


async def ajudge(task: Task, program: dspy.Module, example: dspy.Example, lm: OpenLM) -> Outcome:
    """`judge` for an event loop."""
    try:
        with lm.context():
            said = await program.acall(**example.inputs())
    except FAILED as error:
        return _failed(error)
    return _answered(task, said)


def _answered(task: Task, said: dspy.Prediction) -> Outcome:
    return Outcome(task.answer(said), None, *(said.get(name, ()) for name in THOUGHTS))


def _failed(error: Exception) -> Outcome:
    if isinstance(error, RAISED):
        raise error
    return Outcome(None, redact.addresses(" ".join(f"{type(error).__name__}: {error}".split()))[:500])


def another_lm(program: dspy.Module, lm: OpenLM) -> str | None:
    """What to warn of where a program's decision layer was fitted on what another LM thinks; else None."""
    layer = program.decision
    if layer is None or layer.fitted_on == lm.identity:
        return None
    return (
        f"the decision layer was fitted on {layer.fitted_on or 'an unknown LM'}, and this is {lm.identity}; its "
        "weights may not suit. Compile with the LM that predicts"
    )


def judge_all(
    task: Task,
    program: Judge,
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

    At most `AHEAD` times as many items as threads are read ahead of the slowest, however many there are in all. What
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
            pending = submit(AHEAD * threads)
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


def in_order(items: Iterable[ItemT], work: Callable[[ItemT], ResultT], threads: int) -> Iterator[ResultT]:
    """The result of each item in the order of the items, with up to `threads` at work and as many read ahead as by
    `finished`. What `work` raises is raised in its place."""
    if threads == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[ResultT]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) == AHEAD * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _put(done: "SimpleQueue[tuple[ItemT, Future[ResultT]]]", item: ItemT, future: "Future[ResultT]") -> None:
    done.put((item, future))
