"""What a compile fits on the gold of train before anything is asked: the ranker, which labels name no evidence, and
what a program learns by itself."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from aisr.optimize.datasets.examples import Prepares
from aisr.optimize.evidence.rank_fit import Paper, TooFew, fit_ranker, looked
from aisr.optimize.evidence.unseen import Unseen
from aisr.optimize.experiment.plan import Plan
from aisr.programs.errors import NotEmbedded
from aisr.programs.judges.contract import Program, name_by, searching
from aisr.programs.judges.learnt import learning
from aisr.programs.records.base import Record
from aisr.programs.retrieval.evidence_list import described, read_off
from aisr.programs.retrieval.evidence_ranker import EvidenceRanker
from aisr.tasks.task import Task


class Evidence(NamedTuple):
    """What became of the ranker, as a manifest says it; None where there was nothing to fit on. unseen: for each paper
    that the student's ranker was fitted on, by its texts, one that was not."""

    ranker: dict[str, Any] | None = None
    unseen: Mapping[Paper, EvidenceRanker] = MappingProxyType({})

    def preparing(self, plan: Plan, split: str, student: Program) -> Prepares:
        """What prepares the records of a split: the student, for train with rankers that did not see their papers."""
        looking = searching(student)
        return Unseen(plan.task, looking, self.unseen) if split == "train" and looking else student


def fit_evidence(plan: Plan, student: Program, train: Sequence[Record], say: Callable[[str], None]) -> Evidence:
    """Give the student the ranker that is fitted on train, where that is better than its retriever."""
    looking, given = searching(student), looked(plan.task, train)
    if looking is None or not given.claims:
        return Evidence()
    say(f"evidence ranker: {len(given.claims)} claims of train with gold evidence")
    try:
        fitted = fit_ranker(given, looking.match, looking.vectors, plan.settings.seed)
    except (NotEmbedded, TooFew) as error:
        say(f"evidence ranker: not fitted, {error}")
        return Evidence({"why": str(error)})
    say(f"evidence ranker: {'kept' if fitted.kept else 'not kept'}, mean reciprocal rank {fitted.gain} more")
    if not fitted.kept:
        return Evidence(fitted.report)
    looking.ranker = fitted.ranker
    return Evidence(fitted.report, fitted.unseen)


def name_evidence(task: Task, champion: Program, train: Sequence[Any], say: Callable[[str], None]) -> None:
    """Have a champion name evidence as the gold of train shows it (see `evidence_list.read_off`), in tasks that ask for
    some. The program that it is held against goes on naming as the guidelines say."""
    if not task.names_evidence:
        return
    right = task.labelled.evidence_right
    assert right is not None
    policy = read_off((task.labelled.said(gold)[0], not right(gold, [])) for gold in train)
    name_by(champion, policy)
    say(f"evidence named: {described(policy)}")


def learn(student: Program, train: Sequence[Record], say: Callable[[str], None]) -> None:
    """Have a student that learns do so, from the labelled records of train."""
    learner = learning(student)
    if learner is None:
        return
    learner.learn([record for record in train if record.gold is not None])
    if learner.learnt is not None:
        say(f"learnt from train: {learner.learnt.summary()}")
