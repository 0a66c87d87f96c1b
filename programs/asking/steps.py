"""What a program asks, one question after the other; a thread takes the steps (`run`), or an event loop does (`arun`).

A program is written once, as a generator of questions that is sent the answers, and has a `forward` and an `aforward`.
"""

from collections.abc import Generator
from typing import Any, NamedTuple, TypeVar

import dspy
from dspy.utils.exceptions import AdapterParseError

ResultT = TypeVar("ResultT")


class Question(NamedTuple):
    """One call of a predictor."""

    predict: dspy.Predict
    inputs: dict[str, Any]


Steps = Generator[Question, dspy.Prediction, ResultT]


def run(steps: Steps[ResultT]) -> ResultT:
    """Ask, and wait for each answer. An answer that cannot be read is thrown into the steps."""
    try:
        question = next(steps)
        while True:
            try:
                answer = question.predict(**question.inputs)
            except AdapterParseError as error:
                question = steps.throw(error)
            else:
                question = steps.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def arun(steps: Steps[ResultT]) -> ResultT:
    """The same without holding a thread while an answer is awaited."""
    try:
        question = next(steps)
        while True:
            try:
                answer = await question.predict.acall(**question.inputs)
            except AdapterParseError as error:
                question = steps.throw(error)
            else:
                question = steps.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
