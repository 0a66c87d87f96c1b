"""Golden cases of reported tests and of samples: p by scipy and by hand-checked values of statcheck's paper."""

from itertools import product

import pytest

from aisr_papers.readers.latex import read
from aisr_papers.recompute.recompute import (
    Fact,
    check_sentence,
    p_of_chi_square,
    p_of_f,
    p_of_t,
    p_of_z,
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


def test_tests_are_known_as_latex_prints_them() -> None:
    texts = [one.text for _, one in read(RECOMPUTED.with_suffix(".tex")).placed_sentences()]
    assert RECOMPUTED.read_text("utf-8").endswith(f"\n\n{recomputed(chr(10).join(texts))}")


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
