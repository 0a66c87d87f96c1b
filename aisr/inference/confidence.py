"""How sure a program was of its answers, and whether it was right to be."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import dspy

from aisr.inference.judge import Outcome
from aisr.metrics.judgements import calibration_error, selective_accuracy
from aisr.programs.asking.label_probabilities import Judgement
from aisr.tasks.task import Task

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
