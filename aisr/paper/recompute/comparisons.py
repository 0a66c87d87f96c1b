"""What a sentence says of two things' numbers: by how much one is larger, how many times, and which is.

Differences, ratios and orders of rows and columns that a sentence names, recomputed from the cells.

A statement counts as wrong only where no reading of the table gives it: not the pairs that are named, in points or per
cent, with every cell rounded either way; and not, to the printed digit, any other pair that one of the names is in, in
any table of the paper.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice
from typing import Literal, NamedTuple

from aisr.paper.recompute.grid import (
    Cell,
    Grid,
    Mention,
    consistent,
    foreign,
    is_measure,
    larger_is_better,
    mentions,
    named,
    places,
    unnamed,
)
from aisr.paper.recompute.numbers import WORDS, Fact, Interval, Label, Number, around, in_text, said

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


NEAR = 0.35  # share by which "about" may be off before it is called wrong
NEARER = 0.1  # the same of pairs that are not named
MOST_PAIRS = 20_000


class Pair(NamedTuple):
    """Two cells that differ in one name."""

    first: Cell
    second: Cell
    table: Grid


def compared(text: str, near: Sequence[Grid], everywhere: Sequence[Grid], referred: bool) -> Iterator[Fact]:
    """What a sentence says of differences and orders. near: the tables that it is about; everywhere: all of the paper;
    referred: whether it, or its paragraph, names them, so that a single name is enough to go by."""
    found = {id(table): mentions(text, table) for table in everywhere}
    for claim in claims(text):
        fact = _of_claim(text, claim, near, everywhere, found, referred)
        if fact is not None:
            yield fact
    for order in orders(text):
        fact = _of_order(text, order, near, found)
        if fact is not None:
            yield fact


def _of_claim(
    text: str,
    claim: Claim,
    near: Sequence[Grid],
    everywhere: Sequence[Grid],
    found: dict[int, list[Mention]],
    referred: bool,
) -> Fact | None:
    label = Label.RATIO if claim.unit in ("times", "share") else Label.DIFFERENCE
    words = around(text, claim.start, claim.end)
    asked: list[Pair] = []
    means: list[Fact] = []
    single = False
    for table in near:
        pairs = list(named_pairs(text, claim.start, table, found[id(table)]))
        mean = _of_means(claim, pairs)
        asked += pairs
        means += [Fact(label, words, mean, True, (table.key,))] if mean else []
        if not pairs and referred and named(found[id(table)]):
            single = True
    fitting = [pair for pair in asked if fits(claim, pair, strict=False)]
    if fitting and claim.hedge in ("least", "most"):
        return None  # it holds, but of which pair it was said nobody can tell
    if fitting:
        closest = min(fitting, key=lambda pair: distance(claim, pair))
        return Fact(label, words, _told(closest, claim), True, (closest.table.key,))
    if means:
        return means[0]
    changed = _change(claim, words, near, found) if single and not claim.hedge else None
    if changed is not None:
        return changed
    if claim.unit != "points":  # of which quantity it is said must be plain as well
        asked = [pair for pair in asked if is_pinned(pair, found[id(pair.table)])]
    begin, end = clause(text, claim.start)
    asked = [pair for pair in asked if not foreign(unnamed(text, pair.table)[begin:end], pair.table)]
    if any(fits(claim, pair, strict=True) for table in everywhere for pair in any_pairs(table, found[id(table)])):
        return None  # some other reading of some table says so
    if any(_is_cell(claim, table) for table in everywhere):
        return None
    if asked and not claim.hedge:
        closest = min(asked, key=lambda pair: distance(claim, pair))
        return _denied(label, words, closest, claim)
    if asked and claim.hedge == "near" and not any(roughly(claim, pair) for pair in asked):
        closest = min(asked, key=lambda pair: distance(claim, pair))
        return _denied(label, words, closest, claim)
    return None


def _denied(label: Label, words: str, closest: Pair, claim: Claim) -> Fact:
    cells = places(closest.first, closest.second)
    return Fact(label, words, _told(closest, claim), False, (closest.table.key,), cells)


CHANGE = re.compile(r"\b(?:change|delta|diff(?:erence)?|gain|drop)\b|Δ|∆", re.IGNORECASE)


def _change(claim: Claim, words: str, near: Sequence[Grid], found: dict[int, list[Mention]]) -> Fact | None:
    """Of a single row and a table with one column of changes: whether the row has the points there."""
    for table in near:
        wanted = named(found[id(table)])
        beside = {level: labels for level, labels in wanted.items() if level < table.beside}
        if len(beside) != 1 or any(len(labels) > 1 for labels in beside.values()):
            continue
        changes = [one for one in table.cells if any(CHANGE.search(name) for name in one.at[table.beside :])]
        cells = consistent(changes, beside)
        if len(cells) == 1 and len({one.column for one in changes}) == 1 and claim.unit == "points":
            (cell,) = cells
            if cell.number.places == claim.number.places:
                shown = f"{table.where(cell)}: {cell.number.text} ({table.name})"
                holds = cell.number.interval.size().meets(claim.number.interval.size())
                return Fact(Label.DIFFERENCE, words, shown, holds, (table.key,), places(cell))
    return None


def _of_means(claim: Claim, pairs: Sequence[Pair]) -> str | None:
    """Whether the claim is the mean of the differences: over all columns, or over those of one name."""
    if len(pairs) < 2 or claim.unit in ("times", "share"):
        return None
    levels = pairs[0].table.levels
    measures = [level for level, labels in enumerate(levels) if sum(map(is_measure, labels)) > 1]
    groups: dict[tuple[object, ...], list[Pair]] = {}
    for pair in pairs:
        measured = tuple(pair.first.at[level] for level in measures)
        groups.setdefault((*measured, -1), []).append(pair)
        for level in range(len(levels)):
            if pair.first.at[level] == pair.second.at[level]:
                groups.setdefault((*measured, level, pair.first.at[level]), []).append(pair)
    stated = claim.number.interval.size()
    for group in groups.values():
        if len(group) < 2:
            continue
        first, second = (
            Interval(
                sum(cell.number.interval.low for cell in cells) / len(cells),
                sum(cell.number.interval.high for cell in cells) / len(cells),
            )
            for cells in ([pair.first for pair in group], [pair.second for pair in group])
        )
        if any(reading.meets(stated) for reading in readings(claim, first, second)):
            return f"the mean of {len(group)} differences in {group[0].table.name} is {claim.number.text}"
    return None


def _is_cell(claim: Claim, table: Grid) -> bool:
    """Whether a table holds the amount itself, as a column of changes does."""
    stated = abs(claim.number.value)
    return any(
        abs(abs(cell.number.value) - stated) < 1e-9 and cell.number.places == claim.number.places
        for cell in table.cells
    )


def _told(pair: Pair, claim: Claim) -> str:
    """The cells and what they come to."""
    first, second = pair.first.number, pair.second.number
    if claim.unit in ("times", "share") and min(first.value, second.value) > 0:
        large, small = sorted((pair.first, pair.second), key=lambda cell: -cell.number.value)
        ratio = large.number.value / small.number.value
        if claim.unit == "share" or claim.number.value < 1:
            share = said(100 / ratio, max(claim.number.places, 0)) + " %"
            come = f"{small.number.text} / {large.number.text} = {share}"
        else:
            come = f"{large.number.text} / {small.number.text} = {said(ratio, max(claim.number.places, 1))}"
    else:
        digits = max(first.places, second.places)
        come = f"{first.text} − {second.text} = {said(first.value - second.value, digits)}"
        if claim.unit == "percent" and second.value > 0:
            come += f", which is {said(100 * (first.value - second.value) / second.value, 1)} %"
    return f"{come} in {pair.table.name} ({pair.table.where(pair.first)} against {pair.table.where(pair.second)})"


def _of_order(text: str, order: Order, near: Sequence[Grid], found: dict[int, list[Mention]]) -> Fact | None:
    """Which of two is ahead, by a stated amount: wrong where every cell that may be meant says the opposite."""
    begin, end = clause(text, order.start)
    for table in near:
        here = found[id(table)]
        said = unnamed(text, table)[begin:end]
        for level in range(len(table.levels)):
            before = {one.label for one in here if one.level == level and begin <= one.start < order.start}
            behind = [one for one in here if one.level == level and order.end <= one.start <= order.end + 3]
            if len(before) != 1 or not behind or behind[0].label in before or foreign(said, table):
                continue
            (subject,) = before
            clear = _signs(text, order, table, here, level, subject, behind[0].label, (begin, end))
            if clear is None:
                continue
            holds, cells = clear
            shown = "; ".join(f"{table.where(one)}: {one.number.text}" for one in cells) + f" ({table.name})"
            return Fact(Label.ORDER, text[order.start : behind[0].end], shown, holds, (table.key,), places(*cells))
    return None


def _signs(
    text: str,
    order: Order,
    table: Grid,
    here: Sequence[Mention],
    level: int,
    subject: str,
    other: str,
    within: tuple[int, int],
) -> tuple[bool, tuple[Cell, Cell]] | None:
    """Whether the order holds, and two cells that show it; None where the cells do not decide it: they disagree, or it
    is not known whether larger is better."""
    cells = consistent(table.cells, named(here), level)
    pairs = [
        (first, second) if first.at[level] == subject else (second, first)
        for first, second in differing(level, cells)
        if {first.at[level], second.at[level]} == {subject, other}
    ]
    amounts = [one for one in claims(text[within[0] : within[1]]) if not one.hedge and one.unit in ("points", "plain")]
    if not amounts:
        return None  # without one, which cells are meant is anybody's guess
    pairs = [
        (first, second)
        for first, second in pairs
        if any(fits(one, Pair(first, second, table), strict=False) for one in amounts)
    ]
    signs = set()
    for first, second in pairs:
        gap = first.number.interval.minus(second.number.interval)
        sign = 1 if gap.low > 0 else -1 if gap.high < 0 else 0
        if order.sense in ("better", "worse"):
            good = larger_is_better(table, first)
            if good is None:
                return None
            sign = sign if good else -sign
        signs.add(sign if order.sense in ("more", "better") else -sign)
    if len(signs) != 1 or 0 in signs:
        return None
    return signs == {1}, pairs[0]


def named_pairs(text: str, place: int, table: Grid, found: Sequence[Mention]) -> Iterator[Pair]:
    """The pairs of cells whose two names stand in the sentence, at least one of them in the clause around `place`."""
    begin, end = clause(text, place)
    wanted = named(found)
    close = named([one for one in found if begin <= one.start < end])
    for level, labels in wanted.items():
        if len(labels) < 2:
            continue
        anchors = close.get(level) or labels
        for first, second in differing(level, consistent(table.cells, wanted)):
            if anchors & {first.at[level], second.at[level]}:
                yield Pair(first, second, table)


def is_pinned(pair: Pair, found: Sequence[Mention]) -> bool:
    """Whether a sentence names all that the table tells its cells apart by."""
    wanted = named(found)
    return all(
        level in wanted or len(labels) == 1 or pair.first.at[level] != pair.second.at[level]
        for level, labels in enumerate(pair.table.levels)
    )


def any_pairs(table: Grid, found: Sequence[Mention]) -> Iterator[Pair]:
    """All pairs of cells that differ in one name and of which the first stands for a name in the sentence."""
    wanted = named(found)
    if not wanted:
        return
    meant = {
        (cell.row, cell.column)
        for cell in table.cells
        if any(cell.at[level] in labels for level, labels in wanted.items())
    }
    for level in range(len(table.levels)):
        if sum(is_measure(label) for label in table.levels[level]) > 1:
            continue  # nobody takes precision from recall, or minutes from memory
        pairs = (
            (first, second)
            for group in _alike(level, table.cells)
            for first in group
            if (first.row, first.column) in meant
            for second in group
        )
        for first, second in islice(pairs, MOST_PAIRS):
            if first.at[level] != second.at[level]:
                yield Pair(first, second, table)


def differing(level: int, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Cell]]:
    """Pairs of cells that differ in their name on one level alone."""
    pairs = (pair for group in _alike(level, cells) for pair in combinations(group, 2))
    for first, second in islice(pairs, MOST_PAIRS):
        if first.at[level] != second.at[level]:
            yield first, second


def _alike(level: int, cells: Sequence[Cell]) -> Iterable[list[Cell]]:
    """Groups of cells of the same names on all other levels."""
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((*cell.at[:level], *cell.at[level + 1 :]), []).append(cell)
    return groups.values()


def readings(claim: Claim, first: Interval, second: Interval) -> Iterator[Interval]:
    """What the two may be said to differ by, in the claim's unit and without a sign."""
    if claim.unit in ("times", "share"):
        scale = 100 if claim.unit == "share" else 1
        for ratio in (first.over(second), second.over(first)):
            if ratio is not None:
                yield ratio.times(scale)
                if claim.unit == "times":  # "1.5 times higher" is 2.5 times as high to some
                    yield Interval(ratio.low - 1, ratio.high - 1)
        return
    apart = first.minus(second).size()
    yield apart
    if max(abs(first.high), abs(second.high)) <= 1.001:
        yield apart.times(100)
    if claim.unit in ("percent", "plain"):
        for base in (first, second):
            ratio = apart.over(base)
            if ratio is not None:
                yield ratio.times(100)
            if 1 < base.high < 100 and (ratio := apart.over(Interval(100 - base.high, 100 - base.low))) is not None:
                yield ratio.times(100)  # of the errors, where the cells have what is right
        for ratio in (first.over(second), second.over(first)):
            if ratio is not None and claim.unit == "percent":
                yield ratio.times(100)


def fits(claim: Claim, pair: Pair, strict: bool) -> bool:
    """Whether a pair gives the claim. strict: to the printed digit; else each cell may be rounded either way."""
    stated = claim.number.interval.size()
    first, second = (
        Interval(cell.number.value, cell.number.value) if strict else cell.number.interval
        for cell in (pair.first, pair.second)
    )
    for reading in readings(claim, first, second):
        if claim.hedge == "least" and reading.high >= stated.low:
            return True
        if claim.hedge == "most" and reading.low <= stated.high:
            return True
        if reading.meets(stated):
            return True
        near = NEARER if strict else NEAR
        if (
            claim.hedge == "near"
            and reading.low <= stated.high * (1 + near)
            and reading.high >= stated.low * (1 - near)
        ):
            return True
    return False


def roughly(claim: Claim, pair: Pair) -> bool:
    return fits(claim._replace(hedge="near"), pair, strict=False)


def distance(claim: Claim, pair: Pair) -> float:
    stated = abs(claim.number.value)
    exact = (Interval(cell.number.value, cell.number.value) for cell in (pair.first, pair.second))
    return min((abs(reading.low - stated) for reading in readings(claim, *exact)), default=float("inf"))
