"""What a program is to everything above it: the attributes that compiling, judging and saving rest on."""

from collections.abc import Sequence
from typing import Any, Protocol, Self, cast

import dspy

from aisr.programs.decision.layer import Decision
from aisr.programs.errors import UserError
from aisr.programs.retrieval.evidence_list import EvidencePolicy
from aisr.programs.retrieval.evidence_ranker import EvidenceRanker
from aisr.programs.retrieval.knn_demos import Nearness
from aisr.programs.retrieval.retrievers import Embed, Matcher
from aisr.programs.vision.images import Gallery


class Program(Protocol):
    """One program of a task: what is judged with, scored and saved, and what optimizers compile.

    decision: how what its LM thinks becomes labels; None for the LM's own, and for tasks without labels; gallery: where
    the pictures of records are, which is no part of the program; ranker: what ranks paragraphs in place of the
    retriever; None for none, and for tasks that retrieve nothing.
    """

    decision: Decision | None
    gallery: Gallery | None
    ranker: EvidenceRanker | None

    @property
    def options(self) -> dict[str, Any]:
        """What it was built with, by name."""

    def prepare(self, record: Any) -> dspy.Example:
        """A record as the example that it is called with; `gold` beside the inputs where it is labelled."""

    def __call__(self, **inputs: Any) -> dspy.Prediction:
        """Judge an example. Raises `aisr.programs.asking.ask.UnusableAnswer`."""

    async def acall(self, **inputs: Any) -> dspy.Prediction:
        """The same for an event loop."""

    def named_predictors(self) -> Sequence[tuple[str, Any]]: ...

    def predictors(self) -> Sequence[Any]: ...

    def named_parameters(self) -> Sequence[tuple[str, Any]]: ...

    def deepcopy(self) -> Self: ...

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]: ...

    def load_state(self, state: dict[str, Any]) -> None: ...

    def set_lm(self, lm: Any) -> None: ...

    @property
    def judging(self) -> Any:
        """The predictor whose answer is the judgement; labelled records are demos of this one."""

    @property
    def statement(self) -> str:
        """The input of it that a demo and a record have in common where they are the same."""

    def demo_rows(self, example: dspy.Example) -> list[dspy.Example]:
        """A labelled example as demos of the judging predictor."""

    def lessons(self, example: dspy.Example) -> list[dspy.Example]:
        """The same, made for teaching where a labelled record as it stands teaches badly."""


class ChoosingProgram(Program, Protocol):
    """A program that can choose the demos of each record. near: which."""

    near: Nearness


class SearchingProgram(Program, Protocol):
    """A program that looks for paragraphs."""

    @property
    def match(self) -> Matcher:
        """What ranks paragraphs."""

    @property
    def vectors(self) -> Embed:
        """What gives the word vectors of paragraphs."""


class NamingProgram(Program, Protocol):
    """A program that names evidence. naming: how."""

    naming: EvidencePolicy


def searching(program: Program) -> SearchingProgram | None:
    """A program whose paragraphs an evidence ranker can rank; None for any other."""
    return cast(SearchingProgram, program) if hasattr(type(program), "vectors") else None


def named_by(program: Program) -> EvidencePolicy | None:
    """How a program names evidence; None for one that cannot."""
    return getattr(program, "naming", None)


def name_by(program: Program, policy: EvidencePolicy) -> None:
    """Have a program name evidence so. Raises UserError for one that cannot."""
    if named_by(program) is None:
        raise UserError("the program names no evidence, and was told how to")
    cast(NamingProgram, program).naming = policy


def without_layer(program: Program) -> Program:
    """The program without its decision layer: what its LM thinks."""
    bare = program.deepcopy()
    bare.decision = None
    return bare
