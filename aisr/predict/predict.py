"""Predicting a file of records: streamed, resumable, every record accounted for.

However many records there are, a few for each thread are held at a time, and of the others the id and its place. What
is written, and how it survives a kill, is in `aisr.predict.predictions_file`.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dspy.utils.exceptions import LMBillingError

from aisr.base import digests
from aisr.lm.budget import Ledger
from aisr.lm.client import OpenLM
from aisr.predict.evaluate import probabilities
from aisr.predict.judge import Outcome, finished, judge
from aisr.predict.predictions_file import Appender, claim, keep_finished, locked, put_in_order
from aisr.programs.base import Judge
from aisr.programs.errors import UserError
from aisr.programs.lines import read
from aisr.programs.records import Record
from aisr.programs.task import Task

Judging = Callable[[Iterable[Record]], Iterator[tuple[Record, Outcome]]]
REASONS = 10  # failed records that a summary names


@dataclass
class Summary:
    """What a run left: records in the input, records judged by this run, how many failed, the first of
    these with their reasons, and the limit that stopped the run before its end."""

    records: int
    judged: int = 0
    failed: int = 0
    reasons: dict[str, str] = field(default_factory=dict)
    stopped: str | None = None
    kept: int = 0  # finished by an earlier run

    @property
    def left(self) -> int:
        """Records without a line."""
        return self.records - self.kept - self.judged

    def add(self, record: Record, outcome: Outcome) -> None:
        self.judged += 1
        if outcome.failure is not None:
            self.failed += 1
            if len(self.reasons) < REASONS:
                self.reasons[record.id] = outcome.failure


def here(task: Task, program: Judge, lm: OpenLM) -> Judging:
    """Judging by the threads of this process."""

    def work(record: Record) -> Outcome:
        return judge(task, program, program.prepare(record), lm)

    return lambda records: finished(records, work, lm.threads)


def predict(
    task: Task,
    judging: Judging,
    data: Path,
    out: Path,
    identity: Mapping[str, Any],
    ledger: Ledger,
    done: Callable[[], None] = lambda: None,
    pictures: Callable[[Set[str]], Mapping[str, str]] = lambda paths: {},
) -> Summary:
    """Predict every record of `data` into `out`. What an earlier run finished is kept, and what
    failed there is tried again.

    judging: what judges records, such as `here`. identity: what makes a run this run (task, program digest, LM);
    pictures: what pictures add to that, from their paths in the whole file.
    ledger: where its calls are entered; a limit that is reached ends the run early. `done` is called for each record
    that is judged. Raises `CannotResume`, `CannotWrite`, `BadLine` for a bad input line (before anything is spent), and
    the errors that would meet every record alike (see `aisr.predict.judge.judge`).
    """
    with locked(out):
        # Twice through the file, for it may be larger than the memory: all is checked before anything is spent.
        checked, judged = digests.Running(), digests.Running()
        paths: set[str] = set()
        places: dict[str, int] = {}
        for place, record in enumerate(read(data, task.record, task.name, checked.hear)):
            paths.update(record.img_paths)
            places[record.id] = place
        whose = {**identity, **pictures(paths), "input": str(checked)}
        claim(out, whose)
        finished_before = keep_finished(task, out, places)
        summary = Summary(len(places), kept=sum(finished_before))
        again = read(data, task.record, task.name, judged.hear)
        # An id that was not there before is judged like the others: the digest tells of it in the end.
        left = (record for record in again if not (record.id in places and finished_before[places[record.id]]))
        gc.freeze()  # or Python's collector walks through all of DSPy again and again: 4 % of the time
        try:
            with Appender(out) as file:
                for record, outcome in judging(left):
                    file.append({"id": record.id, **_said(task, outcome)})
                    summary.add(record, outcome)
                    done()
        except LMBillingError:
            if ledger.stopped is None:  # then it is the provider who wants money
                raise
            summary.stopped = ledger.stopped
        finally:
            gc.unfreeze()
        if summary.stopped is None and str(judged) != str(checked):
            raise UserError(f"{data} was changed while it was read; remove {out} and predict it anew")
        put_in_order(out, places)
    return summary


def _said(task: Task, outcome: Outcome) -> dict[str, Any]:
    """A line but for its id: the answer, and of each label that it holds the probabilities of all, where they are
    known."""
    if outcome.failure is not None:
        return {"failed": outcome.failure}
    line = task.line(outcome.answer)
    return {**line, "probabilities": probabilities(task, outcome)} if task.judgements else line
