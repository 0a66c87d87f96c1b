"""What is behind a judgement: the calls of the LM, live or replayed.

A search keeps neither prompts nor answers: those of all candidates would fill the memory. The response cache still has
them afterwards, so that a replay of one program costs nothing. A model's own account of its reasons is not requested:
it would be written after the verdict.
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
from aisr.base.jsonl import read
from aisr.lm.budget import Ledger, Limits
from aisr.lm.client import OpenLM
from aisr.predict.judge import Outcome, judge, map_ordered
from aisr.predict.prepare import attach_embeddings
from aisr.programs.program import Program
from aisr.programs.records import Record
from aisr.programs.task import Task

FORGOTTEN = "the response cache no longer holds the answer"


@dataclass(frozen=True)
class LMCall:
    """A call of the LM."""

    messages: list[tuple[str, str]]  # role and text of each
    answer: str | None  # as it came; None where there is none


@dataclass(frozen=True)
class ReplayedRecord:
    """A labelled record, its outcome, and the calls behind that."""

    record: Record
    example: dspy.Example
    outcome: Outcome
    calls: list[LMCall]


def judge_with_calls(
    task: Task,
    program: Program,
    pairs: Iterable[tuple[Record, dspy.Example]],
    lm: OpenLM,
    done: Callable[[], None] = lambda: None,
) -> list[ReplayedRecord]:
    """The outcomes of labelled records, in their order, and the calls behind them; `done` is called after each."""

    def work(pair: tuple[Record, dspy.Example]) -> ReplayedRecord:
        with _recorded_calls() as calls:
            return ReplayedRecord(*pair, judge(task, program, pair[1], lm), calls)

    replayed = []
    for one in map_ordered(work, pairs, lm.threads):
        replayed.append(one)
        done()
    return replayed


def replay(
    task: Task,
    program: Program,
    path: Path,
    lm: OpenLM,
    limit: int | None = None,
    failures: Mapping[str, str] | None = None,
) -> list[ReplayedRecord]:
    """The labelled records of a file as a program judged them before, in their order. Nothing is sent.

    failures: the reasons of records that failed then, by id. A record that the cache cannot answer is one of these, or
    has the reason `FORGOTTEN`.
    """
    reasons = failures or {}
    cached = from_cache_only(lm)
    program = attach_embeddings(program.deepcopy(), cached.embeddings)

    def work(record: Record) -> ReplayedRecord:
        example = program.prepare(record)
        with _recorded_calls() as calls:
            try:
                outcome = judge(task, program, example, cached)
            except LMBillingError:
                outcome = Outcome(None, FORGOTTEN)
        if outcome.failure == FORGOTTEN or "failure" in example:
            outcome = Outcome(None, reasons.get(record.id, FORGOTTEN))
        return ReplayedRecord(record, example, outcome, calls)

    return list(map_ordered(work, islice(read(path, task.record, task.name), limit), lm.threads))


def from_cache_only(lm: OpenLM) -> OpenLM:
    """The same LM with a budget of no call, which leaves it the cache, and a ledger of its own: replayed calls were
    counted already."""
    cached = lm.lm.copy()
    cached.ledger = Ledger(Limits(calls=0))
    return replace(lm, lm=cached, embeddings=lm.embeddings.kept())


# --- Recording calls


@contextmanager
def _recorded_calls() -> Iterator[list[LMCall]]:
    """The LM calls of this thread for as long as the block lasts."""
    recorder = _CallRecorder()
    with dspy.context(callbacks=[recorder]):
        yield recorder.calls


class _CallRecorder(BaseCallback):
    """Records the LM calls of one record."""

    def __init__(self) -> None:
        self.calls: list[LMCall] = []
        self._pending: dict[str, list[tuple[str, str]]] = {}

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self._pending[call_id] = [(str(one["role"]), _text(one["content"])) for one in inputs.get("messages") or []]

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        first = outputs[0] if outputs else None
        answer = first.get("text") if isinstance(first, dict) else first
        self.calls.append(LMCall(self._pending.pop(call_id, []), None if answer is None else _writable(str(answer))))


def _text(content: Any) -> str:
    """The text of a message; a picture in it is only mentioned."""
    if isinstance(content, str):
        return _writable(content)
    return _writable("\n".join(str(part.get("text") or f"[{part.get('type', 'part')}]") for part in content))


def _writable(text: str) -> str:
    """Text that can be written to a file: without keys, addresses, and halves of characters, all of which a server or
    a model may have written."""
    return redact.addresses(text.encode("utf-8", "replace").decode("utf-8"))
