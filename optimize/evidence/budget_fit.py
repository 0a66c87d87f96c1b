"""How many tokens of a paper to show: as few as hold the gold evidence of most claims, and no more than are worth their
price. No LM call is made."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.programs.retrieval.passages import LEAST, sufficient, whole
from aisr.tasks.task import Searched

HOLD = 0.95  # share of claims whose prompt is to hold gold evidence, where nobody says
# The share of claims that twice as many tokens have to show gold evidence beside. Behind a capable LM the doubling to
# 4,400 tokens showed 8 points more and brought 4.5 of score, the next one 4 and brought none.
WORTH = 0.05
STEP = 100  # a budget is a multiple of so many tokens
POINTS = 40  # of the curve


class BudgetFitted(NamedTuple):
    """The budget in tokens, and what a manifest says of it."""

    tokens: int
    report: dict[str, Any]


def fit_budget(
    claims: Sequence[Searched],
    rankings: Sequence[Sequence[str]],
    hold: float,
    most: int | None,
    priced: bool = False,
    sifted: bool = False,
) -> BudgetFitted:
    """The smallest budget within which a share `hold` of the claims see gold evidence, `most` at most.

    rankings: all paragraph ids of each claim's paper, best first, by a ranker that did not see the claim; priced:
    whether it is smaller where twice as many tokens would not be worth it (see `WORTH`); sifted: how paragraphs are
    chosen (see `passages.chosen`). Raises ValueError where there are no claims.
    """
    needed = np.array(
        [sufficient(one.paragraphs, ranking, one.gold, sifted) for one, ranking in zip(claims, rankings, strict=True)]
    )
    papers = np.array([whole(one.paragraphs) for one in claims])
    all_of_it = int(papers.max())  # gold that is left out is shown by no budget
    wanted = STEP * int(np.ceil(min(np.quantile(needed, hold, method="inverted_cdf"), all_of_it) / STEP))
    if priced:
        wanted = min(wanted, _worth_it(needed, all_of_it))
    tokens = wanted if most is None else max(STEP, min(wanted, most))
    at = [STEP * int(np.ceil(end / STEP)) for end in np.linspace(STEP, max(papers.max(), tokens), POINTS)]
    report = {
        "tokens": tokens,
        "hold": hold,
        "priced": priced,
        "held": float((needed <= tokens).mean()),
        "of_paper": float((np.minimum(tokens, papers) / papers).mean()),
        "claims": len(claims),
        "most": most,
        "curve": [(end, float((needed <= end).mean())) for end in dict.fromkeys(at)],
    }
    return BudgetFitted(tokens, report)


def _worth_it(needed: NDArray[np.int64], most: int) -> int:
    """The budget from `LEAST` up of which the double shows gold evidence to no `WORTH` more of the claims. needed: the
    tokens that each claim takes; most: those of the longest paper."""
    at = np.arange(LEAST, max(most, LEAST) + STEP, STEP)
    ordered = np.sort(needed)
    held = np.searchsorted(ordered, at, side="right") / len(needed)
    doubled = np.searchsorted(ordered, 2 * at, side="right") / len(needed)
    return int(at[np.argmax(doubled - held < WORTH)])
