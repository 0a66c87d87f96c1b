"""A task without labels and with a score that is a number: what share, in 0-1, does a sentence speak of?

All that a new task needs beside its judge: a score, a file to submit, and the `Task` that binds them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from aisr.metrics.scores import MeanScores, Report
from aisr.programs.task import Exhibit, Task
from support.toy_judge import ShareJudge, SharePrediction, ShareRecord


class Closeness(MeanScores):
    """One minus the distance from gold, a number a record; the ranking score is its mean."""

    demo_from = 0.9

    @classmethod
    def of(cls, gold: Sequence[float], predicted: Sequence[float | None]) -> Self:
        pairs = zip(gold, predicted, strict=True)
        return cls(np.array([0.0 if guess is None else 1 - abs(right - guess) for right, guess in pairs]))

    def report(self) -> Report:
        return Report(super().report().score, {"close": float(self.right().mean())})


@dataclass(frozen=True)
class JsonDocument:
    file: str = "shares.json"

    def write(self, lines: Sequence[dict[str, Any]], out: Path) -> None:
        out.write_text(json.dumps(list(lines)), encoding="utf-8")


TOY: Task[ShareRecord, float, float] = Task(
    name="shares",
    record=ShareRecord,
    prediction=SharePrediction,
    judge=ShareJudge,
    parts=MappingProxyType({"close": "within a tenth"}),
    score=Closeness.of,
    answer=lambda prediction: float(prediction.share),
    line=lambda answer: {"share": answer},
    problem=lambda record, answer: None,
    feedback=lambda gold, answer: f"said {answer}, right is {gold}",
    fallback=lambda record: 0.5,
    exhibits=lambda record, example, answer: [Exhibit(key="sentence", text=record.text)],
    shares=lambda record: {f"sentence:{record.text}"},
    text=lambda record: record.text,
    stratum=lambda gold: "much" if gold > 0.5 else "little",
    submission=JsonDocument(),
)
