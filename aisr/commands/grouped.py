"""Options that commands share, as one value: a parameter of a command whose type is a dataclass stands for its fields,
each of them an option."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each field of the dataclasses that it takes, where the parameter stood."""
    signature = inspect.signature(command)
    groups: dict[str, Any] = {
        one.name: one.annotation for one in signature.parameters.values() if is_dataclass(one.annotation)
    }

    @wraps(command)
    def run(**said: Any) -> None:
        values = {name: kind(**{one.name: said.pop(one.name) for one in fields(kind)}) for name, kind in groups.items()}
        command(**said, **values)

    options = [option for one in signature.parameters.values() for option in _options(one)]
    run.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _options(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """The parameter itself, or one for each field of its dataclass; any may follow any, as all are given by name."""
    if is_dataclass(parameter.annotation):
        for one in fields(parameter.annotation):
            yield inspect.Parameter(one.name, parameter.KEYWORD_ONLY, default=one.default, annotation=one.type)
    else:
        yield parameter.replace(kind=parameter.KEYWORD_ONLY)
