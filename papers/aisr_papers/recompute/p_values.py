"""p values of test statistics, without SciPy, which takes as much room (143 MB) as all else that a check without a
language model installs.

The continued fractions and the series are those of Press et al., Numerical Recipes (3rd edition), sections 6.2 and 6.4.
"""

import math
from collections.abc import Callable

STEPS = 10_000  # of a fraction or a series; those of degrees of freedom in the millions end within a few thousand
PRECISION = 1e-15
TINY = 1e-300  # in the place of a zero that would be divided by
MOST_DF = 1e7  # there the distributions have reached their limits, and above 1e300 `lgamma` overflows


def p_of_z(z: float) -> float:
    """The two-sided p of a standard normal statistic."""
    return math.erfc(abs(z) / math.sqrt(2))


def p_of_t(t: float, df: float) -> float:
    """The two-sided p of Student's t."""
    df = min(df, MOST_DF)
    return _beta(df / 2, 0.5, df / (df + t * t))


def p_of_f(f: float, df1: float, df2: float) -> float:
    """The upper p of an F ratio, which is 0 or larger."""
    df1, df2 = min(df1, MOST_DF), min(df2, MOST_DF)
    return _beta(df2 / 2, df1 / 2, df2 / (df2 + df1 * f))


def p_of_chi_square(x: float, df: float) -> float:
    """The upper p of a chi-square statistic, which is 0 or larger."""
    a, x = min(df, MOST_DF) / 2, x / 2
    if x <= 0:
        return 1.0
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x >= a + 1:
        return scale * _fraction(x + 1 - a, lambda k: (-k * (k - a), x + 1 - a + 2 * k))
    term = total = 1 / a
    for k in range(1, STEPS):
        term *= x / (a + k)
        total += term
        if term < total * PRECISION:
            break
    return 1 - scale * total


def _beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function, x in 0-1."""
    if not 0 < x < 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)
    scale = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))

    def terms(k: int) -> tuple[float, float]:
        m = k // 2
        if k % 2:
            return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), 1.0
        return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), 1.0

    return scale / a * _fraction(1.0, terms)


def _fraction(first: float, terms: Callable[[int], tuple[float, float]]) -> float:
    """1 / (b0 + a1 / (b1 + a2 / …)), by the modified Lentz method. first: b0; terms: a and b of step 1, 2, …"""
    above = 1 / (first or TINY)
    ratio = 1 / TINY
    total = above
    for k in range(1, STEPS):
        a, b = terms(k)
        above = 1 / ((a * above + b) or TINY)
        ratio = (b + a / ratio) or TINY
        total *= above * ratio
        if abs(above * ratio - 1) < PRECISION:
            break
    return total
