"""Golden cases of reported tests and of samples: p by scipy and by hand-checked values of statcheck's paper."""

import pytest

from aisr.paper.recompute.numbers import Fact, Label
from aisr.paper.recompute.sentences import check_sentence


def facts(text: str, one_sided: bool = False, paragraph: str = "") -> list[Fact]:
    return list(check_sentence(text, paragraph or text, one_sided))


RIGHT = [
    "t(28) = 2.20, p = .036", "t(28) = -2.20, p = .036", "t(28) = 2.20, p < .05", "t(28) = 1.20, ns",
    "F(2, 56) = 1.203, p > .05", "χ^2(2, N = 170) = 14.14, p < .01", "chi2(1) = 6.63, p = .01",
    "r(48) = .30, p = .034", "Z = 2.58, p = .01", "F(1, 30) = 4.21, MSE = 2.3, p = .049", "t(28) = 2.2, p = .04",
]  # fmt: skip
WRONG = [
    ("t(28) = 2.20, p = .02", "gives p = .036"), ("t(28) = 1.20, p < .05", ".240"),
    ("F(2, 56) = 1.20, p < .01", ".309"), ("χ2(1) = 3.84, p = .01", ".050"), ("r(48) = .30, p = .34", ".034"),
    ("z = 1.20, p < .05", ".230"), ("t(28) = 3.90, ns", "5.5e-04"), ("t(28) = 2.20, p = .000", ".036"),
]  # fmt: skip


@pytest.mark.parametrize("text", RIGHT)
def test_a_test_whose_parts_fit_holds(text: str) -> None:
    (fact,) = facts(f"Wrens sang more, {text}.")
    assert fact.holds, fact.computed


@pytest.mark.parametrize(("text", "computed"), WRONG)
def test_a_test_whose_parts_do_not_fit_is_reported(text: str, computed: str) -> None:
    (fact,) = facts(f"Wrens sang more ({text}).")
    assert (fact.label, fact.holds) == (Label.TEST, False)
    assert computed in fact.computed


def test_a_p_may_be_half_as_large_where_tests_are_one_sided_and_a_corrected_one_is_not_judged() -> None:
    assert not facts("t(28) = 2.20, p = .018")[0].holds
    assert facts("t(28) = 2.20, p = .018", one_sided=True)[0].holds
    assert not facts("F(2, 56) = 1.20, p = .15", one_sided=True)[0].holds
    assert facts("The Bonferroni-corrected test gave t(28) = 2.20, p = .11.") == []


SAMPLES = [
    ("37 of 120 participants (30.8 %) left", None),
    ("37 of 120 participants (38.0 %) left", Label.PERCENTAGE),
    ("37 (33.8%) of 120 participants left", Label.PERCENTAGE),
    ("it erred in 35 % (3/12)", Label.PERCENTAGE),
    ("25.0 % of 12 participants left", None),
    ("27.0 % of 12 participants left", Label.IMPOSSIBLE),
    ("on average, 27.0 % of 12 participants left", None),
    ("27 % of 1,200 participants left", None),
    ("on a 5-point scale they gave M = 3.48 (n = 25)", None),
    ("on a 5-point scale they gave M = 3.47 (n = 25)", Label.IMPOSSIBLE),
    ("the flights took M = 3.47 hours (n = 25)", None),
    ("12 + 18 = 30 birds", None),
    ("12 + 18 = 32 birds", Label.SUM),
    ("we recorded 108 nights (41 at Bog, 38 at Heath and 29 at Marsh)", None),
    ("we recorded 118 nights (41 at Bog, 38 at Heath and 29 at Marsh)", Label.SUM),
    ("F1 rises from 71.2 to 74.4 (+3.2 points)", None),
    ("F1 rises from 71.2 to 74.4 (+4.2 points)", Label.DIFFERENCE),
    ("errors fall from 20.0 % to 15.0 %, a reduction of 25 %", None),
    ("errors fall from 20.0 % to 15.0 %, a reduction of 35 %", Label.DIFFERENCE),
    ("the count rises from 10 to 20, a 2-fold increase", None),
    ("the count rises from 10 to 20 (3-fold)", Label.RATIO),
    ("with the rate varied from 0.1 to 0.5, accuracy drops by 3.2 points", None),
]


@pytest.mark.parametrize(("text", "label"), SAMPLES)
def test_what_a_sentence_shows_by_itself(text: str, label: Label | None) -> None:
    wrong = [fact.label for fact in facts(f"In this study, {text}.") if not fact.holds]
    assert wrong == ([label] if label else [])
