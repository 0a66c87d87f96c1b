"""What the LM thinks of labelled records: what a decision layer is fitted on."""

from collections.abc import Callable, Sequence

from aisr.inference.judge import judge_all
from aisr.lm.client import OpenLM
from aisr.optimize.datasets.apart import grouped, in_prompt
from aisr.optimize.datasets.examples import Labelled, examples
from aisr.optimize.decision.folds import Judged
from aisr.programs.judges.contract import Program, without_layer
from aisr.tasks.task import Task


def opinions(
    task: Task, program: Program, rows: Sequence[Labelled], lm: OpenLM, done: Callable[[], None]
) -> list[Judged]:
    """The judgements of a program, without its decision layer, on records that it can be asked fairly.

    Left out are records that share something with a demo of a prompt, since the LM has read their answer or one much
    like it, and those that fail.
    """
    group = grouped(rows)
    read = {key for key, row in zip(group, rows, strict=True) if in_prompt(program, row.example)}
    fair = [row for key, row in zip(group, rows, strict=True) if key not in read]
    outcomes = judge_all(task, without_layer(program), examples(fair), lm, done)
    return [Judged(row, outcome) for row, outcome in zip(fair, outcomes, strict=True) if outcome.failure is None]
