"""How many tokens of a paper to show: as few as hold the gold evidence of most claims. No LM call is made."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from aisr.programs.retrieval.passages import sufficient, whole
from aisr.tasks.task import Searched

HOLD = 0.95  # share of claims whose prompt is to hold gold evidence, where nobody says
STEP = 100  # a budget is a multiple of so many tokens
POINTS = 40  # of the curve


class BudgetFitted(NamedTuple):
    """The budget in tokens, and what a manifest says of it."""

    tokens: int
    report: dict[str, Any]


def fit_budget(
    claims: Sequence[Searched], rankings: Sequence[Sequence[str]], hold: float, most: int | None
) -> BudgetFitted:
    """The smallest budget within which a share `hold` of the claims see gold evidence, `most` at most.

    rankings: all paragraph ids of each claim's paper, best first, by a ranker that did not see the claim. Raises
    ValueError where there are no claims.
    """
    needed = np.array(
        [sufficient(one.paragraphs, ranking, one.gold) for one, ranking in zip(claims, rankings, strict=True)]
    )
    papers = np.array([whole(one.paragraphs) for one in claims])
    wanted = STEP * int(np.ceil(np.quantile(needed, hold, method="inverted_cdf") / STEP))
    tokens = wanted if most is None else max(STEP, min(wanted, most))
    at = [STEP * int(np.ceil(end / STEP)) for end in np.linspace(STEP, max(papers.max(), tokens), POINTS)]
    report = {
        "tokens": tokens,
        "hold": hold,
        "held": float((needed <= tokens).mean()),
        "of_paper": float((np.minimum(tokens, papers) / papers).mean()),
        "claims": len(claims),
        "most": most,
        "curve": [(end, float((needed <= end).mean())) for end in dict.fromkeys(at)],
    }
    return BudgetFitted(tokens, report)
