"""Ranges and bounds that are said of several cells at once."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from aisr.arithmetic.claims import DOUBT, clause
from aisr.arithmetic.counts import named_alike, parted, wins
from aisr.arithmetic.facts import Fact, Label
from aisr.arithmetic.grid import Cell, Grid, is_mean, is_total, places, plain
from aisr.arithmetic.names import consistent, mentions, named
from aisr.arithmetic.numbers import DIGITS, Number, in_text
from aisr.paper.captions import MOST_TABLES

PAIR = re.compile(
    rf"\b(?:from|between|of|ranges?|ranging|varies|vary|varying)\s(?P<low>{DIGITS})\s?%?\s?(?:to|and|–|-)\s?"
    rf"(?P<high>{DIGITS})(?![\d.]*\d)"
)
ALL = re.compile(
    r"\b(?:all|each|every|always|throughout|across|overall|rang\w+|var(?:y|ies|ying)|lies?|lie between|consistently)\b",
    re.IGNORECASE,
)
FEWEST = 3  # cells of a range; of two the ends are plain to see, and are often not meant as one
RELATION = (
    r"(?P<over>>|≥|>=|above|over|more than|greater than|larger than|higher than|at least)"
    r"|(?P<under><|≤|<=|below|under|less than|smaller than|lower than|at most)"
)
BOUNDS = [
    # all p > 0.3; all p-values are below .05; every |r| < .1
    re.compile(
        rf"\b(?i:all|every|each)(?:\s(?:the|of the))?\s(?P<what>[\w|χ²²-]+(?:\s[\w-]+)?)\s?(?:(?:are|is|were|was"
        rf"|stay|remain)\s)?"
        rf"(?:{RELATION})\s?(?P<number>{DIGITS})"
    ),
    # p > .3 for all pairs, p < .05 in each case
    re.compile(
        rf"(?<!\w)(?P<what>p)\s?(?:{RELATION})\s?(?P<number>{DIGITS})\s(?:for|in|across|at|on)\s(?:all|every|each)\b"
    ),
]
NEVER = re.compile(
    r"\b(?:(?P<under>never (?:exceeds?|exceeded|rises? above|goes above|reaches more than)|(?:always|consistently"
    r"|stays?"
    r"|remains?) (?:below|under|at most))"
    r"|(?P<over>never (?:falls?|drops?|fell|dropped|goes) below|(?:always|consistently|stays?|remains?) (?:above"
    r"|over|at"
    rf" least)))\s(?P<number>{DIGITS})"
)
P_VALUE = re.compile(r"p(?:[ -]?(?:values?|val)?\.?)?(?: \(.*\))?")


def held(text: str, near: Sequence[Grid], everywhere: Sequence[Grid]) -> Iterator[Fact]:
    """What a sentence or caption says of all the cells that it names. near: the tables that it is about."""
    yield from _ranges(text, near, everywhere)
    yield from _bounds(text, near)
    yield from wins(text, near)


def _ranges(text: str, near: Sequence[Grid], everywhere: Sequence[Grid]) -> Iterator[Fact]:
    for found in PAIR.finditer(text):
        low, high = (next(in_text(found[end]), None) for end in ("low", "high"))
        if low is None or high is None or not low.places == high.places > 0:
            continue
        if any(_is_range(low, high, group) for table in everywhere for group in _groups(text, table, loosely=True)):
            table = next((one for one in near if any(_is_range(low, high, g) for g in _groups(text, one, True))), None)
            if table is not None:
                yield Fact(Label.RANGE, found[0], f"smallest and largest of {table.name} there", True, (table.key,))
            continue
        if not ALL.search(text) or DOUBT.search(text):
            continue
        for table in near:
            wrong = next((one for one in _groups(text, table) if _one_end(low, high, one)), None)
            if wrong is not None:
                wrong = [one for one in wrong if one.number.places == low.places]
                values = sorted(wrong, key=lambda cell: cell.number.value)
                shown = f"{values[0].number.text} to {values[-1].number.text} in {table.name}"
                alike = f"{shown} ({_alike(table, wrong)})"
                yield Fact(Label.RANGE, found[0], alike, False, (table.key,), places(values[0], values[-1]))
                break


def _groups(text: str, table: Grid, loosely: bool = False) -> Iterator[list[Cell]]:
    """The cells that a sentence names together: those of all names in it, and of them those of each name on a level
    that it names none of. loosely: rows and columns of any name as well."""
    wanted = named(mentions(text, table))
    if wanted:
        yield from parted(table, [one for one in consistent(table.cells, wanted) if not _summed(one)], wanted)
    if loosely:
        yield from _lines(table)


@lru_cache(maxsize=MOST_TABLES)
def _lines(table: Grid) -> list[list[Cell]]:
    """Its cells that sum up no others, its rows, its columns, and the cells of each name."""
    by_name = [cells for level in range(len(table.levels)) for cells in named_alike(table.cells, level)]
    whole = [one for one in table.cells if not _summed(one)]
    return [whole, *table.rows().values(), *table.columns().values(), *by_name]


def _summed(cell: Cell) -> bool:
    return any(is_total(name) or is_mean(name) for name in cell.at)


def _is_range(low: Number, high: Number, cells: Sequence[Cell]) -> bool:
    values = [cell.number for cell in cells if cell.number.places == low.places]
    if len(values) < 2:
        return False
    ends = min(values, key=lambda one: one.value), max(values, key=lambda one: one.value)
    return ends[0].interval.meets(low.interval) and ends[1].interval.meets(high.interval)


def _one_end(low: Number, high: Number, cells: Sequence[Cell]) -> bool:
    """Whether one end of a range is that of the cells, and the other one is no cell of them."""
    alike = (cell.number for cell in cells if cell.number.places == low.places)
    values = sorted(alike, key=lambda one: one.value)
    if len(values) < FEWEST:
        return False
    right = values[0].interval.meets(low.interval), values[-1].interval.meets(high.interval)
    wrong = high if right[0] else low
    return right[0] != right[1] and not any(one.interval.meets(wrong.interval) for one in values)


def _alike(table: Grid, cells: Sequence[Cell]) -> str:
    """The names that all the cells share."""
    shared = [cells[0].at[level] for level in range(len(table.levels)) if len({one.at[level] for one in cells}) == 1]
    return ", ".join(filter(None, shared)) or "all cells"


def _bounds(text: str, near: Sequence[Grid]) -> Iterator[Fact]:
    for pattern in BOUNDS:
        for found in pattern.finditer(text):
            for table in near:
                what = plain(found["what"])
                cells = [one for one in table.cells if any(_is_called(name, what) for name in one.at)]
                yield from _keep(found, cells, table)
    for found in NEVER.finditer(text):
        begin, end = clause(text, found.start())
        for table in near:
            everything = mentions(text, table)
            wanted = {**named(everything), **named([one for one in everything if begin <= one.start < end])}
            if any(len(labels) > 1 for labels in wanted.values()) or len(wanted) < 2:
                continue
            yield from _keep(found, [one for one in consistent(table.cells, wanted) if not _summed(one)], table)


def _is_called(name: str, what: str) -> bool:
    known = plain(name)
    if P_VALUE.fullmatch(what) or what in ("p's", "p values", "p-values"):
        return P_VALUE.fullmatch(known) is not None
    return known == what or known == what.rstrip("s")


def _keep(found: re.Match[str], cells: Sequence[Cell], table: Grid) -> Iterator[Fact]:
    """Whether all cells keep to a bound."""
    bound = next(in_text(found["number"]), None)
    if bound is None or not cells or (bound.value > 1 and all(abs(one.number.value) <= 1 for one in cells)):
        return
    over = bool(found["over"])
    beyond = [
        cell
        for cell in cells
        if (cell.number.interval.high < bound.value if over else cell.number.interval.low > bound.value)
    ]
    if beyond:
        worst = (min if over else max)(beyond, key=lambda cell: cell.number.value)
        shown = f"{table.where(worst)}: {worst.number.text} ({table.name})"
        yield Fact(Label.BOUND, found[0], shown, False, (table.key,), places(worst))
    else:
        yield Fact(Label.BOUND, found[0], f"all {len(cells)} cells of {table.name} keep to it", True, (table.key,))
