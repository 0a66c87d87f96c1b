"""What a compile would come to, before anything is sent."""

from collections.abc import Sequence
from dataclasses import replace

from aisr.inference.suits import check_suits
from aisr.lm.client import OpenLM
from aisr.lm.embeddings import UnsentEmbeddings
from aisr.optimize.experiment.evidence import fit_evidence, learn
from aisr.optimize.experiment.plan import Plan
from aisr.optimize.experiment.prepared import foretold, read_split, records_of, student_of
from aisr.optimize.search.compilation import Settings
from aisr.optimize.search.cost_estimate import Bounds, with_embeddings
from aisr.programs.judges.contract import Program, searching
from aisr.programs.records.base import Record


def estimated(plan: Plan, lm: OpenLM, teacher: OpenLM) -> Bounds:
    """What `compile_program` would come to. Sends nothing."""
    return estimates(plan, lm, teacher, [plan.settings])[0]


def estimates(plan: Plan, lm: OpenLM, teacher: OpenLM, offered: Sequence[Settings]) -> list[Bounds]:
    """The same with each of several settings in the place of the plan's."""
    unsent = UnsentEmbeddings()
    student = student_of(plan, lm, unsent)
    check_suits(student, lm)
    train = list(records_of(plan, "train"))
    if unsent.models and searching(student):
        return _without_vectors(plan, student, unsent, train, lm, teacher, offered)
    evidence = fit_evidence(plan, student, train, _silent)
    learn(student, train, _silent)
    rows = {name: read_split(plan, name, evidence.preparing(plan, name, student)) for name in plan.data}
    found = [foretold(replace(plan, settings=settings), student, rows, lm, teacher) for settings in offered]
    return [with_embeddings(one, unsent, lm.embeddings) for one in found]


def _silent(stage: str) -> None:
    """Nobody is told."""


def _without_vectors(
    plan: Plan,
    student: Program,
    unsent: UnsentEmbeddings,
    train: Sequence[Record],
    lm: OpenLM,
    teacher: OpenLM,
    offered: Sequence[Settings],
) -> list[Bounds]:
    """The same for a student that has to ask for the vectors which its evidence is fitted on. The fit is gone through
    with vectors that are all alike, for the texts that it asks for; what it finds means nothing."""
    fit_evidence(plan, student.deepcopy(), train, _silent)
    learn(student, train, _silent)
    rows = {name: read_split(plan, name, student) for name in plan.data}
    found = [foretold(replace(plan, settings=one), student, rows, lm, teacher) for one in offered]
    return [with_embeddings(one, unsent, lm.embeddings) for one in found]
