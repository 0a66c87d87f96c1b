"""What is behind a judgement: the calls of the LM, live or replayed.

A search keeps neither prompts nor answers: those of all candidates would fill the memory. The response cache still has
them afterwards, so that a replay of one program costs nothing. A model's own account of its reasons is not requested:
it would be written after the verdict.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback

from aisr.base import redact
from aisr.base.jsonl import read, valid_text
from aisr.lm.budget import BudgetSpent, Ledger, Limits
from aisr.lm.client import OpenLM
from aisr.predict.judge import Outcome, judge, map_all
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
    return map_all(lambda pair: _judge_one(task, program, *pair, lm), pairs, lm.threads, done)


def _judge_one(task: Task, program: Program, record: Record, example: dspy.Example, lm: OpenLM) -> ReplayedRecord:
    recorder = _CallRecorder()
    with dspy.context(callbacks=[recorder]):
        return ReplayedRecord(record, example, judge(task, program, example, lm), recorder.calls)


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

    def work(record: Record) -> ReplayedRecord:
        example = program.prepare(record)
        failed = ReplayedRecord(record, example, Outcome(None, reasons.get(record.id, FORGOTTEN)), [])
        try:
            return _judge_one(task, program, record, example, cached)
        except BudgetSpent:  # the answer is not in the cache
            return failed

    return map_all(work, islice(read(path, task.record, task.name), limit), lm.threads)


def from_cache_only(lm: OpenLM) -> OpenLM:
    """The same LM with a budget of no call, which leaves it the cache, and a ledger of its own: replayed calls were
    counted already."""
    cached: OpenLM = lm.copy(ledger=Ledger(Limits(calls=0)))
    return cached


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
        self.calls.append(LMCall(self._pending.pop(call_id, []), None if answer is None else _text(answer)))


def _text(content: Any) -> str:
    """A message or answer as it can be written to a file, without keys, addresses, and halves of characters; a picture
    in it is only mentioned."""
    if isinstance(content, list):
        content = "\n".join(str(part.get("text") or f"[{part.get('type', 'part')}]") for part in content)
    return redact.addresses(valid_text(str(content)))
