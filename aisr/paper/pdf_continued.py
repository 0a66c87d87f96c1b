"""Tables that go over pages: where a table stands last on its page, and the next page begins with rows of its width."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from aisr.paper.pdf_blocks import CAPTION
from aisr.paper.pdf_lines import NUMBER_ONLY, Row, atoms, rows_of
from aisr.paper.pdf_process import Box, Page
from aisr.paper.pdf_regions import SAME, Regions, around, within
from aisr.paper.pdf_tables import is_row

GOES_ON = re.compile(r"\bcont(?:inued|inues|['’]d|\.)", re.IGNORECASE)
ABOVE = 3  # rows above the first one of a table on its next page: a running head, "Table 3, continued"
FEWEST = 2  # rows of a table that a page goes on with
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
    if end - begin < FEWEST or any(one.top < bottom and top < one.bottom and _captioned(rows, one) for one in known):
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
