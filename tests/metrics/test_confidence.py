"""How sure we are: intervals of the ranking score and of paired differences, and which candidates go on."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from aisr.metrics.intervals import difference_interval, in_words, score_interval
from aisr.metrics.scores import MeanScores, Tally, value
from aisr.optimize.race import survivors
from aisr.programs.track1 import CLAIM_LABELS, TRACK1
from support.corpora import CAUSAL, CONTRA, ENTITY, SCOPE, S, draw_claims


def judge_claims(rng: Random, gold: list[list[list[str]]], right: float) -> list[list[str]]:
    """Predictions of which each is right with probability `right`, and any label otherwise."""

    def label(types: list[str]) -> str:
        return types[0] if rng.random() < right else rng.choice(CLAIM_LABELS)

    return [list(map(label, row)) for row in gold]


def test_a_paired_difference_is_surer_than_the_two_scores() -> None:
    gold = draw_claims(Random(5), 300)
    predicted = judge_claims(Random(6), gold, 0.7)
    better = [[types[0] for types in row] if k % 10 == 0 else predicted[k] for k, row in enumerate(gold)]
    before, after = TRACK1.score(gold, predicted), TRACK1.score(gold, better)
    result = difference_interval(after, before)
    assert result.value == pytest.approx(after.corpus_score().score - before.corpus_score().score, abs=1e-12)
    assert result.low > 0  # the gain is real, though the two intervals overlap
    assert score_interval(after).low < score_interval(before).high
    assert in_words(result, "A") == "better than A"
    reverse = difference_interval(before, after)
    assert reverse.value == -result.value
    assert in_words(reverse, "A") == "worse than A"


def test_records_of_one_group_say_less_than_as_many_of_others() -> None:
    """Two hundred paragraphs in twenty groups that are as good as each other within."""
    gold = draw_claims(Random(3), 200, 2)
    group = np.arange(200) // 10
    right = [[types[0] for types in row] for row in gold]
    wrong = [["Contradiction"] * len(row) for row in gold]
    tally = TRACK1.score(gold, [(wrong, right)[number % 2][k] for k, number in enumerate(group)])
    alone, grouped = score_interval(tally), score_interval(tally, group=group)
    assert grouped.value == alone.value
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)


def shares(*right: float) -> MeanScores:
    return MeanScores(np.array(right, dtype=np.float64))


@pytest.mark.parametrize("groups", [4, 9, 10, 30, 100])
def test_all_right_is_no_certainty(groups: int) -> None:
    """The lower end is no higher than that of the exact interval (Clopper & Pearson 1934), papers of one or ten."""
    for size in (1, 10):
        group = [k // size for k in range(groups * size)]
        right, wrong = (score_interval(shares(*[share] * len(group)), group) for share in (1.0, 0.0))
        assert right.high == right.value == 1
        assert 0 < right.low < 0.025 ** (1 / groups)
        assert wrong == pytest.approx((0, 0, 1 - right.low))
    one_wrong = score_interval(shares(0.0, *[1.0] * (len(group) - 1)), group)
    assert one_wrong.low < right.low + 2 / groups  # to get one wrong makes nobody much surer


@pytest.mark.parametrize("size", [1, 100])
def test_a_group_more_moves_an_interval_by_no_more_than_a_tenth(size: int) -> None:
    intervals = [
        score_interval(shares(*np.arange(n * size) // size % 2), np.arange(n * size) // size) for n in range(1, 40)
    ]
    for n, (one, other) in enumerate(pairwise(intervals), 1):
        step = max(abs(one.low - other.low), abs(one.high - other.high)) / (one.high - one.low)
        assert step < (0.1 if n >= 8 else 0.11)  # before that the share itself moves by 7 points
    assert [str(one).endswith("for an interval)") for one in intervals[:5]] == [True] * 4 + [False]


def test_too_few_groups_say_so_and_decide_nothing() -> None:
    few = [0, 1] * 50
    better, worse = shares(*[1.0] * 100), shares(*[0.0] * 100)
    for group in (few, [0] * 100, [*range(4), *[4] * 96]):  # the last: one paper with nearly all claims
        assert str(score_interval(better, group)) == "100.0 (too few independent records for an interval)"
        gain = difference_interval(better, worse, group)
        assert gain.low < 0
        assert in_words(gain, "A") == "too few independent records to tell"


@pytest.mark.parametrize("groups", [10, 27, 100])
def test_equal_answers_are_no_proof_of_equal_programs(groups: int) -> None:
    some = TRACK1.score([[[S]]] * 3 * groups, [[S]] * 3 * groups)
    same = difference_interval(some, some, [*range(groups)] * 3)
    assert (same.value, same.low) == pytest.approx((0, -same.high))
    assert same.high == pytest.approx(1 - 0.05 ** (1 / groups), rel=0.1)  # the rule of three
    assert in_words(same, "A") == "no better and no worse than A"


def test_the_order_of_records_changes_no_digit() -> None:
    draw = np.random.default_rng(4)
    after, before, group = draw.random(60), draw.random(60), draw.integers(0, 20, 60)
    weights = draw.random(60)
    intervals = set()
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(60)
        one, other = MeanScores(after[order]), MeanScores(before[order])
        intervals.add(
            (
                score_interval(one.weighted(weights[order].tolist()), group[order]),
                difference_interval(one, other, group[order]),
            )
        )
    assert len(intervals) == 1


def test_weights_of_records_are_those_of_copies_and_make_no_records() -> None:
    draw = np.random.default_rng(5)
    right, weights = shares(*draw.integers(0, 2, 40)), draw.integers(1, 4, 40).tolist()
    copies = shares(*np.repeat(right.values, weights))
    weighted = score_interval(right.weighted(weights))
    assert weighted == pytest.approx(score_interval(copies, np.repeat(np.arange(40), weights)), abs=0.02)
    assert score_interval(right.weighted([7 * weight for weight in weights])) == pytest.approx(weighted)
    assert score_interval(right.weighted([1] * 40)) == score_interval(right)
    assert "too few" in str(score_interval(right.weighted([1] * 2 + [1e-6] * 38)))


def test_what_has_no_interval_says_why() -> None:
    some, others = shares(1, 0), shares(1, 0, 1)
    with pytest.raises(ValueError, match="2 records against 3"):
        difference_interval(some, others)
    with pytest.raises(ValueError, match="no records"):
        score_interval(shares())
    with pytest.raises(ValueError, match="the score of 2 records is nan; expected a number"):
        score_interval(shares(1, np.nan))


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
    assert survivors(tallies, [k % 9 for k in range(60)]) == list(range(6))  # nine groups are too few to say
    assert not {2, 4, 5} & set(survivors(tallies, [k % 10 for k in range(60)]))


def test_the_race_draws_whole_groups() -> None:
    """Six records that the leader alone has right are proof enough, unless they are one paper of ten."""
    leader, other = shares(*[1.0] * 60), shares(*[0.0] * 6, *[1.0] * 54)
    assert survivors([leader, other], list(range(60))) == survivors([leader, other]) == [0]
    assert survivors([leader, other], [k // 6 for k in range(60)]) == [0, 1]


GOLD = [[[label]] for label in (S, CAUSAL, ENTITY, CONTRA) for _ in range(20)] + [[[SCOPE]]]


def answered(right: float, lucky: bool) -> Tally:
    """Everything right but for a share of every label, Supported instead, and the one sentence that is Scope."""
    hits = round(20 * right)
    predicted = [label for label in (S, CAUSAL, ENTITY, CONTRA) for label in [label] * hits + [S] * (20 - hits)]
    return TRACK1.score(GOLD, [[label] for label in [*predicted, SCOPE if lucky else S]])


def test_a_result_says_what_hangs_on_one_sentence() -> None:
    lucky, unlucky = answered(0.5, True), answered(0.5, False)
    assert lucky.corpus_score().score - unlucky.corpus_score().score > 0.1  # as the official score has it
    without = TRACK1.score(GOLD[:-1], [[label] for ((label,),) in GOLD[:-1]])
    assert without.ceiling == without.corpus_score().score == 0.9
    assert "and no program can score more than 90.0 here" in without.corpus_score().remarks[0]
    (remark,) = lucky.corpus_score().remarks
    assert remark.startswith(f"{SCOPE}: 1 gold statement of 81; its F1 alone moves the score by 10.0; over the other ")
    over_the_others = [float(one.corpus_score().remarks[0].rsplit(" ", 1)[1]) for one in (lucky, unlucky)]
    assert over_the_others[0] - over_the_others[1] < 2


def test_a_result_says_that_a_program_tells_no_records_apart() -> None:
    assert TRACK1.score(GOLD, [[S]] * len(GOLD)).corpus_score().remarks[0] == "all 81 answers are Supported"
    all_right = TRACK1.score(GOLD[:20], [[S]] * 20).corpus_score().remarks
    assert not any("answers are" in remark for remark in all_right)


def test_a_lucky_hit_does_not_decide_a_choice_and_the_race_drops_no_better_program_for_it() -> None:
    lucky, better, best = answered(0.6, True), answered(0.7, False), answered(0.9, False)
    assert value(lucky) > value(better)
    assert value(better.smoothed()) > value(lucky.smoothed())
    assert lucky.corpus_score().score == pytest.approx(value(lucky))
    assert 1 in survivors([lucky, best])
    assert survivors([best, lucky]) == [0]
