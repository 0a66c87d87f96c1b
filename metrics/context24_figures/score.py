"""How rankings of figures and tables did: nDCG at 5 and at 10, and what an optimizer sees of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.context24_figures.ndcg import ndcg
from aisr.metrics.context24_figures.relation import WHOLE, gain
from aisr.metrics.scores import Floats, Report
from aisr.programs.records.context24_figures import Ranking, Sought

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
