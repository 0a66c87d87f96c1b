"""Judging labelled records: scores, intervals, and who answered.

How sure a program was of its answers, and whether it was right to be.

The official score of a program on labelled examples.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import dspy

from aisr.lm.client import OpenLM
from aisr.metrics.intervals import Interval, difference_interval, score_interval
from aisr.metrics.judgements import calibration_error, selective_accuracy
from aisr.metrics.scores import Report, Scores
from aisr.predict.judge import Outcome, judge_all
from aisr.programs.asking.label_probabilities import Judgement
from aisr.programs.base import Judge
from aisr.programs.errors import UserError
from aisr.programs.task import Task

SHARES = (0.5, 0.8, 1.0)  # of the judgements, the surest first
DECIMALS = 4  # of a probability in a file


class Held(NamedTuple):
    """Judgements against their gold labels: how sure each was, in 0-1, and whether it was right."""

    sure: list[float]
    right: list[bool]

    def report(self) -> dict[str, Any]:
        """Their number, the expected calibration error, and the accuracy of the surest `SHARES`; all in 0-1."""
        return {
            "judgements": len(self.sure),
            "calibration_error": calibration_error(self.sure, self.right),
            "accuracy_of_surest": {
                f"{100 * share:.0f}": selective_accuracy(self.sure, self.right, share) for share in SHARES
            },
        }


def of_judgement(task: Task, judged: Judgement) -> float | None:
    """How likely the label that was said is, in 0-1; None for a single vote."""
    return judged.chances[task.labelled.labels.index(judged.label)] if judged.known else None


def probabilities(task: Task, outcome: Outcome) -> list[dict[str, float] | None]:
    """Of each statement of a record the probability of each label, as a predictions file holds it; None for a single
    vote."""
    labels = task.labelled.labels
    return [
        {label: round(chance, DECIMALS) for label, chance in zip(labels, judged.chances, strict=True)}
        if judged.known
        else None
        for judged in outcome.judgements
    ]


def of_record(task: Task, outcome: Outcome) -> float | None:
    """How sure a program is of a record, in 0-1: as sure as of the least sure of its labels. None where one is a single
    vote, where the record failed, and for a task without labels."""
    if task.judgements is None:
        return None
    sure = [of_judgement(task, judged) for judged in outcome.judgements]
    return None if None in sure else min((one for one in sure if one is not None), default=None)


def held(task: Task, judged: Iterable[tuple[dspy.Example, Outcome]]) -> dict[str, Held]:
    """By the source of their probabilities, the judgements that have some; none for a task without labels."""
    found: dict[str, Held] = {}
    if task.judgements is None:
        return found
    for example, outcome in judged:
        for one, allowed in zip(outcome.judgements, task.judgements.allowed(example.gold), strict=False):
            sure = of_judgement(task, one)
            if sure is not None:
                here = found.setdefault(one.source, Held([], []))
                here.sure.append(sure)
                here.right.append(one.label in allowed)
    return found


@dataclass(frozen=True)
class Result:
    """How a program did on a split. floor: how no LM at all does there, for a task that should not be read without;
    group: of each record, where that is known (see `aisr.metrics.intervals`)."""

    scores: Scores
    score: Report
    interval: Interval
    failures: dict[str, str]  # record id -> reason
    floor: "Result | None" = None
    held: Mapping[str, Held] = field(default_factory=dict)  # how sure it was, by source
    group: tuple[int, ...] | None = None

    def gain(self, before: "Result") -> Interval:
        """The difference from another program's ranking score on the same records."""
        return difference_interval(self.scores, before.scores, group=self.group)

    def report(self) -> dict[str, Any]:
        return {
            **self.score.as_dict(),
            "interval": [self.interval.low, self.interval.high],
            "records": len(self.scores),
            "failures": self.failures,
            **({"floor": self.floor.report()} if self.floor else {}),
        }

    def confidence(self) -> dict[str, Any]:
        """How sure it was and whether it was right to be, by source, as files of scores have it; empty where no
        probability was given."""
        told = {source: one.report() for source, one in self.held.items()}
        return {"confidence": told} if told else {}


def measure(
    task: Task,
    program: Judge,
    examples: Sequence[dspy.Example],
    lm: OpenLM,
    done: Callable[[], None] = lambda: None,
) -> Result:
    """The official score of a program on labelled examples, with its interval and its failed records."""
    outcomes = judge_all(task, program, examples, lm, done)
    return result(task, examples, outcomes)


def check_any(found: Result, split: str) -> None:
    """Raises UserError where every record failed: the server is dead, or the program cannot be used with this LM."""
    if len(found.failures) == len(found.scores):
        raise UserError(f"every record of {split} failed, the first with: {next(iter(found.failures.values()))}")


def result(task: Task, examples: Sequence[dspy.Example], outcomes: Sequence[Outcome]) -> Result:
    """The official score of outcomes."""
    scores = scored(task, examples, outcomes)
    failures = {
        example.id: outcome.failure
        for example, outcome in zip(examples, outcomes, strict=True)
        if outcome.failure is not None
    }
    sure = held(task, zip(examples, outcomes, strict=True))
    group = groups_of(examples)
    interval = score_interval(scores, group=group)
    return Result(scores, scores.report(), interval, failures, _floor(task, examples), sure, group)


def groups_of(examples: Sequence[dspy.Example]) -> tuple[int, ...] | None:
    """The group of each example, as `aisr.optimize.datasets.examples` tells it; None where one has none."""
    found = [example.get("group") for example in examples]
    return None if None in found else tuple(found)


def _floor(task: Task, examples: Sequence[dspy.Example]) -> Result | None:
    if task.floor is None:
        return None
    scores = task.score([example.gold for example in examples], [task.floor(example) for example in examples])
    group = groups_of(examples)
    return Result(scores, scores.report(), score_interval(scores, group=group), {}, group=group)


def scored(task: Task, examples: Sequence[dspy.Example], outcomes: Sequence[Outcome]) -> Scores:
    """How outcomes did, record by record; a failed record earns nothing."""
    return task.score([example.gold for example in examples], [outcome.answer for outcome in outcomes])
