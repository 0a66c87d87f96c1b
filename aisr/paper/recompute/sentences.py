"""What a sentence shows by itself: percentages and means of a sample from its counts, differences whose two numbers
stand beside them ("from 71.2 to 74.4, a gain of 3.2 points"), and reported tests of significance.

That whole cases must give a percentage or mean is GRIM: Brown and Heathers (2017), "The GRIM test: a simple technique
detects numerous anomalies in the reporting of results in psychology", Social Psychological and Personality Science 8,
363–369.
"""

import math
import re
from collections.abc import Iterator
from functools import lru_cache

from aisr.paper.recompute.numbers import Fact, Interval, Label, Number, in_text, said

COUNT = r"(?:\d{1,3}(?:[,\u2009\u00a0\u202f]\d{3})+|\d+)"
PERCENT = r"(?P<percent>\d+(?:\.\d+)?)\s?(?:%|per ?cent\b)"
NOUN = r"(?:\s(?!and\b|or\b|but\b)[\w’'-]+){0,4}?"
NO = r"(?<![\w.,/–-])"
SHARES = [
    # 37 of 120 participants (30.8 %); 37 out of the 120 (30.8 %); 37/120 (30.8 %)
    re.compile(
        rf"{NO}(?P<part>{COUNT})(?:\s(?:out )?of\s(?:the |our |these |all )?|\s?/\s?)"
        rf"(?P<whole>{COUNT}){NOUN}\s?\(\s?{PERCENT}\s?\)"
    ),
    # 37 (30.8 %) of 120 participants
    re.compile(
        rf"{NO}(?P<part>{COUNT}){NOUN}\s?\(\s?{PERCENT}\s?\)\s(?:out )?of\s(?:the |our |these |all )?"
        rf"(?P<whole>{COUNT})(?![\w.,]\d|\s?%)"
    ),
    # 30.8 % (37 of 120), 30.8 % (37/120)
    re.compile(
        rf"{NO}{PERCENT}{NOUN}\s?\(\s?(?P<part>{COUNT})(?:\s(?:out )?of\s(?:the |our |these |all )?|\s?/\s?)"
        rf"(?P<whole>{COUNT}){NOUN}\s?\)"
    ),
]
OF_SAMPLE = re.compile(
    rf"{NO}{PERCENT}\sof\s(?:the |our |these |all |those )?(?P<whole>{COUNT})\s(?:\w[\w’'-]*\s){{0,2}}?"
    r"(?:participants|patients|subjects|respondents|students|users|children|adults|women|men|people|volunteers|raters"
    r"|annotators|reviewers|judges|papers|articles|studies|sentences|documents|images|questions|items|cases|samples"
    r"|records|runs|trials|nights|sites|species|genes|cells|animals|mice|rats|plants|stars|teams|systems|models)\b"
)
AVERAGED = re.compile(
    r"\b(?:average|averaged|mean|median|weighted|estimated|imputed|about|around|roughly|nearly)\b", re.I
)
MEAN = re.compile(
    r"(?<!\w)(?:M|[Mm]ean(?: rating| score)?)\s?(?:=|of|was)\s?(?P<mean>\d+\.\d{1,3})(?!\d)[^()=]{0,12}?"
    r"(?:[,;(]\s?SD\s?=\s?[\d.]+\s?)?[,;(\s]{1,3}[nN]\s?=\s?(?P<whole>\d+)(?!\d|\.\d|,\d)"
)
WHOLE = re.compile(
    r"\bLikert\b|\b(?:\d+|five|six|seven|nine|ten)[- ]point scale\b|\brat(?:ed|ings?) (?:\w+ ){0,3}?(?:from|on"
    r"|between) "
    r"(?:a )?(?:scale )?(?:of |from )?(?:0|1|one)\b|\bscale (?:of|from) (?:0|1|one) to\b",
    re.IGNORECASE,
)
SUM = re.compile(rf"{NO}(?P<parts>{COUNT}(?:\s?\+\s?{COUNT})+)\s?=\s?(?P<whole>{COUNT})(?![\w.,]\d|\s?[-+*/×^])")
PARTS = re.compile(
    rf"{NO}(?P<whole>{COUNT})\s(?P<noun>[a-z]+s)\s?\((?P<parts>{COUNT}\s(?P<by>at|from|in|on|for"
    rf"|by)\s[^();]{{2,120}})\)"
)
PART = re.compile(rf"(?:^|,\s(?:and\s)?|\sand\s)(?P<part>{COUNT})\s(?P<by>at|from|in|on|for|by)\s")


def shares(text: str) -> Iterator[Fact]:
    """Percentages whose counts stand beside them, or that a sample cannot give; sums whose parts stand beside them."""
    told: list[tuple[int, int]] = []
    for pattern in SHARES:
        for found in pattern.finditer(text):
            part, whole, places = _whole(found["part"]), _whole(found["whole"]), _places(found["percent"])
            if not whole > 0 or part > whole:
                continue
            told.append(found.span())
            exact, step = 100 * part / whole, 10**-places
            holds = abs(exact - float(found["percent"])) <= 0.5 * step + 1e-9
            # Some cut off instead of rounding, some round counts: a step beside is no fault worth an alarm.
            if holds or abs(exact - float(found["percent"])) > 1.001 * step:
                computed = f"{part:,} of {whole:,} is {said(exact, max(places, 1))} %"
                yield Fact(Label.PERCENTAGE, found[0], computed, holds)
    if not AVERAGED.search(text):
        yield from _of_samples(text, told)
    yield from _sums(text)


def means(text: str, around: str) -> Iterator[Fact]:
    """Means of whole numbers that a sample cannot have. around: the paragraph, which must say that the numbers are
    whole, such as ratings on a scale of 1 to 5."""
    told = list(MEAN.finditer(text))
    if not told or not _says_whole(around):
        return
    for found in told:
        whole, places = _whole(found["whole"]), _places(found["mean"])
        if 0 < whole < 10**places:
            near = _nearest(float(found["mean"]), whole, places)
            holds = f"{float(found['mean']):.{places}f}" in near
            computed = f"means of {whole} whole numbers near it: {' and '.join(near)}"
            yield Fact(Label.IMPOSSIBLE, found[0], computed, holds)


@lru_cache(maxsize=1)  # a paragraph may be long, and is asked about for each of its sentences
def _says_whole(around: str) -> bool:
    return WHOLE.search(around) is not None


def _of_samples(text: str, told: list[tuple[int, int]]) -> Iterator[Fact]:
    for found in OF_SAMPLE.finditer(text):
        whole, places = _whole(found["whole"]), _places(found["percent"])
        if not 1 < whole < 100 * 10**places or any(begin <= found.start() < end for begin, end in told):
            continue
        near = _nearest(float(found["percent"]), whole, places, 100)
        holds = f"{float(found['percent']):.{places}f}" in near
        computed = f"whole cases of {whole} near it: {' and '.join(f'{one} %' for one in near)}"
        yield Fact(Label.IMPOSSIBLE, found[0], computed, holds)


def _sums(text: str) -> Iterator[Fact]:
    for found in SUM.finditer(text):
        parts = [_whole(one) for one in re.findall(rf"{COUNT}", found["parts"])]
        yield _sum(found[0], parts, _whole(found["whole"]))
    for found in PARTS.finditer(text):
        pieces = list(PART.finditer(found["parts"]))
        if (
            len(pieces) > 1
            and len({one["by"] for one in pieces}) == 1
            and len(pieces) == len(re.findall(rf"{NO}{COUNT}", found["parts"]))
        ):
            yield _sum(found[0], [_whole(one["part"]) for one in pieces], _whole(found["whole"]))


def _sum(said_: str, parts: list[int], whole: int) -> Fact:
    return Fact(Label.SUM, said_, f"{' + '.join(f'{one:,}' for one in parts)} = {sum(parts):,}", sum(parts) == whole)


def _nearest(value: float, whole: int, places: int, scale: int = 1) -> list[str]:
    """The values around it that whole cases give, printed with as many digits; either way of rounding a half."""
    below = math.floor(value * whole / scale + 1e-9)
    found = []
    for cases in range(max(below - 1, 0), below + 3):
        exact = scale * cases / whole
        if abs(exact - value) <= scale / whole:
            step = 10**-places
            found += [f"{exact - 1e-9:.{places}f}", f"{exact + 1e-9:.{places}f}"] if step else []
    return list(dict.fromkeys(found))


def _whole(digits: str) -> int:
    return int(re.sub(r"\D", "", digits))


def _places(digits: str) -> int:
    return len(digits.partition(".")[2])


NUMBER = r"[+−–-]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)"
UNIT = r"\s?(?P<unit{0}>%|percent|points?|pp|ms|s|MB|GB|k|M)?(?![\w.]\d|\w)"
STEP = re.compile(
    rf"\bfrom\s(?P<first>{NUMBER}){UNIT.format(1)}\sto\s(?P<second>{NUMBER}){UNIT.format(2)}"
    r"(?P<joint>\s?[,;(–—-]*\s?(?:i\.e\.,?\s|that is,?\s|which is\s|corresponding to\s|representing\s)?(?:an?\s|the\s)?"
    r"(?:(?:absolute|relative|total|overall|further|net|large|small|mere|clear|significant|modest)\s){0,2}?(?:"
    r"(?:improvement|increase|decrease|reduction|gain|drop|rise|decline|difference|change|fall|loss)"
    r"\sof\s|by\s)?)"
    rf"(?P<hedge>about\s|around\s|nearly\s|almost\s|roughly\s|over\s|more than\s|~|≈)?(?P<amount>[+−–-]?"
    rf"(?:\d[\d,]*(?:\.\d+)?|\.\d+))"
    r"(?:\s?|-)(?P<unit>%|percentage[- ]points?|percent|points?|pp|fold|x|×|times)"
    r"(?P<behind>[\s-](?:absolute\s|relative\s)?(?:improvement|increase|decrease|reduction|gain|drop|rise|decline"
    r"|difference"
    r"|change|fall|loss|higher|lower|more|less))?"
)
JOINED = re.compile(
    r"\b(?:improvement|increase|decrease|reduction|gain|drop|rise|decline|difference|change|fall|loss)\b|\bby\s$|\($"
)


def steps(text: str) -> Iterator[Fact]:
    """Statements of a step whose ends stand right before it. The amount may be meant in points or per cent, of either
    end, and each end may be rounded."""
    for found in STEP.finditer(text):
        joined = (
            JOINED.search(found["joint"].rstrip() + " ") or found["joint"].rstrip().endswith("(") or found["behind"]
        )
        first, second, amount = (next(in_text(found[name]), None) for name in ("first", "second", "amount"))
        if found["hedge"] or not joined or first is None or second is None or amount is None:
            continue
        holds = any(one.meets(amount.interval.size()) for one in _readings(first, second, found["unit"]))
        places = max(first.places, second.places)
        computed = f"{second.text} − {first.text} = {said(second.value - first.value, places)}"
        if first.value > 0:
            computed += f", which is {said(100 * (second.value - first.value) / first.value, 1)} %"
        label = Label.RATIO if found["unit"] in ("fold", "x", "×", "times") else Label.DIFFERENCE
        yield Fact(label, found[0], computed, holds)


def _readings(first: Number, second: Number, unit: str) -> Iterator[Interval]:
    """What the step may come to in its unit, without a sign."""
    one, other = first.interval, second.interval
    if unit in ("fold", "x", "×", "times"):
        yield from (ratio for ratio in (other.over(one), one.over(other)) if ratio is not None)
        return
    apart = other.minus(one).size()
    yield apart
    if max(abs(first.value), abs(second.value)) <= 1:
        yield apart.times(100)
    if unit in ("%", "percent"):
        for base in (one, other):
            ratio = apart.over(base)
            if ratio is not None:
                yield ratio.times(100)


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
