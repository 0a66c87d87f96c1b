"""Pairs of cells that a sentence may compare, and whether they give what it says."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice
from typing import NamedTuple

from aisr.arithmetic.claims import Claim, clause
from aisr.arithmetic.grid import Cell, Grid
from aisr.arithmetic.names import Mention, consistent, named
from aisr.arithmetic.numbers import Interval
from aisr.arithmetic.polarity import is_measure

NEAR = 0.35  # share by which "about" may be off before it is called wrong
NEARER = 0.1  # the same of pairs that are not named
MOST_PAIRS = 20_000


class Pair(NamedTuple):
    """Two cells that differ in one name."""

    first: Cell
    second: Cell
    table: Grid


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
