"""The prompts of registered programs in MLflow's prompt registry, where its UI shows what a compile changed."""

from typing import Any

from aisr.programs.program import Program
from aisr.programs.task import Task

MOST_CHARACTERS = 90_000  # of a text; MLflow takes 100,000


def prompt_name(task: Task) -> str:
    """Return the name of a task's prompt. MLflow has models and prompts under one set of names, so it is another than
    that of the model."""
    return f"aisr-{task.name}-prompt"


def register_prompt(mlflow: Any, run_id: str, task: Task, program: Program, version: str) -> None:
    """Register instruction and demos of a program as a version of its task's prompt, and link that to a run.

    The same text is not registered again. version: of the registered model.
    """
    client, name, text = mlflow.MlflowClient(), prompt_name(task), prompt_text(program)
    versions = client.search_prompt_versions(name) if client.get_prompt(name) else []
    prompt = next((one for one in versions if one.template == text), None)
    if prompt is None:
        prompt = mlflow.genai.register_prompt(name, text, commit_message=f"models:/aisr-{task.name}/{version}")
    client.link_prompt_version_to_run(run_id, prompt)


def prompt_text(program: Program) -> str:
    """Return the instruction and the demos of each predictor as text. What MLflow does not take is left out at the
    end, which then says so."""
    parts = []
    for name, predictor in program.named_predictors():
        parts.append(f"# {name}: instruction\n\n{predictor.signature.instructions}")
        for k, demo in enumerate(predictor.demos, start=1):
            fields = [f"{field}: {demo[field]}" for field in predictor.signature.fields if field in demo]
            parts.append("\n".join([f"# {name}: demo {k}", "", *fields]))
    text = "\n\n".join(parts)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} …\n\nThe rest is in program.json."
