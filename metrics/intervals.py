"""95 % intervals of a score, and of the difference of two scores on the same records.

All come from one function, `_interval`. What is independent is the group of records (claims of one paper, paragraphs on
one table), or the record where groups are not known.

1. The variance is the jackknife's, which leaves out one group in turn (Shao & Tu 1995, "The Jackknife and Bootstrap",
   ch. 2; Wolter 2007, "Introduction to Variance Estimation", ch. 4). It serves macro-F1, which is no mean over records,
   and draws nothing, so that the order of the records makes no difference.
2. Over the jackknife's variance by records this is the design effect, and the number of records over the design effect
   is the effective number of records (Kish 1965, "Survey Sampling", ch. 8). Where all groups are alike, as when every
   answer is right, nothing is known of the design effect, and little where two or three groups make all the difference.
   So it is averaged with the worst case, in which a group says no more than one record: n groups that make a difference
   have n (n - 1) / 2 pairs, of which each counts four times as much as the worst case. It is never below 1.
3. Two right and two wrong records are added to a score (Agresti & Coull 1998, "Approximate is better than 'exact' for
   interval estimation of binomial proportions"; with effective numbers as in Dean & Pagano 2015, "Evaluating confidence
   interval methods for binomial proportions in clustered surveys"); to a difference one record that only the first
   program has right, and one that only the other has (Bonett & Price 2012, "Adjusted Wald confidence interval for a
   difference of binomial proportions based on paired data"). Without them ten right answers of ten have the interval
   [100, 100].
4. The quantile is Student's with one degree of freedom less than there are groups. Groups of unequal size or weight
   count as their effective number (Kish), so that a paper with most of the claims leaves few.

Where no record tells two programs apart, the ends of the difference are those of the rule of three, from ten groups on
within a tenth: after G groups without a difference, up to 3 in G of all groups may have one (Hanley & Lippman-Hand
1983, "If nothing goes wrong, is everything all right?").

Limits, by `python -m benchmarks.intervals`: with two groups the interval is the whole range whatever they say, with
three it leaves out an eighth of it at most of the simulated shares, and then each group more takes away what Student's
quantile does; so nothing is cut off by `LEAST_GROUPS`. With ten groups it is wider than it need be, except for macro-F1
where a label stands in one or two groups only: of such a label no interval knows enough.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from aisr.base.files import with_interval
from aisr.metrics.scores import Floats, Scores

Group = Sequence[int] | NDArray[np.int64]  # the number of each record's group
Places = NDArray[np.int64]
Bounds = tuple[float, float]
Statistic = Callable[[Floats], Floats]  # of corpora in which records stand so often, (corpora, records), a value each

LEAST_GROUPS = 2  # effective ones; with fewer, Student's quantile has less than one degree of freedom
RIGHT_AND_WRONG, ONE_EACH_WAY = 2.0, 1.0  # records that are added at either end of the range (step 3)
SHARES, DIFFERENCES = (0.0, 1.0), (-1.0, 1.0)  # the ranges
NEGLIGIBLE = 1e-20  # a variance that is no more than rounding
DECIMALS = 12  # of what is returned: the last digits of a sum differ with the order of records
CHUNK = 256  # groups left out at once, so that a large corpus does not fill the memory


class Interval(NamedTuple):
    """A value with its 95 % interval, in 0-1 (differences: -1 to 1): the whole range where groups are too few."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return with_interval(*self)


def in_words(gain: Interval, other: str) -> str:
    """Return in words what the difference from another program tells."""
    if gain[1:] == DIFFERENCES:
        return "too few independent records to tell"
    if gain.low > 0:
        return f"better than {other}"
    if gain.high < 0:
        return f"worse than {other}"
    return f"no better and no worse than {other}"


def score_interval(scores: Scores, group: Group | None = None) -> Interval:
    """Return the ranking score with its 95 % interval, in 0-1.

    group: of each record, where known; records of one group are not independent. Records count by `Scores.weight`.
    Raises ValueError where there are no records, and where the score is not a number.
    """
    return _interval(scores.ranking, scores.weight, scores.rows, SHARES, RIGHT_AND_WRONG, group)


def difference_interval(scores: Scores, baseline: Scores, group: Group | None = None) -> Interval:
    """Return the ranking score minus that of `baseline` on the same records, in -1 to 1, with its 95 % interval.

    group: as in `score_interval`; both have the same weights. Raises ValueError as that does, and where numbers differ.
    """
    if len(scores) != len(baseline):
        raise ValueError(f"{len(scores)} records against {len(baseline)}: a paired difference needs the same records")

    def difference(rows: Floats) -> Floats:
        return scores.ranking(rows) - baseline.ranking(rows)

    rows = np.column_stack([scores.rows, baseline.rows])
    return _interval(difference, scores.weight, rows, DIFFERENCES, ONE_EACH_WAY, group)


def effective_number(weights: Floats) -> float:
    """Return how many units of equal weight vary as much: all of them where they weigh the same (Kish 1965)."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def _interval(
    statistic: Statistic, weights: Floats, rows: Floats, bounds: Bounds, added: float, group: Group | None
) -> Interval:
    """Return a statistic with its interval (see the module). weights: of each record; rows: what each record adds, by
    which records are equal; bounds: of the statistic; added: how many records are added at each bound."""
    records = len(weights)
    if not records:
        raise ValueError("no records: an empty corpus has no interval")
    _, place = np.unique(np.arange(records) if group is None else np.asarray(group), return_inverse=True)
    value = float(statistic(np.ones((1, records)))[0])
    if not np.isfinite(value):
        raise ValueError(f"the score of {records} records is {value}; expected a number")
    groups = effective_number(np.bincount(place, weights).astype(np.float64))
    if groups < LEAST_GROUPS:
        return Interval(round(value, DECIMALS), *bounds)

    count, variance = _effective_records(statistic, weights, rows, place, groups)
    lowest, highest = bounds
    total = count + 2 * added
    middle = (count * value + added * (lowest + highest)) / total
    square = (count * (count * variance + value**2) + added * (lowest**2 + highest**2)) / total
    reach = stdtrit(groups - 1, 0.975) * np.sqrt(max(square - middle**2, 0.0) / total)
    low = max(lowest, min(middle - reach, value))
    high = min(highest, max(middle + reach, value))
    return Interval(round(value, DECIMALS), round(float(low), DECIMALS), round(float(high), DECIMALS))


def _effective_records(
    statistic: Statistic, weights: Floats, rows: Floats, place: Places, groups: float
) -> tuple[float, float]:
    """Return how many independent records these are worth, and the variance of the statistic. place: the group of each
    record, from 0; groups: their effective number."""
    records = effective_number(weights)
    _, first, kind = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    over_records = _variance(_without(statistic, np.arange(len(rows)), first)[kind.ravel()])  # each kind once
    if over_records < NEGLIGIBLE:
        return groups, 0.0
    without = _without(statistic, place, np.unique(place))
    moves = without - without.mean()
    varied = (moves**2).sum() ** 2 / max((moves**4).sum(), NEGLIGIBLE**2)  # how many groups make the difference
    trust = 2 * max(varied * (varied - 1), 0.0)
    estimate = max(_variance(without) / over_records, 1.0)
    worst = records / groups
    effect = (trust * estimate + worst) / (trust + 1)
    return records / effect, over_records * effect


def _variance(without: Floats) -> float:
    """Return the jackknife's variance, from the values of a statistic without each unit in turn."""
    return float((len(without) - 1) * without.var())


def _without(statistic: Statistic, place: Places, groups: Places) -> Floats:
    """Return the statistic without each of some groups in turn, (groups,). place: the group of each record."""
    chunks = [groups[start : start + CHUNK] for start in range(0, len(groups), CHUNK)]
    return np.concatenate([statistic((place != chunk[:, None]).astype(np.float64)) for chunk in chunks])
