"""What MLflow is told of a task's records and predictions: its signature, made from the task's own pydantic models.

MLflow would also check records by these types, and answer a bad one with all that it was sent. So they let everything
pass, and the task's own model says what is wrong.
"""

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SkipValidation, create_model

PLAIN = (bool, int, float, str)  # in this order: True is an int as well


def record_form(model: type[BaseModel]) -> type[BaseModel]:
    """The fields of a record, those without a default required; but for its id, which may be missing."""
    return _loosened(model, optional=frozenset({"id"}))


def prediction_form(model: type[BaseModel]) -> type[BaseModel]:
    """The fields of a prediction, or why there is none."""
    fields = {name: _field(info.annotation, required=name == "id") for name, info in model.model_fields.items()}
    return create_model(f"{model.__name__}Form", **fields, failed=_field(str, required=False))


def _loosened(model: type[BaseModel], optional: frozenset[str] = frozenset()) -> type[BaseModel]:
    fields = {
        name: _field(info.annotation, info.is_required() and name not in optional)
        for name, info in model.model_fields.items()
    }
    return create_model(f"{model.__name__}Form", **fields)


def _field(annotation: Any, required: bool) -> Any:
    kind = _kind(annotation)
    return Annotated[kind if required else kind | None, SkipValidation], None


def _kind(annotation: Any) -> Any:
    """The type as MLflow has it: plain types, lists, dicts by strings and models; Any for everything else."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(inner[0])
    if origin is Literal:
        return _one({_kind(type(value)) for value in inner})
    if origin in (Union, UnionType):
        return _one({_kind(one) for one in inner if one is not NoneType})
    if origin in (list, Sequence):
        return list[_kind(inner[0])]  # type: ignore[misc]
    if origin in (dict, Mapping):
        return dict[str, _kind(inner[1])]  # type: ignore[misc]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _loosened(annotation)
    if isinstance(annotation, type):
        return next((plain for plain in PLAIN if issubclass(annotation, plain)), Any)
    return Any


def _one(kinds: set[Any]) -> Any:
    return kinds.pop() if len(kinds) == 1 else Any
