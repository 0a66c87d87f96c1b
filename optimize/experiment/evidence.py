"""What a compile fits on the gold of train before anything is asked: the ranker, how much of a paper it may show, and
what a program learns by itself."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from aisr.optimize.datasets.examples import Prepares
from aisr.optimize.evidence.budget_fit import STEP, BudgetFitted, fit_budget
from aisr.optimize.evidence.rank_fit import FOLDS, Paper, TooFew, fit_ranker, looked
from aisr.optimize.evidence.unseen import Unseen
from aisr.optimize.experiment.plan import Plan
from aisr.programs.errors import NotEmbedded
from aisr.programs.judges.contract import Program
from aisr.programs.judges.ensemble import ranked
from aisr.programs.judges.learnt import learning
from aisr.programs.records.base import Record
from aisr.programs.retrieval.evidence_ranker import EvidenceRanker
from aisr.programs.retrieval.passages import LEAST, rank, whole

ROOM = 2000  # tokens of a model's context that are kept for the instruction, the claim and the answer


class Evidence(NamedTuple):
    """What became of the ranker and of the budget, as a manifest says it; None where there was nothing to fit on.
    unseen: for each paper that the student's ranker was fitted on, by its texts, one that was not; refitted: the budget
    again, of so many tokens at most."""

    ranker: dict[str, Any] | None = None
    budget: dict[str, Any] | None = None
    unseen: Mapping[Paper, EvidenceRanker] = MappingProxyType({})
    refitted: Callable[[int], BudgetFitted] | None = None

    def cheaper(self, student: Program, share: float, say: Callable[[str], None]) -> "Evidence | None":
        """The same with a smaller budget, about `share` of it, which the student has from here on; None where it cannot
        be smaller."""
        searching = ranked(student)
        if searching is None or self.refitted is None or searching.context_tokens <= LEAST:
            return None
        budget = self.refitted(max(LEAST, int(share * searching.context_tokens / STEP) * STEP))
        searching.context_tokens = budget.tokens
        say(_said(budget, ", as --max-usd would not pay for more"))
        return self._replace(budget=budget.report)

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
    refitted = partial(fit_budget, given.claims, rankings, plan.hold, priced=plan.priced, sifted=sifted)
    budget = refitted(most)
    searching.context_tokens = budget.tokens
    say(_said(budget, ", all that the model's context leaves room for" if budget.tokens == most else ""))
    return Evidence(fitted.report, budget.report, unseen, refitted)


def guessed_budgets(plan: Plan, train: Sequence[Record], window: int | None) -> tuple[int, int] | None:
    """Tokens of a paper that a student may come to show whose retriever cannot be asked: usually as many as where bm25
    ranks, and at most as many as hold the papers whole, for the share of claims that the plan wants to be held. None
    where no budget is fitted."""
    given = looked(plan.task, train)
    if plan.hold is None or "context_tokens" not in plan.task.option_types or len(set(given.group)) < FOLDS:
        return None
    most = None if window is None else window - plan.settings.demo_tokens - ROOM
    rankings = [rank(one.claim, one.paragraphs) for one in given.claims]
    usual = fit_budget(given.claims, rankings, plan.hold, most, plan.priced, sifted=True)
    papers = np.quantile([whole(one.paragraphs) for one in given.claims], plan.hold, method="inverted_cdf")
    wanted = STEP * ceil(papers / STEP)
    return usual.tokens, wanted if most is None else max(STEP, min(wanted, most))


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
