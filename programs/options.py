"""Options as the fields of a frozen dataclass: help, choices and bounds stand at the field, and nowhere else.

The command line, plan files, error messages and the documents' tables read them from here. No field is a container.
"""

import difflib
from collections.abc import Iterable
from dataclasses import fields
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin

from annotated_types import Ge, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from aisr.base.errors import UserError

KINDS: dict[type, str] = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
LARGEST = 1e300  # of a number, which must be finite
MOST_QUOTED = 80  # characters of a value in a message


def suggestion(name: str, names: Iterable[str]) -> str:
    """`; did you mean NAME?` with the name that is nearest to a wrong one; empty where none is near."""
    known = {one.lower(): one for one in names}
    near = difflib.get_close_matches(name.lower(), known, n=1)
    return f"; did you mean {known[near[0]]}?" if near else ""


class Option(NamedTuple):
    """One option: a text, a number or a switch."""

    name: str
    type: type  # str, int, float or bool
    default: Any
    help: str
    choices: tuple[str, ...] = ()  # the values that it can have; none: any
    min: float | None = None
    max: float | None = None
    searched: bool = False  # whether an optimizer sets it, and nobody else

    @property
    def expected(self) -> str:
        """The values that it can have, in words."""
        if self.choices:
            return f"one of: {', '.join(self.choices)}"
        if self.max is not None:
            return f"{self.min} to {self.max}"
        return KINDS[self.type] if self.min is None else f"{self.min} or more"

    def check(self, value: Any) -> Any:
        """The value. Raises UserError for one that the option cannot have; None is no value but where it is the
        default."""
        if self.type is float and type(value) is int and abs(value) < LARGEST:
            value = float(value)
        fits = type(value) is self.type and (not self.choices or value in self.choices)
        if fits and self.type in (int, float):
            fits = abs(value) < LARGEST and value >= (value if self.min is None else self.min)
            fits = fits and (self.max is None or value <= self.max)
        if not fits and (value is not None or self.default is not None):
            bounds = "" if type(value) is self.type or self.min is None else f"{KINDS[self.type]}, "
            expected = self.expected if self.choices else f"expected {bounds}{self.expected}"
            near = suggestion(value, self.choices) if isinstance(value, str) else ""
            raise UserError(f"{self.name} is {repr(value)[:MOST_QUOTED]}; {expected}{near}")
        return value

    def parse(self, text: str) -> Any:
        """The value of a text of the command line. Raises UserError for one that the option cannot have."""
        value: Any = text
        if self.type is bool:
            value = {"true": True, "false": False}.get(text.lower(), text)
        elif self.type in (int, float):
            try:
                value = self.type(text)
            except ValueError:
                value = text
        return self.check(value)


def table(kind: Any) -> list[Option]:
    """The options of a dataclass or a pydantic model: those of its own first, then those of its parents."""
    if issubclass(kind, BaseModel):
        names = sorted(kind.model_fields, key=lambda name: name not in vars(kind).get("__annotations__", {}))
        return [_option_of_field(name, kind.model_fields[name]) for name in names]
    own = vars(kind).get("__annotations__", {})
    return [_option(one) for one in sorted(fields(kind), key=lambda one: one.name not in own)]


def _option_of_field(name: str, field: FieldInfo) -> Option:
    kind: Any = field.annotation
    bounds = {type(bound): bound for bound in field.metadata}
    choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    extra = field.json_schema_extra
    return Option(
        name=name,
        type=str if choices else kind,
        default=field.default,
        help=field.description or "",
        choices=choices,
        min=bounds[Ge].ge if Ge in bounds else None,
        max=bounds[Le].le if Le in bounds else None,
        searched=isinstance(extra, dict) and bool(extra.get("searched")),
    )


def _plain(kinds: list[Any]) -> Any:
    """The one of alternative types that a text is read as."""
    return next((kind for kind in kinds if kind in KINDS or get_origin(kind) is Literal), None)


def _option(one: Any) -> Option:
    alternatives = [kind for kind in get_args(one.type) if kind is not NoneType]
    literal = one.type if get_origin(one.type) is Literal else _plain(alternatives) or one.type
    choices = get_args(literal) if get_origin(literal) is Literal else one.metadata.get("choices", ())
    return Option(
        name=one.name,
        type=str if choices else literal,
        default=one.default,
        help=one.metadata.get("help", ""),
        choices=tuple(choices),
        min=one.metadata.get("min"),
        max=one.metadata.get("max"),
        searched=one.metadata.get("searched", False),
    )
