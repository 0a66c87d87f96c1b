"""What of a PDF's pages is no running text: drawings, and tables between rules."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from itertools import pairwise, takewhile
from statistics import median
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from aisr_papers.readers.pdf_lines import CAPTION, WIDE, Atom, join_atoms, split_cells, split_rows
from aisr_papers.readers.pdf_process import Box, Page, Word, bounding_box, is_within

CELL = 6.0  # points; drawings that are no further apart are one
MOST_CELLS = 200  # a side; on a large sheet cells are larger
SAME = 4.0  # points; rules whose ends differ by less belong to one table
APART = 250.0  # points; what stands between rules further apart has to look like rows
SHORTEST = 40.0  # points; a shorter rule bounds no table
LEAST = 12.0  # points; what is smaller is an ornament
BACKGROUND = 0.8  # of the page; what covers more is the paper that it stands on
CAPTION_NEAR = 120.0  # points
FAR = 320.0  # points from a caption to a drawing at its right
MOST_RULES = 500  # of a page, that are looked at for grids and tables
MOST_IN_ROW = 300  # words
MOST_WORDS = 5_000  # between two rules
MOST_REGIONS = 40  # of a kind on a page, the largest
FULL = 0.75  # of the width of a table: a line of one or two parts that covers more is running text


class Regions(NamedTuple):
    """Where the drawings and ruled tables of a page stand."""

    figures: tuple[Box, ...]
    tables: tuple[Box, ...]
    labels: tuple[Word, ...]  # the words in drawings
    text: tuple[Word, ...]  # the words outside of both, in the order of the file


def find_regions(page: Page) -> Regions:
    """Return the regions of a page's drawings and ruled tables, and the visible words that stand in neither."""
    words = [word for word in page.words if not word.hidden]
    captions = _captions(words)
    near = {kind: [box for is_table, box in captions if is_table is kind] for kind in (True, False)}
    tables = [
        box
        for box, some in _words_in(_tables(page, words, captions), words, page)
        if _is_near(box, near[True]) or (_is_table(some, box) and not _is_near(box, near[False]))
    ]
    drawings = [box for box in _drawings(page) if not any(is_within(box, table) for table in tables)]
    frames = {box for box, some in _words_in(drawings, words, page) if _is_text(some, box)}
    # A table may be a picture.
    figures = [box for box in drawings if box not in frames and _is_near(box, [*near[True], *near[False]])]
    inside = _words_in([*figures, *tables], words, page)
    taken = {id(word) for _, some in inside for word in some}
    labels = [word for box, some in inside if box in figures for word in some]
    text = [word for word in words if id(word) not in taken]
    return Regions(tuple(figures), tuple(tables), tuple(labels), tuple(text))


def _captions(words: Sequence[Word]) -> list[tuple[bool, Box]]:
    """Return the first lines of captions: whether of a table, and where."""
    captions: list[tuple[bool, Box]] = []
    for place in range(len(words) - 1):
        before, word, after = words[max(place - 1, 0)], words[place], words[place + 1]
        if word.text[:1] in "FfTt" and CAPTION.match(f"{word.text} {after.text}"):
            if place and _is_behind(before, word) and word.box.left - before.box.right < word.size:
                continue
            line = takewhile(partial(_is_behind, word), words[place : place + MOST_IN_ROW])
            captions.append((word.text[0] in "Tt", bounding_box(one.box for one in line)))
    return captions[:MOST_REGIONS]


def _is_behind(before: Word, word: Word) -> bool:
    return abs(before.baseline - word.baseline) < 0.3 * word.size and before.box.left <= word.box.left


def _words_in(boxes: Sequence[Box], words: Sequence[Word], page: Page) -> list[tuple[Box, list[Word]]]:
    """Return boxes with the words in them, those that hold none left out; of boxes that overlap, the last one has a
    word."""
    cell, grid = _grid(page)
    for number, box in enumerate(boxes, start=1):
        top, left = max(int(box.top / cell), 0), max(int(box.left / cell), 0)
        grid[top : int(box.bottom / cell) + 1, left : int(box.right / cell) + 1] = number
    inside: dict[int, list[Word]] = {}
    for word in words:
        down, across = (int((a + b) / 2 / cell) for a, b in ((word.box.top, word.box.bottom), word.box[::2]))
        if 0 <= down < len(grid) and 0 <= across < len(grid[0]):
            number = int(grid[down, across])
            if number and is_within(word.box, boxes[number - 1]):
                inside.setdefault(number, []).append(word)
    return [(boxes[number - 1], words) for number, words in sorted(inside.items())]


def _grid(page: Page) -> tuple[float, npt.NDArray[np.int64]]:
    """Return the side of a cell in points, and cells for the whole page."""
    cell = max(CELL, page.width / MOST_CELLS, page.height / MOST_CELLS)
    return cell, np.zeros((int(page.height / cell) + 2, int(page.width / cell) + 2), np.int64)


def _is_near(box: Box, captions: Sequence[Box]) -> bool:
    """Return whether a caption stands near a box: a title between two rules is no table, and a framed text no
    figure."""
    return any(
        box.top - CAPTION_NEAR < one.bottom
        and one.top < box.bottom + CAPTION_NEAR
        and box.left - FAR < one.left < box.right
        for one in captions
    )


def _drawings(page: Page) -> list[Box]:
    """Pictures and drawings, those that touch joined to one."""
    most = BACKGROUND * page.width * page.height
    joined = _join_touching(page, [box for box in (*page.graphics, *page.rules[:MOST_RULES]) if box.area < most])
    large = [box for box in joined if box.width > LEAST and box.height > LEAST]
    return sorted(large, key=lambda box: box.area)[-MOST_REGIONS:]


def _join_touching(page: Page, boxes: Sequence[Box]) -> list[Box]:
    """Return the boxes around those that touch each other, or nearly."""
    cell, grid = _grid(page)
    down, across = (side - 1 for side in grid.shape)
    for box in boxes:
        top, bottom = (min(max(int(side / cell), 0), down - 1) for side in (box.top, box.bottom))
        left, right = (min(max(int(side / cell), 0), across - 1) for side in (box.left, box.right))
        # Summed up from above and from the left, these marks count the boxes over each cell.
        grid[top, left] += 1
        grid[bottom + 1, left] -= 1
        grid[top, right + 1] -= 1
        grid[bottom + 1, right + 1] += 1
    return [Box(*(side * cell for side in part)) for part in _parts(grid.cumsum(0).cumsum(1) > 0)]


def _parts(cells: npt.NDArray[np.bool_]) -> list[Box]:
    """Return the bounds of the parts of a grid that hang together, also at corners. SciPy's `label` would be half of
    what a check without an LM installs."""
    before, part = None, np.where(cells, np.arange(1, cells.size + 1).reshape(cells.shape), 0)
    while before is None or (part != before).any():  # each cell takes the largest number around it, and its whole part
        before, around = part, sliding_window_view(np.pad(part, 1), (3, 3)).max((2, 3))
        numbers = np.arange(cells.size + 1)
        np.maximum.at(numbers, part[cells], around[cells])
        for _ in range(cells.size.bit_length()):
            numbers = numbers[numbers]
        part = numbers[part]
    order = np.argsort(part[cells], kind="stable")
    ends = np.flatnonzero(np.diff(part[cells][order])) + 1
    parts = sorted(part.tolist() for part in np.split(np.argwhere(cells)[order], ends)) if cells.any() else []
    return [bounding_box(Box(left, top, left + 1, top + 1) for top, left in part) for part in parts]


def _is_text(words: Sequence[Word], box: Box) -> bool:
    """Return whether a drawing is but the frame or ground of running text: lines that fill its width."""
    lines: dict[int, list[Word]] = {}
    for word in words:
        lines.setdefault(round(word.baseline / 3), []).append(word)
    full = [line for line in lines.values() if sum(word.box.width for word in line) > 0.6 * box.width]
    return len(full) >= 2 and len(full) > 0.5 * len(lines) and median(len(line) for line in full) >= 4


def _tables(page: Page, words: Sequence[Word], captions: Sequence[tuple[bool, Box]]) -> list[Box]:
    """Return where rules make a grid, or stand one below the other with one width."""
    upright = [rule for rule in page.rules if rule.height > rule.width]
    grids = [
        box
        for box in _join_touching(page, page.rules)
        if sum(is_within(rule, box) for rule in upright[:MOST_RULES]) > 2 and box.width >= SHORTEST
    ]
    stacks = [box for box in _stacks(page, words, captions) if not any(is_within(box, grid) for grid in grids)]
    return sorted([*grids, *stacks], key=lambda box: box.area)[-MOST_REGIONS:]


def _stacks(page: Page, words: Sequence[Word], captions: Sequence[tuple[bool, Box]]) -> list[Box]:
    """Return the boxes around rules of one width, between which rows stand."""
    groups: dict[tuple[int, int], list[Box]] = {}
    for rule in sorted([rule for rule in page.rules if rule.width >= SHORTEST][:MOST_RULES], key=lambda rule: rule.top):
        left, right = round(rule.left / SAME), round(rule.right / SAME)
        near = [(a, b) for a in (left, left - 1, left + 1) for b in (right, right - 1, right + 1)]
        groups.setdefault(next((spot for spot in near if spot in groups), (left, right)), []).append(rule)
    by_height = sorted(words, key=lambda word: word.baseline)
    heights = [word.baseline for word in by_height]
    middles = np.array([(word.box.left + word.box.right) / 2 for word in by_height])
    stacks: list[list[Box]] = []
    for rules in groups.values():
        stacks.append(rules[:1])
        for above, below in pairwise(rules):
            box = bounding_box((above, below))
            begin, end = bisect_left(heights, above.top), bisect_left(heights, below.top)
            between = np.flatnonzero((middles[begin:end] >= box.left) & (middles[begin:end] <= box.right)) + begin
            inside = [by_height[place] for place in between[:MOST_WORDS].tolist()]
            has_caption = any(
                box.top < one.top < box.bottom and one.left < box.right and box.left < one.right for _, one in captions
            )
            if not has_caption and len(inside) < MOST_WORDS and _holds_rows(inside, box):
                stacks[-1].append(below)
            else:
                stacks.append([below])
    boxes = [bounding_box(one) for one in stacks if one[-1].top - one[0].top > 8]
    return [_with_header(box, by_height[: bisect_left(heights, box.top)][-MOST_IN_ROW:]) for box in boxes]


def _with_header(box: Box, above: Sequence[Word]) -> Box:
    """Return a table and the row above its first rule, where a row stands there."""
    rows = split_rows(join_atoms(word for word in above if box.left - SAME < word.box.left < box.right))
    if not rows or box.top - rows[-1][0].baseline > rows[-1][0].size:
        return box
    cells = split_cells(rows[-1], WIDE)
    is_caption = CAPTION.match(" ".join(atom.text for atom in rows[-1]))
    if len(cells) < 2 or is_caption or _is_running(rows[-1], box):
        return box
    return bounding_box((box, *(atom.box for atom in rows[-1])))


def _holds_rows(words: Sequence[Word], box: Box) -> bool:
    """Return whether rows of a table may stand between two rules, rather than running text."""
    if box.height > APART:
        return _is_table(words, box)
    rows = split_rows(join_atoms(words))
    return len(rows) < 2 or sum(_is_running(row, box) for row in rows) <= 0.5 * len(rows)


def _is_table(words: Sequence[Word], box: Box) -> bool:
    """Return whether many lines in a box have cells, and few are running text; others go on with a cell."""
    rows = split_rows(join_atoms(words))
    running = [_is_running(row, box) for row in rows]
    cells = [len(split_cells(row, WIDE)) > 1 and not one for row, one in zip(rows, running, strict=True)]
    return sum(cells) >= max(2, 0.4 * len(rows)) and sum(running) <= 0.2 * len(rows)


def _is_running(row: Sequence[Atom], box: Box) -> bool:
    """Return whether a line fills a box as text does, in one column or two."""
    parts = split_cells(row, WIDE)
    width = sum(part[-1].box.right - part[0].box.left for part in parts)
    return len(parts) <= 2 and width > FULL * box.width
