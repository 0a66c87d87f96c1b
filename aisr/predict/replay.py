"""What a program does on records, with every prompt and answer: while it judges, or replayed from the response cache.

A search keeps neither prompts nor answers: those of all candidates would fill the memory. Afterwards the cache still
knows them, so that telling them again for one program costs nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback
from dspy.utils.exceptions import LMBillingError

from aisr.base import redact
from aisr.lm.budget import Ledger, Limits
from aisr.lm.client import OpenLM
from aisr.predict.judge import Outcome, in_order, judge
from aisr.predict.prepare import attach_embeddings
from aisr.programs.base import Judge
from aisr.programs.lines import read
from aisr.programs.records import Record
from aisr.programs.task import Task

FORGOTTEN = "the response cache no longer holds the answer"


@dataclass(frozen=True)
class Heard:
    """A call of the LM: role and text of each message, and the raw answer; None where it was not to be had."""

    messages: list[tuple[str, str]]
    answer: str | None


@dataclass(frozen=True)
class Replayed:
    """A labelled record, what became of it, and the calls behind that."""

    record: Record
    example: dspy.Example
    outcome: Outcome
    calls: list[Heard]


def judge_aloud(
    task: Task,
    program: Judge,
    pairs: Iterable[tuple[Record, dspy.Example]],
    lm: OpenLM,
    done: Callable[[], None] = lambda: None,
) -> list[Replayed]:
    """What becomes of labelled records, in their order, and the calls behind that; `done` is called after each."""

    def work(pair: tuple[Record, dspy.Example]) -> Replayed:
        with _listening() as calls:
            return Replayed(*pair, judge(task, program, pair[1], lm), calls)

    told = []
    for one in in_order(pairs, work, lm.threads):
        told.append(one)
        done()
    return told


def replay(
    task: Task,
    program: Judge,
    path: Path,
    lm: OpenLM,
    limit: int | None = None,
    failures: Mapping[str, str] | None = None,
) -> list[Replayed]:
    """The labelled records of a file as a program judged them before, in their order. Nothing is sent.

    failures: the reasons of records that failed then, by id. What the cache cannot answer is such a record, or one with
    the reason `FORGOTTEN`.
    """
    known = failures or {}
    silent = _from_cache_only(lm)
    program = attach_embeddings(program.deepcopy(), silent.embeddings)

    def again(record: Record) -> Replayed:
        example = program.prepare(record)
        with _listening() as calls:
            try:
                outcome = judge(task, program, example, silent)
            except LMBillingError:
                outcome = Outcome(None, FORGOTTEN)
        if outcome.failure == FORGOTTEN or "failure" in example:
            outcome = Outcome(None, known.get(record.id, FORGOTTEN))
        return Replayed(record, example, outcome, calls)

    return list(in_order(islice(read(path, task.record, task.name), limit), again, lm.threads))


@contextmanager
def _listening() -> Iterator[list[Heard]]:
    """The LM calls of this thread for as long as the block lasts."""
    ear = _Ear()
    with dspy.context(callbacks=[ear]):
        yield ear.calls


class _Ear(BaseCallback):
    """Listens to the LM calls of one record."""

    def __init__(self) -> None:
        self.calls: list[Heard] = []
        self._asked: dict[str, list[tuple[str, str]]] = {}

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self._asked[call_id] = [(str(one["role"]), _text(one["content"])) for one in inputs.get("messages") or []]

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        first = outputs[0] if outputs else None
        answer = first.get("text") if isinstance(first, dict) else first
        self.calls.append(
            Heard(self._asked.pop(call_id, []), None if answer is None else redact.addresses(_whole(str(answer))))
        )


def _text(content: Any) -> str:
    """The text of a message; a picture in it is only mentioned."""
    if isinstance(content, str):
        return _whole(content)
    return _whole("\n".join(str(part.get("text") or f"[{part.get('type', 'part')}]") for part in content))


def _whole(text: str) -> str:
    """Text that can be written to a file: without keys, addresses, and halves of characters, all of which a server or
    a model may have written."""
    return redact.addresses(text.encode("utf-8", "replace").decode("utf-8"))


def _from_cache_only(lm: OpenLM) -> OpenLM:
    """The same LM with a budget of no call, which leaves it the cache, and a ledger of its own: what is replayed was
    counted already."""
    silent = lm.lm.copy()
    silent.ledger = Ledger(Limits(calls=0))
    return replace(lm, lm=silent, embeddings=lm.embeddings.kept())
