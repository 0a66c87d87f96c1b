"""Golden cases of reported tests and of samples: p by scipy and by hand-checked values of statcheck's paper."""

from itertools import product
from pathlib import Path

import pytest

from aisr_papers.readers.latex import read
from aisr_papers.recompute.recompute import (
    Fact,
    Outcome,
    check_sentence,
    p_of_chi_square,
    p_of_f,
    p_of_t,
    p_of_z,
    recompute,
)
from paper_support.golden import RECOMPUTED, recomputed


def facts(text: str) -> list[Fact]:
    """What is recomputed of a sentence, in a paper without one-sided tests."""
    return list(check_sentence(text, one_sided=False))


def test_what_a_sentence_shows_by_itself() -> None:
    """The forms of journals and of meta-analyses that statcheck's own tests extract, or do not, and what is left of
    them in a PDF; p's that are corrected, and where tests are one-sided; counts and percentages, also behind a pointer;
    and what takes a table, or what a sentence may mean otherwise, which is left to a model."""
    golden = RECOMPUTED.read_text("utf-8")
    assert recomputed(golden) == golden, "`make golden` writes it anew"


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
