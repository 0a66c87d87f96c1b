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
from numpy.typing import NDArray

from aisr.metrics.scores import Floats, Report
from aisr.programs.task import Exhibit, Task
from support.toy_judge import ShareJudge, SharePrediction, ShareRecord


@dataclass(frozen=True)
class Closeness:
    """One minus the distance from gold, a number a record; the ranking score is its mean."""

    closeness: Floats

    @classmethod
    def of(cls, gold: Sequence[float], said: Sequence[float | None]) -> Self:
        pairs = zip(gold, said, strict=True)
        return cls(np.array([0.0 if guess is None else 1 - abs(right - guess) for right, guess in pairs]))

    rows = property(lambda self: self.closeness[:, None])

    def __len__(self) -> int:
        return len(self.closeness)

    def ranking(self, weights: Floats) -> Floats:
        return np.asarray(weights @ self.closeness / weights.sum(axis=1))

    def credit(self, baseline: Self) -> Floats:
        return self.closeness

    def right(self) -> NDArray[np.bool_]:
        return self.closeness > 0.9

    def report(self) -> Report:
        return Report(float(self.closeness.mean()), {"close": float(self.right().mean())})


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
