"""A sixth judge, without labels: a sentence, and what share of a whole, in 0-1, it speaks of."""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import dspy
from pydantic import Field

from aisr.programs.ask import Steps
from aisr.programs.base import Judge, JudgeOptions
from aisr.programs.records import Prediction, Record

Share = Annotated[float, Field(ge=0, le=1)]


class ShareRecord(Record):
    text: str
    share: Share | None = None
    gold = property(lambda self: self.share)


class SharePrediction(Prediction):
    share: Share
    answer = property(lambda self: self.share)


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
