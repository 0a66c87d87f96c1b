"""Labels that are hardly there: a result says what hangs on them, and no choice does."""

import pytest

from aisr.metrics.intervals import survivors
from aisr.metrics.scores import Tally, value
from aisr.metrics.track1 import tally_track1
from aisr.programs.track1.record import CLAIM_LABELS

S, CAUSAL, ENTITY, SCOPE, CONTRA = CLAIM_LABELS
GOLD = [[[label]] for label in (S, CAUSAL, ENTITY, CONTRA) for _ in range(20)] + [[[SCOPE]]]


def answered(right: float, lucky: bool) -> Tally:
    """Everything right but for a share of every label, Supported instead, and the one sentence that is Scope."""
    predicted = [[types[0][0] if k % 20 < 20 * right else S] for k, types in enumerate(GOLD[:-1])]
    return tally_track1(GOLD, [*predicted, [SCOPE if lucky else S]])


def test_a_result_says_what_hangs_on_one_sentence() -> None:
    lucky, unlucky = answered(0.5, True), answered(0.5, False)
    assert lucky.report().score - unlucky.report().score > 0.1  # as the official score has it
    (remark,) = lucky.report().remarks
    assert remark.startswith(f"{SCOPE}: 1 gold statement of 81; its F1 alone moves the score by 10.0; over the other ")
    over_the_others = [float(one.report().remarks[0].rsplit(" ", 1)[1]) for one in (lucky, unlucky)]
    assert over_the_others[0] - over_the_others[1] < 2


def test_a_lucky_hit_does_not_decide_a_choice() -> None:
    lucky, better = answered(0.6, True), answered(0.7, False)
    assert value(lucky) > value(better)
    assert value(better.smoothed()) > value(lucky.smoothed())
    assert lucky.report().score == pytest.approx(value(lucky))


def test_a_race_drops_no_better_program_for_a_lucky_hit() -> None:
    lucky, better = answered(0.6, True), answered(0.9, False)
    assert 1 in survivors([lucky, better])
    assert survivors([better, lucky]) == [0]
