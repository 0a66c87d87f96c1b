"""Asking a model for an answer that can be used: one question, at most one repair, then a failure.

Never a silent default: an answer that is still unusable after the repair raises `UnusableAnswer`, and whoever runs
the program writes the record down as failed.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, get_origin

import dspy
from dspy.utils.exceptions import AdapterParseError

from aisr.programs.asking import stated
from aisr.programs.asking.placeholder_answer import stand_in
from aisr.programs.asking.steps import Question, Steps
from aisr.programs.questions import questions_of
from aisr.programs.text.sanitize import plain

# JSON schema fragments by output field, which a backend that decodes under a schema adds to what the types say.
Constraints = dict[str, dict[str, Any]]
Check = Callable[[dspy.Prediction], str | None]
TOP_LOGPROBS = 20  # the most that OpenAI's API gives
MOST_CORRECTION = 1200  # characters of a complaint about an answer: of a hundred paragraphs it would name each
NO_TEXT = re.compile(r"\{'text': (?:''|None)[,}]")  # how DSPy's adapters show an answer without any


class UnusableAnswer(ValueError):
    """The model's answer could not be used, nor could its answer to the complaint about it."""


def asking(predict: dspy.Predict, check: Check, constraints: Constraints, **inputs: Any) -> Steps[dspy.Prediction]:
    """Ask `predict`; where the answer does not parse or `check` returns a complaint, ask once more with it.

    Raises `UnusableAnswer` after the second unusable answer; errors of the LM itself pass through.
    """
    config = _config(predict, constraints)
    keys = _record_keys(predict)
    prediction, complaint = yield from _attempt(predict, check, config=config, **inputs)
    if prediction is None and _asks_once(predict):
        raise UnusableAnswer(f"unusable answer, and nobody to ask again: {complaint}")
    if prediction is None:
        # The complaint repeats what the model wrote and what the record calls its paragraphs: data, like the rest.
        said = f"Your previous answer could not be used: {complaint}"[:MOST_CORRECTION]
        correction = plain(f"{said}. Answer again, in the form asked for.")
        repair = predict.signature.append(
            "correction", dspy.InputField(desc="what was wrong with your previous answer"), str
        )
        prediction, complaint = yield from _attempt(
            predict, check, config=config, signature=repair, correction=correction, **inputs
        )
    if prediction is None:
        getattr(_lm(predict), "invalidate", lambda keys: None)(keys)
        raise UnusableAnswer(f"unusable answer, also after one repair: {complaint}")
    return prediction


def drop_logprobs(answer: dspy.Prediction) -> None:
    """Leave the log-probabilities of an answer out of DSPy's trace, where it may be reflected on: twenty alternatives a
    token make a reflection twenty times as long."""
    if "logprobs" in answer:
        del answer["logprobs"]


def as_text_in_trace(answer: dspy.Prediction, field: str) -> None:
    """Put the text of an input to an answer into DSPy's trace in place of what shows pictures: a demo of it must hold
    none."""
    place = _place_in_trace(answer)
    if place is not None:
        predictor, inputs, _ = dspy.settings.trace[place]
        dspy.settings.trace[place] = (predictor, {**inputs, field: str(inputs[field])}, answer)


def wrong_count(got: Sequence[object], wanted: int, what: str) -> str | None:
    """The complaint about a list of the wrong length, or None."""
    return None if len(got) == wanted else f"{len(got)} {what} where {wanted} were asked for"


def unknown_names(got: Sequence[str], known: Sequence[str], what: str) -> str | None:
    """The complaint about names that were not offered, or None."""
    unknown = [name for name in got if name not in known]
    return f"{what} {unknown[0]!r} was not shown; shown were {', '.join(known)}" if unknown else None


def _attempt(predict: dspy.Predict, check: Check, **call: Any) -> Steps[tuple[dspy.Prediction | None, str | None]]:
    try:
        prediction = yield Question(predict, call)
    except AdapterParseError as error:
        prediction = _but_for_chances(error)
        if prediction is None:
            return None, _what_failed(error)
        if dspy.settings.trace is not None:
            asked = {name: value for name, value in call.items() if name in predict.signature.input_fields}
            dspy.settings.trace.append((predict, asked, prediction))
    complaint = check(prediction)
    if complaint is None:
        return prediction, None
    _forget(prediction)  # a refused answer must not be bootstrapped into a demo
    return None, complaint


def _but_for_chances(error: AdapterParseError) -> dspy.Prediction | None:
    """An answer that holds all but how likely its labels are, or that in another form than asked for. None where
    something else is wrong with it."""
    fields = error.signature.output_fields
    if stated.FIELD not in fields or error.lm_response is None:
        return None
    whatever = error.signature.with_updated_fields(stated.FIELD, type_=Any)
    for looser in (whatever, error.signature.delete(stated.FIELD)):
        with suppress(AdapterParseError):
            return dspy.Prediction(**dspy.settings.adapter.parse(looser, error.lm_response))
    return None


def _forget(answer: dspy.Prediction) -> None:
    """Take an answer out of DSPy's trace, and no other: what an optimizer asked before stands in it."""
    place = _place_in_trace(answer)
    if place is not None:
        del dspy.settings.trace[place]


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
    # `metadata` is the one key that DSPy hands to an engine of one's own as it stands.
    if getattr(_engine(predict), "takes_constraints", False):
        config["metadata"] = {"constraints": constraints}
    if decides(predict):
        fields = {name: get_origin(field.annotation) is list for name, field in predict.signature.output_fields.items()}
        asked = questions_of(predict.signature, constraints)
        config["metadata"] = {"constraints": constraints, "fields": fields, "questions": asked}
    if _asks_once(predict):
        config["metadata"] = {"stand_in": stand_in(predict.signature, constraints)}
    if getattr(_lm(predict), "gives_logprobs", False):
        config |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    return config


def _record_keys(predict: dspy.Predict) -> list[str]:
    """Where the LM keeps answers, the keys of those that it looks for from here on."""
    record = getattr(_lm(predict), "record_keys", None)
    return record() if record else []


def _asks_once(predict: dspy.Predict) -> bool:
    """Whether the engine writes questions down, or knows only the answers to those (`aisr/predict/batch.py`)."""
    return bool(getattr(_engine(predict), "asks_once", False))


def decides(predict: dspy.Predict) -> bool:
    """Whether who is asked gives a probability for each option, and writes nothing."""
    return bool(getattr(_engine(predict), "decides", False))


def _engine(predict: dspy.Predict) -> Any:
    return getattr(_lm(predict), "engine", None)


def _lm(predict: dspy.Predict) -> Any:
    return predict.lm or dspy.settings.lm
