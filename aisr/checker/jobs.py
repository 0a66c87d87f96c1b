"""Checks of whole papers that run beside the conversation: started, looked at, cancelled, fetched."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from aisr.checker.answers import Found, Quote, Sentence, Started, State, quoted
from aisr.checker.folders import Refused
from aisr.checker.session import Cancelled, Paper, Session

AT_ONCE = 4  # checks of papers; more wait for nobody, they are refused
KEPT = 50  # finished ones; the oldest are forgotten


@dataclass
class _Job:
    checks: int = 0
    state: Literal["running", "done", "failed", "cancelled"] = "running"
    checked: int = 0
    failed: Quote | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    counts: dict[str, int] = field(default_factory=dict)
    worth: list[str] = field(default_factory=list)
    stopped: str | None = None
    verdicts: list[Sentence] = field(default_factory=list)


class Jobs:
    """The checks of one session; each has a thread of its own, which ends with the process."""

    def __init__(self, session: Session) -> None:
        self._session, self._numbers = session, count(1)
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()

    def start(self, read: Callable[[], Paper]) -> Started:
        """Begin to check a paper, that is read first. Raises `Refused` where as many as may run are running, and what
        reading raises."""
        job = _Job()
        with self._lock:
            if sum(one.state == "running" for one in self._jobs.values()) >= AT_ONCE:
                raise Refused(f"{AT_ONCE} papers are being checked; wait for one, or cancel one")
            name = f"job{next(self._numbers)}"
            self._jobs[name] = job
            over = [key for key, one in self._jobs.items() if one.state != "running"][: max(0, len(self._jobs) - KEPT)]
            for key in over:
                del self._jobs[key]
        try:
            paper = read()
        except BaseException:
            job.state = "failed"
            raise
        job.checks = len(paper.found.claims) + len(paper.found.citations)
        threading.Thread(target=self._run, args=(job, paper), daemon=True).start()
        note = "nothing to check was found in it" if not job.checks else "ask for its state until it is done"
        return Started(job=name, checks=job.checks, note=note)

    def state(self, name: str) -> State:
        """How far a check is. Raises `Refused` for an unknown one."""
        job = self._job(name)
        return State(
            job=name, state=job.state, checked=min(job.checked, job.checks), checks=job.checks,
            spent=self._session.spent(), failed=job.failed,
        )  # fmt: skip

    def cancel(self, name: str) -> State:
        """Send nothing more for a check; calls in flight are waited for. Raises `Refused` for an unknown one."""
        self._job(name).stop.set()
        return self.state(name)

    def found(self, name: str, first: int, most: int, faults_only: bool) -> Found:
        """Verdicts of a finished check from the `first` on. Raises `Refused` for one that is not done."""
        job = self._job(name)
        if job.state != "done":
            raise Refused(f"{name} is {job.state}; there are results once it is done")
        shown = [one for one in job.verdicts if one.fault or not faults_only]
        part, end = shown[first : first + most], first + most
        return Found(
            job=name, counts=job.counts, worth=job.worth, verdicts=part,
            next=end if end < len(shown) else None, stopped=job.stopped,
        )  # fmt: skip

    def _run(self, job: _Job, paper: Paper) -> None:
        try:
            review = self._session.review(paper, _counting(job))
            job.verdicts = [self._session.sentence(review, review.verdicts[place]) for place in review.by_doubt()]
            job.counts, job.worth, job.stopped = review.counts(), list(review.worth), review.stopped
            job.state = "done"
        except Cancelled:
            job.state = "cancelled"
        except Exception as error:  # the conversation goes on, and is told
            job.failed = quoted("server", f"{type(error).__name__}: {error}")
            job.state = "failed"

    def _job(self, name: str) -> _Job:
        with self._lock:
            found = self._jobs.get(name)
        if found is None:
            raise Refused("job: this session has started none of that name")
        return found


def _counting(job: _Job) -> Callable[[], None]:
    def done() -> None:
        job.checked += 1
        if job.stop.is_set():
            raise Cancelled

    return done
