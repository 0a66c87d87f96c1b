"""The program that a compile starts from, and its records: prepared, with what was fitted on the gold evidence of
train."""

from collections.abc import Callable, Iterator
from itertools import islice

import dspy
from dspy.utils.exceptions import LMBillingError

from aisr.inference.embeddings import attach_embeddings
from aisr.inference.images import attach_gallery
from aisr.lm.client import OpenLM
from aisr.optimize.datasets.examples import Labelled, Prepares, rows_of
from aisr.optimize.experiment.evidence import Evidence, fit_evidence, learn
from aisr.optimize.experiment.plan import Plan, Watcher
from aisr.programs.errors import UserError
from aisr.programs.judges.contract import Program
from aisr.programs.questions import describe_options
from aisr.programs.reading.lines import read
from aisr.programs.records.base import Record


def student_of(plan: Plan, lm: OpenLM) -> Program:
    student: Program = plan.task.build(plan.options)
    if lm.brief:
        describe_options(student)  # so that what is searched holds them
    return attach_embeddings(attach_gallery(student, plan.gallery), lm.embeddings)


def prepared(
    plan: Plan, student: Program, lm: OpenLM, say: Callable[[str], None]
) -> tuple[Evidence, dict[str, list[Labelled]]]:
    """What was fitted on the gold evidence, which the student has from here on, and the records of all splits. Raises
    UserError where the budget is spent on their embeddings."""
    try:
        train = list(records_of(plan, "train"))
        evidence = fit_evidence(plan, student, train, say)
        learn(student, train, say)
        return evidence, {name: read_split(plan, name, evidence.preparing(plan, name, student)) for name in plan.data}
    except LMBillingError as error:
        if lm.ledger.spent_out() is None:
            raise
        raise UserError(f"{error}; not even the papers could be embedded, nothing is saved") from error


def learnable(train: list[dspy.Example], watcher: Watcher) -> list[dspy.Example]:
    """The records that an optimizer can work with: without those that failed before anything was asked about them.
    Raises UserError where none is left."""
    failures = [example.failure for example in train if "failure" in example]
    if failures:
        watcher.stage(f"{len(failures)} of {len(train)} records of train left out, the first {failures[0]}")
    if len(failures) == len(train):
        raise UserError(f"no record of train could be prepared; the first was {failures[0]}")
    return [example for example in train if "failure" not in example]


def records_of(plan: Plan, split: str) -> Iterator[Record]:
    """The records of a split; among those of train the corrected ones, which no limit cuts."""
    found = islice(read(plan.data[split], plan.task.record, plan.task.name), plan.limits.get(split))
    return plan.corrected.within(found) if plan.corrected and split == "train" else found


def read_split(plan: Plan, split: str, preparing: Prepares) -> list[Labelled]:
    """The records of a split."""
    return rows_of(plan.task, preparing, records_of(plan, split), plan.data[split])
