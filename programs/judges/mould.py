"""The mould of every judge: what it is built with, how it is called, and what it tells an optimizer.

A judge is a class below `Judge`, or below `LabelJudge` where its answers are labels; where it looks for evidence, also
below `aisr.programs.judges.searching`. It holds a dataclass of its options, its predictors, `prepare` (a record as an
example) and `steps` (what is asked, one question after the other, and what comes of it).
The signatures stand in `prompt.py` of the task's folder. All else is written here, once.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import dspy

from aisr.programs.asking.ask import (
    Check,
    Constraints,
    UnusableAnswer,
    asking,
    decides,
    drop_logprobs,
    unknown_names,
)
from aisr.programs.asking.label_probabilities import Judgement, judgements_of
from aisr.programs.asking.steps import Steps, arun, run
from aisr.programs.decision.layer import Decision
from aisr.programs.judges.options import LabelOptions, Options
from aisr.programs.records import Record
from aisr.programs.retrieval.evidence_ranker import EvidenceRanker
from aisr.programs.retrieval.knn_demos import nearest
from aisr.programs.vision.images import Gallery


class Judge(dspy.Module):
    """A program of a task (a `aisr.programs.judges.contract.Program`).

    Given: the dataclass of its options; given: those it was built with; near: which of the demos a record is shown, by
    these options; statement: the input that a demo and a record have in common where they are the same; gallery: where
    the pictures of records are, which is no part of the program; ranker, decision: see the contract.
    """

    Given: ClassVar[type[Options]] = Options
    given: Options
    statement: str = "claim"
    gallery: Gallery | None = None
    ranker: EvidenceRanker | None = None
    decision: Decision | None = None

    def __init__(self, **options: Any) -> None:
        """Raises UserError for an option that cannot be."""
        super().__init__()
        self.given = self.Given(**options)
        self.near = self.given.near()

    @property
    def options(self) -> dict[str, Any]:
        """What the program was built with."""
        return self.given.told()

    @property
    def judging(self) -> dspy.Predict:
        """The predictor whose answer is the judgement; labelled records are demos of this one."""
        return self.judge

    @staticmethod
    def example(record: Record, inputs: Mapping[str, Any], right: Mapping[str, Any]) -> dspy.Example:
        """A record as the example that the program is called with; right: what stands beside the inputs where it is
        labelled."""
        return dspy.Example(id=record.id, **inputs, **right).with_inputs(*inputs)

    def demo_rows(self, example: dspy.Example) -> list[dspy.Example]:
        """A labelled example as demos: itself."""
        return [example]

    def lessons(self, example: dspy.Example) -> list[dspy.Example]:
        """The same: a record as it stands is short, and teaches."""
        return self.demo_rows(example)

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """What `steps` come to. An input `failure` is why a record could not be prepared, and fails it without a
        question. Raises `UnusableAnswer`."""
        return run(self._taken(**inputs))

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        """`forward` for an event loop: `await program.acall(...)`."""
        return await arun(self._taken(**inputs))

    def _taken(self, failure: str | None = None, **inputs: Any) -> Steps[dspy.Prediction]:
        if failure is not None:
            raise UnusableAnswer(failure)
        return (yield from self.steps(**inputs))

    def steps(self, *args: Any, **inputs: Any) -> Steps[dspy.Prediction]:
        """What is asked about the inputs of an example, and what it comes to."""
        raise NotImplementedError

    def asked(
        self, predict: dspy.Predict, about: str, check: Check, constraints: Constraints, **inputs: Any
    ) -> Steps[dspy.Prediction]:
        """An answer of `predict`, asked with the demos that are nearest to `about`, the statement of the record."""
        return asking(predict, check, constraints, demos=self.shown_demos(predict, about), **inputs)

    def named(
        self,
        predict: dspy.Predict,
        about: str,
        field: str,
        shown: Sequence[str],
        what: str,
        limits: Mapping[str, Any],
        none: str | None = None,
        **inputs: Any,
    ) -> Steps[list[str]]:
        """Those of the names `shown` that `predict` gives in its output `field`, each once, in its order.

        what: a word for what is named; limits: how many, as a JSON schema says it; none: the complaint where none is
        given; None accepts that.
        """
        items = {**limits.get("items", {}), "enum": list(shown)}
        answer = yield from self.asked(
            predict,
            about,
            lambda said: unknown_names(said[field], shown, what) if said[field] else none,
            {field: {**limits, "items": items}},
            **inputs,
        )
        return list(dict.fromkeys(answer[field]))

    def shown_demos(self, predict: dspy.Predict, about: str) -> list[Any]:
        """The demos of a predictor that a record is shown. about: the statement of the record."""
        return nearest(predict.demos, self.statement, about, self.near)


class Said(NamedTuple):
    """What an LM said of one or more statements, and its answer. judgements: of each."""

    judgements: list[Judgement]
    answer: dspy.Prediction


class LabelJudge(Judge):
    """A judge whose answers are labels. labels: all of its task."""

    Given: ClassVar[type[LabelOptions]] = LabelOptions
    given: LabelOptions
    labels: tuple[str, ...]

    def labelled(
        self, predict: dspy.Predict, about: str, field: str, check: Check, constraints: Constraints, **inputs: Any
    ) -> Steps[Said]:
        """What is thought of each statement that `predict` labels in its output `field`, a label or a list of them."""
        answer = yield from self.asked(predict, about, check, constraints, **inputs)
        said = answer[field] if isinstance(answer[field], list) else [answer[field]]
        judged = judgements_of(answer, field, said, self.labels, self.given.states, decides(predict))
        drop_logprobs(answer)
        return Said(judged, answer)
