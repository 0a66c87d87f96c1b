"""The tables of a PDF: the cells between rules or beside a caption, and rows that go on over a page.

A PDF has no cells: they are derived from the gaps between words.
"""

import re
from collections.abc import Container, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from aisr_papers.readers.pdf_blocks import Block, Kind
from aisr_papers.readers.pdf_lines import WIDE, Atom, Line, Type, join_atoms, split_cells, split_rows
from aisr_papers.readers.pdf_process import Box, Page, bounding_box, is_within

GAP = 0.55  # of the size: words further apart stand in two cells; a space is a third of it wide
NUMBER_CELL = re.compile(r"[-+−]?\d[\d.,]*+%?")
FEWEST = 2  # rows of a table without rules
FEWEST_ROWS = 3  # of one without a caption as well
CENTERED = 0.3  # of their width: twice as far a heading may stand from the middle of its columns
ALIKE = 0.2  # of the width: parts of one table are equally wide but for this
OVERLAP = 1.0  # points: cells of neighbouring columns may touch
RULED = 0.3  # of the rows: where more have a rule above them, all have
TIGHT = 0.85  # of the usual distance of rows: a line that is nearer goes on with the cells above it

Rows = list[list[str]]


class Cell(NamedTuple):
    left: float
    right: float
    text: str


class Part(NamedTuple):
    """Rows that stand in one place."""

    page: int
    box: Box
    rows: Rows
    note: str  # why they are not read, where they belong to no table

    def is_behind(self, other: "Part") -> bool:
        """Return whether these rows may go on from others: at the next page, or in the next column."""
        if self.page == other.page:
            return self.box.left > other.box.right
        return self.page == other.page + 1

    def is_like(self, other: "Part") -> bool:
        """Return whether these rows look like the others: without headings of their own, as many columns, and as
        wide."""
        has_headings = not _has_numbers(self.rows[0]) and any(map(_has_numbers, self.rows[1:]))
        is_as_wide = abs(self.box.width - other.box.width) < ALIKE * other.box.width
        return len(self.rows[0]) == len(other.rows[0]) and is_as_wide and not has_headings


def table_cells(page: Page, region: Box) -> Rows:
    """Return the rows of a table between rules, from top to bottom. A cell that spans columns stands in each of
    them."""
    words = [word for word in page.words if not word.hidden and is_within(word.box, region)]
    wider = Box(region.left - 3, region.top - 3, region.right + 3, region.bottom + 3)
    bars = [rule for rule in page.rules if rule.bottom - rule.top > 4 and is_within(rule, wider)]
    across = [rule for rule in page.rules if is_within(rule, region) and rule.height < 4]
    widest = max((rule.width for rule in across), default=0.0)
    parts = [rule for rule in across if rule.width < widest - 6]
    return _read_rows(split_rows(join_atoms(words)), bars, across, parts)


def _read_rows(
    rows: Sequence[Sequence[Atom]], bars: Sequence[Box] = (), across: Sequence[Box] = (), parts: Sequence[Box] = ()
) -> Rows:
    """Return the cells of rows. bars, across: upright and level rules; parts: level ones below some columns."""
    cells = [_cells(row, bars) for row in rows]
    above = max(_count_headings(cells) - 1, 0)  # headings that stand over others
    cells[:above] = [_widen(one, row, parts, bars) for one, row in zip(cells[:above], rows, strict=False)]
    texts = _name_both(_in_columns(cells)) if bars else _in_columns(cells)
    return _join_wrapped(texts, [row[0].baseline for row in rows], [rule.top for rule in across])


def _name_both(rows: Rows) -> Rows:
    """Return rows with the name that stands at half height between two of them in both, and not in one of its own."""
    for above, row, below in zip(rows, rows[1:], rows[2:], strict=False):
        if row[0] and not any((above[0], below[0], *row[1:])):
            above[0] = below[0] = row[0]
            row[0] = ""
    return rows


def _join_wrapped(rows: Rows, heights: Sequence[float], rules: Sequence[float]) -> Rows:
    """Return rows, those joined to the one above that go on with its cells. heights: of the rows; rules: of lines
    between."""
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
    return [row for row in result if any(row)]


def take_unruled_tables(
    lines: Sequence[Line], body: Type, headings: Container[Line]
) -> tuple[list[Line], dict[Line, Rows]]:
    """Return lines without the rows of tables that have no rules; and those rows, by the first line of their
    caption."""
    tables: dict[Line, Rows] = {}
    taken: set[int] = set()
    for place, line in enumerate(lines):
        if line.caption is None or not line.caption["kind"].lower().startswith("tab"):
            continue
        end = place + 1
        while (
            end < len(lines)
            and _is_next(lines[end - 1], lines[end], body)
            and not (lines[end].caption or _is_row(lines[end]))
        ):
            end += 1
        for way in (range(end, len(lines)), range(place - 1, -1, -1)):
            rows = _adjacent_rows(lines, end - 1 if way.step > 0 else place, way, body, headings)
            if len(rows) >= FEWEST:
                tables[line] = _read_rows([lines[row].atoms for row in sorted(rows)])
                taken.update(rows)
                break
    return [line for place, line in enumerate(lines) if place not in taken], tables


def take_rows(blocks: Sequence[Block]) -> tuple[list[Block], list[Part]]:
    """Return blocks without those that are no prose but rows of a table without rules and caption; and these rows."""
    parts = []
    for block in blocks:
        if _is_rows(block):
            box = bounding_box(line.box for line in block.lines)
            rows = _read_rows([line.atoms for line in block.lines])
            note = f"rows of a table without a caption: “{block.text[:80]}”"
            parts.append(Part(block.lines[0].page, box, rows, note))
    return [block for block in blocks if not _is_rows(block)], parts


def _is_rows(block: Block) -> bool:
    if block.kind is not Kind.PARAGRAPH or len(block.lines) < FEWEST_ROWS or not all(map(_is_row, block.lines)):
        return False
    cells = [cell.text for line in block.lines for cell in _cells(line.atoms)]
    return 2 * sum(NUMBER_CELL.fullmatch(cell) is not None for cell in cells) >= len(cells)


def _is_next(before: Line, line: Line, body: Type) -> bool:
    distance = abs(line.baseline - before.baseline)
    return (before.page, before.side) == (line.page, line.side) and 0 < distance < 2.5 * body.leading


def _adjacent_rows(lines: Sequence[Line], start: int, way: range, body: Type, headings: Container[Line]) -> list[int]:
    """Return the places of rows that stand directly below or above a line; one cell alone, between rows, is one."""
    rows: list[int] = []
    before = lines[start]
    for place in way:
        line, behind = lines[place], lines[place + way.step : place + way.step + 1]
        is_lone = bool(rows and behind) and _is_row(behind[0]) and _is_next(line, behind[0], body)
        if not _is_next(before, line, body) or line in headings or line.caption or not (_is_row(line) or is_lone):
            break
        rows.append(place)
        before = line
    return rows


def _is_row(line: Line) -> bool:
    """Return whether the words of a line stand so far apart that they are cells."""
    return line.caption is None and len(split_cells(line.atoms, WIDE)) > 1


def _cells(row: Sequence[Atom], bars: Sequence[Box] = ()) -> list[Cell]:
    groups = split_cells(row, GAP, bars)
    boxes = [bounding_box(atom.box for atom in group) for group in groups]
    texts = [" ".join(atom.text for atom in group) for group in groups]
    return [Cell(box.left, box.right, text) for box, text in zip(boxes, texts, strict=True)]


def _widen(row: list[Cell], atoms: Sequence[Atom], parts: Sequence[Box], bars: Sequence[Box]) -> list[Cell]:
    """Return cells as wide as the rules that stand directly below them, of a part of the table each, or as what upright
    rules part."""
    bottom, size = max(atom.baseline for atom in atoms), max(atom.size for atom in atoms)
    below = [part for part in parts if 0 <= part.top - bottom < 0.9 * size]
    crossing = [bar for bar in bars if bar.top <= bottom - 0.3 * size <= bar.bottom]
    cells = []
    for left, right, text in row:
        middle = (left + right) / 2
        part = next((part for part in below if part.left <= middle <= part.right), None)
        before = [bar.left for bar in crossing if bar.left < middle]
        behind = [bar.left for bar in crossing if bar.left > middle]
        part = Box(max(before), bottom, min(behind), bottom) if before and behind else part
        cells.append(Cell(min(left, part.left), max(right, part.right), text) if part else Cell(left, right, text))
    return cells


def _in_columns(rows: Sequence[list[Cell]]) -> Rows:
    """Return rows with an empty text where they have no cell."""
    most = max((len(row) for row in rows), default=0)
    columns: list[tuple[float, float]] = []
    # Rows with nearly all cells say where columns are; a heading above three of them would make one of the three.
    spans = sorted((left, right) for row in rows if len(row) >= max(most - 1, 1) for left, right, _ in row)
    for left, right in spans:
        if columns and left < columns[-1][1] - OVERLAP:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    head = _count_headings(rows)
    padded = [
        _heading(row, columns) if place + 1 < head and len(row) < len(rows[place + 1]) else _padded(row, columns)
        for place, row in enumerate(rows)
    ]
    width = max(map(len, padded), default=0)
    return [[*row, *[""] * (width - len(row))] for row in padded]


def _count_headings(rows: Sequence[Sequence[Cell]]) -> int:
    """Return how many rows stand above the first one with a number."""
    return next((place for place, row in enumerate(rows) if any(NUMBER_CELL.fullmatch(one.text) for one in row)), 0)


def _heading(row: Sequence[Cell], columns: Sequence[tuple[float, float]]) -> list[str]:
    """Headings above others, each in all columns that it stands over: those that a rule below it spans, or as many as
    each other one in whose middle it stands. Where that cannot be told, they stand in the first column, over none."""
    padded = _padded(row, columns)
    if all(padded[1:]) and len(padded) == len(columns):
        return padded
    over = [cell for cell in row if cell.right > columns[0][1]]
    many, rest = divmod(len(columns) - 1, max(len(over), 1))
    groups = [columns[first : first + many] for first in range(1, len(columns), many)] if many and not rest else []
    if len(groups) != len(over) or not all(map(_is_in_middle, over, groups)):
        return [" ".join(cell.text for cell in row)]
    beside = " ".join(cell.text for cell in row if cell not in over)
    return [beside, *(cell.text for cell in over for _ in range(many))]


def _is_in_middle(cell: Cell, group: Sequence[tuple[float, float]]) -> bool:
    left, right = group[0][0], group[-1][1]
    return abs(cell.left + cell.right - left - right) <= CENTERED * (right - left)


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


# --- Tables in several parts: over a column or a page.


def _has_numbers(row: Sequence[str]) -> bool:
    return any(map(NUMBER_CELL.fullmatch, row))


def join_parts(tables: Mapping[str, list[Part]], others: Sequence[Part]) -> list[Part]:
    """Add rows without a caption to the tables that they go on from, or else, where the caption stands behind its
    table, that go on from them. tables: by their names; the rest of the rows is returned."""

    def likeness(part: Part, parts: Sequence[Part]) -> int:
        whole = next((one for one in parts if one.rows), None)
        if whole is None:
            return 1
        return 2 * (part.rows[0] == whole.rows[0]) or int(part.is_like(whole))

    def owner(part: Part, tables: Sequence[list[Part]]) -> list[Part] | None:
        best = max(tables, key=lambda parts: likeness(part, parts), default=[])
        return best if best and likeness(part, best) else None

    rest: list[Part] = []
    for part in sorted(others, key=lambda one: (one.page, one.box.left, one.box.top)):
        parts = owner(part, [parts for parts in tables.values() if part.is_behind(parts[-1])])
        (rest if parts is None else parts).append(part)
    left: list[Part] = []
    for part in reversed(rest):
        parts = owner(part, [parts for parts in tables.values() if parts[0].is_behind(part)])
        if parts is None:
            left.append(part)
        else:
            parts.insert(0, part)
    return left


def rows_of(parts: Sequence[Part]) -> Rows:
    """Return the rows of all parts; headings that are repeated stand once."""
    parts = [part for part in parts if part.rows]
    rows = list(parts[0].rows) if parts else []
    for part in parts[1:]:
        same = next(
            (place for place, (one, other) in enumerate(zip(parts[0].rows, part.rows, strict=False)) if one != other), 0
        )
        rows += part.rows[same:]
    return rows
