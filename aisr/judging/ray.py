"""Judging by the processes of a Ray cluster: on this machine, or on as many as the cluster has.

The threads of this process hand records out and wait for them, so that reading, writing and resuming stay as they are,
and so do limits: they are looked at before each record. Ray restarts a worker that dies, and its records with it.
Each worker has as many calls in flight as a run without Ray.

Keys are never sent: each machine needs them in its own environment.
"""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, chdir, contextmanager
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any, NamedTuple

from dspy.utils.exceptions import LMConfigurationError

from aisr.artifact.program import parse, program_text
from aisr.base.errors import UserError
from aisr.judging.judge import Outcome, attach, judge, open_images
from aisr.lm.budget import Ledger, Spend
from aisr.lm.client import FATAL_ERRORS, OpenLM
from aisr.lm.config import RECORDED, LMConfig
from aisr.lm.open import configure_cache, open_config
from aisr.programs.program import Program
from aisr.programs.records import Record
from aisr.programs.task import Task

DEATHS = 3  # of a worker that a record survives
CLUSTER_PATIENCE = 30.0  # seconds until a cluster has to answer
ATTEMPTS = 3  # to start a cluster: Ray gives itself 30 seconds, too few where the machine is busy
LONGEST_REASON = 200  # characters of an error of Ray's
START = 180.0  # seconds until all workers have to be ready: each imports DSPy, and a machine may be busy


@contextmanager
def ray_workers(
    task: Task, program: Program, lm: OpenLM, config: LMConfig, workers: int, address: str | None
) -> Iterator[Callable[[Record], Outcome]]:
    """Yield a function that judges a record in one of `workers` processes of the Ray cluster at `address`, or of one
    begun here for as long as the block lasts.

    lm: each worker has its number of threads, and its ledger gets what all spend. config: how to open it again.
    Pictures must be at the same path on every machine. Raises UserError, also where a worker cannot be set up.
    """
    here = os.getcwd()
    if config.is_recorded:
        config = replace(config, model=RECORDED + os.path.abspath(config.model.removeprefix(RECORDED)))
    images = program.image_folder.root.absolute() if program.image_folder else None
    config = replace(config, threads=lm.threads)
    with connect(workers, address) as ray:
        job = _Job(task.name, ray.put(task), here, program_text(task, program), config, images)
        # With each call, not at the start: Ray restarts no actor whose own arguments are large, or references to such.
        shared = [ray.put(job)]
        actor_class = ray.remote(
            num_cpus=1,
            max_concurrency=lm.threads,
            max_restarts=-1,
            max_task_retries=DEATHS,
            scheduling_strategy="SPREAD",
        )(_Worker)
        actors = [actor_class.remote() for _ in range(workers)]
        _wait_for(ray, actors, shared)
        slots = Slots(actors, lm.threads)

        def judge_record(record: Record) -> Outcome:
            lm.ledger.check()
            reply = _ask(ray, slots, shared, record)
            if isinstance(reply, Outcome):
                return reply
            lm.ledger.add(reply.spend)
            if program.image_folder is not None:
                program.image_folder.problems.update(reply.problems)
            if reply.outcome is None:
                (kind,) = [error for error in FATAL_ERRORS if error.__name__ == reply.error]
                raise kind(reply.message)
            return reply.outcome

        yield judge_record


def _wait_for(ray: Any, actors: Sequence[Any], shared: list[Any]) -> None:
    """Wait until all workers are set up. Raises UserError where one does not start, with the reason of one that cannot
    be set up."""
    ready, late = ray.wait([actor.set_up.remote(shared) for actor in actors], num_returns=len(actors), timeout=START)
    try:
        problems = [problem for problem in ray.get(ready) if problem]
    except ray.exceptions.RayActorError as error:  # not even its class, or what it is given, can be imported there
        problems = [str(error).strip().splitlines()[-1]]
    if problems:
        raise UserError(f"a worker cannot start: {problems[0]}")
    if late:
        raise UserError(
            f"--workers {len(actors)}: {len(ready)} of them started within {START:.0f} s; ask for fewer, or wait until "
            "the cluster is free"
        )


class Slots:
    """The places for calls in flight, each of a worker; those of a dead worker are not handed out again."""

    def __init__(self, actors: Sequence[Any], threads: int) -> None:
        self._free: SimpleQueue[Any] = SimpleQueue()
        self._lock = Lock()
        self._alive = list(actors)
        for actor in self._alive * threads:
            self._free.put(actor)

    def take(self) -> Any:
        """Return a worker that lives, waiting until one is free; None where all are dead."""
        while (actor := self._free.get()) not in self._alive:
            if actor is None:
                self._free.put(None)  # for all others that wait
                return None
        return actor

    def put_back(self, actor: Any) -> None:
        self._free.put(actor)

    def drop(self, actor: Any) -> None:
        """Hand out a worker no more."""
        with self._lock:
            if actor in self._alive:
                self._alive.remove(actor)
            if not self._alive:
                self._free.put(None)


def _ask(ray: Any, slots: Slots, shared: list[Any], record: Record) -> "_Reply | Outcome":
    """Return a worker's reply, or a failed outcome where that died each time. Raises `LMConfigurationError`, which ends
    the run, where no worker is left."""
    while (actor := slots.take()) is not None:
        try:
            reply: _Reply = ray.get(actor.judge.remote(shared, record))
        except ray.exceptions.ActorDiedError:  # for good: Ray does not restart it
            slots.drop(actor)
            continue
        except ray.exceptions.ActorUnavailableError:
            slots.put_back(actor)
            return Outcome(None, f"its worker died {DEATHS + 1} times")
        slots.put_back(actor)
        return reply
    raise LMConfigurationError("all workers of --ray died; the same command goes on where this one ended")


# --- The cluster


@contextmanager
def connect(workers: int, address: str | None) -> Iterator[Any]:
    """Yield the module `ray`, connected for as long as the block lasts to the cluster at `address`, or to one of this
    machine alone, whose processes end with this one. Raises UserError for a cluster that does not start or answer, and
    for one that is too small."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would send them away
    if address is None:
        # As on those systems, Ray then keeps to the loopback address: anybody who reaches its ports runs code here.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    try:
        import ray
    except ModuleNotFoundError as error:
        raise UserError("--ray needs Ray; `pip install 'aisr[ray]'` brings it") from error
    # Where the workers keep answers: where a run without Ray looks for them.
    cache = {"DSPY_CACHEDIR": os.path.abspath(folder)} if (folder := os.environ.get("DSPY_CACHEDIR")) else {}
    settings = {"log_to_driver": False, "logging_level": logging.ERROR, "runtime_env": {"env_vars": cache}}
    # Workers look for modules first where the job began, and the current folder may hold files of anyone.
    with TemporaryDirectory(prefix="aisr-ray-") as empty, ExitStack() as stack:
        if address is None:
            stack.enter_context(_ended_with_us(empty))
        stack.callback(ray.shutdown)
        with chdir(empty):
            if address is None:
                _start(ray, workers, settings)
            else:
                _join(ray, address, settings)
        cpus = int(ray.cluster_resources().get("CPU", 0))
        if cpus < workers:
            raise UserError(
                f"--workers {workers}: the cluster at {address} has {cpus} CPUs; ask for fewer, or add some"
            )
        yield ray


def _start(ray: Any, workers: int, settings: dict[str, Any]) -> None:
    """Start a cluster of this machine alone, whatever RAY_ADDRESS says. Raises UserError."""
    for attempts_left in reversed(range(ATTEMPTS)):
        try:
            ray.init(address="local", num_cpus=workers, include_dashboard=False, **settings)
            return
        except Exception as error:  # Ray raises bare ones
            ray.shutdown()
            if "timed out" not in str(error) or not attempts_left:
                reason = _first_words(error)
                raise UserError(f"--ray local: Ray does not start: {reason}; is the machine busy?") from error


def _join(ray: Any, address: str, settings: dict[str, Any]) -> None:
    """Join a cluster that runs. Raises UserError for one that does not answer within `CLUSTER_PATIENCE`."""
    joined: Future[None] = Future()

    def join() -> None:
        try:
            ray.init(address=address, **settings)
            joined.set_result(None)
        except Exception as error:
            joined.set_exception(error)

    Thread(target=join, daemon=True).start()  # Ray itself waits for minutes
    try:
        joined.result(CLUSTER_PATIENCE)
    except Exception as error:
        reason = _first_words(error) or f"no answer within {CLUSTER_PATIENCE:.0f} s"
        raise UserError(
            f"--ray {address}: {reason}; is a cluster running there (`ray start --head`), and is its token that of "
            "RAY_AUTH_TOKEN or ~/.ray/auth_token? --ray local needs neither"
        ) from error


def _first_words(error: Exception) -> str:
    words = " ".join(str(error).split()).partition(" traceback: ")[0]
    return words if len(words) <= LONGEST_REASON else f"{words[:LONGEST_REASON]} …"


# Ray's agents wait for a minute after a command that was killed. They work in its empty folder, as nothing else does.
GUARD = """
import os, signal, sys
sys.stdin.read()
for pid in os.listdir("/proc") if os.path.isdir("/proc") else ():
    try:
        if pid.isdigit() and int(pid) != os.getpid() and os.readlink(f"/proc/{pid}/cwd") == sys.argv[1]:
            os.kill(int(pid), signal.SIGKILL)
    except OSError:
        pass
"""


@contextmanager
def _ended_with_us(folder: str) -> Iterator[None]:
    """End all processes that work in `folder` with the block, also where this process is killed."""
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", GUARD, os.path.realpath(folder)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield
    finally:
        guard.communicate()


# --- In the workers


class _Job(NamedTuple):
    """What all workers are given."""

    name: str  # of the task
    task: Any  # a reference of Ray's: its module may not be found where the worker starts
    folder: str  # where the command runs
    program: str  # the text of program.json
    config: LMConfig
    images: Path | None


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

    def __init__(self) -> None:
        self._lock = Lock()
        self._problem: str | None = None  # why it cannot judge, "" where it can; None before it is set up

    def set_up(self, shared: list[Any]) -> str:
        """Set this worker up, where that is still to be done, as after a restart; return why it cannot judge, nothing
        where it can. shared: a reference to a `_Job`."""
        import ray

        with self._lock:
            if self._problem is None:
                try:
                    self._open(ray, ray.get(shared[0]))
                    self._problem = ""
                except UserError as error:
                    self._problem = str(error)
            return self._problem

    def _open(self, ray: Any, job: _Job) -> None:
        sys.path.append(job.folder)  # last, as the command has it for a task in the current folder
        try:
            task = ray.get(job.task)
        except Exception as error:  # whatever its module raises
            reason = f"{type(error).__name__}: {_first_words(error)}"
            raise UserError(f"task {job.name}: {reason}; its module must be installed on each machine") from error
        self.task, self.program = parse(job.program, "the program of this run", task)[:2]
        configure_cache()  # where a run without Ray looks for answers
        self.lm = open_config(job.config)
        logging.getLogger("dspy").setLevel(logging.CRITICAL)  # failures are counted
        attach(self.program, self.lm, open_images(job.images) if job.images else None)

    def judge(self, shared: list[Any], record: Record) -> _Reply:
        if problem := self.set_up(shared):  # it was restarted on another machine
            return _Reply(None, Spend(), {}, LMConfigurationError.__name__, problem)
        lm = self.lm.copy(ledger=Ledger())  # of this record alone
        outcome, error = None, ("", "")
        try:
            outcome = judge(self.task, self.program, record, lm)
        except FATAL_ERRORS as fatal:
            error = type(fatal).__name__, str(fatal)
        folder = self.program.image_folder
        problems = {key: why for key, why in dict(folder.problems).items() if key[0] == record.id} if folder else {}
        return _Reply(outcome, lm.ledger.spend, problems, *error)
