"""Insides of DSPy's MIPROv2."""

from typing import Any

import dspy


class EvaluatedMIPRO(dspy.MIPROv2):
    """MIPROv2 whose search evaluates by what `evaluation` makes of its own `dspy.Evaluate`, and chooses from what
    `demo_sets` makes of its sets of demos. MIPROv2 makes both itself, between its steps; the last step is the one place
    where they pass through."""

    def evaluation(self, own: Any) -> Any:
        """What to evaluate by."""
        raise NotImplementedError

    def demo_sets(self, program: Any, sets: Any) -> Any:
        """What to choose from: for each predictor, by its number, lists of demos; None for none."""
        raise NotImplementedError

    def _optimize_prompt_parameters(
        self, program: Any, instructions: Any, demos: Any, evaluate: Any, *rest: Any, **more: Any
    ) -> Any:
        evaluation = self.evaluation(evaluate)
        return super()._optimize_prompt_parameters(
            program, instructions, self.demo_sets(program, demos), evaluation, *rest, **more
        )
