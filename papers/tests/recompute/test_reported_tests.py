"""Golden cases of reported tests and of samples: p by scipy and by hand-checked values of statcheck's paper."""

from itertools import product
from pathlib import Path

import pytest

from aisr_papers.readers.latex import read
from aisr_papers.recompute.p_values import p_of_chi_square, p_of_f, p_of_t, p_of_z
from aisr_papers.recompute.recompute import Fact, Label, Outcome, check_sentence, recompute
from paper_support.drafts import draft


def facts(text: str) -> list[Fact]:
    """What is recomputed of a sentence, in a paper without one-sided tests."""
    return list(check_sentence(text, one_sided=False))


RIGHT = [
    "t(28) = -2.20, p = .036", "t(28) = 2.20, p < .05", "t(28) = 1.20, ns",
    "F(2, 56) = 1.203, p > .05", "χ^2(2, N = 170) = 14.14, p < .01", "chi2(1) = 6.63, p = .01",
    "r(48) = .30, p = .034", "Z = 2.58, p = .01", "F(1, 30) = 4.21, MSE = 2.3, p = .049", "t(28) = 2.2, p = .04",
    "t(28) = 5.05, p = 2.4 ×10^-5", "t(28) = 5.05, p = 2.4 × 10−5", "t(28) = 5.05, p = 2.4e-5",
    "t(28) = 5.05, p < 10^-4",
]  # fmt: skip
WRONG = [
    ("t(28) = 2.20, p = .02", "gives p = .036"), ("t(28) = 1.20, p < .05", ".240"),
    ("F(2, 56) = 1.20, p < .01", ".309"), ("χ2(1) = 3.84, p = .01", ".050"), ("r(48) = .30, p = .34", ".034"),
    ("z = 1.20, p < .05", ".230"), ("t(28) = 3.90, ns", "5.5e-04"), ("t(28) = 2.20, p = .000", ".036"),
]  # fmt: skip


@pytest.mark.parametrize("text", RIGHT)
def test_a_test_whose_parts_fit_holds(text: str) -> None:
    (fact,) = facts(f"Wrens sang more, {text}.")
    assert fact.outcome is Outcome.HOLDS, fact.computed


@pytest.mark.parametrize(("text", "computed"), WRONG)
def test_a_test_whose_parts_do_not_fit_is_reported(text: str, computed: str) -> None:
    (fact,) = facts(f"Wrens sang more ({text}).")
    assert (fact.label, fact.outcome) == (Label.TEST, Outcome.WRONG)
    assert computed in fact.computed


def test_a_p_may_be_half_as_large_where_tests_are_one_sided_and_a_corrected_one_is_not_judged() -> None:
    assert facts("t(28) = 2.20, p = .018")[0].wrong
    one_sided = recompute(draft("t(28) = 2.20, p = .018.", "F(2, 56) = 1.20, p = .15.", "All tests are one-sided."))
    assert [fact.outcome for _, fact in one_sided] == [Outcome.HOLDS, Outcome.WRONG]
    (corrected,) = facts("The Bonferroni-corrected test gave t(28) = 2.20, p = .11.")
    assert corrected.outcome is Outcome.UNDECIDED


# What statcheck's own tests extract, or do not: forms of journals, of meta-analyses, and what is left of them in a PDF.
FORMS = [
    ("t(28) = 2.20, p = .03, t(28) = 1.23, p = .04", 2), ("z = 2.20, p = .03, z = 1.23, p = .04", 2),
    ("t ( 28 ) = 2.20 , p = .03", 1), ("t(43) = - 2.57, p < .05", 1), ("t(28) = 2,000.20, p = .03", 1),
    ("t(28) > 2.20, p = .03", 1), ("t(28) = 2.20, p = .5e-3", 1), ("t(28.1) = 2.20, P = .03", 1),
    ("t[28] = 2.2, p = .03", 1), ("F{2, 28} = 2.2; p = .03", 1), ("t(191) = 9.54, p <. 001", 1),
    ("F1(1, 73) = 5.41, MSE = 454009, p = .023", 1), ("chi2(1, N = 11,455) = 16.78, p <.001", 1),
    ("X2(28) = 2.20, p = .03", 1), ("x^2(28) = 2.20, p = .03", 1), ("chi_2(28) = 2.20, p = .03", 1),
    ("chi²(1, n = 81) = 3.25, p = 0.07", 1), ("Q(2) = 2.20, p = .03", 1), ("Qb(2) = 2.20, p = .03", 1),
    ("Q-within(2) = 2.20, p = .03", 1), ("t(28) ¼ 2.20, p ¼ .03", 1), ("t(28) ϭ Ϫ2.20, p Ͻ .03", 1),
    ("t(2,28) = 2.20, p = .03", 0),
    ("z(28) = 2.20, p = .03", 0), ("q(2) = 2.2, p = .03", 0), ("Qs(2) = 2.2, p = .03", 0),
    ("Qb(2, N = 187) = 2.20, p = .03", 0), ("r(16) = 26.05, p = .10", 0), ("QError(16) = .26, p = .10", 0),
    ("all ps < .05", 0), ("t(28) = 950.2, p < 10^-400", 0),
]  # fmt: skip


# As LaTeX's formulas and bounds come out of the readers, and p's that no test has.
PRINTED = [
    (r"$t_{28} = 2.20$, $p = .036$", Outcome.HOLDS), (r"$t_{28} = 2.20$, $p = .20$", Outcome.WRONG),
    (r"$t_{(28)} = 2.20$, $p \leq .05$", Outcome.HOLDS), (r"$t(28) = 2.20$, $p \leqslant .01$", Outcome.WRONG),
    (r"$F_{2,57} = 3.10$, $p = .053$", Outcome.HOLDS), (r"$F_{2, 57} = 3.10$, $p = .53$", Outcome.WRONG),
    (r"$\chi^2_{1} = 3.84$, $p = .05$", Outcome.HOLDS), (r"$\chi_{1}^{2} = 3.84$, $p = .50$", Outcome.WRONG),
    (r"$\chi^2(1) = 3.84$, $p \geq .20$", Outcome.WRONG), (r"$r_{48} = .30$, $p = .34$", Outcome.WRONG),
    ("t(28) = 2.20, p = 0", Outcome.WRONG), ("t(28) = 0.001, p = 1", Outcome.HOLDS),
    ("t(28) = 2.20, p = 1", Outcome.UNDECIDED),  # a corrected p ends there
    ("t(28) = 2.20, p = 1.03", Outcome.UNDECIDED), ("t(28) = 2.20, p = -.03", Outcome.UNDECIDED),
    ("t(28) = 2.20, p = 36", Outcome.UNDECIDED),
    ("$t_2 = 5.30$, $p = .20$", Outcome.UNDECIDED),  # a point in time?
]  # fmt: skip


@pytest.mark.parametrize(("text", "outcome"), PRINTED)
def test_tests_are_known_as_latex_prints_them(tmp_path: Path, text: str, outcome: Outcome) -> None:
    (tmp_path / "main.tex").write_text(rf"\begin{{document}}The effects were clear, {text}.\end{{document}}")
    assert [fact.outcome for _, fact in recompute(read(tmp_path / "main.tex"))] == [outcome]


@pytest.mark.parametrize(("text", "count"), FORMS)
def test_tests_are_known_in_the_forms_that_statcheck_knows(text: str, count: int) -> None:
    assert [fact.label for fact in facts(f"The effects were clear, {text}.")] == [Label.TEST] * count


@pytest.mark.parametrize(("relation", "wrong"), [("=", "011101110"), ("<", "111011001"), (">", "100110111")])
def test_a_p_beside_a_bound_is_judged_as_statcheck_judges_it(relation: str, wrong: str) -> None:
    """p of .04, .05 and .06, each beside statistics of which the p is a little off .04, .05 and .06."""
    from scipy import stats

    off = {"=": 0.0, "<": -1e-4, ">": 1e-4}[relation]
    sizes = [float(stats.t.isf(p / 2, 28)) for p in (0.04, 0.05, 0.06)]
    texts = [
        f"t(28) = {size + (off if row == column else 0)}, p {relation} {p}"
        for row, p in enumerate(("= .04", "= .05", "= .06"))
        for column, size in enumerate(sizes)
    ]
    texts = [text.replace(f"{relation} =", relation) for text in texts]
    assert "".join(str(int(facts(text)[0].wrong)) for text in texts) == wrong


SAMPLES = [
    ("37 of 120 participants (38.0 %) left", Label.PERCENTAGE),
    ("37 (33.8%) of 120 participants left", Label.PERCENTAGE),
    ("it erred in 35 % (3/12)", Label.PERCENTAGE),
    ("it failed in 1 of 1 000 (0.1 %)", None),
    ("of 120 participants, 37 (33.8 %) left", Label.PERCENTAGE),
    ("it met 2 of 10 million (0.1 %)", None),
    ("Fold 3 of 10 (35 %) was the best", None),
    ("it got 3 of 5 stars (45 %)", None),
    ("31 % of 12 to 15 raters agreed", None),
    # what takes a table, or what a sentence may mean otherwise, is left to a model
    ("12 + 18 = 32 birds", None),
    ("F1 rises from 71.2 to 74.4 (+4.2 points)", None),
]


@pytest.mark.parametrize(("text", "label"), SAMPLES)
def test_what_a_sentence_shows_by_itself(text: str, label: Label | None) -> None:
    wrong = [fact.label for fact in facts(f"In this study, {text}.") if fact.wrong]
    assert wrong == ([label] if label else [])


@pytest.mark.parametrize(
    "text",
    [
        "In Table 3, 37 of 120 participants (45.8 %) left.",
        "As shown in Figure 2, 12 of 30 (50.0 %) left.",
        "Of the 120 birds in Table 1, 37 (45.8 %) left.",
        "From Section 2 and 37 of 120 (45.8 %) it follows.",
    ],
)
def test_counts_behind_a_pointer_are_checked(text: str) -> None:
    assert [fact.label for _, fact in recompute(draft(text)) if fact.wrong] == [Label.PERCENTAGE]


# --- p values as SciPy has them, from degrees of freedom below one to millions, and from 1 down to 1e-200

SIZES = (0.0, 0.01, 0.3, 1.0, 1.96, 3.5, 7.0, 15.0, 30.0, 1e3)
DEGREES = (0.5, 1, 2, 5.5, 28, 99, 1e3, 12345.6, 1e6)


@pytest.mark.parametrize("size", SIZES)
def test_they_are_those_of_scipy(size: float) -> None:
    from scipy import stats

    pairs = [(p_of_z(size), 2 * stats.norm.sf(size))]
    for df in DEGREES:
        pairs += [(p_of_t(size, df), 2 * stats.t.sf(size, df)), (p_of_chi_square(size, df), stats.chi2.sf(size, df))]
        pairs.append((p_of_chi_square(df * 0.9, df), stats.chi2.sf(df * 0.9, df)))
    pairs += [(p_of_f(size, *dfs), stats.f.sf(size, *dfs)) for dfs in product(DEGREES, DEGREES)]
    for ours, theirs in pairs:
        assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-200)
