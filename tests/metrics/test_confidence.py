"""How sure we are: bootstrap intervals of the ranking score and of paired differences."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aisr.metrics.intervals import (
    Interval,
    difference_error,
    difference_interval,
    in_words,
    interval_of,
    mean_interval,
    nested,
    rungs,
    score_interval,
)
from aisr.metrics.scores import Tally
from aisr.metrics.track1 import tally_track1
from aisr.programs.track1.record import CLAIM_LABELS
from support.corpora import draw_claims, judge_claims


def corpus(records: int, right: float = 0.7, seed: int = 0, sentences: int = 5) -> Tally:
    """A Track 1 corpus of which each sentence is judged right with probability `right`; the gold hangs on `records`."""
    gold = draw_claims(Random(records), records, sentences)
    return tally_track1(gold, judge_claims(Random(seed), gold, dict.fromkeys(CLAIM_LABELS, right), keep=0.5))


@settings(deadline=None, max_examples=20, derandomize=True)
@given(records=st.integers(1, 60), right=st.floats(0, 1), seed=st.integers(0, 1000))
def test_the_interval_contains_the_score(records: int, right: float, seed: int) -> None:
    tally = corpus(records, right, seed)
    value, low, high = score_interval(tally, resamples=200)
    assert value == pytest.approx(tally.report().score, abs=1e-12)
    assert 0 <= low <= value + 1e-12
    assert value - 1e-12 <= high <= 1 + 1e-12


def test_a_paired_difference_is_surer_than_the_two_scores() -> None:
    gold = draw_claims(Random(5), 300)
    predicted = judge_claims(Random(6), gold, dict.fromkeys(CLAIM_LABELS, 0.7), keep=0.5)
    better = [[types[0] for types in row] if k % 10 == 0 else predicted[k] for k, row in enumerate(gold)]
    before, after = tally_track1(gold, predicted), tally_track1(gold, better)
    result = difference_interval(after, before)
    assert result.value == pytest.approx(after.report().score - before.report().score, abs=1e-12)
    assert result.low > 0  # the gain is real, though the two intervals overlap
    assert score_interval(after).low < score_interval(before).high
    assert difference_interval(before, after).value == -result.value


def test_whole_groups_are_resampled() -> None:
    values = [1.0] * 20 + [0.0] * 20
    alone = mean_interval(values, list(range(40)))
    grouped = mean_interval(values, [k // 10 for k in range(40)])
    assert alone.value == grouped.value == 0.5
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)
    assert mean_interval(values, [7] * 40) == Interval(0.5, 0.5, 0.5)
    with pytest.raises(ValueError, match="no values"):
        mean_interval([], [])


def test_records_of_one_group_are_resampled_together() -> None:
    """Two hundred paragraphs in twenty groups that are as good as each other within."""
    gold = draw_claims(Random(3), 200, 2)
    predicted = [[types[0] if (k // 10) % 2 else "Contradiction" for types in row] for k, row in enumerate(gold)]
    tally = tally_track1(gold, predicted)
    group = [k // 10 for k in range(200)]
    alone, grouped = score_interval(tally), score_interval(tally, group=group)
    assert grouped.value == alone.value
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)
    assert score_interval(tally, group=range(200)) == alone
    assert score_interval(tally, group=[k // 25 for k in range(200)]) == alone  # eight groups are too few
    nothing = tally_track1(gold, [["Contradiction"] * len(row) for row in gold])
    gain = difference_interval(tally, nothing, group=group)
    assert gain.low < difference_interval(tally, nothing).low < gain.value


def test_an_interval_is_the_same_in_whatever_order_the_records_stand() -> None:
    gold = draw_claims(Random(5), 60)
    pairs = list(zip(gold, judge_claims(Random(6), gold, dict.fromkeys(CLAIM_LABELS, 0.7), keep=0.5), strict=True))
    first = score_interval(tally_track1(*map(list, zip(*pairs, strict=True))))
    assert score_interval(tally_track1(*map(list, zip(*reversed(pairs), strict=True)))) == pytest.approx(first)


def test_an_interval_leaves_a_fortieth_of_the_resamples_on_either_side() -> None:
    assert interval_of(np.array([50.0, *range(1001)])) == Interval(50.0, 25.0, 975.0)
    assert interval_of(np.array([7.0, 8.0, 9.0])).low == 7.0  # a value that the percentiles pass by


@pytest.mark.parametrize(
    ("low", "high", "records", "words"),
    [
        (0.01, 0.2, 10, "better than A"),
        (0.0, 0.2, 10, "no better and no worse than A"),
        (-0.2, 0.0, 10, "no better and no worse than A"),
        (-0.2, -0.1, 10, "worse than A"),
        (0.1, 0.2, 9, "9 records are too few to tell"),
    ],
)
def test_a_difference_in_words(low: float, high: float, records: int, words: str) -> None:
    assert in_words(Interval((low + high) / 2, low, high), records, "A") == words


def test_the_same_seed_draws_the_same() -> None:
    values, strata = [float(k % 7) for k in range(60)], ["a", "b", "b"] * 20
    assert mean_interval(values, range(60)) == mean_interval(values, range(60)) != mean_interval(values, range(60), 50)
    assert nested(strata) == nested(strata) != nested(strata, seed=1)
    assert [rungs(count) for count in (97, 100, 200)] == [[48, 97], [25, 50, 100], [50, 100, 200]]


def test_a_corpus_differs_from_itself_by_nothing_and_from_other_records_not_at_all() -> None:
    assert difference_interval(corpus(50), corpus(50)) == Interval(0.0, 0.0, 0.0)
    assert difference_error(corpus(50), corpus(50)) == 0.0
    assert score_interval(corpus(50)) == score_interval(corpus(50)) != score_interval(corpus(50), seed=2)
    with pytest.raises(ValueError, match="10 records against 11"):
        difference_interval(corpus(10), corpus(11))
    with pytest.raises(ValueError, match="no records"):
        score_interval(tally_track1([], []))
