"""Numbers as papers print them, the range that a rounded one stands for, and what recomputing a statement gives."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Literal, NamedTuple

SIGNS = "−–-"  # the plain one last: these stand in classes of regular expressions
DIGITS = r"(?:\d{1,3}(?:[, \u00a0\u2009\u202f]\d{3})+(?![\d.,]?\d)|\d+)(?:\.\d+)?|\.\d+"
# In running text: not within a word, and without what only says where something stands.
IN_TEXT = re.compile(
    rf"(?<![\w.,/])(?P<sign>[+{SIGNS}]\s?)?(?<!\d[-–])(?P<digits>{DIGITS})(?P<percent>\s?%)?"
    r"(?P<scale>\s?(?:thousand|million|billion)\b|[kKM](?!\w))?(?![\w^]|[.,]\d|\s?[:/]\s?\d)"
)
DECIMAL = r"(?:\d++(?:\.\d++)?|\.\d++)"
IN_CELL = re.compile(
    rf"[<>≈~*†‡§¶]?\s*(?P<sign>[+{SIGNS}]\s?)?\$?(?P<digits>{DIGITS})\s?(?P<percent>%)?\s?(?P<scale>[kKMB]|million|billion)?"
    rf"(?:\s?(?:±|\+/?-)\s?{DECIMAL}%?)?(?:\s?\([±+{SIGNS}]?\s?{DECIMAL}\s?%?\))?"
    rf"(?:\s?[\[(]{DECIMAL}\s?(?:,|[{SIGNS}]{{1,2}})\s?{DECIMAL}[\])])?"  # an interval
    r"[\s*†‡§¶↑↓a-d]{0,4}"
)
SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "b": 1e9, "billion": 1e9}
WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12,
}  # fmt: skip
Unit = Literal["points", "percent", "times", "plain"]  # of an amount by which two numbers differ
LONGEST = 40  # characters of a cell that is a number


class Interval(NamedTuple):
    """What a rounded number may stand for, both ends included."""

    low: float
    high: float

    def minus(self, other: "Interval") -> "Interval":
        """All differences of the two."""
        return Interval(self.low - other.high, self.high - other.low)

    def over(self, other: "Interval") -> "Interval | None":
        """All ratios of the two; None where the divisor may be zero or below."""
        if other.low <= 0 or self.low < 0:
            return None
        return Interval(self.low / other.high, self.high / other.low)

    def times(self, factor: float) -> "Interval":
        """The same in another unit. factor: above 0."""
        return Interval(self.low * factor, self.high * factor)

    def size(self) -> "Interval":
        """Without its sign."""
        if self.low <= 0 <= self.high:
            return Interval(0.0, max(-self.low, self.high))
        return self if self.low > 0 else Interval(-self.high, -self.low)

    def meets(self, other: "Interval") -> bool:
        """Whether the two may be the same number; binary fractions are forgiven."""
        slack = 1e-9 * max(1.0, abs(self.low), abs(other.high))
        return self.low <= other.high + slack and other.low <= self.high + slack


class Number(NamedTuple):
    """A printed number."""

    value: float
    places: int  # digits behind the point
    half: float  # half a step of its last digit
    text: str
    percent: bool = False
    start: int = 0  # where it stands in its text, with its sign and per cent sign
    end: int = 0

    @property
    def interval(self) -> Interval:
        """All that is rounded to it."""
        return Interval(self.value - self.half, self.value + self.half)

    @property
    def exact(self) -> Interval:
        """Its value alone."""
        return Interval(self.value, self.value)


def find_numbers(text: str) -> Iterator[Number]:
    """The numbers of a sentence, in order."""
    return map(_number, IN_TEXT.finditer(text))


def parse_cell(text: str) -> Number | None:
    """The number that a cell of a table is, without marks of footnotes and spread; None where it is something else."""
    match = IN_CELL.fullmatch(text.strip()) if 0 < len(text) <= LONGEST else None
    return _number(match) if match else None


def _number(match: re.Match[str]) -> Number:
    digits = re.sub(r"[,\s\u00a0\u2009\u202f]", "", match["digits"])
    places = len(digits.partition(".")[2])
    factor = SCALES.get((match["scale"] or "").strip().lower(), 1.0)
    sign = -1 if (match["sign"] or "+")[0] in SIGNS else 1
    return Number(
        sign * float(digits) * factor,
        places if factor == 1 else 0,
        0.5 * 10**-places * factor,
        match[0].strip(),
        bool(match["percent"]),
        match.start(),
        match.end(),
    )


def format_number(value: float, places: int) -> str:
    """A number with so many digits behind the point, and a true minus sign."""
    return f"{value:,.{max(places, 0)}f}".replace("-", "−")


def change_readings(first: Interval, second: Interval, unit: Unit) -> Iterator[Interval]:
    """What two numbers may be said to differ by, in a unit and without a sign."""
    ratios = [ratio for ratio in (first.over(second), second.over(first)) if ratio is not None]
    if unit == "times":
        yield from ratios
        yield from (
            Interval(one.low - 1, one.high - 1) for one in ratios
        )  # "1.5 times higher" is 2.5 times as high to some
        return
    apart = first.minus(second).size()
    yield apart
    are_shares = max(abs(first.high), abs(second.high)) <= 1.001
    if are_shares:
        yield apart.times(100)
    if unit in ("percent", "plain"):
        whole = 1.0 if are_shares else 100.0
        for base in (first, second):
            if (ratio := apart.over(base)) is not None:
                yield ratio.times(100)
            rest = Interval(whole - base.high, whole - base.low)
            if (are_shares or base.high > 1) and (ratio := apart.over(rest)) is not None:
                yield ratio.times(100)  # of the errors, where the numbers are what is right
        if unit == "percent":
            yield from (ratio.times(100) for ratio in ratios)


class Label(StrEnum):
    """What can be wrong with a statement that was recomputed; shown to people, and part of SARIF's rule ids."""

    DIFFERENCE = "Wrong difference"
    RATIO = "Wrong ratio"
    CELL = "Other number in the table"
    SUM = "Wrong sum"
    MEAN = "Wrong mean"
    PERCENTAGE = "Wrong percentage"
    TEST = "Inconsistent test"


MEANINGS: Mapping[Label, str] = {
    Label.DIFFERENCE: "the cells or numbers that are named differ by something else, or the other way round",
    Label.RATIO: "the cells that are named have another ratio, or the other way round",
    Label.CELL: "the cell that is named holds another number",
    Label.SUM: "the parts add up to something else",
    Label.MEAN: "the mean of the cells is another",
    Label.PERCENTAGE: "the counts give another percentage",
    Label.TEST: "statistic, degrees of freedom and p do not fit together (as statcheck tells it)",
}


class Outcome(StrEnum):
    """What recomputing a statement gives."""

    HOLDS = "holds"
    WRONG = "wrong"
    UNDECIDED = "not decided"  # what is named gives another number, but the sentence may mean something else


class Fact(NamedTuple):
    """One recomputation."""

    label: Label  # its kind, named by what would be wrong
    statement: str  # the words that were recomputed
    computed: str  # what they come to, and from what
    outcome: Outcome
    tables: tuple[str, ...] = ()  # keys of the floats it rests on
    cells: tuple[tuple[int, int], ...] = ()  # rows and columns of the first of them that it rests on, from 0

    @property
    def holds(self) -> bool:
        """Whether both agree."""
        return self.outcome is Outcome.HOLDS

    @property
    def wrong(self) -> bool:
        """Whether they disagree, whatever the statement may mean."""
        return self.outcome is Outcome.WRONG


def excerpt(text: str, start: int, end: int, reach: int = 40) -> str:
    """The words around a place, whole ones."""
    begin = text.rfind(" ", 0, max(start - reach, 0)) + 1 if start > reach else 0
    last = text.find(" ", min(end + reach, len(text)))
    return " ".join(text[begin : last if last >= 0 else len(text)].split())
