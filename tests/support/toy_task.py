"""A task without labels and with a score that is a number: what share, in 0-1, does a sentence speak of?"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import dspy
import numpy as np
from pydantic import Field

from aisr.metrics.scores import MeanScores, Report
from aisr.programs.ask import Steps
from aisr.programs.base import Judge, JudgeOptions
from aisr.programs.records import Prediction, Record
from aisr.programs.submission import Submission
from aisr.programs.task import Exhibit, Task

Share = Annotated[float, Field(ge=0, le=1)]


class ShareRecord(Record):
    text: str
    share: Share | None = None
    gold = property(lambda self: self.share)


class SharePrediction(Prediction):
    share: Share
    answer = property(lambda self: self.share)

    @staticmethod
    def line(answer: float) -> dict[str, Any]:
        return {"share": answer}


@dataclass(frozen=True, kw_only=True)
class ShareOptions(JudgeOptions):
    digits: int = field(default=3, metadata={"help": "To how many places a share is rounded.", "min": 0, "max": 9})


class ShareJudge(Judge):
    Options: ClassVar[type[ShareOptions]] = ShareOptions
    options: ShareOptions
    statement = "sentence"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        instruction = "Say what share of a whole the sentence speaks of."
        self.judge = dspy.Predict(dspy.Signature("sentence: str -> share: float", instruction))

    def prepare(self, record: ShareRecord) -> dspy.Example:
        right = {} if record.gold is None else {"share": record.gold, "gold": record.gold}
        return self.example(record, {"sentence": record.text}, right)

    def steps(self, sentence: str) -> Steps:
        outside = lambda answer: None if 0 <= answer.share <= 1 else f"{answer.share} is no share"  # noqa: E731
        answer = yield self.question(self.judge, sentence, outside, sentence=sentence)
        return dspy.Prediction(share=round(answer.share, self.options.digits))


class Closeness(MeanScores):
    """One minus the distance from gold, a number a record; the ranking score is its mean."""

    demo_from = 0.9

    @classmethod
    def of(cls, gold: Sequence[float], predicted: Sequence[float | None]) -> Self:
        pairs = zip(gold, predicted, strict=True)
        return cls(np.array([0.0 if guess is None else 1 - abs(right - guess) for right, guess in pairs]))

    def report(self) -> Report:
        return Report(super().report().score, {"close": float(self.right().mean())})


class JsonDocument(Submission[ShareRecord, float]):
    def write(self, lines: Sequence[dict[str, Any]], out: Path) -> None:
        out.write_text(json.dumps(list(lines)), encoding="utf-8")


class ShareTask(Task[ShareRecord, float, float]):
    name = "shares"
    record = ShareRecord
    prediction = SharePrediction
    judge = ShareJudge
    parts: ClassVar = {"close": "within a tenth"}
    submission = JsonDocument("shares.json")

    def score(self, gold: Sequence[float], answers: Sequence[float | None]) -> Closeness:
        return Closeness.of(gold, answers)

    def answer(self, prediction: dspy.Prediction) -> float:
        return float(prediction.share)

    def text(self, record: ShareRecord) -> str:
        return record.text

    def stratum(self, gold: float) -> str:
        return "much" if gold > 0.5 else "little"

    def exhibits(self, record: ShareRecord, example: dspy.Example, answer: float | None) -> list[Exhibit]:
        return [Exhibit(key="sentence", text=record.text)]


TOY = ShareTask()
