"""How sure we are of a score: percentile bootstrap over records.

The unit that is resampled is the record (a paragraph, a claim), since exact match is a property of it and the
sentences of one paragraph are not independent (Efron & Tibshirani 1993, ch. 13; paired differences as in
Koehn 2004, "Statistical significance tests for machine translation evaluation").
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.official import Tally, f1_scores

RESAMPLES = 1000
SEED = 20260621


class Interval(NamedTuple):
    """A value with the ends of its 95 % interval, in 0-1 (differences: -1 to 1)."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.value:.1f} [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def score_interval(tally: Tally, resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    """The ranking score with its 95 % interval."""
    weights = _weights(len(tally), resamples, seed)
    return _interval(_scores(tally, weights))


def difference_interval(tally: Tally, baseline: Tally, resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    """Ranking score minus that of `baseline` on the same records, resampled together.

    Raises ValueError where the two tallies do not have the same number of records.
    """
    if len(tally) != len(baseline):
        raise ValueError(f"{len(tally)} records against {len(baseline)}: a paired difference needs the same records")
    weights = _weights(len(tally), resamples, seed)
    return _interval(_scores(tally, weights) - _scores(baseline, weights))


def _weights(records: int, resamples: int, seed: int) -> NDArray[np.float64]:
    """How often each record stands in each resample (resamples + 1, records); the first row is the corpus itself."""
    if not records:
        raise ValueError("no records: an empty corpus has no interval")
    drawn = np.random.default_rng(seed).multinomial(records, np.full(records, 1 / records), size=resamples)
    return np.vstack([np.ones(records), drawn])


def _scores(tally: Tally, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    flat = tally.counts.reshape(len(tally), -1).astype(np.float64)
    totals = (weights @ flat).reshape(len(weights), *tally.counts.shape[1:])
    exact = weights @ tally.exact.astype(np.float64) / len(tally)
    return np.asarray((f1_scores(totals).mean(axis=-1) + exact) / 2)


def _interval(values: NDArray[np.float64]) -> Interval:
    value = float(values[0])
    low, high = np.percentile(values[1:], [2.5, 97.5])
    # On a handful of records the percentiles can pass the value itself by.
    return Interval(value, min(float(low), value), max(float(high), value))
