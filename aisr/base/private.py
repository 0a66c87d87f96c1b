"""The names of other packages that these do not promise to keep; no other file has any."""

from typing import Any

import dspy

# DSPy's connections, where bodies of errors can still be seen.
from dspy._vendor.lm15.transports import StdlibTransport

# Dictionaries whose items are attributes as well, as outputs have.
from dspy.clients.call_result import attributes

# Dictionaries in place of pydantic's models, which LiteLLM has.
from dspy.clients.legacy_outputs import plain

__all__ = ["StdlibTransport", "attributes", "plain"]


class EvaluatedMIPRO(dspy.MIPROv2):
    """MIPROv2 whose `dspy.Evaluate` and sets of demos can be replaced by those of a subclass: it makes them itself,
    between its steps, and the last step is the one place where they pass through."""

    def evaluation(self, own: Any) -> Any:
        """Returns the evaluation to use instead of its own."""
        raise NotImplementedError

    def demo_sets(self, program: Any, sets: Any) -> Any:
        """Returns the sets of demos to choose from: by the number of each predictor, lists of demos; None for none."""
        raise NotImplementedError

    def _optimize_prompt_parameters(
        self, program: Any, instructions: Any, demos: Any, evaluate: Any, *rest: Any, **more: Any
    ) -> Any:
        evaluation = self.evaluation(evaluate)
        return super()._optimize_prompt_parameters(
            program, instructions, self.demo_sets(program, demos), evaluation, *rest, **more
        )


def clear_events(span: Any) -> None:
    """Remove the events of a span of MLflow that has not been exported yet: errors in full, which quote what a server
    answered."""
    span._span._events = type(span._span._events)(None)


def init_here(ray: Any, workers: int) -> None:
    """A cluster of this machine alone. Left to itself Ray listens at the machine's address, where anybody on the
    network could have it run code."""
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
