"""Percentages and means of a sample, from its counts alone.

That whole cases must give the value is GRIM: Brown and Heathers (2017), "The GRIM test: a simple technique detects
numerous anomalies in the reporting of results in psychology", Social Psychological and Personality Science 8, 363–369.
"""

import math
import re
from collections.abc import Iterator
from functools import lru_cache

from aisr.arithmetic.facts import Fact, Label
from aisr.arithmetic.numbers import said

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
