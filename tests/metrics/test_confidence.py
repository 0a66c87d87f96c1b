"""How sure we are: bootstrap intervals of the ranking score and of paired differences, and which candidates go on."""

from random import Random

import pytest

from aisr.metrics.intervals import Interval, difference_interval, in_words, score_interval, survivors
from aisr.metrics.scores import Tally, value
from aisr.programs.track1 import CLAIM_LABELS, TRACK1
from support.corpora import CAUSAL, CONTRA, ENTITY, SCOPE, S, draw_claims


def judge_claims(rng: Random, gold: list[list[list[str]]], right: float) -> list[list[str]]:
    """Predictions of which each is right with probability `right`, and any label otherwise."""
    return [[types[0] if rng.random() < right else rng.choice(CLAIM_LABELS) for types in row] for row in gold]


def test_a_paired_difference_is_surer_than_the_two_scores() -> None:
    gold = draw_claims(Random(5), 300)
    predicted = judge_claims(Random(6), gold, 0.7)
    better = [[types[0] for types in row] if k % 10 == 0 else predicted[k] for k, row in enumerate(gold)]
    before, after = TRACK1.score(gold, predicted), TRACK1.score(gold, better)
    result = difference_interval(after, before)
    assert result.value == pytest.approx(after.report().score - before.report().score, abs=1e-12)
    assert result.low > 0  # the gain is real, though the two intervals overlap
    assert score_interval(after).low < score_interval(before).high
    assert difference_interval(before, after).value == -result.value


def test_records_of_one_group_are_resampled_together() -> None:
    """Two hundred paragraphs in twenty groups that are as good as each other within."""
    gold = draw_claims(Random(3), 200, 2)
    predicted = [[types[0] if (k // 10) % 2 else "Contradiction" for types in row] for k, row in enumerate(gold)]
    tally = TRACK1.score(gold, predicted)
    group = [k // 10 for k in range(200)]
    alone, grouped = score_interval(tally), score_interval(tally, group=group)
    assert grouped.value == alone.value
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)
    assert score_interval(tally, group=[k // 25 for k in range(200)]) == alone  # eight groups are too few


def test_a_difference_in_words() -> None:
    for low, high, records, words in (
        (0.01, 0.2, 10, "better than A"),
        (-0.2, 0.0, 10, "no better and no worse than A"),
        (-0.2, -0.1, 10, "worse than A"),
        (0.1, 0.2, 9, "9 records are too few to tell"),
    ):
        assert in_words(Interval((low + high) / 2, low, high), records, "A") == words


def test_a_corpus_differs_from_itself_by_nothing_and_from_other_records_not_at_all() -> None:
    some, others = (TRACK1.score([[[S]]] * count, [[S]] * count) for count in (10, 11))
    assert difference_interval(some, some) == Interval(0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="10 records against 11"):
        difference_interval(some, others)
    with pytest.raises(ValueError, match="no records"):
        score_interval(TRACK1.score([], []))


# --- The race keeps the uncompiled program and the leader, drops the worse, and follows no lucky hit on a rare label


def balanced(accuracy: float, seed: int) -> Tally:
    """60 statements with as many of each label."""
    gold = [[[label]] for label in list(CLAIM_LABELS) * 12]
    return TRACK1.score(gold, judge_claims(Random(seed), gold, accuracy))


def test_the_worse_go_and_who_is_not_shown_to_be_worse_and_the_uncompiled_program_stay() -> None:
    tallies = [balanced(accuracy, seed) for seed, accuracy in enumerate((0.1, 0.9, 0.2, 0.85, 0.15, 0.1))]
    kept = survivors(tallies)
    assert kept[0] == 0
    assert 1 in kept
    assert not {2, 4, 5} & set(kept)
    alike = [balanced(0.7, seed) for seed in range(6)]  # 60 records cannot tell them apart
    assert len(survivors([tallies[0], *alike])) >= 6


GOLD = [[[label]] for label in (S, CAUSAL, ENTITY, CONTRA) for _ in range(20)] + [[[SCOPE]]]


def answered(right: float, lucky: bool) -> Tally:
    """Everything right but for a share of every label, Supported instead, and the one sentence that is Scope."""
    predicted = [[types[0][0] if k % 20 < 20 * right else S] for k, types in enumerate(GOLD[:-1])]
    return TRACK1.score(GOLD, [*predicted, [SCOPE if lucky else S]])


def test_a_result_says_what_hangs_on_one_sentence() -> None:
    lucky, unlucky = answered(0.5, True), answered(0.5, False)
    assert lucky.report().score - unlucky.report().score > 0.1  # as the official score has it
    without = TRACK1.score(GOLD[:-1], [[label] for ((label,),) in GOLD[:-1]])
    assert without.ceiling == without.report().score == 0.9
    assert "and no program can score more than 90.0 here" in without.report().remarks[0]
    (remark,) = lucky.report().remarks
    assert remark.startswith(f"{SCOPE}: 1 gold statement of 81; its F1 alone moves the score by 10.0; over the other ")
    over_the_others = [float(one.report().remarks[0].rsplit(" ", 1)[1]) for one in (lucky, unlucky)]
    assert over_the_others[0] - over_the_others[1] < 2


def test_a_result_says_that_a_program_tells_no_records_apart() -> None:
    assert TRACK1.score(GOLD, [[S]] * len(GOLD)).report().remarks[0] == "all 81 answers are Supported"
    all_right = TRACK1.score(GOLD[:20], [[S]] * 20).report().remarks
    assert not any("answers are" in remark for remark in all_right)


def test_a_lucky_hit_does_not_decide_a_choice_and_the_race_drops_no_better_program_for_it() -> None:
    lucky, better, best = answered(0.6, True), answered(0.7, False), answered(0.9, False)
    assert value(lucky) > value(better)
    assert value(better.smoothed()) > value(lucky.smoothed())
    assert lucky.report().score == pytest.approx(value(lucky))
    assert 1 in survivors([lucky, best])
    assert survivors([best, lucky]) == [0]
