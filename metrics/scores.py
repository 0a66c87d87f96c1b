"""What a task's official score has to answer, so that bootstrap, race, champion and optimizers need to know no more.

`aisr.metrics.tally.Tally` is one of them, with counts of labels; a score without labels is another (a mean of nDCG or
METEOR is a row of one number a record).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.f1 import LabelScore

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Report:
    """A ranking score and its parts, all in 0-1.

    parts: by name, in the order in which they are shown ("macro_f1", "pem"); per_label: where judgements are labels;
    remarks: what a person should read beside the score, in words.
    """

    score: float
    parts: Mapping[str, float]
    per_label: Mapping[str, LabelScore] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The parts by their names, `score`, and `per_label` and `remarks` where there are some, as `aisr score` writes
        them."""
        labels = {label: part._asdict() for label, part in self.per_label.items()}
        more = {"per_label": labels, "remarks": list(self.remarks)}
        return {**self.parts, "score": self.score, **{name: found for name, found in more.items() if found}}


class Scores(Protocol):
    """How a corpus of answers did under a task's official score, record by record."""

    def __len__(self) -> int:
        """The number of records."""

    @property
    def rows(self) -> Floats:
        """What each record adds, shape (records, numbers): the ranking score depends on their weighted sum alone, so
        records with equal rows can take each other's place."""

    def ranking(self, weights: Floats) -> Floats:
        """The ranking score in 0-1, where each record counts as often as `weights` (resamples, records) says; shape
        (resamples,)."""

    def credit(self, baseline: Self) -> Floats:
        """What an optimizer that takes means may see of each record, shape (records,): the ranking score, linearised at
        the baseline; the value itself where the ranking score is a mean."""

    def right(self) -> NDArray[np.bool_]:
        """Which answers are right enough to be shown as demos, shape (records,)."""

    def report(self) -> Report:
        """The ranking score and its parts. Raises ValueError for an empty corpus."""


def value(scores: Scores) -> float:
    """The ranking score of a corpus, in 0-1. Raises ValueError for an empty one."""
    if not len(scores):
        raise ValueError("no records: an empty corpus has no score")
    return float(scores.ranking(np.ones((1, len(scores))))[0])
