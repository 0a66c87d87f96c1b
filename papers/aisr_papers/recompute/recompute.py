"""What the sentences and captions of a paper show by themselves: whether statistic, degrees of freedom and p of a test
fit together, as statcheck tells it, and a percentage and its counts.

Nuijten, Hartgerink, van Assen, Epskamp and Wicherts (2016), "The prevalence of statistical reporting errors in
psychology (1985–2013)", Behavior Research Methods 48, 1205–1226.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from aisr_papers.citations import find_marks
from aisr_papers.draft import Draft, Sentence
from aisr_papers.recompute.numbers import POINTED


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
    """One recomputation of a sentence."""

    label: Label  # its kind, named by what would be wrong
    statement: str  # the words that were recomputed
    computed: str  # what they come to, and from what
    outcome: Outcome

    @property
    def wrong(self) -> bool:
        """Whether they disagree, whatever the statement may mean."""
        return self.outcome is Outcome.WRONG


Position = tuple[int, int]  # of a paragraph in the draft, and of a sentence in that
# Its numbers are no results. One number alone: what follows "Table 3, " may be a count.
POINTER = re.compile(POINTED, re.IGNORECASE)
DEGREES = re.compile(r"(?<!\w)[tFrQ]$")  # what stands before [28] as degrees of freedom, and no citation
LONGEST = 2_000  # characters of a sentence; a longer one is no prose


def recompute(draft: Draft) -> list[tuple[Position, Fact]]:
    """Return all facts of a draft, in its order, whether they hold, are wrong or could not be decided. The captions of
    a draft are paragraphs like others, see `add_captions`."""
    prose = {position: one.text for position, one in draft.placed_sentences() if _is_prose(one)}
    one_sided = any(map(ONE_SIDED.search, prose.values()))
    return [
        (position, fact)
        for position, text in prose.items()
        for fact in dict.fromkeys(check_sentence(blank_pointers(text), one_sided))
    ]


def count_read(draft: Draft) -> int:
    """Return how many sentences are read."""
    return sum(_is_prose(one) for _, one in draft.placed_sentences())


def too_long(draft: Draft) -> list[Sentence]:
    """Return the sentences that a reader sees and that are not read."""
    return [one for _, one in draft.placed_sentences() if not one.hidden and not _is_prose(one)]


def _is_prose(sentence: Sentence) -> bool:
    return not sentence.hidden and len(sentence.text) <= LONGEST


def blank_pointers(text: str) -> str:
    """Return a sentence in which citations and pointers to floats and sections are blank, every character at its
    place."""
    for mark in find_marks(text):
        if not mark.textual and not DEGREES.search(text[: mark.start]):
            text = text[: mark.start] + " " * (mark.end - mark.start) + text[mark.end :]
    return POINTER.sub(lambda match: " " * len(match[0]), text)


def check_sentence(text: str, one_sided: bool) -> Iterator[Fact]:
    """Return all that can be recomputed from a sentence alone. one_sided: whether the paper speaks of one-sided
    tests."""
    yield from check_tests(text, one_sided)
    for pattern in SHARES:
        for match in pattern.finditer(text):
            yield from _check_share(text, match)


# --- Reported tests.

# What fonts of journals turn into when a PDF is read: equals signs, less than, greater than, minus; and bounds, which
# are read as their strict forms: a p that is printed is rounded.
PLAIN = str.maketrans("¼ϭ⫽Ͻ⬍≤⩽Ͼ⬎≥⩾Ϫ⫺", "===<<<<>>>>--")
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
POWER = re.compile("(?<=10)[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}")  # behind another number, these are marks of footnotes
OPEN, CLOSE = r"\s?[(\[{]\s?", r"\s?[)\]}]"
THOUSANDS = r"\d{1,3}(?:[, \u00a0\u2009\u202f]\d{3})+(?:\.\d+)?(?![\d.,]?\d)"
DF = rf"(?:{THOUSANDS}|\d+(?:\.\d+)?)"
DF1 = r"\d+(?:\.\d+)?"  # F(1,204) has 1 and 204 degrees of freedom
VALUE = r"(?P<sense>[<>=])\s?(?:[-−–]\s?)?(?P<value>\d*\.?\d+|\d{1,3}(?:,\d{3})+(?:\.\d+)?)"
# Numbers of other kinds may stand between the statistic and its p: effect sizes, errors, intervals.
BETWEEN = r"(?:\s?[,;]\s?+(?!(?i:p)\s?[<>=])[^;()<>=]{1,20}=\s?[-−–]?\s?\d*\.?\d+){0,2}"
EXPONENT = r"\s?(?:[eE]|[×x·⋅*]\s?10\s?\^?)\s?\(?\{?(?P<exponent>[-−–+]?\d{1,3})"
P = (
    r"\s?[,;]\s?(?:(?P<ns>n\.?s\.?(?!\w))|(?i:p)\s?(?P<relation>[<>=])\s?(?P<negative>[-−–]\s?)?"
    r"(?:10\s?\^?\s?\{?(?P<power>[-−–]\d{1,3})"
    rf"|(?P<p>\d{{0,3}}\.\s?\d+|\d{{1,3}}(?=\s?[eE×x·⋅*])|\d{{1,3}}(?!\d|[.,]\d|\s?[eE×x·⋅*^]))(?:{EXPONENT})?))"
)
TEST = re.compile(
    rf"(?<![\w^])(?:(?P<t>t|r)(?:{OPEN}(?P<df>{DF}){CLOSE}|_?[(]?(?P<df_index>{DF})[)]?(?!\d))"
    rf"|(?P<f>F[12]?)(?:{OPEN}(?P<df1>{DF1})\s?,\s?(?P<df2>{DF}){CLOSE}"
    rf"|_?[(]?(?P<df1_index>{DF1})\s?,\s?(?P<df2_index>{DF})[)]?)"
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
    """Return the tests that a text reports whole. one_sided: whether the paper speaks of such tests anywhere.

    The statistic may be all that rounds to what is printed. Where the text says that p or the degrees of freedom were
    corrected, by a rule that it does not spell out, a test that does not fit is not decided.
    """
    is_corrected = CORRECTED.search(text) is not None
    plain = POWER.sub(lambda power: power[0].translate(RAISED), text.translate(PLAIN))
    for match in TEST.finditer(plain):
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
        result = f"{match[0][: match.end('value') - match.start()]} gives p = {_short(_p(match, size))}"
        if match["negative"] or p > 1:
            yield Fact(Label.TEST, statement, f"{result}; what is printed is no probability", Outcome.UNDECIDED)
            continue
        computed = _p(match, high), _p(match, low)
        sides = (1, 2) if one_sided and (match["t"] or match["z"]) else (1,)
        holds = any(_p_holds(match, p, places, computed[0] / side, computed[1] / side) for side in sides)
        # A t2 may be a point in time; a p that was corrected for many tests ends at 1.
        is_unclear = is_corrected or p == 1 or len(match["df_index"] or "10") == 1
        is_unclear |= "," in (match["chi"] or "")  # 1,204 may be 1 degree of freedom of 204 people
        outcome = Outcome.HOLDS if holds else Outcome.UNDECIDED if is_unclear else Outcome.WRONG
        yield Fact(Label.TEST, statement, result, outcome)


def _degrees(match: re.Match[str], names: Sequence[str]) -> float:
    """Return the degrees of freedom of a test by the groups that may hold them; -1 where none does."""
    return next((float(re.sub(r"[,\s]", "", match[name])) for name in names if match[name]), -1.0)


def _printed_p(match: re.Match[str]) -> tuple[float, int]:
    """Return the p of a test, and how many digits behind the point it has; "ns" is above 5 %."""
    if match["ns"]:
        return ALPHA, 2
    digits, exponent = (match["p"] or "1").replace(" ", ""), match["exponent"] or match["power"] or "0"
    power = int(exponent.replace("−", "-").replace("–", "-"))
    places = max(len(digits.partition(".")[2]) - power, 0)
    return float(f"{digits}e{power}"), max(places, 2) if digits == "1" else places


def _p(match: re.Match[str], size: float) -> float:
    """Return the two-sided p of a statistic of this size."""
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
    """Return whether the p that is printed may belong to a statistic whose p lies between two."""
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


# --- Percentages beside their counts.

COUNT = r"(?:\d{1,3}(?:[, \u2009\u00a0\u202f]\d{3})+(?!\d)|\d+)"
PERCENT = r"(?P<percent>\d+(?:\.\d+)?)\s?(?:%|per ?cent\b)"
# No "2 of 10 million", and no "3 of 5 stars".
NOUN = r"(?!\s?(?:[kKM]\b|thousand|million|billion|stars?\b|points?\b|scale))(?:\s(?!and\b|or\b|but\b)[\w’'-]+){0,4}?"
NO = r"(?<![\w.,/–-])"
OF = r"(?:\s(?:out )?of\s(?:the |our |these |all )?|\s?/\s?)"
AMONG = rf"\b(?:[Oo]f|[Aa]mong)\s(?:the |our |these |all )?(?P<whole>{COUNT})\s[^.;:()%\d]{{3,60}}?,\s"
SHARES = [
    # 37 of 120 participants (30.8 %); 37 out of the 120 (30.8 %); 37/120 (rate = 30.8 %); 37/120 = 30.8 %
    re.compile(
        rf"{NO}(?P<part>{COUNT}){OF}(?P<whole>{COUNT})(?:{NOUN}\s?\(\s?(?:[\w-]{{1,20}}\s?=\s?)?{PERCENT}\s?\)"
        rf"|\s?=\s?(?P<equal>\d+(?:\.\d+)?)\s?%)"
    ),
    # 37 (30.8 %) of 120 participants
    re.compile(
        rf"{NO}(?P<part>{COUNT}){NOUN}\s?\(\s?{PERCENT}\s?\)\s(?:out )?of\s(?:the |our |these |all )?"
        rf"(?P<whole>{COUNT})(?![\w.,]\d|\s?%)(?!\s?(?:[kKM]\b|thousand|million|billion))"
    ),
    # 30.8 % (37 of 120), 30.8 % (37/120)
    re.compile(rf"{NO}{PERCENT}{NOUN}\s?\(\s?(?P<part>{COUNT}){OF}(?P<whole>{COUNT}){NOUN}\s?\)"),
    # (37/120 left, 30.8 %)
    re.compile(rf"\((?P<part>{COUNT})\s?/\s?(?P<whole>{COUNT}){NOUN},\s{PERCENT}\s?\)"),
    # of 120 participants, 37 (30.8 %) left; of the 120, 30.8 % (37) left
    re.compile(rf"{AMONG}(?P<part>{COUNT})\s?\(\s?{PERCENT}\s?\)"),
    re.compile(rf"{AMONG}{PERCENT}\s?\(\s?(?P<part>{COUNT})\s?\)"),
]
# "Fold 3 of 10 (85 %)" is the third fold.
RANK = re.compile(
    r"\b(?:fold|step|part|days?|week|round|phase|level|item|question|chapter|layer|epoch|seed|stage|grade|rank|page|run"
    r"|trial|number|no\.|version|iteration|batch|task|split|experiment|study|rated|rating(?: of)?|scores?|scored"
    r"|median|mean|top|best)\s$",
    re.IGNORECASE,
)
SLIP = 2.0  # times by which a percentage may be off to be a slip; what is farther off is another quantity


def _check_share(text: str, match: re.Match[str]) -> Iterator[Fact]:
    """Return a percentage whose counts stand beside it."""
    percent = match["percent"] or match["equal"]
    part, whole, places = _whole(match["part"]), _whole(match["whole"]), len(percent.partition(".")[2])
    if whole == 0 or part > whole or RANK.search(text[: match.start("part")]):
        return
    exact, step, printed = 100 * part / whole, 10**-places, float(percent)
    off = abs(exact - printed)
    holds = off <= 0.5 * step + 1e-9
    small, large = sorted((exact, printed))
    # Some cut off instead of rounding, some round counts: a step beside is no fault worth an alarm.
    is_slip = off > 1.001 * step and large <= small * SLIP
    computed = f"{part:,} of {whole:,} is {exact:,.{max(places, 1)}f} %"
    outcome = Outcome.HOLDS if holds else Outcome.WRONG if is_slip else Outcome.UNDECIDED
    yield Fact(Label.PERCENTAGE, match[0], computed, outcome)


def _whole(digits: str) -> int:
    return int(re.sub(r"\D", "", digits))


# --- p values of test statistics, without SciPy, which takes as much room (143 MB) as all else that a check without a
# language model installs. The continued fractions and the series are those of Press et al., Numerical Recipes (3rd
# edition), sections 6.2 and 6.4.

STEPS = 10_000  # of a fraction or a series; those of degrees of freedom in the millions end within a few thousand
PRECISION = 1e-15
TINY = 1e-300  # in the place of a zero that would be divided by
MOST_DF = 1e7  # there the distributions have reached their limits, and above 1e300 `lgamma` overflows


def p_of_z(z: float) -> float:
    """Return the two-sided p of a standard normal statistic."""
    return math.erfc(abs(z) / math.sqrt(2))


def p_of_t(t: float, df: float) -> float:
    """Return the two-sided p of Student's t."""
    df = min(df, MOST_DF)
    return _beta(df / 2, 0.5, df / (df + t * t))


def p_of_f(f: float, df1: float, df2: float) -> float:
    """Return the upper p of an F ratio, which is 0 or larger."""
    df1, df2 = min(df1, MOST_DF), min(df2, MOST_DF)
    return _beta(df2 / 2, df1 / 2, df2 / (df2 + df1 * f))


def p_of_chi_square(x: float, df: float) -> float:
    """Return the upper p of a chi-square statistic, which is 0 or larger."""
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
    """Return the regularized incomplete beta function, x in 0-1."""
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
