"""The confusion matrix of a compile or an evaluation, for MLflow."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aisr.predict.replay import ReplayedRecord
from aisr.programs.probabilities import Judgement
from aisr.programs.task import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAILED = "failed"


def confusion(task: Task, replayed: Sequence[ReplayedRecord], title: str) -> "Figure | None":
    """Return how often each gold label was given each label, shaded by its share of the gold label; None for a task
    without labels."""
    if not task.labels:
        return None
    from matplotlib.figure import Figure
    from sklearn.metrics import ConfusionMatrixDisplay

    gold, predicted = [], []
    for one in replayed:
        allowed = task.gold_labels(one.example.gold)
        judgements: list[Judgement | None] = [*one.outcome.judgements] or [None] * len(allowed)
        for types, judgement in zip(allowed, judgements, strict=True):
            label = judgement.label if judgement else FAILED
            gold.append(label if label in types else types[0])  # as the official evaluator counts it
            predicted.append(label)
    labels = [*task.labels, FAILED] if FAILED in predicted else list(task.labels)
    figure = Figure(figsize=(8, 6), layout="constrained")  # without pyplot: no window and no shared state
    axes = figure.subplots()
    ConfusionMatrixDisplay.from_predictions(
        gold, predicted, labels=labels, ax=axes, cmap="Blues", colorbar=False, xticks_rotation=30
    )
    axes.set_title(title)
    return figure
