"""What the models of a program think of labelled records: what a decision layer is fitted on."""

from collections.abc import Callable, Sequence

from aisr.inference.judge import judge_all
from aisr.lm.client import OpenLM
from aisr.optimize.datasets.apart import grouped
from aisr.optimize.datasets.examples import Labelled
from aisr.optimize.decision.folds import Judged
from aisr.programs.judges.contract import Program
from aisr.programs.judges.ensemble import in_prompt, models, seen_by
from aisr.tasks.task import Task


def opinions(
    task: Task, program: Program, rows: Sequence[Labelled], lm: OpenLM, done: Callable[[], None]
) -> list[Judged]:
    """The judgements of each model of a program, without its decision layer, on records that it can be asked fairly.

    Left out are records that share something with a demo of a prompt, since the model has read their answer or one much
    like it, and those that a model fails.
    """
    group = grouped(rows)
    read = {key for key, row in zip(group, rows, strict=True) if in_prompt(program, row.example)}
    fair = [row for key, row in zip(group, rows, strict=True) if not row.planted and key not in read]
    outcomes = {
        name: judge_all(task, model, [seen_by(name, row.example) for row in fair], lm, done)
        for name, model in models(program).items()
    }
    judged = [Judged(row, {name: found[k] for name, found in outcomes.items()}) for k, row in enumerate(fair)]
    return [one for one in judged if all(outcome.failure is None for outcome in one.outcomes.values())]
