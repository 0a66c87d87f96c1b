"""The ranking score itself inside an optimizer, where the optimizer lets us: no mean, no linearisation."""

from typing import Any

import dspy
import numpy as np
from dspy.evaluate import Evaluate
from dspy.evaluate.evaluate import EvaluationResult
from gepa.core.state import GEPAState
from gepa.proposer.base import CandidateProposal

from metrics.official import FN, FP, TP, Tally, f1_scores, score
from optimize.tasks import Task

EXACT = "exact"


class CorpusEvaluate(Evaluate):
    """DSPy's evaluation with the official score of the corpus (0-100) in place of the mean of the metric."""

    def __init__(self, task: Task, evaluate: Evaluate) -> None:
        self.__dict__.update(evaluate.__dict__)
        self.task = task

    def __call__(self, *args: Any, **kwargs: Any) -> EvaluationResult:
        found = super().__call__(*args, **kwargs)
        gold = [example.gold for example, _, _ in found.results]
        # A record that failed comes back as a prediction without fields.
        said = [self.task.answer(answer) if answer.toDict() else None for _, answer, _ in found.results]
        return EvaluationResult(score=100 * score(self.task.tally(gold, said)).score, results=found.results)


class CorpusMIPRO(dspy.MIPROv2):
    """MIPROv2 whose Bayesian optimisation sees the official score of each minibatch."""

    def __init__(self, task: Task, **settings: Any) -> None:
        super().__init__(**settings)
        self.task = task

    def _optimize_prompt_parameters(
        self, program: Any, instructions: Any, demos: Any, evaluate: Evaluate, *rest: Any, **more: Any
    ) -> Any:
        corpus = CorpusEvaluate(self.task, evaluate)
        return super()._optimize_prompt_parameters(program, instructions, demos, corpus, *rest, **more)


class CorpusAcceptance:
    """GEPA's gate: a proposal goes on if the ranking score of its minibatch rises, not the mean of its credits."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def should_accept(self, proposal: CandidateProposal[Any], state: GEPAState[Any, Any]) -> bool:
        before, after = proposal.eval_before, proposal.eval_after
        if before is None or after is None or not before.objective_scores or not after.objective_scores:
            return False
        return self._score(after.objective_scores) > self._score(before.objective_scores)

    def _score(self, rows: list[dict[str, float]]) -> float:
        totals = np.array(
            [
                [sum(row.get(f"{part}|{label}", 0.0) for row in rows) for label in self.task.labels]
                for part in (TP, FP, FN)
            ]
        )
        exact = sum(row.get(EXACT, 0.0) for row in rows) / len(rows)
        return float((f1_scores(totals).mean() + exact) / 2)


def counts(tally: Tally) -> dict[str, float]:
    """The counts of a tally of one record by name, as GEPA carries them; only those that are not zero, and `exact`."""
    found = {
        f"{part}|{label}": float(tally.counts[0, part, k])
        for part in (TP, FP, FN)
        for k, label in enumerate(tally.labels)
        if tally.counts[0, part, k]
    }
    return {**found, EXACT: float(tally.exact[0])}
