"""A program as plain data: the form of program.json, and of the JSON files that `save` of DSPy writes.

Both hold the state of the predictors. DSPy lays the saved fields of a signature over those of the program by position,
without a look at their names: fields that were moved or renamed since would swap their descriptions in silence.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import dspy
from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from aisr.base.errors import UserError
from aisr.base.jsonl import explain
from aisr.programs.pictures import is_text_alone
from aisr.programs.ranker import EvidenceRanker

FORMAT = 2
METADATA = "metadata"  # of a file of DSPy's: versions of packages


class SignatureState(BaseModel, extra="forbid", strict=True):
    """What DSPy saves of a signature: its instruction, and the prefix and description of each field."""

    instructions: str
    fields: list[dict[str, str]]


class PredictorState(BaseModel, extra="forbid", strict=True):
    """What DSPy saves of a predictor. `lm` must be empty: an LM with an address or a key has no place here."""

    traces: list[Any] = Field(max_length=0)
    train: list[Any] = Field(max_length=0)
    demos: list[dict[str, Any]]
    signature: SignatureState
    lm: None


class ProgramFile(BaseModel, extra="forbid", strict=True):
    """A program.json."""

    format: int = Field(ge=1, le=FORMAT)
    task: str
    options: dict[str, str | int | float | bool]
    state: dict[str, PredictorState]
    ranker: EvidenceRanker | None = None
    fitted: dict[str, Any] | None = None
    label_weights: Any = None  # of format 1: offsets of labels that were fitted beside the prompt

    @model_validator(mode="before")
    @classmethod
    def _from_format_1(cls, content: Any) -> Any:
        """Give an option of version 0.2 the name that it has now."""
        if not isinstance(content, dict) or content.get("format") != 1:
            return content
        options = content.get("options")
        if isinstance(options, dict) and "evidence" in options:
            options = {"picture_mode": options["evidence"], **options}
            del options["evidence"]
            content = {**content, "options": options}
        return content

    @field_validator("label_weights")
    @classmethod
    def _has_none(cls, value: Any) -> None:
        if value is not None:
            raise UserError("this program has some, which are no longer used; compile it again")


def read_state(content: Mapping[str, Any]) -> dict[str, PredictorState]:
    """Return the predictors in a JSON file that `save` of DSPy wrote, without what optimizers leave there beside the
    prompt: traces, bootstrapped examples, and an LM. Raises UserError for another form."""
    state = {}
    for name, saved in content.items():
        if name == METADATA:
            continue
        try:
            state[name] = PredictorState.model_validate({**saved, "traces": [], "train": [], "lm": None})
        except TypeError as error:
            raise UserError(f"{name[:80]}: not what DSPy saves of a predictor") from error
        except ValidationError as error:
            raise UserError(f"{name[:80]}: {explain(error)}") from error
    return state


def check_state(predictors: Iterable[tuple[str, dspy.Predict]], state: Mapping[str, PredictorState]) -> None:
    """Check that a state has these predictors, and their fields in order. Raises UserError with the difference."""
    expected = dict(predictors)
    if set(expected) != set(state):
        raise UserError(f"predictors {sorted(state)}; this program has {sorted(expected)}")
    for name, predictor in expected.items():
        fields = predictor.signature.fields
        ours = [str(field.json_schema_extra["prefix"]) for field in fields.values()]
        saved = [field.get("prefix", "") for field in state[name].signature.fields]
        if saved != ours:
            raise UserError(f"{name}: fields {_listed(saved)}; this program has {_listed(ours)}, in this order")
        for number, demo in enumerate(state[name].demos):
            shown = [demo[field] for field in fields if field in demo]
            if not is_text_alone(shown):
                part = "a part of a message, such as the address of a picture"
                raise UserError(f"{name}: demos[{number}] holds {part}; expected text")


def _listed(prefixes: Iterable[str]) -> str:
    return ", ".join(repr(prefix.removesuffix(":")[:80]) for prefix in prefixes)
