"""How rankings of figures and tables did: nDCG at 5 and at 10 (Järvelin & Kekäläinen 2002), as Context24 defines it.

An element that was named is worth 1 where it is a gold one, half where it is the figure that a gold panel belongs to,
or a panel of a gold figure: `gain` reads labels; `official_gain` compares them as the organisers' scorer does, letter
by letter. The ideal ranking takes all that a paper has, so that the gold elements alone do not reach 1 where there is
more to name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.scores import Floats, Report
from aisr.programs.context24_figures.record import Ranking, Sought, place_of, tidy

WHOLE, HALF = 1.0, 0.5


def gain(label: str, gold: Sequence[str]) -> float:
    """By what the labels say: half is for the same figure or table (kind, number, supplementary or not), named once
    with a panel and once without. FIG 1 has nothing to do with FIG 10, nor panel A with panel B; a label that cannot be
    read counts where it is the same."""
    if tidy(label) in map(tidy, gold):
        return WHOLE
    here = place_of(label)
    if here is None:
        return 0.0
    others = [place for place in map(place_of, gold) if place is not None]
    near = any(here.figure == other.figure and bool(here.panel) != bool(other.panel) for other in others)
    return HALF if near else 0.0


def official_gain(label: str, gold: Sequence[str]) -> float:
    """By the letters: half is for a label that stands in a gold one, or in which a gold one stands. So FIG 1 is worth
    half where FIG 10 or SUPP FIG 1 is gold, and an empty label wherever anything is."""
    if label in gold:
        return WHOLE
    return HALF if any(label in other or other in label for other in gold) else 0.0


def ndcg(
    ranked: Sequence[str], gold: Sequence[str], candidates: Sequence[str], k: int, official_quirks: bool = False
) -> float:
    """nDCG of the first `k` labels, best first. gold: at least one label; candidates: all elements of the paper.

    In 0-1, and a label that is repeated counts once. With `official_quirks` it counts as often as it stands there, and
    letter by letter (see `aisr.metrics.context24_figures.score.official_gain`), which can be worth more than 1.
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


DEPTHS = (5, 10)  # of the shared task of 2024


@dataclass(frozen=True)
class Ranked:
    """How each claim's ranking did (a `aisr.metrics.scores.Scores`).

    clean and official: nDCG at each depth of `DEPTHS`, shape (claims, depths), by what labels say and as the organisers
    score them; in_front: whether the gold elements stand before all others, (claims,).

    The ranking score is the mean of both depths. The organisers report both and prefer neither; together they tell
    apart rankings that are equal down to the fifth place, and still count the first five twice.
    """

    clean: Floats
    official: Floats
    in_front: NDArray[np.bool_]

    @classmethod
    def of(cls, gold: Sequence[Sought], said: Sequence[Ranking | None]) -> Self:
        """None is a claim that failed: it earns nothing. Raises ValueError where the numbers of claims differ."""
        if len(gold) != len(said):
            raise ValueError(f"{len(said)} rankings for {len(gold)} gold records; one ranking a record")
        pairs = [(right, ranking or ()) for right, ranking in zip(gold, said, strict=True)]
        return cls(
            _table([[ndcg(ranking, *right, k) for k in DEPTHS] for right, ranking in pairs]),
            _table([[ndcg(ranking, *right, k, official_quirks=True) for k in DEPTHS] for right, ranking in pairs]),
            np.array([_in_front(right, ranking) for right, ranking in pairs], dtype=np.bool_),
        )

    def __len__(self) -> int:
        return len(self.clean)

    @property
    def values(self) -> Floats:
        """The mean of both depths, 0-1, shape (claims,)."""
        return np.asarray(self.clean.mean(axis=1))

    @property
    def rows(self) -> Floats:
        """The same, shape (claims, 1)."""
        return self.values[:, None]

    def ranking(self, weights: Floats) -> Floats:
        """The mean over claims, where they count as often as `weights` (resamples, claims) says; shape (resamples,)."""
        return np.asarray(weights @ self.values / weights.sum(axis=1))

    def credit(self, baseline: Self) -> Floats:
        """The value itself: the score is a mean."""
        return self.values

    def right(self) -> NDArray[np.bool_]:
        """Whether an answer may be a demo: whether it names the gold elements before all others."""
        return self.in_front

    def report(self) -> Report:
        """The ranking score, and nDCG at both depths. Raises ValueError for an empty corpus."""
        if not len(self):
            raise ValueError("no records: an empty corpus has no score")
        parts = {f"ndcg_{k}": float(value) for k, value in zip(DEPTHS, self.clean.mean(axis=0), strict=True)}
        named = ", ".join(f"@{k} {100 * at:.1f}" for k, at in zip(DEPTHS, self.official.mean(axis=0), strict=True))
        letters = f"as the organisers score it, letter by letter: nDCG{named}"
        return Report(float(self.values.mean()), parts, remarks=(letters,))


def _table(rows: list[list[float]]) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(DEPTHS))


def _in_front(right: Sought, ranking: Ranking) -> bool:
    first = ranking[: len(right.findings)]
    return bool(first) and all(gain(label, right.findings) == WHOLE for label in first)
