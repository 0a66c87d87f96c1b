"""What a table says of itself: rows and columns that are sums or means of others, and the best in bold.

A table shows by its other columns what its total or mean is made of. So a sum or mean counts as wrong only where the
same rows give it in most other columns, or, of a single column of counts, where no choice of rows gives it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from aisr.arithmetic.facts import Fact, Label
from aisr.arithmetic.grid import Cell, Grid, is_mean, is_total, places
from aisr.arithmetic.numbers import said
from aisr.arithmetic.polarity import larger_is_better

BOLD_IS_BEST = re.compile(
    r"\b(?:best|highest|top|largest|lowest)\b[^.;]{0,60}\b(?:bold|boldface|bolded|boldfaced)\b"
    r"|\b(?:bold|boldface|bolded|boldfaced)\b[^.;]{0,60}\b(?:best|highest|top|largest|lowest)\b",
    re.IGNORECASE,
)
BLOCKS = re.compile(r"\b(?:within|per|each|every|second|group|block|section|category|runner)\b", re.IGNORECASE)
FEWEST = 2  # columns in which a rule must hold before its breach in another counts
MOST_PARTS = 12  # rows of which every choice is tried
BY_CHANCE = 2  # parts


def inner(table: Grid) -> Iterator[Fact]:
    """The sums, means and bests of a table."""
    yield from _summed(table)
    if BOLD_IS_BEST.search(f"{table.caption} {table.notes}"):
        yield from _best(table)


def _summed(table: Grid) -> Iterator[Fact]:
    """Rows that sum up those above them, and columns that sum up those before them."""
    for lines, place in ((table.columns(), "row"), (table.rows(), "column")):
        for called, label, rule in ((is_total, Label.SUM, sum), (is_mean, Label.MEAN, _mean)):
            whole = [_split(line, place, called, table) for line in lines.values()]
            found = [(parts, total) for parts, total in filter(None, whole) if len(parts) >= 2]
            held = [_agrees(parts, total, rule) for parts, total in found]
            if not any(held):
                found = found if label is Label.SUM and len(found) == 1 and _no_choice(*found[0]) else []
            elif sum(held) < FEWEST or 3 * sum(held) < 2 * len(held):
                found = [one for one, holds in zip(found, held, strict=True) if holds]
            for parts, total in found:
                if label is Label.SUM and total.number.value <= max(_values(parts)):
                    continue  # all sites together, not their sum
                yield _fact(label, parts, total, rule(_values(parts)), _agrees(parts, total, rule), table)


def _split(line: Sequence[Cell], place: str, called: object, table: Grid) -> tuple[list[Cell], Cell] | None:
    """The cells of a row or column before its total, and that; None where there is none, or there are several."""
    levels = range(table.beside) if place == "row" else range(table.beside, len(table.levels))
    is_whole = [any(called(cell.at[level]) for level in levels if cell.at[level]) for cell in line]  # type: ignore[operator]
    if sum(is_whole) != 1 or is_whole[-1] is False:
        return None
    others = [cell for cell in line[:-1] if not any(is_mean(name) or is_total(name) for name in _names(cell, levels))]
    if len(others) != len(line) - 1 or len({cell.at[0] for cell in line}) > 1:
        return None  # several sums, or sections: what is summed up is not plain
    if place == "row" and len(table.columns()) and len(line) != len(table.rows()):
        return None  # an empty cell: perhaps not all parts are there
    if place == "column" and len({cell.number.percent for cell in line}) > 1:
        return None
    return others, line[-1]


def _names(cell: Cell, levels: range) -> list[str]:
    return [cell.at[level] for level in levels if cell.at[level]]


def _values(cells: Sequence[Cell]) -> list[float]:
    return [cell.number.value for cell in cells]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _agrees(parts: Sequence[Cell], whole: Cell, rule: object) -> bool:
    """Whether the parts give the whole, each of them rounded either way; counts are exact."""
    exact = all(cell.number.places == 0 for cell in parts) and rule is sum
    low, high = (
        rule([getattr(cell.number.interval, end) for cell in parts])  # type: ignore[operator]
        for end in ("low", "high")
    )
    if exact and whole.number.places == 0 and not whole.number.percent:
        return sum(_values(parts)) == whole.number.value
    return bool(low <= whole.number.interval.high + 1e-9 and high >= whole.number.interval.low - 1e-9)


def _no_choice(parts: Sequence[Cell], whole: Cell) -> bool:
    """Whether counts cannot be what a total sums up in any way: no choice of two or more of them gives it, and it is
    near enough to their sum to be a slip."""
    values = _values(parts)
    if not 3 <= len(parts) <= MOST_PARTS or any(cell.number.places or cell.number.percent for cell in (*parts, whole)):
        return False
    if not 0.8 <= whole.number.value / max(sum(values), 1) <= 1.25 or min(values) < 0:
        return False
    return not any(
        sum(chosen) == whole.number.value
        for size in range(BY_CHANCE, len(values) + 1)
        for chosen in combinations(values, size)
    )


def _fact(label: Label, parts: Sequence[Cell], whole: Cell, come: float, holds: bool, table: Grid) -> Fact:
    digits = max(cell.number.places for cell in (*parts, whole))
    what = "sum" if label is Label.SUM else "mean"
    computed = f"the {what} of the {len(parts)} cells before is {said(come, digits)}, not {whole.number.text}"
    if holds:
        computed = f"the {what} of the {len(parts)} cells before is {whole.number.text}"
    cells = places(*parts, whole)
    return Fact(label, f"{table.where(whole)}: {whole.number.text}", computed, holds, (table.key,), cells)


def _best(table: Grid) -> Iterator[Fact]:
    """Columns with a single bold number, which must be their largest or their smallest."""
    if BLOCKS.search(f"{table.caption} {table.notes}") or len(table.levels[0]) > 1:
        return  # the best of a block, which the rows do not show
    columns = [line for line in table.columns().values() if len(line) > 2]
    whole_rows = {row for row, line in table.rows().items() if len(line) > 1 and all(cell.bold for cell in line)}
    for line in columns:
        marked = [cell for cell in line if cell.bold]
        values = _values(line)
        if len({cell.number.value for cell in marked}) != 1 or marked[0].row in whole_rows:
            continue
        best = marked[0]
        wanted = {True: [max(values)], False: [min(values)], None: [max(values), min(values)]}
        holds = best.number.value in wanted[larger_is_better(table, best)]
        best_there = (
            f"largest {said(max(values), best.number.places)}, smallest {said(min(values), best.number.places)}"
        )
        said_ = f"{table.where(best)}: {best.number.text} in bold"
        shown = f"{best_there} of {len(values)} in {table.name}"
        yield Fact(Label.BEST, said_, shown, holds, (table.key,), places(best))
