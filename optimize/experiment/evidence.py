"""What a compile fits on the gold of train before anything is asked: the ranker, how much of a paper it may show, and
what a program learns by itself."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from aisr.optimize.datasets.examples import Prepares
from aisr.optimize.evidence.budget_fit import BudgetFitted, fit_budget
from aisr.optimize.evidence.rank_fit import Paper, TooFew, fit_ranker, looked
from aisr.optimize.evidence.unseen import Unseen
from aisr.optimize.experiment.plan import Plan
from aisr.programs.errors import NotEmbedded
from aisr.programs.judges.contract import Program
from aisr.programs.judges.ensemble import ranked
from aisr.programs.judges.learnt import learning
from aisr.programs.records.base import Record
from aisr.programs.retrieval.evidence_ranker import EvidenceRanker
from aisr.programs.retrieval.passages import rank

ROOM = 2000  # tokens of a model's context that are kept for the instruction, the claim and the answer


class Evidence(NamedTuple):
    """What became of the ranker and of the budget, as a manifest says it; None where there was nothing to fit on.
    unseen: for each paper that the student's ranker was fitted on, by its texts, one that was not."""

    ranker: dict[str, Any] | None = None
    budget: dict[str, Any] | None = None
    unseen: Mapping[Paper, EvidenceRanker] = MappingProxyType({})

    def preparing(self, plan: Plan, split: str, student: Program) -> Prepares:
        """What prepares the records of a split: the student, for train with rankers that did not see their papers."""
        searching = ranked(student)
        return Unseen(plan.task, searching, self.unseen) if split == "train" and searching else student


def fit_evidence(
    plan: Plan, student: Program, train: Sequence[Record], window: int | None, say: Callable[[str], None]
) -> Evidence:
    """Give the student the ranker that is fitted on train, where that is better than its retriever, and the budget that
    holds the evidence, where the plan asks for one. Members of an ensemble keep their own.

    window: tokens that the model's context holds, where that is known.
    """
    searching, given = ranked(student), looked(plan.task, train)
    if searching is None or not given.claims:
        return Evidence()
    say(f"evidence ranker: {len(given.claims)} claims of train with gold evidence")
    try:
        fitted = fit_ranker(given, searching.match, searching.vectors, plan.settings.seed)
    except (NotEmbedded, TooFew) as error:
        say(f"evidence ranker: not fitted, {error}")
        return Evidence({"why": str(error)})
    say(f"evidence ranker: {'kept' if fitted.kept else 'not kept'}, mean reciprocal rank {fitted.gain} more")
    unfitted, unseen = searching.match, fitted.unseen if fitted.kept else {}
    if fitted.kept:
        searching.ranker = fitted.ranker
    if plan.hold is None or "context_tokens" not in plan.task.option_types:
        return Evidence(fitted.report, None, unseen)
    rankings = []
    for one in given.claims:
        ranker = unseen.get(tuple(one.paragraphs.values()))
        rankings.append(rank(one.claim, one.paragraphs, ranker.matcher(searching.vectors) if ranker else unfitted))
    most = None if window is None else window - plan.settings.demo_tokens - ROOM
    sifted = bool(searching.options.get("sifted"))
    budget = fit_budget(given.claims, rankings, plan.hold, most, plan.priced, sifted)
    searching.context_tokens = budget.tokens
    say(_said(budget, ", all that the model's context leaves room for" if budget.tokens == most else ""))
    return Evidence(fitted.report, budget.report, unseen)


def _said(budget: BudgetFitted, why: str) -> str:
    held = f"{100 * budget.report['held']:.1f} % of the claims see gold evidence in them"
    return f"tokens of a paper to show: {budget.tokens}{why}; {held}"


def learn(student: Program, train: Sequence[Record], say: Callable[[str], None]) -> None:
    """Have a student that learns do so, from the labelled records of train. Members of an ensemble keep what they
    know."""
    learner = learning(student)
    if learner is None:
        return
    learner.learn([record for record in train if record.gold is not None])
    if learner.learnt is not None:
        say(f"learnt from train: {learner.learnt.summary()}")
