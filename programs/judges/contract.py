"""What a program is to everything above it: the attributes that compiling, judging and saving rest on."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

import dspy

from aisr.programs.decision.layer import Decision
from aisr.programs.retrieval.evidence_list import EvidencePolicy
from aisr.programs.retrieval.evidence_ranker import EvidenceRanker
from aisr.programs.retrieval.knn_demos import Nearness
from aisr.programs.retrieval.retrievers import Embed, Matcher
from aisr.programs.vision.images import Gallery


class Program(Protocol):
    """What can be judged with, scored and saved: a judge, or an ensemble of them.

    decision: how the judgements of its models become labels; None for none, and for tasks without labels.
    """

    decision: Decision | None

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


class JudgeProgram(Program, Protocol):
    """One program of a task: what optimizers compile.

    gallery: where the pictures of records are, which is no part of the program; ranker: what ranks paragraphs in place
    of the retriever; None for none, and for tasks that retrieve nothing.
    """

    gallery: Gallery | None
    ranker: EvidenceRanker | None

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


class ChoosingProgram(JudgeProgram, Protocol):
    """A program that can choose the demos of each record. near: which."""

    near: Nearness


class SearchingProgram(JudgeProgram, Protocol):
    """A program that looks for paragraphs. context_tokens: how much of a paper it shows, where it has that option;
    0: two fifths of it."""

    context_tokens: int

    @property
    def match(self) -> Matcher:
        """What ranks paragraphs."""

    @property
    def vectors(self) -> Embed:
        """What gives the word vectors of paragraphs."""


class NamingProgram(Program, Protocol):
    """A program that names evidence. naming: how."""

    naming: EvidencePolicy


class LabelProgram(JudgeProgram, Protocol):
    """A judge of a task with labels: it can be a member of an ensemble."""

    labels: tuple[str, ...]

    @staticmethod
    def conclude(decision: Decision | None, said: Mapping[str, dspy.Prediction], **inputs: Any) -> dspy.Prediction:
        """What `forward` gives, from the `judgements` of one model or several, by their names."""
