"""What DSPy's optimizers get to see of the ranking score."""

from collections.abc import Sequence
from typing import Any

import dspy

from aisr.inference.evaluate import scored
from aisr.inference.judge import Outcome
from aisr.metrics.scores import Scores
from aisr.optimize.search.reflection import mixed_up
from aisr.programs.asking.stated import as_stated
from aisr.tasks.task import Task

ABSURD, CERTAIN = 0.05, 0.9  # gold that a program finds less likely than that, and another label more


class Objective:
    """A metric for DSPy: the credit of one example against a baseline (see `aisr.metrics.scores.Scores.credit`), or,
    while demos are bootstrapped, whether the answer is right enough to be one.

    The baseline is one on train alone; dev and test never reach it. plausible: for each record of train, how likely
    its gold labels are to the baseline's program, 0-1: the least of its statements; sure: how likely that program,
    which had not seen it, stated its labels to be, a text each, where all of them are right; doubted: whether it finds
    a gold label absurd, at less than `ABSURD`, and another nearly `CERTAIN`. confusion: in words, which
    way it mistakes labels.
    """

    def __init__(
        self,
        task: Task,
        baseline: Scores,
        plausible: Sequence[float],
        confusion: str = "",
        sure: Sequence[Sequence[str] | None] = (),
        doubted: Sequence[bool] = (),
    ) -> None:
        self.task = task
        self.baseline = baseline
        self.plausible = plausible
        self.confusion = confusion
        self.sure = sure
        self.doubted = doubted

    def __call__(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        scores = self._scores(example, prediction)
        # A truthy metric makes a demo: bootstrapping must ask for a right answer, not for a positive credit.
        return float(scores.right()[0]) if trace is not None else self._credit(scores)

    def with_feedback(
        self,
        example: dspy.Example,
        prediction: dspy.Prediction,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> dspy.Prediction:
        """The credit, and what was wrong in words, for an optimizer that reflects (GEPA)."""
        return dspy.Prediction(
            score=self._credit(self._scores(example, prediction)),
            feedback=self.task.feedback(example.gold, self.task.answer(prediction)),
        )

    def _credit(self, scores: Scores) -> float:
        return float(scores.credit(self.baseline)[0])

    def _scores(self, example: dspy.Example, prediction: dspy.Prediction) -> Scores:
        return self.task.score([example.gold], [self.task.answer(prediction)])


def objective(task: Task, train: Sequence[dspy.Example], outcomes: Sequence[Outcome]) -> Objective:
    """The objective at the operating point of a baseline: its outcomes on train.

    In a chain of optimizers it stays the uncompiled program's. Linearising anew at each champion made the choice worse
    on test-shaped paragraphs (Spearman .83 at 200 records, and .89 for the mean of old and new, against .95).
    """
    likely = [_plausible(task, example, outcome) for example, outcome in zip(train, outcomes, strict=True)]
    sure = [_sure(task, example, outcome) for example, outcome in zip(train, outcomes, strict=True)]
    doubted = [_doubted(task, example, outcome) for example, outcome in zip(train, outcomes, strict=True)]
    return Objective(task, scored(task, train, outcomes), likely, mixed_up(task, train, outcomes), sure, doubted)


def _plausible(task: Task, example: dspy.Example, outcome: Outcome) -> float:
    """0 for a record that failed; 1 where a task has no labels that could be doubted."""
    if task.judgements is None or outcome.answer is None:
        return float(outcome.answer is not None)
    places = {label: place for place, label in enumerate(task.judgements.labels)}
    allowed = task.judgements.allowed(example.gold)
    return min(
        sum(judged.chances[places[label]] for label in set(types))
        for judged, types in zip(outcome.judgements, allowed, strict=True)
    )


def _doubted(task: Task, example: dspy.Example, outcome: Outcome) -> bool:
    if task.judgements is None or outcome.answer is None:
        return False
    places = {label: place for place, label in enumerate(task.judgements.labels)}
    allowed = task.judgements.allowed(example.gold)
    return any(
        sum(judged.chances[places[label]] for label in set(types)) < ABSURD and max(judged.chances) >= CERTAIN
        for judged, types in zip(outcome.judgements, allowed, strict=True)
    )


def _sure(task: Task, example: dspy.Example, outcome: Outcome) -> list[str] | None:
    """How likely a model stated the labels of a record to be; None where it stated nothing or one of them is wrong."""
    if task.judgements is None or outcome.answer is None:
        return None
    judged, labels = outcome.judgements, task.judgements.labels
    stated = all(one.source == "stated" for one in judged)
    right = all(one.label in types for one, types in zip(judged, task.judgements.allowed(example.gold), strict=True))
    return [as_stated(one.label, one.chances, labels) for one in judged] if stated and right else None
