"""What each part of a decision layer is worth: the official score of a program with less and less left out."""

from collections.abc import Sequence
from typing import NamedTuple

import dspy

from aisr.inference.confidence import held
from aisr.inference.evaluate import Result, result
from aisr.inference.judge import Outcome, judge_all
from aisr.lm.client import OpenLM
from aisr.metrics.calibration import calibration_error
from aisr.optimize.decision.fit import ALONE, WAYS
from aisr.programs.decision.layer import Decision, Rule
from aisr.programs.errors import UserError
from aisr.programs.judges.contract import Program
from aisr.tasks.task import Task

MAJORITY = "majority label"


class Ablation(NamedTuple):
    """Results by what decides, from the least to the most. Expected calibration errors, in 0-1, of the LM alone and of
    the whole layer; None where no record was judged, or by single
    votes alone."""

    results: dict[str, Result]
    error_before: float | None
    error_after: float | None


def ablate(task: Task, program: Program, examples: Sequence[dspy.Example], lm: OpenLM) -> Ablation:
    """Score a program on labelled examples under all rules that its decision layer knows.

    The LM's answers after the first run come from the cache. Raises UserError where there is no decision layer.
    """
    decision: Decision | None = program.decision
    if decision is None or not decision.ablations:
        raise UserError("--ablate: the program has no decision layer to take apart")
    bare = decision.model_copy(update={"kept": False})
    layers = {MAJORITY: _under(bare, _always(decision.majority, decision))}
    for name in (*WAYS[:2], ALONE, *WAYS[2:]):
        if name == ALONE:
            layers[name] = bare
        elif name in decision.ablations:
            layers[name] = _under(decision, decision.ablations[name])
    outcomes = {name: judge_all(task, _with(program, layer), examples, lm) for name, layer in layers.items()}
    layer = judge_all(task, _with(program, _under(decision, decision.says)), examples, lm)
    return Ablation(
        {name: result(task, examples, found) for name, found in outcomes.items()},
        _error(task, examples, outcomes[ALONE]),
        _error(task, examples, layer),
    )


def _always(label: str, decision: Decision) -> Rule:
    return Rule(weights={}, offsets=[float(name == label) for name in decision.labels])


def _under(decision: Decision, rule: Rule) -> Decision:
    return decision.model_copy(update={"kept": True, "says": rule})


def _with(program: Program, decision: Decision) -> Program:
    other: Program = program.deepcopy()
    other.decision = decision
    return other


def _error(task: Task, examples: Sequence[dspy.Example], outcomes: Sequence[Outcome]) -> float | None:
    found = held(task, zip(examples, outcomes, strict=True)).values()
    sure = [one for part in found for one in part.sure]
    return calibration_error(sure, [one for part in found for one in part.right]) if sure else None
