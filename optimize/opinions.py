"""What the models of a program think of labelled records: what a decision layer is fitted on."""

from collections.abc import Callable, Sequence

import dspy

from optimize.judging import judge_all
from optimize.labelled import Labelled
from optimize.lm import OpenLM
from optimize.material import Judged, grouped
from optimize.tasks import Task
from programs.decision import LM
from programs.ensemble import Ensemble


def opinions(
    task: Task, program: dspy.Module, rows: Sequence[Labelled], lm: OpenLM, done: Callable[[], None]
) -> list[Judged]:
    """The judgements of each model of a program, without its decision layer, on records that it can be asked fairly.

    Left out are records that share something with a demo of a prompt, since the model has read their answer or one much
    like it, and those that a model fails.
    """
    group = grouped(task, rows)
    read = {key for key, row in zip(group, rows, strict=True) if in_prompt(program, row.example)}
    fair = [row for key, row in zip(group, rows, strict=True) if not row.planted and key not in read]
    outcomes = {
        name: judge_all(task, model, [seen_by(name, row.example) for row in fair], lm, done)
        for name, model in models(program).items()
    }
    judged = [Judged(row, {name: found[k] for name, found in outcomes.items()}) for k, row in enumerate(fair)]
    return [one for one in judged if all(outcome.failure is None for outcome in one.outcomes.values())]


def in_prompt(program: dspy.Module, example: dspy.Example) -> bool:
    """Whether a record stands in a prompt of the program as a demo, whole or in part."""
    return any(_is_demo(model, seen_by(name, example)) for name, model in models(program).items())


def models(program: dspy.Module) -> dict[str, dspy.Module]:
    """The models of a program by their names, without a decision layer: its members, or itself."""
    if isinstance(program, Ensemble):
        return program.members
    bare: dspy.Module = program.deepcopy()
    bare.decision = None
    return {LM: bare}


def seen_by(name: str, example: dspy.Example) -> dspy.Example:
    """An example as a model prepared it."""
    if "parts" not in example:
        return example
    part = example.parts[name]
    return example.copy(**part).with_inputs(*part)


def _is_demo(model: dspy.Module, example: dspy.Example) -> bool:
    """By what is judged: its evidence may stand in a demo in another form, without its pictures or reranked."""
    said = [row.get(model.statement) for row in model.demo_rows(example)]
    return any(demo.get(model.statement) in said for demo in model.judging.demos)
