"""What a program learns from the gold of train before anything is asked: text and numbers, saved with it."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from aisr.programs.judges.contract import Program


class Learnt(Protocol):
    """What was learnt, a pydantic model."""

    def model_dump(self) -> dict[str, Any]: ...

    def summary(self) -> str:
        """It in a few words."""

    def page(self) -> str:
        """It as a person reads it, as Markdown without a heading."""


class LearningProgram(Program, Protocol):
    """A program that learns. learnt: None before, and where there was nothing to learn from."""

    learnt: Learnt | None

    def learn(self, records: Sequence[Any]) -> None:
        """Learn from labelled records, those of train."""

    def remember(self, saved: Mapping[str, Any]) -> None:
        """Take what was learnt from what was saved. Raises ValueError where it is no such thing."""


def learning(program: Program) -> LearningProgram | None:
    """A program that learns; None for any other."""
    return cast(LearningProgram, program) if hasattr(type(program), "learn") else None


def learnt_by(program: Program) -> Learnt | None:
    """What a program learnt; None for one that did not."""
    learner = learning(program)
    return learner.learnt if learner else None


def hand_over(source: Program, target: Program) -> None:
    """Have a program know what another of its kind learnt."""
    old, new = learning(source), learning(target)
    if old is not None and new is not None:
        new.learnt = old.learnt
