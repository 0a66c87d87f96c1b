"""Differences whose two numbers stand in the same sentence: "from 71.2 to 74.4, a gain of 3.2 points"."""

import re
from collections.abc import Iterator

from aisr.arithmetic.facts import Fact, Label
from aisr.arithmetic.numbers import Interval, Number, in_text, said

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
