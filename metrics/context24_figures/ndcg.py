"""nDCG at k of ranked figures and tables (Järvelin & Kekäläinen 2002), as Context24 defines it.

The ideal ranking takes all that a paper has: gold elements count 1 and their figures or panels .5, so that the gold
elements alone do not reach 1 where there is more to name.
"""

from collections.abc import Sequence
from math import log2

from aisr.metrics.context24_figures.relation import WHOLE, gain, official_gain
from aisr.programs.records.context24_figures import tidy


def ndcg(
    ranked: Sequence[str], gold: Sequence[str], candidates: Sequence[str], k: int, official_quirks: bool = False
) -> float:
    """nDCG of the first `k` labels, best first. gold: at least one label; candidates: all elements of the paper.

    In 0-1, and a label that is repeated counts once. With `official_quirks` it counts as often as it stands there, and
    letter by letter (see `aisr.metrics.context24_figures.relation.official_gain`), which can be worth more than 1.
    Raises ValueError where nothing is gold.
    """
    if not gold:
        raise ValueError("no gold element: expected at least one")
    if official_quirks:
        worth = official_gain
        gains = [worth(label, gold) for label in ranked[:k]]
    else:
        worth = gain
        gold, candidates = _distinct(gold), _distinct(candidates)
        first = [tidy(label) for label in ranked[:k]]
        gains = [0.0 if label in first[:place] else worth(label, gold) for place, label in enumerate(first)]
    others = [worth(label, gold) for label in candidates if label not in gold]
    best = sorted([WHOLE] * len(gold) + others, reverse=True)[:k]
    return _discounted(gains) / _discounted(best)


def _distinct(labels: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(map(tidy, labels)))


def _discounted(gains: Sequence[float]) -> float:
    return sum(gained / log2(place + 1) for place, gained in enumerate(gains, start=1))
