"""Reported tests of significance: whether statistic, degrees of freedom and p fit together, as statcheck tells it.

Nuijten, Hartgerink, van Assen, Epskamp and Wicherts (2016), "The prevalence of statistical reporting errors in
psychology (1985–2013)", Behavior Research Methods 48, 1205–1226.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from aisr_papers.recompute.p_values import p_of_chi_square, p_of_f, p_of_t, p_of_z

# --- What recomputing a statement of a paper gives.


class Label(StrEnum):
    """What can be wrong with a statement that was recomputed; shown to people, and part of SARIF's rule ids."""

    PERCENTAGE = "Wrong percentage"
    TEST = "Inconsistent test"


MEANINGS: Mapping[Label, str] = {
    Label.PERCENTAGE: "the counts give another percentage",
    Label.TEST: "statistic, degrees of freedom and p do not fit together (as statcheck tells it)",
}


class Outcome(StrEnum):
    """What recomputing a statement gives."""

    HOLDS = "holds"
    WRONG = "wrong"
    UNDECIDED = "not decided"  # it does not fit, but the sentence may mean something else


class Fact(NamedTuple):
    """One recomputation."""

    label: Label  # its kind, named by what would be wrong
    statement: str  # the words that were recomputed
    computed: str  # what they come to, and from what
    outcome: Outcome

    @property
    def wrong(self) -> bool:
        """Whether they disagree, whatever the statement may mean."""
        return self.outcome is Outcome.WRONG


# --- Reported tests.

# What fonts of journals turn into when a PDF is read: equals signs, less than, greater than, minus; and bounds, which
# are read as their strict forms: a p that is printed is rounded.
PLAIN = str.maketrans("¼ϭ⫽Ͻ⬍≤⩽Ͼ⬎≥⩾Ϫ⫺", "===<<<<>>>>--")
OPEN, CLOSE = r"\s?[(\[{]\s?", r"\s?[)\]}]"
DF = r"\d+(?:\.\d+)?"
VALUE = r"(?P<sense>[<>=])\s?(?:[-−–]\s?)?(?P<value>\d*\.?\d+|\d{1,3}(?:,\d{3})+(?:\.\d+)?)"
# Numbers of other kinds may stand between the statistic and its p: effect sizes, errors, intervals.
BETWEEN = r"(?:\s?[,;]\s?+(?!(?i:p)\s?[<>=])[^;()<>=]{1,20}=\s?[-−–]?\s?\d*\.?\d+){0,2}"
EXPONENT = r"\s?(?:[eE]|[×x·*]\s?10\s?\^?)\s?\(?\{?(?P<exponent>[-−–]?\d{1,3})"
P = (
    r"\s?[,;]\s?(?:(?P<ns>n\.?s\.?(?!\w))|(?i:p)\s?(?P<relation>[<>=])\s?(?P<negative>[-−–]\s?)?"
    rf"(?:(?P<p>\d{{0,3}}\.\s?\d+|\d(?=\s?[eE×x·*])|\d{{1,3}}(?!\d|[.,]\d|\s?[eE×x·*^]))(?:{EXPONENT})?"
    r"|10\s?\^?\s?\{?(?P<power>[-−–]\d{1,3})))"
)
TEST = re.compile(
    rf"(?<![\w^])(?:(?P<t>t|r)(?:{OPEN}(?P<df>{DF}){CLOSE}|_?[(]?(?P<df_index>{DF})[)]?(?!\d))"
    rf"|(?P<f>F[12]?)(?:{OPEN}(?P<df1>{DF})\s?,\s?(?P<df2>{DF}){CLOSE}"
    rf"|_?[(]?(?P<df1_index>{DF})\s?,\s?(?P<df2_index>{DF})[)]?)"
    rf"|(?:χ|[Cc]hi|[Xx])\s?(?:-?squared?|[\^_]?\s?\(?[2²]\)?){OPEN}(?P<chi>{DF})\s?"
    rf"(?:,\s?[Nn]\s?=\s?[\d,]+\s?)?{CLOSE}"
    rf"|χ(?:\^?[2²]_[(]?(?P<chi_index>{DF})[)]?|_?[(]?(?P<chi_below>{DF})[)]?\^[2²])"
    rf"|Q(?:-?(?:w|b|within|between))?{OPEN}(?P<q>{DF}){CLOSE}"
    rf"|(?P<z>[zZ]))\s?{VALUE}{BETWEEN}{P}"
)
T_DEGREES, F1_DEGREES, F2_DEGREES = ("df", "df_index"), ("df1", "df1_index"), ("df2", "df2_index")
CHI_DEGREES = ("chi", "chi_index", "chi_below", "q")
ONE_SIDED = re.compile(r"\bone[- ](?:tailed|sided)\b|\bdirectional\b", re.IGNORECASE)
ALPHA = 0.05
CORRECTED = re.compile(
    r"\b(?:corrected|adjusted|Bonferroni|Holm|Greenhouse|Huynh|Welch|FDR|permutation|bootstrap\w*|Benjamini)\b",
    re.IGNORECASE,
)


def check_tests(text: str, one_sided: bool) -> Iterator[Fact]:
    """The tests that a text reports whole. one_sided: whether the paper speaks of such tests anywhere.

    The statistic may be all that rounds to what is printed. Where the text says that p or the degrees of freedom were
    corrected, by a rule that it does not spell out, a test that does not fit is not decided.
    """
    is_corrected = CORRECTED.search(text) is not None
    for match in TEST.finditer(text.translate(PLAIN)):
        printed = match["value"].replace(",", "")
        size, half = float(printed), 0.5 * 10 ** -len(printed.partition(".")[2])
        low, high = max(size - half, 0.0), size + half
        degrees = [
            each for names in (T_DEGREES, F1_DEGREES, F2_DEGREES, CHI_DEGREES) if (each := _degrees(match, names)) >= 0
        ]
        if (match["t"] == "r" and high >= 1) or 0 in degrees:
            continue  # no correlation, or no degrees of freedom
        p, places = _printed_p(match)
        if p == 0 and (match["exponent"] or match["power"]):
            continue  # smaller than any number here
        statement = text[match.start() : match.end()]
        result = f"{match[0].rpartition(',')[0].strip() or statement} gives p = {_short(_p(match, size))}"
        if match["negative"] or p > 1:
            yield Fact(Label.TEST, statement, f"{result}; what is printed is no probability", Outcome.UNDECIDED)
            continue
        computed = _p(match, high), _p(match, low)
        sides = (1, 2) if one_sided and (match["t"] or match["z"]) else (1,)
        holds = any(_p_holds(match, p, places, computed[0] / side, computed[1] / side) for side in sides)
        # A t2 may be a point in time; a p that was corrected for many tests ends at 1.
        is_unclear = is_corrected or p == 1 or len(match["df_index"] or "10") == 1
        outcome = Outcome.HOLDS if holds else Outcome.UNDECIDED if is_unclear else Outcome.WRONG
        yield Fact(Label.TEST, statement, result, outcome)


def _degrees(match: re.Match[str], names: Sequence[str]) -> float:
    """The degrees of freedom of a test by the groups that may hold them; -1 where none does."""
    return next((float(match[name]) for name in names if match[name]), -1.0)


def _printed_p(match: re.Match[str]) -> tuple[float, int]:
    """The p of a test, and how many digits behind the point it has; "ns" is above 5 %."""
    if match["ns"]:
        return ALPHA, 2
    digits, exponent = (match["p"] or "1").replace(" ", ""), match["exponent"] or match["power"] or "0"
    power = int(exponent.replace("−", "-").replace("–", "-"))
    places = max(len(digits.partition(".")[2]) - power, 0)
    return float(f"{digits}e{power}"), max(places, 2) if digits == "1" else places


def _p(match: re.Match[str], size: float) -> float:
    """The two-sided p of a statistic of this size."""
    if match["z"]:
        return p_of_z(size)
    if match["f"]:
        return p_of_f(size, _degrees(match, F1_DEGREES), _degrees(match, F2_DEGREES))
    if (df := _degrees(match, CHI_DEGREES)) > 0:
        return p_of_chi_square(size, df)
    df = _degrees(match, T_DEGREES)
    if match["t"] == "r":
        size = size * (df / max(1 - size * size, 1e-12)) ** 0.5
    return p_of_t(size, df)


def _p_holds(match: re.Match[str], p: float, places: int, low: float, high: float) -> bool:
    """Whether the p that is printed may belong to a statistic whose p lies between two."""
    relation = ">" if match["ns"] else match["relation"]
    if p == 0:
        return False
    if match["sense"] == "=":
        return {"=": round(low, places) <= p <= round(high, places), "<": p >= low, ">": p <= high}[relation]
    if match["sense"] == "<":  # the statistic is smaller, so that its p is larger
        return {"=": p >= round(high, places), "<": p >= high, ">": True}[relation]
    return {"=": p <= round(low, places), "<": True, ">": p <= low}[relation]


def _short(p: float) -> str:
    return f"{p:.3f}".lstrip("0") if p >= 0.001 else f"{p:.1e}"
