"""Judging by the processes of a Ray cluster: on this machine, or on as many as the cluster has.

The threads of this process hand records out and wait for them, so that reading, writing and resuming stay as they are,
and so do limits: they are looked at before each record. Ray restarts a worker that dies, and its records with it.
The calls in flight are shared out among the workers.

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

from aisr.artifact.program import parse, program_text
from aisr.base.errors import UserError
from aisr.base.private import init_here
from aisr.judging.judge import Outcome, attach, judge, open_images
from aisr.lm.budget import Ledger, Spend
from aisr.lm.client import FATAL_ERRORS, OpenLM
from aisr.lm.config import LMConfig
from aisr.lm.open import configure_cache, open_lm
from aisr.programs.program import Program
from aisr.programs.records import Record
from aisr.programs.task import Task

DEATHS = 3  # of a worker that a record survives
CLUSTER_PATIENCE = 30.0  # seconds until a cluster has to answer


@contextmanager
def ray_workers(
    task: Task, program: Program, lm: OpenLM, config: LMConfig, workers: int, address: str | None
) -> Iterator[Callable[[Record], Outcome]]:
    """A function that judges a record in one of `workers` processes of the Ray cluster at `address`, or of one begun
    here for as long as the block lasts.

    lm: its number of threads is shared by all, and its ledger gets what all spend. config: how to open it again.
    Pictures must be at the same path on every machine. Raises UserError.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would send them away
    try:
        import ray
    except ModuleNotFoundError as error:
        raise UserError("--ray needs Ray; `pip install 'aisr[ray]'` brings it") from error
    join_cluster(ray, workers, address)
    threads = -(-lm.threads // workers)
    Worker = ray.remote(  # noqa: N806  # Ray makes a class of a class
        num_cpus=1,
        max_concurrency=threads,
        max_restarts=-1,
        max_task_retries=DEATHS,
        scheduling_strategy="SPREAD",
    )(_Worker)
    images = program.image_folder.root if program.image_folder else None
    share, text = replace(config, threads=threads), program_text(task, program)
    free: SimpleQueue[Any] = SimpleQueue()
    for actor in [Worker.remote(task, text, share, images) for _ in range(workers)] * threads:
        free.put(actor)

    def judge_record(record: Record) -> Outcome:
        lm.ledger.check()
        actor = free.get()
        try:
            reply: _Reply = ray.get(actor.judge.remote(record))
        except ray.exceptions.RayActorError:
            return Outcome(None, f"its worker died {DEATHS + 1} times")
        finally:
            free.put(actor)
        lm.ledger.add(reply.spend)
        if program.image_folder is not None:
            program.image_folder.problems.update(reply.problems)
        if reply.outcome is None:
            raise next(error for error in FATAL_ERRORS if error.__name__ == reply.error)(reply.message)
        return reply.outcome

    try:
        yield judge_record
    finally:
        ray.shutdown()


def join_cluster(ray: Any, workers: int, address: str | None) -> None:
    """Begin a cluster of this machine alone, or join the one at `address`. Raises UserError for one that does
    not answer within `CLUSTER_PATIENCE`, or is too small."""
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
            joined.result(CLUSTER_PATIENCE)
        except (TimeoutError, OSError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:200] or f"no answer within {CLUSTER_PATIENCE:.0f} s"
            raise UserError(
                f"--ray {address}: {reason}; is a cluster running there (`ray start --head`)? --ray local needs none"
            ) from error
    cpus = int(ray.cluster_resources().get("CPU", 0))
    if cpus < workers:
        ray.shutdown()
        raise UserError(f"--workers {workers}: the cluster at {address} has {cpus} CPUs; ask for fewer, or add some")


# --- In the workers


class _Reply(NamedTuple):
    """What a worker sends back of a record."""

    outcome: Outcome | None
    spend: Spend
    problems: dict[tuple[str, str], str]  # the record's pictures that could not be shown
    # An error that would meet every record, by name: errors of DSPy do not survive the journey between processes.
    error: str = ""
    message: str = ""


class _Worker:
    """An actor that judges records, several at a time."""

    def __init__(self, task: Task, program: str, config: LMConfig, images: Path | None) -> None:
        self.task, self.program = parse(program, "the program of this run", task)[:2]
        configure_cache()  # where a run without Ray looks for answers
        self.lm = open_lm(config)
        logging.getLogger("dspy").setLevel(logging.CRITICAL)  # failures are counted
        attach(self.program, self.lm, open_images(images) if images else None)

    def judge(self, record: Record) -> _Reply:
        lm = self.lm.copy(ledger=Ledger())  # of this record alone
        outcome, error = None, ("", "")
        try:
            outcome = judge(self.task, self.program, record, lm)
        except FATAL_ERRORS as fatal:
            error = type(fatal).__name__, str(fatal)
        folder = self.program.image_folder
        problems = {key: why for key, why in dict(folder.problems).items() if key[0] == record.id} if folder else {}
        return _Reply(outcome, lm.ledger.spend, problems, *error)
