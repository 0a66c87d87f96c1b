"""Why a program says what it says, as far as it can be read off: what each expert of its decision layer thinks, and the
words that the cues counted. A model's own account is not asked for: it would be written after the verdict."""

from collections.abc import Sequence
from typing import NamedTuple

import dspy
import numpy as np

from aisr.lm.client import OpenLM
from aisr.predict.judge import judge
from aisr.programs.base import Judge
from aisr.programs.decision.cues import nearest_line, signs
from aisr.programs.decision.layer import LM
from aisr.programs.task import Task


class Opinion(NamedTuple):
    """What an expert thinks of a statement: its likeliest label, the probability in 0-1 (None where it is a single
    vote), and its weight in the layer (None where there is no layer)."""

    expert: str
    label: str
    chance: float | None
    weight: float | None


class Reason(NamedTuple):
    """What speaks for and against a statement. signs: words that a cue counted, by the cue; nearest: the evidence line
    with most of its words."""

    opinions: list[Opinion]
    signs: dict[str, list[str]]
    nearest: str


def reasons(task: Task, program: Judge, example: dspy.Example, lm: OpenLM) -> list[Reason]:
    """A reason for each statement of an example that the program has judged; the calls come from the cache."""
    facet = task.labelled
    statements, grounds = facet.statements(example), facet.grounds(example)
    judged = judge(task, program.without_decision(), example, lm).judgements
    layer = program.decision
    if layer is not None:
        chances = {name: np.exp(rows) for name, rows in layer.opinions(statements, grounds, judged).items()}
        weights = dict(layer.says.weights)
    else:
        chances = {LM: np.array([one.chances for one in judged])}
        weights = {}
    return [
        Reason(
            [
                _opinion(facet.labels, name, rows[k], weights.get(name), name != LM or judged[k].known)
                for name, rows in chances.items()
            ],
            signs(statement, grounds),
            nearest_line(statement, grounds),
        )
        for k, statement in enumerate(statements)
    ]


def _opinion(
    labels: Sequence[str],
    name: str,
    chances: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    weight: float | None,
    known: bool,
) -> Opinion:
    best = int(chances.argmax())
    return Opinion(name, labels[best], float(chances[best]) if known else None, weight)
