"""The names of other packages that these do not promise to keep, each with its reason; no other file has any.

1. `dspy._vendor.lm15.transports`: DSPy's connections, where bodies of errors can still be seen (`aisr.lm.endpoint`).
2. `adapter_message_call`: DSPy recognises calls of its own adapters by the LM's identity and warns of any other;
   `LedgerLM` stands in between.
3. `litellm_errors`: from an error of LiteLLM to the one of DSPy that says whether a call may be sent again.
4. `MIPROv2._optimize_prompt_parameters`: MIPROv2 makes its evaluation and its sets of demos itself, between its steps;
   the last step is the one place where they pass through.
5. Events of a span of MLflow: errors in full, which quote what a server answered, and no public way takes one out.
6. `_node_ip_address` of Ray: left to itself it listens at the machine's address, where anybody on the network could
   have it run code.

The versions that were tried are checked here as well. `pyproject.toml` has the same bounds, but only installers read
them: after an upgrade of one package by hand, an error deep inside it would follow, or none.
"""

import re
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import dspy
from dspy._vendor.lm15.transports import StdlibTransport, TransportError, TransportRequest
from dspy.clients._deprecation import adapter_message_call
from dspy.clients.engines.litellm_errors import litellm_errors

from aisr.base.errors import UserError

__all__ = [
    "StdlibTransport",
    "TransportError",
    "TransportRequest",
    "adapter_message_call",
    "litellm_errors",
]

# The first version that was not tried; Ray may be absent.
BELOW = {"dspy": (3, 5), "mlflow": (3, 19), "gepa": (0, 2), "ray": (2, 61)}


class Untried(UserError):
    """A package is installed in a version that this one was not made for."""


def check_versions() -> None:
    """Raises `Untried` for the first package that is too new. A few milliseconds."""
    for package, below in BELOW.items():
        try:
            installed = version(package)
        except PackageNotFoundError:
            continue
        if tuple(int(part) for part in re.findall(r"\d+", installed)[:2]) >= below:
            bound = ".".join(map(str, below))
            raise Untried(
                f"{package} {installed} is installed; this version of aisr leans on insides of {package} and was made "
                f"for less than {bound}: pip install '{package}<{bound}'"
            )


check_versions()  # before a version that was not tried fails deep inside


class EvaluatedMIPRO(dspy.MIPROv2):
    """MIPROv2 whose `dspy.Evaluate` and sets of demos can be replaced by those of a subclass."""

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
    """Remove the events of a span that has not been exported yet."""
    span._span._events = type(span._span._events)(None)


def init_here(ray: Any, workers: int) -> None:
    """A cluster of this machine alone."""
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
