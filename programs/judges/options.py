"""What a judge is built with, as one frozen value: what all have, and below it what a judge adds of its own."""

from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, cast, get_args, get_origin

from aisr.programs.errors import UserError
from aisr.programs.retrieval.knn_demos import By, Nearness
from aisr.programs.retrieval.retrievers import DEFAULT, embedding_model


@dataclass(frozen=True, kw_only=True)
class Options:
    """What all judges have: texts, numbers and switches, which program.json holds. Raises UserError for what cannot be.

    nearest, nearest_by: which of the demos a record is shown (see `Nearness`).
    """

    nearest: int = 0
    nearest_by: By = "words"

    def __post_init__(self) -> None:
        for option in fields(self):
            words, said = get_args(option.type), getattr(self, option.name)
            if get_origin(option.type) is Literal and said not in words:
                raise UserError(f"{option.name} is {said!r}; one of: {', '.join(words)}")
        self.near()

    def near(self) -> Nearness:
        """Which of the demos a record is shown."""
        return Nearness.of(self.nearest, self.nearest_by)

    def told(self) -> dict[str, Any]:
        """By name, a judge's own first; how nearest demos are chosen only where some are."""
        left_out = () if self.nearest else ("nearest_by",)
        return {name: getattr(self, name) for name in self.types() if name not in left_out}

    @classmethod
    def types(cls) -> MappingProxyType[str, type]:
        """The type of each option, a judge's own first."""
        own = vars(cls).get("__annotations__", {})
        in_order = sorted(fields(cls), key=lambda field: field.name not in own)
        return MappingProxyType({field.name: _plain(field.type) for field in in_order})


def _plain(annotation: Any) -> type:
    """The type of an option's values: one of some words is a text."""
    return str if get_origin(annotation) is Literal else cast(type, annotation)


@dataclass(frozen=True, kw_only=True)
class LabelOptions(Options):
    """And those of a task with labels. states: whether the model is asked to state how likely each label is, which
    counts where no log-probabilities come."""

    states: bool = False


@dataclass(frozen=True, kw_only=True)
class SearchOptions(Options):
    """And those of a judge that looks for evidence. retriever: how texts are ranked (see `retrievers.matcher`)."""

    retriever: str = DEFAULT

    def __post_init__(self) -> None:
        super().__post_init__()
        embedding_model(self.retriever)
