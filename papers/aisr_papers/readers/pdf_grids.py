"""The cells of a table in a PDF whose columns and rows are all ruled: what stands between which rules."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from aisr_papers.readers.pdf_lines import WIDE, Atom, join_atoms, split_cells, split_rows
from aisr_papers.readers.pdf_process import Box, Word

SAME = 3.0  # points; rules that are nearer stand at one place
EDGE = 12.0  # points from the edge of a table to the rule that is its frame
GAP = 0.55  # of the size: words further apart stand in two cells; a space is a third of it wide
LEAST_LINES = 3  # upright and level ones: fewer bound one column, or one row
MOST_SLOTS = 10_000
NUMBER_CELL = re.compile(r"[-+−]?\d[\d.,]*+%?")

Slot = tuple[int, int]  # of a row and a column


def grid_cells(
    words: Sequence[Word], bars: Sequence[Box], across: Sequence[Box], region: Box
) -> list[list[str]] | None:
    """Return the rows of a ruled table; a cell over several columns or rows stands in each of them. None where not all
    of its rows and columns are parted by rules. bars, across: its upright and its level rules."""
    columns, lines = _places(bar.left for bar in bars), _places(rule.top for rule in across)
    if columns and columns[0] - region.left > EDGE:  # without a rule at this side
        columns.insert(0, region.left)
    if columns and region.right - columns[-1] > EDGE:
        columns.append(region.right)
    slots = [(row, column) for row in range(len(lines) - 1) for column in range(len(columns) - 1)]
    if len(columns) < LEAST_LINES or len(lines) < LEAST_LINES or len(slots) > MOST_SLOTS:
        return None
    cells = _join_slots(slots, columns, lines, bars, across)
    inside: dict[Slot, list[Word]] = {}
    for word in words:
        row = bisect_right(lines, (word.box.top + word.box.bottom) / 2) - 1
        column = bisect_right(columns, (word.box.left + word.box.right) / 2) - 1
        if (row, column) not in cells:
            return None  # above the first rule, or beside the last
        inside.setdefault(cells[row, column], []).append(word)
    texts = {cell: split_rows(join_atoms(some)) for cell, some in inside.items()}
    if any(map(_holds_cells, texts.values())):
        return None
    rows = [
        [_text(texts.get(cells[row, column], [])) for column in range(len(columns) - 1)]
        for row in range(len(lines) - 1)
    ]
    return [row for row in rows if any(row)]


def _places(values: Iterable[float]) -> list[float]:
    """Where rules stand, from the first to the last."""
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > SAME:
            places.append(value)
    return places


def _join_slots(
    slots: Sequence[Slot], columns: Sequence[float], lines: Sequence[float], bars: Sequence[Box], across: Sequence[Box]
) -> dict[Slot, Slot]:
    """The first slot of the cell that each slot belongs to: no rule parts it from the one at its left or above."""
    upright: dict[int, list[Box]] = {}
    level: dict[int, list[Box]] = {}
    for bar in bars:
        upright.setdefault(bisect_right(columns, bar.left + 0.1) - 1, []).append(bar)
    for rule in across:
        level.setdefault(bisect_right(lines, rule.top + 0.1) - 1, []).append(rule)
    cells: dict[Slot, Slot] = {}
    for row, column in slots:
        middle = (lines[row] + lines[row + 1]) / 2
        center = (columns[column] + columns[column + 1]) / 2
        is_open_left = column > 0 and not any(bar.top <= middle <= bar.bottom for bar in upright.get(column, ()))
        is_open_above = row > 0 and not any(rule.left <= center <= rule.right for rule in level.get(row, ()))
        if is_open_left:
            cells[row, column] = cells[row, column - 1]
        elif is_open_above:
            cells[row, column] = cells[row - 1, column]
        else:
            cells[row, column] = (row, column)
    return cells


def _holds_cells(rows: Sequence[Sequence[Atom]]) -> bool:
    """Whether a cell holds several: a column of numbers, or words far apart."""
    parts = [split_cells(row, GAP) for row in rows]
    numbers = [[" ".join(atom.text for atom in part) for part in row] for row in parts]
    numbers = [[text for text in row if NUMBER_CELL.fullmatch(text)] for row in numbers]
    is_column = sum(len(row) == len(part) == 1 for row, part in zip(numbers, parts, strict=True)) > 1
    return is_column or any(len(row) > 1 for row in numbers) or any(len(split_cells(row, WIDE)) > 1 for row in rows)


def _text(rows: Sequence[Sequence[Atom]]) -> str:
    return " ".join(atom.text for row in rows for atom in row)
