"""The names of a table: which of its cells stand above and beside the numbers."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aisr_papers.recompute.numbers import Number, parse_cell

MOST_HEADER = 4  # rows above the numbers that are names
MOST_STUB = 4  # columns before the numbers that are names


class Layout(NamedTuple):
    """Which cells of a table are names."""

    rows: list[list[str]]  # all of one width
    numbers: list[list[Number | None]]
    header: int  # how many rows at the top are names
    stub: int  # how many columns at the left are
    sections: list[int]  # rows that are the name of those below them
    beside: dict[int, tuple[str, ...]]  # row below the header -> the section that it stands in, then its own names

    def above(self, column: int) -> tuple[str, ...]:
        """Return the names above a column; none for one that the table does not have."""
        return tuple(row[column] for row in self.rows[: self.header] if column < len(row))

    def with_names(self, rows: Iterable[int]) -> set[int]:
        """Return rows, those that are names above them all, and the section that each stands in."""
        shown = {*rows, *range(self.header)}
        return shown | {self.sections[after - 1] for row in shown if (after := bisect_right(self.sections, row))}


def read_layout(rows: Sequence[Sequence[str]]) -> Layout:
    """Return the names of a table."""
    width = max(map(len, rows), default=0)
    even = [[cell.strip() for cell in row] + [""] * (width - len(row)) for row in rows]
    numbers = [[parse_cell(cell) for cell in row] for row in even]
    stub = _stub(numbers, even, width)
    header = _header(numbers, even, stub)
    beside: dict[int, tuple[str, ...]] = {}
    sections: list[int] = []
    for place in range(header, len(even)):
        if _is_section(even[place], numbers[place]):
            sections.append(place)
        beside[place] = (even[sections[-1]][0] if sections else "", *even[place][:stub])
    return Layout(even, numbers, header, stub, sections, beside)


def _stub(numbers: Sequence[Sequence[Number | None]], rows: Sequence[Sequence[str]], width: int) -> int:
    """Return how many columns at the left are names: at least one."""
    body = range(1, len(rows))
    for column in range(1, min(width, MOST_STUB + 1)):
        filled = [place for place in body if rows[place][column]]
        if sum(numbers[place][column] is not None for place in filled) * 2 >= len(filled) > 0:
            return column
    return 1


def _header(numbers: Sequence[Sequence[Number | None]], rows: Sequence[Sequence[str]], stub: int) -> int:
    """Return how many rows at the top are names: at least one."""
    for place in range(1, min(len(numbers), MOST_HEADER)):
        if any(one is not None for one in numbers[place][stub:]) or _is_section(rows[place], numbers[place]):
            return place
    return 1


def _is_section(row: Sequence[str], numbers: Sequence[Number | None]) -> bool:
    """Return whether a row is the name of those below it: one text in all columns, or in the first alone."""
    return row[0] != "" and len(set(filter(None, row))) == 1 and not any(one is not None for one in numbers)
