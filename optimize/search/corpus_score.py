"""The ranking score itself inside an optimizer, where the optimizer lets us: no mean, no linearisation."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dspy
from dspy.evaluate import Evaluate
from dspy.evaluate.evaluate import EvaluationResult

from aisr.base.private import EvaluatedMIPRO
from aisr.metrics.scores import value
from aisr.programs.task import Answer, Task


class CorpusEvaluate(Evaluate):
    """DSPy's evaluation with the official score of the corpus (0-100) in place of the mean of the metric."""

    def __init__(self, task: Task, evaluate: Evaluate) -> None:
        self.__dict__.update(evaluate.__dict__)
        self.task = task

    def __call__(self, *args: Any, **kwargs: Any) -> EvaluationResult:
        found = super().__call__(*args, **kwargs)
        gold = [example.gold for example, _, _ in found.results]
        answers = [_said(self.task, prediction) for _, prediction, _ in found.results]
        return EvaluationResult(score=100 * value(self.task.score(gold, answers)), results=found.results)


class CorpusMIPRO(EvaluatedMIPRO):
    """MIPROv2 whose Bayesian optimisation sees the official score of each minibatch. whole: what makes of demos of the
    judging predictor a set that may be proposed."""

    def __init__(
        self, task: Task, whole: Callable[[Sequence[dspy.Example]], Sequence[dspy.Example]], **settings: Any
    ) -> None:
        super().__init__(**settings)
        self.task = task
        self.whole = whole

    def evaluation(self, own: Evaluate) -> Evaluate:
        return CorpusEvaluate(self.task, own)

    def demo_sets(self, program: Any, sets: Mapping[int, list[Any]] | None) -> Mapping[int, list[Any]] | None:
        judging = next(k for k, predictor in enumerate(program.predictors()) if predictor is program.judging)
        return sets and {k: [self.whole(one) for one in own] if k == judging else own for k, own in sets.items()}


class CorpusAcceptance:
    """GEPA's gate: a proposal goes on if the ranking score of its minibatch rises, not the mean of its surrogates.

    train: the examples that minibatches are drawn from, in the order in which GEPA has them.
    """

    def __init__(self, task: Task, train: Sequence[dspy.Example]) -> None:
        self.task = task
        self.train = train

    def should_accept(self, proposal: Any, state: Any) -> bool:
        """As GEPA calls it, with its `CandidateProposal` and `GEPAState`."""
        before, after, rows = proposal.eval_before, proposal.eval_after, proposal.subsample_indices
        if not rows or before is None or after is None or not before.outputs or not after.outputs:
            return False
        gold = [self.train[row].gold for row in rows]
        return self._score(gold, after.outputs) > self._score(gold, before.outputs)

    def _score(self, gold: Sequence[Any], predictions: Sequence[Any]) -> float:
        return value(self.task.score(gold, [_said(self.task, prediction) for prediction in predictions]))


def _said(task: Task, prediction: Any) -> Answer | None:
    """The answer in a prediction; None where the record failed, which comes as nothing, as a prediction without fields,
    or as what could not be parsed."""
    return task.answer(prediction) if isinstance(prediction, dspy.Prediction) and prediction.toDict() else None
