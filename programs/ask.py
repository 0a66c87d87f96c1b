"""Asking an LM for an answer that can be used: one question, at most one repair, then a failure.

A judge is written once, as a generator of questions that is sent the answers (`Steps`); a thread takes the steps
(`run`), or an event loop does (`arun`). There is never a silent default: an answer that is still unusable after the
repair raises `UnusableAnswer`, and whoever runs the judge writes the record down as failed.
"""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

import dspy
from dspy.utils.exceptions import AdapterParseError

from aisr.programs.images import Exhibits
from aisr.programs.probabilities import CONFIDENCE
from aisr.programs.text import plain

# JSON schema fragments by output field, which a backend that decodes under a schema adds to what the types say.
Constraints = Mapping[str, Mapping[str, Any]]
Check = Callable[[dspy.Prediction], str | None]  # the complaint about an answer, or None
TOP_LOGPROBS = 20  # the most that OpenAI's API gives
MOST_CORRECTION = 1200  # characters of a complaint about an answer: of a hundred paragraphs it would name each
NO_TEXT = re.compile(r"\{'text': (?:''|None)[,}]")  # how DSPy's adapters show an answer without any


class UnusableAnswer(ValueError):
    """The model's answer could not be used, nor could its answer to the complaint about it."""


class Question(NamedTuple):
    """A question to a predictor, and what its answer must be."""

    predict: dspy.Predict
    inputs: dict[str, Any]
    check: Check = lambda answer: None
    constraints: Constraints = MappingProxyType({})


Steps = Generator[Question, dspy.Prediction, dspy.Prediction]


def run(steps: Steps) -> dspy.Prediction:
    """What steps come to; waits for each answer. Raises `UnusableAnswer`; errors of the LM pass through."""
    answer: Any = None
    while True:
        try:
            question = steps.send(answer)
        except StopIteration as end:
            return end.value
        attempts = _Attempts(question)
        while (answer := attempts.answer) is None:
            try:
                attempts.take(question.predict(**attempts.call))
            except AdapterParseError as error:
                attempts.take_unparsed(error)


async def arun(steps: Steps) -> dspy.Prediction:
    """The same without holding a thread while an answer is awaited."""
    answer: Any = None
    while True:
        try:
            question = steps.send(answer)
        except StopIteration as end:
            return end.value
        attempts = _Attempts(question)
        while (answer := attempts.answer) is None:
            try:
                attempts.take(await question.predict.acall(**attempts.call))
            except AdapterParseError as error:
                attempts.take_unparsed(error)


class _Attempts:
    """The attempts at one question: the call as it is to be made next, and the answer once there is a usable one."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.answer: dspy.Prediction | None = None
        self.call = {**question.inputs, "config": _config(question.predict, question.constraints)}
        self._keys = _record_keys(question.predict)
        self._repairing = False

    def take(self, answer: dspy.Prediction) -> None:
        """Take an answer that parsed; one that the question's check refuses leads to a second attempt, with the
        complaint. Raises `UnusableAnswer` at the second."""
        complaint = self.question.check(answer)
        if complaint is None:
            self.answer = answer
            return
        place = _place_in_trace(answer)
        if place is not None:
            # A refused answer must not be bootstrapped into a demo; earlier calls of an optimizer stay in the trace.
            del dspy.settings.trace[place]
        self._refuse(complaint)

    def take_unparsed(self, error: AdapterParseError) -> None:
        """The same for an answer that did not parse."""
        answer = _but_for_confidence(error)
        if answer is None:
            self._refuse(_what_failed(error))
            return
        predict = self.question.predict
        if dspy.settings.trace is not None:
            inputs = {name: value for name, value in self.call.items() if name in predict.signature.input_fields}
            dspy.settings.trace.append((predict, inputs, answer))
        self.take(answer)

    def _refuse(self, complaint: str) -> None:
        predict = self.question.predict
        if self._repairing:
            getattr(_lm(predict), "invalidate", lambda keys: None)(self._keys)
            raise UnusableAnswer(f"unusable answer, also after one repair: {complaint}")
        self._repairing = True
        # The complaint repeats what the model wrote and what the record calls its paragraphs: data, like the rest.
        cut = f"Your previous answer could not be used: {complaint}"[:MOST_CORRECTION]
        field = dspy.InputField(desc="what was wrong with your previous answer")
        self.call |= {
            "signature": predict.signature.append("correction", field, str),
            "correction": plain(f"{cut}. Answer again, in the form asked for."),
        }


def clean_trace(answer: dspy.Prediction) -> None:
    """Take out of DSPy's trace of an answer what would be in the way there: its log-probabilities, since twenty
    alternatives a token make a reflection twenty times as long, and pictures among the inputs, of which no demo may
    hold any; their text stays."""
    if "logprobs" in answer:
        del answer["logprobs"]
    place = _place_in_trace(answer)
    if place is not None:
        predictor, inputs, _ = dspy.settings.trace[place]
        texts = {name: str(value) if isinstance(value, Exhibits) else value for name, value in inputs.items()}
        dspy.settings.trace[place] = (predictor, texts, answer)


def wrong_count(values: Sequence[object], wanted: int, what: str) -> str | None:
    """The complaint about a list of the wrong length, or None."""
    return None if len(values) == wanted else f"{len(values)} {what} where {wanted} were asked for"


def unknown_names(names: Sequence[str], known: Sequence[str], what: str) -> str | None:
    """The complaint about names that were not offered, or None."""
    unknown = [name for name in names if name not in known]
    return f"{what} {unknown[0]!r} was not shown; shown were {', '.join(known)}" if unknown else None


def _but_for_confidence(error: AdapterParseError) -> dspy.Prediction | None:
    """An answer that lacks nothing but the confidence in its labels, or has that in another form. None where
    something else is wrong with it."""
    fields = error.signature.output_fields
    if CONFIDENCE not in fields or error.lm_response is None:
        return None
    whatever = error.signature.with_updated_fields(CONFIDENCE, type_=Any)
    for looser in (whatever, error.signature.delete(CONFIDENCE)):
        with suppress(AdapterParseError):
            return dspy.Prediction(**dspy.settings.adapter.parse(looser, error.lm_response))
    return None


def _place_in_trace(answer: dspy.Prediction) -> int | None:
    """Where an answer stands in DSPy's trace; None where it does not."""
    trace = dspy.settings.trace or ()
    return next((place for place in reversed(range(len(trace))) if trace[place][2] is answer), None)


def _what_failed(error: AdapterParseError) -> str:
    cause = error.__cause__
    if isinstance(cause, (RecursionError, MemoryError)) or type(cause) is ValueError:
        return f"it could not be read ({type(cause).__name__}: {str(cause)[:200]})"
    fields = ", ".join(error.signature.output_fields)
    answer = " ".join(str(error.lm_response or "").split())[:200]
    if not answer or NO_TEXT.match(answer):
        return f"it is empty, and should hold the fields {fields}"
    return f"it does not hold the fields {fields} with their allowed values (it began {answer!r})"


def _config(predict: dspy.Predict, constraints: Constraints) -> dict[str, Any]:
    config: dict[str, Any] = {}
    limits = dict(constraints)  # DSPy takes no other mapping there
    # `metadata` is the one key that DSPy hands to an engine of one's own as it stands.
    if getattr(_engine(predict), "takes_constraints", False):
        config["metadata"] = {"constraints": limits}
    if getattr(_lm(predict), "gives_logprobs", False):
        config |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    return config


def _record_keys(predict: dspy.Predict) -> list[str]:
    """Where the LM keeps answers, the keys of those that it looks for from here on."""
    record = getattr(_lm(predict), "record_keys", None)
    return record() if record else []


def _engine(predict: dspy.Predict) -> Any:
    return getattr(_lm(predict), "engine", None)


def _lm(predict: dspy.Predict) -> Any:
    return predict.lm or dspy.settings.lm
