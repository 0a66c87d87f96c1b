"""The cells of a PDF's tables: it has none, so they are derived from rules and from the gaps between words."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from aisr_papers.readers.pdf_lines import NUMBER_CELL, Atom, join_atoms, split_cells, split_rows
from aisr_papers.readers.pdf_process import Box, Page, bounding_box, is_within

GAP = 0.55  # of the size: words further apart stand in two cells; a space is a third of it wide
OVERLAP = 1.0  # points: cells of neighbouring columns may touch
RULED = 0.3  # of the rows: where more have a rule above them, all have
TIGHT = 0.85  # of the usual distance of rows: a line that is nearer goes on with the cells above it

Rows = list[list[str]]


class Cell(NamedTuple):
    left: float
    right: float
    text: str


def table_cells(page: Page, region: Box) -> Rows:
    """The rows of a table between rules, from top to bottom. A cell that spans columns stands in each of them."""
    words = [word for word in page.words if not word.hidden and is_within(word.box, region)]
    wider = Box(region.left - 3, region.top - 3, region.right + 3, region.bottom + 3)
    bars = [rule for rule in page.rules if rule.bottom - rule.top > 4 and is_within(rule, wider)]
    across = [rule for rule in page.rules if is_within(rule, region) and rule.height < 4]
    parts = [rule for rule in across if rule.width < region.width - 6]
    atoms = split_rows(join_atoms(words))
    rows = [_widen(_cells(row, GAP, bars), row, parts) for row in atoms]
    return _join_wrapped(_in_columns(rows), [row[0].baseline for row in atoms], [rule.top for rule in across])


def _join_wrapped(rows: Rows, heights: Sequence[float], rules: Sequence[float]) -> Rows:
    """Rows, those joined to the one above that go on with its cells. heights: of the rows; rules: of lines between."""
    steps = list(pairwise(heights))
    parted = [any(above < rule < below for rule in rules) for above, below in steps]
    free = sorted(below - above for (above, below), one in zip(steps, parted, strict=True) if not one)
    usual = free[2 * len(free) // 3] if free else 0.0
    is_ruled = sum(parted) > RULED * len(parted)
    result: Rows = rows[:1]
    for row, (top, bottom), is_parted in zip(rows[1:], steps, parted, strict=True):
        above = result[-1]
        filled = [place for place, text in enumerate(row) if text]
        fewer = len(filled) < sum(map(bool, above))
        is_number = any(above[place] and NUMBER_CELL.fullmatch(row[place]) for place in filled)
        wraps = not row[0] and all(
            above[place] and (row[place][0].islower() or row[place][0] == "(") for place in filled
        )
        if fewer and not is_parted and not is_number and (wraps or is_ruled or bottom - top < TIGHT * usual):
            for place in filled:
                above[place] = f"{above[place]} {row[place]}".strip()
        else:
            result.append(row)
    return result


def _cells(row: Sequence[Atom], gap: float, bars: Sequence[Box] = ()) -> list[Cell]:
    groups = split_cells(row, gap, bars)
    boxes = [bounding_box(atom.box for atom in group) for group in groups]
    texts = [" ".join(atom.text for atom in group) for group in groups]
    return [Cell(box.left, box.right, text) for box, text in zip(boxes, texts, strict=True)]


def _widen(row: list[Cell], atoms: Sequence[Atom], parts: Sequence[Box]) -> list[Cell]:
    """Cells as wide as the rules that stand directly below them, of a part of the table each."""
    bottom, size = max(atom.baseline for atom in atoms), max(atom.size for atom in atoms)
    below = [part for part in parts if 0 <= part.top - bottom < 0.9 * size]
    cells = []
    for left, right, text in row:
        part = next((part for part in below if part.left <= (left + right) / 2 <= part.right), None)
        cells.append(Cell(min(left, part.left), max(right, part.right), text) if part else Cell(left, right, text))
    return cells


def _in_columns(rows: Sequence[list[Cell]]) -> Rows:
    """Rows with an empty text where they have no cell."""
    most = max((len(row) for row in rows), default=0)
    columns: list[tuple[float, float]] = []
    # Rows with nearly all cells say where columns are; a heading above three of them would make one of the three.
    spans = sorted((left, right) for row in rows if len(row) >= max(most - 1, 1) for left, right, _ in row)
    for left, right in spans:
        if columns and left < columns[-1][1] - OVERLAP:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    padded = [_padded(row, columns) for row in rows]
    width = max(map(len, padded), default=0)
    return [[*row, *[""] * (width - len(row))] for row in padded]


def _padded(row: Sequence[Cell], columns: Sequence[tuple[float, float]]) -> list[str]:
    texts: list[str] = []
    begin = 0  # the first column that is not filled
    for left, right, text in row:
        under = [
            place for place, column in enumerate(columns) if column[0] < right - OVERLAP and left < column[1] - OVERLAP
        ]
        first = max(under[0], begin) if under else begin
        last = max(under[-1] if under else first, first)
        texts += [""] * (first - begin) + [text] * (last - first + 1)
        begin = last + 1
    return texts
