"""Judging by the processes of a Ray cluster: on this machine, or on as many as the cluster has.

The threads of this process hand records out and wait for them, so that nothing else changes: what is read ahead, what
is written, what a resume finds. A worker that dies is started again by Ray and its records with it. All workers ask one
actor before each call, whose ledger keeps the limits for all together. The calls in flight are shared out among them.

Keys are never sent: each machine needs them in its own environment.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from dspy.utils.exceptions import LMBillingError

from aisr.artifact.program import parse, program_text
from aisr.base.private import init_here
from aisr.lm.budget import Ledger, Limits, Spend
from aisr.lm.client import OpenLM
from aisr.lm.open import opened_lm
from aisr.lm.rate_limit import RAISED
from aisr.predict.judge import Outcome, finished, judge
from aisr.predict.predict import Judging
from aisr.predict.prepare import attach_embeddings, attach_gallery, open_gallery
from aisr.programs.base import Judge
from aisr.programs.errors import UserError
from aisr.programs.records import Record
from aisr.programs.task import Task
from aisr.programs.vision.images import Gallery

DEATHS = 3  # of a worker that a record survives


class RayUnavailable(UserError):
    """Ray is not installed, or the cluster is too small."""


class _LedgerActor(Ledger):
    """The ledger of all workers."""

    def total(self) -> Spend:
        return self.spend


class _SharedLedger(Ledger):
    """What a worker takes for its ledger: the one of all."""

    def __init__(self, ledger: Any, limits: Limits) -> None:
        super().__init__(limits)
        self._actor = ledger

    def spent_out(self) -> str | None:
        reason: str | None = _ray().get(self._actor.spent_out.remote())
        return reason

    def sent(self, usage: dict[str, Any], usd: float | None, characters: int = 0) -> None:
        _ray().get(self._actor.sent.remote(dict(usage), usd, characters))

    def from_cache(self) -> None:
        _ray().get(self._actor.from_cache.remote())


class _Worker:
    """An actor that judges records, several at a time."""

    def __init__(
        self,
        program: str,
        settings: Mapping[str, Any],
        threads: int,
        ledger: Any,
        limits: Limits,
        images: Path | None,
        artifacts: Path,
    ) -> None:
        self.task, self.program, _ = parse(program, "the program of this run")
        self.gallery = open_gallery(images, artifacts) if images else None
        attach_gallery(self.program, self.gallery)
        self.lm = opened_lm(**{**settings, "threads": threads}, ledger=_SharedLedger(ledger, limits))
        attach_embeddings(self.program, self.lm.embeddings)

    def judge(self, record: Record) -> "_Judged":
        try:
            outcome = judge(self.task, self.program, self.program.prepare(record), self.lm)
        except RAISED as error:
            return _Judged(None, type(error).__name__, str(error), {})
        problems = self.gallery.problems if self.gallery else {}
        return _Judged(outcome, "", "", {key: why for key, why in dict(problems).items() if key[0] == record.id})


class _Judged(NamedTuple):
    """The outcome; or the name and message of an error that would meet every record (errors of DSPy do not survive the
    journey between processes). problems: the record's pictures that could not be shown."""

    outcome: Outcome | None
    kind: str
    message: str
    problems: dict[tuple[str, str], str]


def on_ray(
    task: Task,
    program: Judge,
    lm: OpenLM,
    settings: Mapping[str, Any],
    workers: int,
    address: str | None,
    gallery: Gallery | None,
    artifacts: Path,
) -> Judging:
    """Judging by `workers` processes of the Ray cluster at `address`, or of one begun here for as long as it lasts.

    lm: whose ledger and number of threads all share. settings: how to open it again, see `aisr.lm.open.opened_lm`.
    gallery: the pictures, which every machine needs at the same path; what a worker reads in them it keeps below
    `artifacts`. Raises `RayUnavailable`.
    """
    text = program_text(task, program)
    images = gallery.root if gallery else None

    def judged(records: Iterable[Record]) -> Iterator[tuple[Record, Outcome]]:
        ray = _ray()
        _join(ray, workers, address)
        ledger = ray.remote(num_cpus=0)(_LedgerActor).remote(lm.ledger.limits)
        try:
            each = -(-lm.threads // workers)
            Worker = ray.remote(  # noqa: N806  # Ray makes a class of a class
                num_cpus=1,
                max_concurrency=each,
                max_restarts=-1,
                max_task_retries=DEATHS,
                scheduling_strategy="SPREAD",
            )(_Worker)
            given = text, dict(settings), each, ledger, lm.ledger.limits, images, artifacts
            actors = [Worker.remote(*given) for _ in range(workers)]
            free: SimpleQueue[Any] = SimpleQueue()
            for _ in range(each):
                for actor in actors:
                    free.put(actor)

            def work(record: Record) -> Outcome:
                actor = free.get()
                try:
                    found: _Judged = ray.get(actor.judge.remote(record))
                except ray.exceptions.RayActorError:
                    return Outcome(None, f"its worker died {DEATHS + 1} times")
                finally:
                    free.put(actor)
                if gallery is not None:
                    gallery.problems.update(found.problems)
                if found.outcome is not None:
                    return found.outcome
                raise next(error for error in RAISED if error.__name__ == found.kind)(found.message)

            try:
                yield from finished(records, work, lm.threads)
            except LMBillingError:
                lm.ledger.stopped = ray.get(ledger.spent_out.remote())
                raise
        finally:
            lm.ledger.take_over(ray.get(ledger.total.remote()))
            ray.shutdown()

    return judged


def _join(ray: Any, workers: int, address: str | None) -> None:
    # Workers look for modules first where the job began, and the current folder may hold files of anyone.
    with TemporaryDirectory() as empty, chdir(empty):
        if address is None:
            init_here(ray, workers)
            return
        ray.init(address=address, log_to_driver=False)
    room = int(ray.cluster_resources().get("CPU", 0))
    if room < workers:
        ray.shutdown()
        raise RayUnavailable(
            f"--workers {workers}: the cluster at {address} has {room} CPUs; ask for fewer, or add some"
        )


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would send them away
    try:
        import ray
    except ModuleNotFoundError as error:
        raise RayUnavailable("--ray needs Ray; `pip install 'aisr[ray]'` brings it") from error
    return ray
