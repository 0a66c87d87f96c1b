"""What DSPy's optimizers get to see of the ranking score."""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import dspy

from aisr.metrics.scores import Scores
from aisr.predict.evaluate import score_records
from aisr.predict.judge import Outcome
from aisr.programs.task import Task

RECORDS = 100  # of train that the gradient is told from
MOST_MIXED = 6  # kinds of mistake that are told
LEAST = 3  # of them with each kind of label, where train has so many


class Objective:
    """A metric for DSPy: the surrogate score of one example (see `aisr.metrics.scores.Scores.surrogate`), or, while
    demos are bootstrapped, whether the answer is right enough to be one.

    The baseline is one on train alone; dev and test never reach it. confusion: in words, which way it mistakes labels.
    """

    def __init__(self, task: Task, baseline: Scores, confusion: str = "") -> None:
        self.task = task
        self.baseline = baseline
        self.confusion = confusion

    def __call__(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        scores = self._scores(example, prediction)
        # A truthy metric makes a demo: bootstrapping must ask for a right answer, not for a positive surrogate.
        return float(scores.right()[0]) if trace is not None else self._surrogate(scores)

    def with_feedback(
        self,
        example: dspy.Example,
        prediction: dspy.Prediction,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> dspy.Prediction:
        """The surrogate score, and what was wrong in words, for an optimizer that reflects (GEPA)."""
        return dspy.Prediction(
            score=self._surrogate(self._scores(example, prediction)),
            feedback=self.task.feedback(example.gold, self.task.answer(prediction)),
        )

    def _surrogate(self, scores: Scores) -> float:
        return float(scores.surrogate(self.baseline)[0])

    def _scores(self, example: dspy.Example, prediction: dspy.Prediction) -> Scores:
        return self.task.score([example.gold], [self.task.answer(prediction)])


def objective(task: Task, train: Sequence[dspy.Example], outcomes: Sequence[Outcome]) -> Objective:
    """The objective at the operating point of a baseline: its outcomes on records of train.

    In a chain of optimizers it stays the uncompiled program's. Linearising anew at each champion made the choice worse
    on test-shaped paragraphs (Spearman .83 at 200 records, and .89 for the mean of old and new, against .95).
    """
    return Objective(task, score_records(task, train, outcomes), describe_confusion(task, train, outcomes))


def gradient_records(task: Task, train: Sequence[dspy.Example], seed: int) -> list[dspy.Example]:
    """The records that the baseline is judged on: `RECORDS` drawn from train, and more of those with a label that fewer
    than `LEAST` of them have, as a label without any would weigh nothing."""
    if len(train) <= RECORDS:
        return list(train)
    order = random.Random(seed).sample(range(len(train)), len(train))
    chosen, rest = order[:RECORDS], order[RECORDS:]
    seen = Counter(label for k in chosen for label in _labels(task, train[k]))
    for k in rest:
        labels = _labels(task, train[k])
        if any(seen[label] < LEAST for label in labels):
            chosen.append(k)
            seen.update(labels)
    return [train[k] for k in sorted(chosen)]


def _labels(task: Task, example: dspy.Example) -> set[str]:
    """The labels of a record, or its stratum in a task without any."""
    return {*task.judgements.said(example.gold)} if task.judgements else {task.stratum(example.gold)}


def describe_confusion(task: Task, train: Sequence[dspy.Example], outcomes: Sequence[Outcome]) -> str:
    """Which way labels are mistaken for others over all of train, in words; empty without labels or mistakes.

    A miss counts against the first gold label of a statement, as in the official score.
    """
    if task.judgements is None:
        return ""
    total: Counter[str] = Counter()
    missed: Counter[tuple[str, str]] = Counter()
    said: Counter[str] = Counter()
    for example, outcome in zip(train, outcomes, strict=True):
        for allowed, judged in zip(task.judgements.allowed(example.gold), outcome.judgements, strict=False):
            total[allowed[0]] += 1
            said[judged.label] += 1
            if judged.label not in allowed:
                missed[allowed[0], judged.label] += 1
    if not missed:
        return ""
    told = [
        f"{gold} was called {label} {count} of {total[gold]} times"
        for (gold, label), count in sorted(missed.items(), key=lambda item: (-item[1], item[0]))[:MOST_MIXED]
    ]
    often = [
        f"{label} ({said[label]} times, right {total[label]})"
        for label in task.judgements.labels
        if said[label] > total[label]
    ]
    return (
        f"Over all {sum(total.values())} labels of the training records, under the first instruction: "
        f"{'; '.join(told)}. Said too often: {', '.join(often) or 'none'}. The labels count alike, however rare."
    )
