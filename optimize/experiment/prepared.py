"""The program that a compile starts from, and its records, with what is fitted on the gold of train before anything is
asked: the ranker, which labels name no evidence, and what a program learns by itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

import dspy
from dspy.utils.exceptions import LMBillingError

from aisr.lm.client import OpenLM
from aisr.optimize.datasets.examples import Labelled, Prepares, rows_of
from aisr.optimize.evidence.rank_fit import Paper, TooFew, fit_ranker, looked
from aisr.optimize.experiment.plan import Plan, Watcher
from aisr.predict.prepare import attach_embeddings, attach_gallery
from aisr.programs.base import Judge
from aisr.programs.errors import NotEmbedded, UserError
from aisr.programs.lines import read
from aisr.programs.questions import describe_options
from aisr.programs.records import Record
from aisr.programs.retrieval.evidence_list import described, read_off
from aisr.programs.retrieval.evidence_ranker import EvidenceRanker
from aisr.programs.task import Task


class Unseen:
    """Prepares records as a program does, but those of a paper that its ranker was fitted on by one that was not: the
    evidence of train is as hard to find then as that of dev, for demos, surrogate and decision layer."""

    def __init__(self, task: Task, program: Judge, rankers: Mapping[Paper, EvidenceRanker]) -> None:
        self._task = task
        self._program = program
        self._rankers = rankers

    def prepare(self, record: Record) -> dspy.Example:
        """See `Judge.prepare`."""
        whole = self._program.ranker
        paper = tuple(self._task.searched(record).paragraphs.values()) if self._task.searched else ()
        self._program.ranker = self._rankers.get(paper, whole)
        try:
            return self._program.prepare(record)
        finally:
            self._program.ranker = whole


class Evidence(NamedTuple):
    """What became of the ranker, as a manifest says it; None where there was nothing to fit on. unseen: for each paper
    that the student's ranker was fitted on, by its texts, one that was not."""

    ranker: dict[str, Any] | None = None
    unseen: Mapping[Paper, EvidenceRanker] = MappingProxyType({})

    def preparing(self, plan: Plan, split: str, student: Judge) -> Prepares:
        """What prepares the records of a split: the student, for train with rankers that did not see their papers."""
        unseen = split == "train" and student.takes_ranker
        return Unseen(plan.task, student, self.unseen) if unseen else student


def fit_evidence(plan: Plan, student: Judge, train: Sequence[Record], say: Callable[[str], None]) -> Evidence:
    """Give the student the ranker that is fitted on train, where that is better than its retriever."""
    given = looked(plan.task, train)
    if not student.takes_ranker or not given.claims:
        return Evidence()
    say(f"evidence ranker: {len(given.claims)} claims of train with gold evidence")
    try:
        fitted = fit_ranker(given, student.match, student.vectors, plan.settings.seed)
    except (NotEmbedded, TooFew) as error:
        say(f"evidence ranker: not fitted, {error}")
        return Evidence({"why": str(error)})
    say(f"evidence ranker: {'kept' if fitted.kept else 'not kept'}, mean reciprocal rank {fitted.gain} more")
    if not fitted.kept:
        return Evidence(fitted.report)
    student.ranker = fitted.ranker
    return Evidence(fitted.report, fitted.unseen)


def name_evidence(task: Task, champion: Judge, train: Sequence[Any], say: Callable[[str], None]) -> None:
    """Have a champion name evidence as the gold of train shows it (see `evidence_list.read_off`), in tasks that ask for
    some. The program that it is held against goes on naming as the guidelines say."""
    if not task.names_evidence:
        return
    right = task.labelled.evidence_right
    assert right is not None
    policy = read_off((task.labelled.said(gold)[0], not right(gold, [])) for gold in train)
    champion.naming = policy
    say(f"evidence named: {described(policy)}")


def learn(student: Judge, train: Sequence[Record], say: Callable[[str], None]) -> None:
    """Fit what a student has beside its prompt to the labelled records of train."""
    student.fit([record for record in train if record.gold is not None])
    if student.fitted is not None:
        say(f"learnt from train: {student.fitted.summary()}")


def student_of(plan: Plan, lm: OpenLM) -> Judge:
    student: Judge = plan.task.build(plan.options)
    if lm.brief:
        describe_options(student)  # so that what is searched holds them
    return attach_embeddings(attach_gallery(student, plan.gallery), lm.embeddings)


def prepared(
    plan: Plan, student: Judge, lm: OpenLM, say: Callable[[str], None]
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
