"""Judging by the processes of a Ray cluster: on this machine, or on as many as the cluster has.

The threads of this process hand records out and wait for them, so that reading, writing and resuming stay as they are.
Ray restarts a worker that dies, and its records with it. All workers ask one actor before each call, whose ledger keeps
the limits for all together. The calls in flight are shared out among them.

Keys are never sent: each machine needs them in its own environment.
"""

import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import chdir, contextmanager
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, NamedTuple

from dspy.utils.exceptions import LMBillingError

from aisr.artifact.program import parse, program_text
from aisr.base.errors import UserError
from aisr.base.private import init_here
from aisr.lm.budget import Ledger, Limits, Spend
from aisr.lm.client import OpenLM
from aisr.lm.config import LMConfig
from aisr.lm.open import configure_cache, open_lm
from aisr.lm.retries import FATAL_ERRORS
from aisr.predict.judge import Outcome, judge
from aisr.predict.prepare import attach, open_images
from aisr.programs.program import Program
from aisr.programs.records import Record
from aisr.programs.task import Task

DEATHS = 3  # of a worker that a record survives
PATIENCE = 30.0  # seconds until a cluster has to answer


class RayUnavailable(UserError):
    """Ray is not installed, or the cluster is too small."""


@contextmanager
def ray_workers(
    task: Task,
    program: Program,
    lm: OpenLM,
    config: LMConfig,
    workers: int,
    address: str | None,
) -> Iterator[Callable[[Record], Outcome]]:
    """A function that judges a record in one of `workers` processes of the Ray cluster at `address`, or of one begun
    here for as long as the block lasts.

    lm: its ledger and number of threads are shared by all. config: how to open it
    again. Pictures must be at the same path on every machine. Raises `RayUnavailable`.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would send them away
    try:
        import ray
    except ModuleNotFoundError as error:
        raise RayUnavailable("--ray needs Ray; `pip install 'aisr[ray]'` brings it") from error
    join_cluster(ray, workers, address)
    ledger = ray.remote(num_cpus=0)(_LedgerActor).remote(lm.ledger.limits, earlier=lm.ledger.earlier)
    try:
        threads = -(-lm.threads // workers)
        Worker = ray.remote(  # noqa: N806  # Ray makes a class of a class
            num_cpus=1,
            max_concurrency=threads,
            max_restarts=-1,
            max_task_retries=DEATHS,
            scheduling_strategy="SPREAD",
        )(_Worker)
        images = program.image_folder.root if program.image_folder else None
        share = replace(config, threads=threads)
        text = program_text(task, program)
        actors = [Worker.remote(task, text, share, ledger, lm.ledger.limits, images) for _ in range(workers)]
        free: SimpleQueue[Any] = SimpleQueue()
        for actor in actors * threads:
            free.put(actor)

        def judge_record(record: Record) -> Outcome:
            actor = free.get()
            try:
                reply: _Reply = ray.get(actor.judge.remote(record))
            except ray.exceptions.RayActorError:
                return Outcome(None, f"its worker died {DEATHS + 1} times")
            finally:
                free.put(actor)
            lm.ledger.take_over(ray.get(ledger.total.remote()))  # into its file, should this process be killed
            if program.image_folder is not None:
                program.image_folder.problems.update(reply.problems)
            if reply.outcome is not None:
                return reply.outcome
            error = next(error for error in FATAL_ERRORS if error.__name__ == reply.error)
            if error is LMBillingError:
                lm.ledger.stopped = ray.get(ledger.spent_out.remote())
            raise error(reply.message)

        yield judge_record
    finally:
        lm.ledger.take_over(ray.get(ledger.total.remote()))
        ray.shutdown()


def join_cluster(ray: Any, workers: int, address: str | None) -> None:
    """Begin a cluster of this machine alone, or join the one at `address`. Raises `RayUnavailable` for one that does
    not answer within `PATIENCE`, or is too small."""
    # Workers look for modules first where the job began, and the current folder may hold files of anyone.
    with TemporaryDirectory() as empty, chdir(empty):
        if address is None:
            init_here(ray, workers)
            return
        # Where the workers keep answers: where a run without Ray looks for them.
        cache = {name: value for name, value in os.environ.items() if name == "DSPY_CACHEDIR"}
        joined: Future[None] = Future()

        def join() -> None:
            try:
                ray.init(
                    address=address, log_to_driver=False, logging_level=logging.ERROR, runtime_env={"env_vars": cache}
                )
                joined.set_result(None)
            except Exception as error:
                joined.set_exception(error)

        Thread(target=join, daemon=True).start()  # Ray itself waits for minutes
        try:
            joined.result(PATIENCE)
        except (TimeoutError, ConnectionError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:200] or f"no answer within {PATIENCE:.0f} s"
            raise RayUnavailable(
                f"--ray {address}: {reason}; is a cluster running there (`ray start --head`)? --ray local needs none"
            ) from error
    cpus = int(ray.cluster_resources().get("CPU", 0))
    if cpus < workers:
        ray.shutdown()
        raise RayUnavailable(
            f"--workers {workers}: the cluster at {address} has {cpus} CPUs; ask for fewer, or add some"
        )


# --- In the workers


class _Reply(NamedTuple):
    """The outcome; or the name and message of an error that would meet every record (errors of DSPy do not survive the
    journey between processes). problems: the record's pictures that could not be shown."""

    outcome: Outcome | None
    error: str
    message: str
    problems: dict[tuple[str, str], str]


class _Worker:
    """An actor that judges records, several at a time."""

    def __init__(
        self,
        task: Task,
        program: str,
        config: LMConfig,
        ledger: Any,
        limits: Limits,
        images: Path | None,
    ) -> None:
        self.task, self.program, _ = parse(program, "the program of this run", task)
        self.image_folder = open_images(images) if images else None
        configure_cache()  # where a run without Ray looks for answers
        self.lm = open_lm(config, _SharedLedger(ledger, limits))
        logging.getLogger("dspy").setLevel(logging.CRITICAL)  # failures are counted
        attach(self.program, self.lm, self.image_folder)

    def judge(self, record: Record) -> _Reply:
        try:
            outcome = judge(self.task, self.program, record, self.lm)
        except FATAL_ERRORS as error:
            return _Reply(None, type(error).__name__, str(error), {})
        problems = self.image_folder.problems if self.image_folder else {}
        return _Reply(outcome, "", "", {key: why for key, why in dict(problems).items() if key[0] == record.id})


class _LedgerActor(Ledger):
    """The ledger of all workers."""

    def total(self) -> Spend:
        return self.spend


class _SharedLedger(Ledger):
    """The ledger of a worker: every call is entered into the one of all."""

    def __init__(self, ledger: Any, limits: Limits) -> None:
        super().__init__(limits)
        self._actor = ledger

    def spent_out(self) -> str | None:
        import ray

        reason: str | None = ray.get(self._actor.spent_out.remote())
        return reason

    def add(self, spend: Spend) -> None:
        import ray

        ray.get(self._actor.add.remote(spend))
