"""An inside of DSPy's MIPROv2."""

from typing import Any

import dspy


class EvaluatedMIPRO(dspy.MIPROv2):
    """MIPROv2 whose search evaluates by what `evaluation` makes of its own `dspy.Evaluate`. MIPROv2 makes that itself,
    between its steps; the last step is the one place where it passes through."""

    def evaluation(self, own: Any) -> Any:
        """What to evaluate by."""
        raise NotImplementedError

    def _optimize_prompt_parameters(
        self, program: Any, instructions: Any, demos: Any, evaluate: Any, *rest: Any, **more: Any
    ) -> Any:
        evaluation = self.evaluation(evaluate)
        return super()._optimize_prompt_parameters(program, instructions, demos, evaluation, *rest, **more)
