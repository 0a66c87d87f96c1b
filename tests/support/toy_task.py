"""A task without labels and with a score that is a number: what share, in 0-1, does a sentence speak of?

All that a new task needs: its records and predictions, a program, a score, and the `Task` that binds them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Self

import dspy
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from aisr.metrics.scores import Floats, Report
from aisr.programs.asking.ask import asking
from aisr.programs.asking.steps import run
from aisr.programs.records.base import Prediction, Record
from aisr.tasks.exhibit import Exhibit
from aisr.tasks.task import Task

Share = Annotated[float, Field(ge=0, le=1)]


class ShareRecord(Record):
    text: str
    share: Share | None = None
    gold = property(lambda self: self.share)


class SharePrediction(Prediction):
    share: Share
    answer = property(lambda self: self.share)


class ShareReader(dspy.Module):
    gallery, decision, ranker, samples, statement = None, None, None, 1, "sentence"
    lessons = lambda self, example: self.demo_rows(example)  # noqa: E731
    rows_before: Any = staticmethod(lambda example: [])
    longer_by = staticmethod(lambda example: 0)

    def __init__(self) -> None:
        super().__init__()
        self.judging = dspy.Predict(
            dspy.Signature("sentence: str -> share: float", "Say what share of a whole the sentence speaks of.")
        )
        self.options: dict[str, Any] = {}

    def prepare(self, record: ShareRecord) -> dspy.Example:
        gold = {} if record.gold is None else {"share": record.gold, "gold": record.gold}
        return dspy.Example(id=record.id, sentence=record.text, **gold).with_inputs("sentence")

    def demo_rows(self, example: dspy.Example) -> list[dspy.Example]:
        return [example]

    def forward(self, sentence: str) -> dspy.Prediction:
        outside = lambda said: None if 0 <= said.share <= 1 else f"{said.share} is no share"  # noqa: E731
        return dspy.Prediction(share=run(asking(self.judging, outside, {}, sentence=sentence)).share)


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
    program=ShareReader,
    option_types=MappingProxyType({}),
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
