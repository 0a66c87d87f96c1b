"""Rows and columns of a table that are called the sum or mean of those before them."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from aisr_papers.recompute.grid import Cell, Grid, is_mean, is_total
from aisr_papers.recompute.numbers import Fact, Label, Outcome, format_number

FEWEST = 2  # columns in which a rule must hold before its breach in another counts
MOST_PARTS = 12  # rows of which every choice is tried


def check_totals(table: Grid) -> Iterator[Fact]:
    """Rows that sum up those above them, and columns that sum up those before them, as totals or means.

    A table shows by its other columns what its total or mean is made of. So one counts as wrong only where the same
    rows give it in most other columns, or, of a single column of counts, where no choice of rows gives it.
    """
    for direction, lines in (("row", table.lines("column")), ("column", table.lines("row"))):
        for label, is_whole in ((Label.SUM, is_total), (Label.MEAN, is_mean)):
            sums = [one for line in lines if (one := _split(line, direction, is_whole, table)) is not None]
            held = [_adds_up(label, parts, whole) for parts, whole in sums]
            if not any(held):
                sums = sums if label is Label.SUM and len(sums) == 1 and _no_choice(*sums[0]) else []
            elif sum(held) < FEWEST or 3 * sum(held) < 2 * len(held):
                sums = [one for one, holds in zip(sums, held, strict=True) if holds]
            for parts, whole in sums:
                if label is Label.SUM and whole.number.value <= max(_values(parts)):
                    continue  # all sites together, not their sum
                yield _sum_fact(label, parts, whole, table)


def _split(
    line: Sequence[Cell], direction: str, is_whole: Callable[[str], bool], table: Grid
) -> tuple[list[Cell], Cell] | None:
    """The cells of a row or column before its total, and that; None where there is none, or there are several."""
    levels = range(table.beside) if direction == "row" else range(table.beside, len(table.levels))
    *parts, whole = line
    if len(parts) < 2 or [one for one in line if any(is_whole(one.at[level]) for level in levels)] != [whole]:
        return None
    if any(is_mean(one.at[level]) or is_total(one.at[level]) for one in parts for level in levels):
        return None  # several sums: what is summed up is not plain
    if len({cell.at[0] for cell in line}) > 1:
        return None  # sections
    if direction == "row" and len(line) != len(table.lines("row")):
        return None  # an empty cell: perhaps not all parts are there
    if direction == "column" and len({cell.number.percent for cell in line}) > 1:
        return None
    return parts, whole


def _values(cells: Sequence[Cell]) -> list[float]:
    return [cell.number.value for cell in cells]


def _total(label: Label, values: Sequence[float]) -> float:
    return sum(values) if label is Label.SUM else sum(values) / len(values)


def _adds_up(label: Label, parts: Sequence[Cell], whole: Cell) -> bool:
    """Whether the parts give the whole, each of them rounded either way; counts are exact."""
    are_counts = label is Label.SUM and all(cell.number.places == 0 for cell in (*parts, whole))
    if are_counts and not whole.number.percent:
        return sum(_values(parts)) == whole.number.value
    low = _total(label, [cell.number.interval.low for cell in parts])
    high = _total(label, [cell.number.interval.high for cell in parts])
    return low <= whole.number.interval.high + 1e-9 and high >= whole.number.interval.low - 1e-9


def _no_choice(parts: Sequence[Cell], whole: Cell) -> bool:
    """Whether counts cannot be what a total sums up in any way: no choice of two or more of them gives it, and it is
    near enough to their sum to be a slip."""
    values = _values(parts)
    if not 3 <= len(parts) <= MOST_PARTS or any(cell.number.places or cell.number.percent for cell in (*parts, whole)):
        return False
    if not 0.8 <= whole.number.value / max(sum(values), 1) <= 1.25 or min(values) < 0:
        return False
    return not any(
        sum(chosen) == whole.number.value for size in range(2, len(values) + 1) for chosen in combinations(values, size)
    )


def _sum_fact(label: Label, parts: Sequence[Cell], whole: Cell, table: Grid) -> Fact:
    holds = _adds_up(label, parts, whole)
    result = format_number(_total(label, _values(parts)), max(cell.number.places for cell in (*parts, whole)))
    computed = f"the {'sum' if label is Label.SUM else 'mean'} of the {len(parts)} cells before is "
    computed += whole.number.text if holds else f"{result}, not {whole.number.text}"
    outcome = Outcome.HOLDS if holds else Outcome.WRONG
    positions = tuple(cell.position for cell in (*parts, whole))
    return Fact(label, f"{table.where(whole)}: {whole.number.text}", computed, outcome, (table.key,), positions)
