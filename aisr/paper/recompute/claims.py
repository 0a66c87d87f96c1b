"""What a sentence says of two things' numbers: by how much one is larger, how many times, and which is."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from aisr.paper.recompute.numbers import WORDS, Number, in_text

Unit = Literal["points", "percent", "times", "share", "plain"]
Sense = Literal["more", "less", "better", "worse", ""]

UNIT = re.compile(
    r"\s?(?:-|‑)?(?:(?P<points>percentage[- ]points?|%[- ]?points?|points?|pts?|pp)(?!\w)"
    r"|(?P<percent>%|per ?cent(?!\w))"
    r"|(?P<times>times(?!\w)|[x×](?!\w)|-?\s?fold(?!\w)))"
)
OF_WHAT = r"(?:\s(?:of|in|on)\s(?:[\w-]+\s?){1,3}?|\s[A-Z][\w-]*)?"
COMPARED = (
    r"(?P<more>more|higher|greater|larger|above|longer|increase[sd]?|rises?)"
    r"|(?P<less>less|lower|fewer|smaller|below|shorter|decrease[sd]?|reduction|drop|faster|slower)"
    r"|(?P<better>better|ahead|improvements?|gains?|advantage|lead|boost)"
    r"|(?P<worse>worse|behind|degradation|loss)"
    r"|(?P<apart>apart|difference|gap|margin)"
)
AFTER = re.compile(rf"{OF_WHAT}[\s-](?:absolute\s|relative\s|point\s)?(?:{COMPARED})(?!\w)")
TO_BY = r"(?:\s(?!and\b|but\b|while\b|from\b)[\w’'()-]+){0,6}?\sby\s(?:[a-z]+\s){0,2}?$"
BEFORE = [
    re.compile(
        r"\b(?:(?P<better>improv\w+|outperform\w*|surpass\w*|beat(?:s|en|ing)?|ahead|leads?)"
        r"|(?P<more>exceed\w*|increas\w+|rais\w+|higher|rises?|rose|grow\w*|boost\w*)"
        r"|(?P<less>decreas\w+|reduc\w+|lower\w*|drop\w*|falls?|fell|declin\w+)"
        rf"|(?P<worse>degrad\w+|hurts?|behind|trail\w*|lags?)){TO_BY}"
    ),
    re.compile(
        r"\b(?:(?P<better>gains?|improvements?|advantage|lead|boost)|(?P<more>increase|rise)|(?P<less>drop|decrease|"
        r"reduction|decline)|(?P<worse>loss|degradation)|(?P<apart>difference|gap|margin))"
        r"(?:\s(?!and\b|but\b|while\b|from\b)[\w’'()-]+){0,9}?\s(?:of|is|was)\s(?:[a-z]+\s){0,2}?$"
    ),
    re.compile(r"\b(?P<apart>worth|costs?(?:\s(?:most|least|only|us))?,?)\s(?:[a-z]+\s){0,1}?$"),
]
SHARE = re.compile(
    r"\s(?:of\s(?:the\s[\w-]+\s(?:of|that|which)|that of|what|those of)|as\s(?:many|much|long|large|high))\b"
)
FACTOR = re.compile(r"\bfactor of\s(?:[a-z]+\s)?$")
HEDGE = re.compile(
    r"(?:\b(?P<near>about|around|approximately|roughly|nearly|almost|some|close to|circa|ca\.?)|(?P<sign>[~≈∼])"
    r"|\b(?P<least>over|more than|at least|greater than|above|exceeding|well over|upwards of|beyond)"
    r"|\b(?P<most>up to|at most|less than|under|below|fewer than|within|as much as|as many as|no more than"
    r"|as high as))\s?(?:an?\s)?$"
)
TIMES = {
    "twice": 2.0, "double": 2.0, "doubles": 2.0, "doubled": 2.0, "doubling": 2.0, "thrice": 3.0, "triple": 3.0,
    "triples": 3.0, "tripled": 3.0, "half": 0.5, "halves": 0.5, "halved": 0.5, "halving": 0.5,
}  # fmt: skip
TIMES_WORD = re.compile(
    r"\b(?:(?P<word>twice|thrice|(?:doubl|tripl)(?:e[sd]?|ing)|halv(?:e[sd]|ing)"
    r"|half(?=\s(?:as\b|of (?:the|what|that)\b|the\b|that\b)))"
    r"|(?P<count>two|three|four|five|six|seven|eight|nine|ten)\stimes(?=\s(?:as|more|higher|larger|faster|slower|fewer"
    r"|less|smaller|better|longer|the)\b))"
)
# Which of two is the larger or better one: `than`, `over` and their kin stand right before the second.
ORDER = re.compile(
    r"\b(?:(?P<better>outperform(?:s|ed)?(?! by)|beats?|surpass(?:es|ed)?(?! by)|(?:is|are|was|were) (?:\w+ )?ahead of"
    r"|(?:is|are|was|were|performs?|does|do) (?:[\w-]+ ){0,2}?better than|(?:is|are) superior to)"
    r"|(?P<worse>(?:is|are|was|were|performs?|does|do) (?:[\w-]+ ){0,2}?worse than|underperform(?:s|ed)?(?! by)"
    r"|(?:is|are|was|were|falls?|lags?|trails?) behind)"
    r"|(?P<more>(?:higher|greater|larger)\b(?: [\w-]+){0,3} than|exceed(?:s|ed)?(?! by))"
    r"|(?P<less>(?:lower|smaller|fewer)\b(?: [\w-]+){0,3} than))\s(?:the\s|that of\s|those of\s)?"
)
CLAUSE = re.compile(r";\s|,\s(?:and|but|while|whereas|although|though|yet)\s|\s(?:while|whereas|but)\s|:\s")
DOUBT = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|without|unlike|except|if|unless|would|could|may|might|should|expect\w*"
    r"|hypothes\w+|assum\w+|suppos\w+|whether|rather)\b|n['’]t\b",
    re.IGNORECASE,
)


class Claim(NamedTuple):
    """An amount that sets two things apart. value: of `times` the factor; hedge: "" where the number is meant as it is
    printed; start, end: where it stands."""

    number: Number
    unit: Unit
    sense: Sense
    hedge: Literal["", "near", "least", "most"]
    start: int
    end: int


class Order(NamedTuple):
    """That what is named before `start` is more, less, better or worse than what is named at `end`."""

    sense: Sense
    start: int
    end: int


def claims(text: str) -> Iterator[Claim]:
    """The differences, factors and shares that a sentence states."""
    for number in in_text(text):
        unit = UNIT.match(text, number.end)
        end = unit.end() if unit else number.end
        before = text[max(0, number.start - 90) : number.start]
        hedge = _hedge(before)
        bare = before[: HEDGE.search(before).start()] if hedge and HEDGE.search(before) else before  # type: ignore[union-attr]
        kind: Unit = "percent" if number.percent else "plain"
        if unit:
            kind = "points" if unit["points"] else "times" if unit["times"] else "percent"
            if number.percent and unit["points"]:
                kind = "points"
        if kind == "times" or FACTOR.search(before):
            yield Claim(number, "times", "", hedge, number.start, end)
            continue
        if kind == "percent" and SHARE.match(text, end):
            yield Claim(number, "share", "", hedge, number.start, end)
            continue
        found = AFTER.match(text, end)
        if not found:
            found = next((one for pattern in BEFORE if (one := pattern.search(bare))), None)
        elif found["apart"] is None and kind == "plain" and not re.match(r"[^.;]{0,40}\bthan\b", text[found.end() :]):
            found = None  # "12 more sites"
        if found:
            yield Claim(number, kind, _sense(found), hedge, number.start, end)
    for word in TIMES_WORD.finditer(text):
        factor = TIMES[word["word"]] if word["word"] else float(WORDS[word["count"]])
        number = Number(factor, 0, 0.25 * factor, word[0], False, word.start(), word.end())
        yield Claim(number, "times", "", _hedge(text[: word.start()]), word.start(), word.end())


def orders(text: str) -> Iterator[Order]:
    """The comparisons of a sentence that say which of two is ahead; none of clauses that deny or suppose something."""
    for found in ORDER.finditer(text):
        begin, end = clause(text, found.start())
        if not DOUBT.search(text[begin:end]):
            yield Order(_sense(found), found.start(), found.end())


def clause(text: str, place: int) -> tuple[int, int]:
    """Where the clause begins and ends that stands around a place."""
    cuts = [(one.start(), one.end()) for one in CLAUSE.finditer(text)]
    begin = max((after for _, after in cuts if after <= place), default=0)
    end = min((before for before, _ in cuts if before >= place), default=len(text))
    return begin, end


def _hedge(before: str) -> Literal["", "near", "least", "most"]:
    found = HEDGE.search(before)
    if not found:
        return ""
    return "least" if found["least"] else "most" if found["most"] else "near"


def _sense(found: re.Match[str]) -> Sense:
    kinds = found.groupdict()
    return next((sense for sense in ("more", "less", "better", "worse") if kinds.get(sense)), "")
