"""Numbers that a sentence takes from the one cell that it names.

Row and column are resolved first, then the numbers are compared. A number that stands in the cell of another row of
that column, or of another column of that row, is the commonest slip.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from aisr_papers.recompute.comparisons import HEDGE, find_claims
from aisr_papers.recompute.grid import Cell, Grid, blank_mentions, has_foreign_measure, matching_cells
from aisr_papers.recompute.names import clause_span, names_of_numbers
from aisr_papers.recompute.numbers import Fact, Label, Number, Outcome, excerpt, find_numbers

STATED = re.compile(
    r"(?:\b(?:reach\w*|achiev\w*|obtain\w*|scor\w*|attain\w*|yield\w*|gets?|got|has|have|had|is|was|are|were|of|at|with"
    r"|only|and|takes?|needs?|uses?|keeps?|shows?|reports?)|[=:(,])\s?(?:(?:an?|the|only|just)\s)?$"
)
# Not a value of the table: thresholds, numbers of an enumeration, steps on the way.
OTHERWISE = re.compile(
    r"\b(?:than|threshold|by|from|to|between|p|n|N|α|alpha|version|seed|step|top|least|most|first|last)\s?[=<>]?\s?$|±\s?$"
)
EQUATION = re.compile(r"[=<>≈]\s?$")  # of another quantity than the table's, unless its name stands right ahead
# The number is that of something beside what is named.
OTHERS = re.compile(
    r"\b(?:our|ours|we|us|proposed|its|their|this|these|baselines?|previous|prior|behind|below|above|trail\w*|beat\w*"
    r"|outperform\w*|surpass\w*|exceed\w*|improv\w*|compared (?:to|with)|than|over|versus|vs|against|unlike|instead"
    r"|without)\b",
    re.IGNORECASE,
)
SCALES = (1.0, 100.0, 0.01)  # 83.9 and 0.839 are one number
FAR = 2.0  # times by which a changed digit may be off; what is farther is another quantity
FEWEST_DIGITS = 2  # of a whole number; a single digit stands for anything


class Context(NamedTuple):
    """What the paper says around a sentence."""

    near: Sequence[Grid]  # the tables that it refers to
    everywhere: Sequence[Grid]  # all of the paper
    repeated: frozenset[str] = frozenset()  # the numbers that other sentences and captions hold, as they are printed
    before: str = ""  # the sentence before


def check_cells(text: str, context: Context) -> Iterator[Fact]:
    """Numbers of a sentence whose cell it names by all that the table tells its cells apart by."""
    near = context.near
    claims = [(one.start, one.end) for one in find_claims(text)]
    numbers = list(find_numbers(text))
    names = {table: names_of_numbers(text, numbers, table, True, context.before) for table in near}
    for place, number in enumerate(numbers):
        before = text[: number.start]
        if any(begin <= number.start < end for begin, end in claims) or HEDGE.search(before):
            continue
        is_beside = any(one[place].is_beside for one in names.values())
        is_stated = is_beside or (STATED.search(before) and not EQUATION.search(before))
        if OTHERWISE.search(before) or not is_stated:
            continue
        cells = {table: _named_cells(number, names[table][place].labels, table) for table in near}
        if held := _held_cell(number, cells):
            table, cell = held
            computed = f"{table.where(cell)}: {cell.number.text} ({table.name})"
            words = excerpt(text, number.start, number.end)
            yield Fact(Label.CELL, words, computed, Outcome.HOLDS, (table.key,), (cell.position,))
            continue
        is_elsewhere = number.text.rstrip("% ") in context.repeated or any(
            is_derivable(number, table, table in near) for table in context.everywhere
        )
        told = {one.value for one in numbers}  # a cell that is told elsewhere in the sentence is not the one
        others = [
            (table, named[0])
            for table, named in cells.items()
            if len(named) == 1
            and named[0].number.value not in told
            and (number.places > 0 or named[0].number.places == 0)
        ]
        if others:
            table, cell = min(others, key=lambda one: _distance(number, *one))
            yield _other_number(text, number, cell, table, is_elsewhere)


def _distance(number: Number, table: Grid, cell: Cell) -> tuple[bool, float]:
    """How far a cell is from being the one that a number was taken for: one whose line holds the number is nearest."""
    return _same_line_cell(number, cell, table) is None, abs(cell.number.value - number.value)


def _named_cells(number: Number, labels: Mapping[int, set[str]], table: Grid) -> list[Cell]:
    """The cells that a number may be, each level of the table that has several names being named. A whole number needs
    the names of its row and of its column."""
    if any(len(names) > 1 and level not in labels for level, names in enumerate(table.levels)):
        return []
    if number.places == 0:
        is_named = any(level < table.beside for level in labels) and any(level >= table.beside for level in labels)
        if not is_named or sum(map(str.isdigit, number.text)) < FEWEST_DIGITS:
            return []
    return matching_cells(table.cells, labels)


def _held_cell(number: Number, cells: Mapping[Grid, Sequence[Cell]]) -> tuple[Grid, Cell] | None:
    """The first of the cells that holds a number."""
    for table, named in cells.items():
        for cell in named:
            if any(cell.number.interval.times(scale).meets(number.interval) for scale in SCALES):
                return table, cell
    return None


def _other_number(text: str, number: Number, cell: Cell, table: Grid, is_elsewhere: bool) -> Fact:
    """What becomes of a number whose one cell holds another. is_elsewhere: whether other sentences have that number,
    some cell of the paper holds it, or it can be computed from some."""
    begin, end = clause_span(text, number.start)
    rest = blank_mentions(text, table)[begin:end]
    computed = f"{table.name} has {cell.number.text} there ({table.where(cell)})"
    outcome = Outcome.UNDECIDED
    if not (OTHERS.search(rest) or has_foreign_measure(rest, table) or cell.number.places != number.places):
        small, large = sorted((abs(cell.number.value), abs(number.value)))
        if other := _same_line_cell(number, cell, table):
            own = [name for name, named in zip(other.at, cell.at, strict=True) if name != named]
            computed += f"; {number.text} is that of {', '.join(own)}"
            outcome = Outcome.WRONG
        elif not is_elsewhere and small * FAR >= large:
            outcome = Outcome.WRONG
    words = excerpt(text, number.start, number.end)
    return Fact(Label.CELL, words, computed, outcome, (table.key,), (cell.position,))


def _same_line_cell(number: Number, cell: Cell, table: Grid) -> Cell | None:
    """The one cell of the same column, or else of the same row, that holds a number to the printed digit."""
    equal = [one for one in table.cells if one.number.value == number.value]
    same = [one for one in equal if one.column == cell.column] or [one for one in equal if one.row == cell.row]
    return same[0] if len(same) == 1 else None


def is_derivable(number: Number, table: Grid, near: bool) -> bool:
    """Whether a table holds the number to the printed digit; of those that the sentence is about, also whether it is a
    difference or mean of some cells."""
    value, slack = abs(number.value), number.half + 1e-9
    lines = [*table.lines("row"), *table.lines("column")]
    for line in lines:
        values = [cell.number.value for cell in line]
        if any(abs(abs(one) - value) <= slack or abs(abs(one) * 100 - value) <= slack for one in values):
            return True
        if not near:
            continue
        if len(values) > 1 and abs(abs(sum(values) / len(values)) - value) <= slack:
            return True
        if len(values) <= 60 and any(
            abs(abs(one - other) - value) <= slack for place, one in enumerate(values) for other in values[:place]
        ):
            return True
    return False
