"""The names of other packages that these do not promise to keep; no other file has any."""

from typing import Any

import dspy

PROMPT_EXPERIMENTS = "_mlflow_experiment_ids"  # the tag of a prompt of MLflow with the experiments that show it


class EvaluatedMIPRO(dspy.MIPROv2):
    """MIPROv2 whose evaluation and sets of demos a subclass replaces, in the one step where they pass through."""

    evaluation: Any  # returns the one to use, by MIPROv2's own
    demo_sets: Any  # returns those to use, by the program and MIPROv2's own

    def _optimize_prompt_parameters(self, program: Any, texts: Any, demos: Any, own: Any, *rest: Any) -> Any:
        sets, evaluation = self.demo_sets(program, demos), self.evaluation(own)
        return super()._optimize_prompt_parameters(program, texts, sets, evaluation, *rest)


def clear_events(span: Any) -> None:
    """Remove the events of a span of MLflow before its export: errors in full, which quote what a server answered."""
    span._span._events = type(span._span._events)(None)


def files_at(location: str, tracking_uri: str) -> Any:
    """Return what reads and writes the files below an address of MLflow's, which its client asks for each time."""
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    return get_artifact_repository(location, tracking_uri=tracking_uri)
