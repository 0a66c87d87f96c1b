"""The champion: the best of all candidates by the official score on dev, the uncompiled program among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import dspy
from dspy.utils.exceptions import LMBillingError

from metrics.confidence import Interval, difference_interval, score_interval
from metrics.official import Score, Tally, score
from optimize.judging import Outcome, judge_all
from optimize.lm import OpenLM
from optimize.objective import tally
from optimize.optimizers import Candidate
from optimize.tasks import Task


@dataclass(frozen=True)
class Result:
    """How a program did on a split."""

    tally: Tally
    score: Score
    interval: Interval
    failures: dict[str, str]  # record id -> reason

    def report(self) -> dict[str, Any]:
        return {
            **self.score.report(),
            "interval": [self.interval.low, self.interval.high],
            "records": len(self.tally),
            "failures": self.failures,
        }


@dataclass(frozen=True)
class Contender:
    """A candidate with its result on dev and the paired difference from the uncompiled program."""

    name: str
    program: dspy.Module
    dev: Result
    gain: Interval


@dataclass(frozen=True)
class Choice:
    """The champion and all contenders, the uncompiled program first; the names of candidates that the budget left
    unscored."""

    champion: Contender
    contenders: list[Contender]
    unscored: list[str]


def measure(
    task: Task,
    program: dspy.Module,
    examples: Sequence[dspy.Example],
    lm: OpenLM,
    done: Callable[[], None] = lambda: None,
) -> Result:
    """The official score of a program on labelled examples, with its interval and its failed records."""
    outcomes = judge_all(task, program, examples, lm, done)
    return result(task, examples, outcomes)


def result(task: Task, examples: Sequence[dspy.Example], outcomes: Sequence[Outcome]) -> Result:
    """The official score of outcomes."""
    counts = tally(task, examples, outcomes)
    failures = {
        example.id: outcome.failure
        for example, outcome in zip(examples, outcomes, strict=True)
        if outcome.failure is not None
    }
    return Result(counts, score(counts), score_interval(counts), failures)


def choose(
    task: Task,
    candidates: Sequence[Candidate],
    dev: Sequence[dspy.Example],
    lm: OpenLM,
    done: Callable[[Contender], None] = lambda contender: None,
) -> Choice:
    """Score every candidate on dev and take the best; of equals the first, so that ties go to the uncompiled program.

    Calls that an optimizer made already come from the cache. Where the budget is spent, candidates that the cache
    cannot score are left out. Raises LMBillingError where that happens to the first, the uncompiled program.
    """
    contenders: list[Contender] = []
    unscored = []
    for name, program in candidates:
        try:
            found = measure(task, program, dev, lm)
        except LMBillingError:
            if not contenders or lm.ledger.spent_out() is None:
                raise
            unscored.append(name)
            continue
        baseline = contenders[0].dev if contenders else found
        contenders.append(Contender(name, program, found, difference_interval(found.tally, baseline.tally)))
        done(contenders[-1])
    champion = max(contenders, key=lambda contender: contender.dev.score.score)
    return Choice(champion, contenders, unscored)
