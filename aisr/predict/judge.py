"""Running a program over records: every record ends as an answer or as a failure with its reason."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import dspy
from dspy.utils.exceptions import AdapterParseError, LMError

from aisr.base import redact
from aisr.lm.client import FATAL_ERRORS, OpenLM
from aisr.programs.probabilities import Judgement
from aisr.programs.program import Program, UnusableAnswer
from aisr.programs.records import Record
from aisr.programs.task import Answer, Task

DETAILS = ("judgements", "lm_evidence_ids", "ranking")  # fields of a prediction beside the answer
FAILURES = (UnusableAnswer, AdapterParseError, LMError)  # errors of one record, or of all (`FATAL_ERRORS`)
PREFETCH_PER_THREAD = 4  # items that may be read before they are needed
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Outcome:
    """The result for one record."""

    answer: Answer | None  # None for a failed record
    failure: str | None = None  # its reason
    judgements: Sequence[Judgement] = ()  # the label probabilities of each statement
    lm_evidence_ids: Sequence[str] = ()  # evidence ids that the model names itself
    ranking: Sequence[str] = ()  # all evidence ids, as they were ranked


def judge(task: Task, program: Program, record: Record | dspy.Example, lm: OpenLM) -> Outcome:
    """The program's answer to one record, or to the example that was prepared from it.

    A failed call or an unusable answer is a failed record. What would fail every record alike (a refused key, an
    account without credit, an unknown model, a wrong configuration, a server closed for long) is raised.
    """
    example = record if isinstance(record, dspy.Example) else program.prepare(record)
    try:
        with lm.context():
            prediction = program(**example.inputs())
    except FATAL_ERRORS:
        raise
    except FAILURES as error:
        return Outcome(None, failure_text(error))
    return Outcome(task.answer(prediction), None, *(prediction.get(name, ()) for name in DETAILS))


def failure_text(error: Exception) -> str:
    """An error of the LM in a line, without keys and addresses: it stands in artifacts."""
    return redact.addresses(" ".join(f"{type(error).__name__}: {error}".split()))[:500]


def judge_all(
    task: Task,
    program: Program,
    records: Iterable[Record | dspy.Example],
    lm: OpenLM,
    done: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """The outcomes of all records or examples, in their order; `done` is called after each."""
    return map_all(lambda record: judge(task, program, record, lm), records, lm.threads, done)


def another_lm(program: dspy.Module, lm: OpenLM) -> str | None:
    """A warning where the label weights of a program were fitted on the probabilities of another LM; else None."""
    weights = program.label_weights
    if weights is None or weights.fitted_on == lm.identity:
        return None
    return (
        f"the label weights were fitted on {weights.fitted_on or 'an unknown LM'}, and this is {lm.identity}; they "
        "may not suit. Compile with the LM that predicts"
    )


# --- Threads


def map_ordered(work: Callable[[ItemT], ResultT], items: Iterable[ItemT], threads: int) -> Iterator[ResultT]:
    """The result of each item in the order of the items, with up to `threads` at work.

    At most `PREFETCH_PER_THREAD` items for each thread are read ahead of the slowest, however many there are in all. An
    error of `work` is raised in its place; no further item is begun then.
    """
    if threads == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[ResultT]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) == PREFETCH_PER_THREAD * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def map_all(
    work: Callable[[ItemT], ResultT],
    items: Iterable[ItemT],
    threads: int,
    done: Callable[[], None] = lambda: None,
) -> list[ResultT]:
    """The results of `map_ordered` together; `done` is called after each."""
    results = []
    for result in map_ordered(work, items, threads):
        results.append(result)
        done()
    return results
