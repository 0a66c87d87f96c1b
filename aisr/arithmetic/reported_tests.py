r"""Reported tests of significance recomputed, as statcheck does it.

Nuijten, Hartgerink, van Assen, Epskamp and Wicherts (2016), "The prevalence of statistical reporting errors in
psychology (1985–2013)", Behavior Research Methods 48, 1205–1226. Its rules: the statistic may be anything that rounds
to what is printed, so that a range of p is right; a p with "=" is rounded to its own digits before it is held against
the ends of that range; tests are two-sided, but where the paper says "one-tailed", "one-sided" or "directional", p
may be half as large; "ns" means p > .05; a p of zero is wrong.
"""

import re
from collections.abc import Iterator

from aisr.arithmetic.facts import Fact, Label
from aisr.arithmetic.numbers import Interval

VALUE = r"(?P<sense>[<>=])\s?(?P<minus>[-−–]\s?)?(?P<value>\d*\.?\d+|\d{1,3}(?:,\d{3})+(?:\.\d+)?)"
# Numbers of other kinds may stand between the statistic and its p: effect sizes, intervals.
BETWEEN = r"(?:\s?[,;]\s?(?!(?i:p)\s?[<>=])[^;()<>=]{1,20}=\s?[-−–]?\s?\d*\.?\d+){0,2}"
P = r"\s?[,;]\s?(?:(?P<ns>n\.?s\.?(?!\w))|(?i:p)\s?(?P<relation>[<>=])\s?(?P<p>\d?\.\d+(?:[eE]-?\d+)?))"
DF = r"\d+(?:\.\d+)?"
TEST = re.compile(
    rf"(?<![\w^])(?:"
    rf"(?P<t>t|r)\s?\(\s?(?P<df>{DF})\s?\)"
    rf"|(?P<f>F)\s?\(\s?(?P<df1>{DF})\s?,\s?(?P<df2>{DF})\s?\)"
    rf"|(?P<chi>(?:χ|[Cc]hi|X)\s?(?:-?squared?|\^?\s?\(?[2²]\)?))\s?\(\s?(?P<dfc>{DF})\s?(?:,\s?[Nn]\s?=\s?[\d,]+\s?)?\)"
    rf"|(?P<z>[zZ])"
    rf")\s?{VALUE}{BETWEEN}{P}"
)
ONE_SIDED = re.compile(r"\bone[- ](?:tailed|sided)\b|\bdirectional\b", re.IGNORECASE)
ALPHA = 0.05
CORRECTED = re.compile(
    r"\b(?:corrected|adjusted|Bonferroni|Holm|Greenhouse|Huynh|Welch|FDR|permutation|bootstrap\w*|Benjamini)\b",
    re.IGNORECASE,
)


def tests(text: str, one_sided: bool) -> Iterator[Fact]:
    """The tests that a text reports whole. one_sided: whether the paper speaks of such tests anywhere."""
    corrected = CORRECTED.search(text) is not None
    for found in TEST.finditer(text):
        printed = found["value"].replace(",", "")
        places = len(printed.partition(".")[2])
        size = float(printed)
        statistic = Interval(max(size - 0.5 * 10**-places, 0.0), size + 0.5 * 10**-places)
        if (found["t"] == "r" and statistic.high >= 1) or float(found["df"] or found["df1"] or found["dfc"] or 1) <= 0:
            continue  # no correlation, or no degrees of freedom
        exact = _p(found, size)
        sides = (1, 2) if one_sided and (found["t"] or found["z"]) else (1,)
        reach = Interval(_p(found, statistic.high), _p(found, statistic.low))
        holds = any(_agrees(found, reach.times(1 / side)) for side in sides)
        if not holds and corrected:
            continue  # p or the degrees of freedom were corrected by a rule that the text does not spell out
        yield Fact(Label.TEST, found[0], f"{found[0].rpartition(',')[0].strip()} gives p = {_short(exact)}", holds)


def _p(found: re.Match[str], size: float) -> float:
    """The two-sided p of a statistic of this size."""
    from scipy import stats

    if found["z"]:
        return float(2 * stats.norm.sf(size))
    if found["f"]:
        return float(stats.f.sf(size, float(found["df1"]), float(found["df2"])))
    if found["chi"]:
        return float(stats.chi2.sf(size, float(found["dfc"])))
    df = float(found["df"])
    if found["t"] == "r":
        size = size * (df / max(1 - size * size, 1e-12)) ** 0.5
    return float(2 * stats.t.sf(size, df))


def _agrees(found: re.Match[str], reach: Interval) -> bool:
    """Whether the p that is printed may belong to a statistic whose p lies in `reach`."""
    sense = found["sense"]
    relation, printed = (">", str(ALPHA)) if found["ns"] else (found["relation"], found["p"])
    p, places = float(printed), len(printed.partition(".")[2].partition("e")[0].partition("E")[0])
    if p <= 0:
        return False
    if "e" in printed.lower():
        places += abs(int(re.split("[eE]", printed)[1]))
    low, high = reach
    if sense == "=":
        return {
            "=": round(low, places) <= p <= round(high, places),
            "<": p >= low,
            ">": p <= high,
        }[relation]
    if sense == "<":  # the statistic is smaller, so that its p is larger
        return {"=": p >= round(high, places), "<": p >= high, ">": True}[relation]
    return {"=": p <= round(low, places), "<": True, ">": p <= low}[relation]


def _short(p: float) -> str:
    return f"{p:.3f}".lstrip("0") if p >= 0.001 else f"{p:.1e}"
