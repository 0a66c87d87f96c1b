"""The cells of tables in a PDF, which says nothing of cells: by the gaps between words, also over pages."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from aisr.paper.readers.pdf_blocks import CAPTION, Type
from aisr.paper.readers.pdf_lines import NUMBER_ONLY, SAME, Atom, Line, Regions, Row, around, atoms, rows_of, within
from aisr.paper.readers.pdf_process import Box, Page

GAP = 0.55  # of the size: words further apart stand in two cells; a space is a third of it wide
WIDE = 0.9  # the same for rows without rules around them, since the spaces of running text may be stretched
FEWEST = 2  # rows of a table without rules

Cell = tuple[float, float, str]  # left, right, text


def cells(page: Page, region: Box) -> list[list[str]]:
    """The rows of a table between rules, from top to bottom. A cell that spans columns stands in each of them."""
    seen = [word for word in page.words if not word.hidden and within(word.box, region)]
    bars = [rule for rule in page.rules if rule.bottom - rule.top > 4 and within(rule, _wider(region))]
    parts = [
        rule for rule in page.rules if within(rule, region) and rule.right - rule.left < region.right - region.left - 6
    ]
    return _in_columns([_spanned(_cells(row, GAP, bars), row, parts) for row in rows_of(atoms(seen))])


def without_rules(lines: Sequence[Line], body: Type) -> tuple[list[Line], dict[Line, list[list[str]]]]:
    """Lines without the rows of tables that have no rules; and those rows, by the first line of their caption."""
    left: list[Line] = []
    found: dict[Line, list[list[str]]] = {}
    taken: set[int] = set()
    for place, line in enumerate(lines):
        caption = CAPTION.match(line.text)
        if caption is None or not caption["kind"].lower().startswith("tab"):
            continue
        end = place + 1
        while end < len(lines) and _next(lines[end - 1], lines[end], body) and not _ends_caption(lines[end]):
            end += 1
        for way in (range(end, len(lines)), range(place - 1, -1, -1)):
            rows = _run(lines, end - 1 if way.step > 0 else place, way, body)
            if len(rows) >= FEWEST:
                found[line] = _in_columns([_cells(list(lines[row].atoms), WIDE, []) for row in sorted(rows)])
                taken.update(rows)
                break
    left = [line for place, line in enumerate(lines) if place not in taken]
    return left, found


def _wider(box: Box) -> Box:
    return Box(box.left - 3, box.top - 3, box.right + 3, box.bottom + 3)


def _next(before: Line, line: Line, body: Type) -> bool:
    distance = abs(line.baseline - before.baseline)
    return (before.page, before.side) == (line.page, line.side) and 0 < distance < 2.5 * body.leading


def _run(lines: Sequence[Line], start: int, way: range, body: Type) -> list[int]:
    """The places of rows that stand directly below or above a line."""
    rows: list[int] = []
    before = lines[start]
    for place in way:
        if not (_next(before, lines[place], body) and _is_row(lines[place])):
            break
        rows.append(place)
        before = lines[place]
    return rows


def _ends_caption(line: Line) -> bool:
    return CAPTION.match(line.text) is not None or _is_row(line)


def _is_row(line: Line) -> bool:
    return is_row(line.atoms) and CAPTION.match(line.text) is None


def is_row(row: Sequence[Atom]) -> bool:
    """Whether atoms from left to right stand so far apart that they are cells."""
    return len(_cells(row, WIDE, [])) > 1


def _cells(row: Sequence[Atom], gap: float, bars: Sequence[Box]) -> list[Cell]:
    """What of a row stands together."""
    found: list[list[Atom]] = []
    for atom in row:
        before = found[-1][-1] if found else None
        if before is None or _apart(before, atom, gap, bars):
            found.append([atom])
        else:
            found[-1].append(atom)
    boxes = [around(atom.box for atom in group) for group in found]
    texts = [" ".join(atom.text for atom in group) for group in found]
    return [(box.left, box.right, text) for box, text in zip(boxes, texts, strict=True)]


def _apart(before: Atom, atom: Atom, gap: float, bars: Sequence[Box]) -> bool:
    """Whether two neighbours stand in two cells: by their distance, or by a rule between them."""
    if atom.box.left - before.box.right > gap * max(atom.size, before.size):
        return True
    return any(before.box.right - 1 <= bar.left <= atom.box.left + 1 and _beside(bar, atom) for bar in bars)


def _spanned(row: list[Cell], found: Sequence[Atom], parts: Sequence[Box]) -> list[Cell]:
    """Cells as wide as the rules that stand directly below them, of a part of the table each."""
    bottom, size = max(atom.baseline for atom in found), max(atom.size for atom in found)
    below = [part for part in parts if 0 <= part.top - bottom < 0.9 * size and part.bottom - part.top < 4]
    widened = []
    for left, right, text in row:
        part = next((part for part in below if part.left <= (left + right) / 2 <= part.right), None)
        widened.append((min(left, part.left), max(right, part.right), text) if part else (left, right, text))
    return widened


def _beside(bar: Box, atom: Atom) -> bool:
    return bar.top - 2 <= (atom.box.top + atom.box.bottom) / 2 <= bar.bottom + 2


def _in_columns(rows: Sequence[list[Cell]]) -> list[list[str]]:
    """Rows with an empty text where they have no cell."""
    most = max((len(row) for row in rows), default=0)
    columns: list[tuple[float, float]] = []
    # Rows with nearly all cells say where columns are; a heading above three of them would make one of the three.
    spans = sorted((left, right) for row in rows if len(row) >= max(most - 1, 1) for left, right, _ in row)
    for left, right in spans:
        if columns and left < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return [_padded(row, columns) for row in rows]


def _padded(row: Sequence[Cell], columns: Sequence[tuple[float, float]]) -> list[str]:
    texts: list[str] = []
    begin = 0  # the first column that is not filled
    for left, right, text in row:
        under = [place for place, column in enumerate(columns) if column[0] < right and left < column[1]]
        first = max(under[0], begin) if under else begin
        last = max(under[-1] if under else first, first)
        texts += [""] * (first - begin) + [text] * (last - first + 1)
        begin = last + 1
    return [*texts, *[""] * (len(columns) - begin)]


# --- Tables that go over pages: where a table stands last on its page, and the next page begins with rows of its width.

GOES_ON = re.compile(r"\bcont(?:inued|inues|['’]d|\.)", re.IGNORECASE)
ABOVE = 3  # rows above the first one of a table on its next page: a running head, "Table 3, continued"
FEWEST_CONTINUED = 2  # rows of a table that a page goes on with
NEAR = 2.6  # of the size, between the baselines of two rows
MOST_LAST = 3  # tables of a page that may be its last, one a column
OUT = 3.0  # points that a word may stand out of its table


class Parts(NamedTuple):
    """seen: the regions of each page, with those that tables go on in; more: of a table on a page, its parts on the
    next ones, as pages and boxes."""

    seen: dict[int, Regions]
    more: dict[tuple[int, Box], list[tuple[int, Box]]]


def continued(pages: Sequence[Page], seen: Mapping[int, Regions]) -> Parts:
    """The tables of a paper with what of them stands on following pages."""
    found, more = dict(seen), dict[tuple[int, Box], list[tuple[int, Box]]]()
    by_number = {page.number: page for page in pages}
    within_others: set[tuple[int, Box]] = set()
    for page in pages:
        lowest = sorted(found[page.number].tables, key=lambda table: -table.bottom)[:MOST_LAST]
        for table in lowest:
            if (page.number, table) in within_others:
                continue
            last = _down(page, table)
            if last is None:
                continue
            parts: list[tuple[int, Box]] = []
            following = page.number + 1
            while following in by_number:
                box, is_last = _up(by_number[following], last, found[following].tables)
                if box is None:
                    break
                parts.append((following, box))
                following += 1
                if is_last:
                    break
            if parts:
                found[page.number] = _with(found[page.number], table, last)
                more[page.number, last] = parts
                within_others.update(parts)
                for number, box in parts:
                    found[number] = _with(found[number], None, box)
    return Parts(found, more)


def _with(regions: Regions, old: Box | None, new: Box) -> Regions:
    """The regions of a page with a table put in, in place of another one; its words are no running text."""
    tables = (*(one for one in regions.tables if one != old and not within(one, new)), new)
    return Regions(regions.figures, tables, tuple(word for word in regions.text if not within(word.box, new)))


def _rows(page: Page, table: Box) -> list[Row]:
    """The rows that stand between the left and the right end of a table."""
    words = [
        word
        for word in page.words
        if not word.hidden and table.left - OUT <= word.box.left and word.box.right <= table.right + OUT
    ]
    return rows_of(atoms(words))


def _said(row: Row) -> str:
    return " ".join(atom.text for atom in row)


def _box(rows: Sequence[Row]) -> Box:
    return around(atom.box for row in rows for atom in row)


def _down(page: Page, table: Box) -> Box | None:
    """A table down to the end of its page; None where other text stands below it."""
    below = [row for row in _rows(page, table) if row[0].baseline > table.bottom]
    while below and (NUMBER_ONLY.fullmatch(_said(below[-1])) or GOES_ON.search(_said(below[-1]))):
        below.pop()
    if not below:
        return table
    if not all(is_row(row) for row in below) or not _close(below):
        return None
    return Box(table.left, table.top, table.right, _box(below).bottom + 1)


def _up(page: Page, table: Box, known: Sequence[Box]) -> tuple[Box | None, bool]:
    """What a page begins with of a table that goes on, and whether something else follows it there."""
    rows = _rows(page, table)
    begin = next((place for place, row in enumerate(rows[: ABOVE + 1]) if is_row(row)), None)
    if begin is None or any(_is_caption(row) for row in rows[:begin]):
        return None, True
    end = begin + 1
    while end < len(rows) and is_row(rows[end]) and _close(rows[end - 1 : end + 1]):
        end += 1
    top, bottom = _box(rows[begin:end])[1::2]
    rules = [
        rule.bottom
        for rule in page.rules
        if abs(rule.left - table.left) < 2 * SAME and abs(rule.right - table.right) < 2 * SAME
    ]
    # Rows of one cell, such as the heading of a group, may part those of several.
    lines = [row for row in rows[end:] if rules and row[0].baseline < max(rules)]
    if lines and sum(map(is_row, lines)) >= 0.5 * len(lines) and _close(rows[begin : end + len(lines)]):
        end += len(lines)
        bottom = max(rules)
    if end - begin < FEWEST_CONTINUED or any(
        one.top < bottom and top < one.bottom and _captioned(rows, one) for one in known
    ):
        return None, True
    rest = [row for row in rows[end:] if not NUMBER_ONLY.fullmatch(_said(row)) and not GOES_ON.search(_said(row))]
    bottom = max([bottom, *(one for one in rules if top < one < bottom + 12)])
    return Box(table.left, top - 1, table.right, bottom + 1), bool(rest)


def _captioned(rows: Sequence[Row], table: Box) -> bool:
    """Whether a caption of its own stands by a table."""
    return any(_is_caption(row) and table.top - 60 < row[0].baseline < table.bottom + 60 for row in rows)


def _is_caption(row: Row) -> bool:
    return CAPTION.match(_said(row)) is not None and not GOES_ON.search(_said(row))


def _close(rows: Sequence[Row]) -> bool:
    """Whether rows follow each other without a gap."""
    return all(
        below[0].baseline - row[0].baseline < NEAR * max(atom.size for atom in (*row, *below))
        for row, below in pairwise(rows)
    )
