"""What of a page is no running text: drawings, and tables between rules."""

import re
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from aisr.paper.pdf_process import Box, Page, Word

CELL = 6.0  # points; drawings that are no further apart are one
MOST_CELLS = 200  # a side; on a large sheet cells are larger
SAME = 4.0  # points; rules whose ends differ by less belong to one table
APART = 250.0  # points; rules further apart, one below the other, belong to no common table
SHORTEST = 40.0  # points; a shorter rule bounds no table
LEAST = 12.0  # points; what is smaller is an ornament
BACKGROUND = 0.8  # of the page; what covers more is the paper that it stands on
CAPTION_NEAR = 90.0  # points
FAR = 320.0  # points from a caption to a drawing at its right
MOST_UPRIGHT = 500  # rules that are looked at for grids
MOST_REGIONS = 40  # of a kind on a page, the largest
TABLE = re.compile(r"tab(?:le|\.)", re.IGNORECASE)
FIGURE = re.compile(r"fig(?:ure|\.)|tab(?:le|\.)", re.IGNORECASE)  # a table may be a picture


class Regions(NamedTuple):
    """figures and tables: where they stand; text: the words outside of them, in the order of the file."""

    figures: tuple[Box, ...]
    tables: tuple[Box, ...]
    text: tuple[Word, ...]


def regions(page: Page) -> Regions:
    """The regions of a page's drawings and ruled tables, and the seen words that stand in neither."""
    seen = [word for word in page.words if not word.hidden]
    tables = _captioned([box for box, _ in _holding(_tables(page), seen, page)], TABLE, seen)
    drawn = [box for box in _drawings(page) if not any(within(box, table) for table in tables)]
    framed = {box for box, words in _holding(drawn, seen, page) if _is_text(words, box)}
    figures = _captioned([box for box in drawn if box not in framed], FIGURE, seen)
    taken = {id(word) for _, words in _holding([*figures, *tables], seen, page) for word in words}
    return Regions(tuple(figures), tuple(tables), tuple(word for word in seen if id(word) not in taken))


def _holding(boxes: Sequence[Box], words: Sequence[Word], page: Page) -> list[tuple[Box, list[Word]]]:
    """Boxes with the words in them, those that hold none left out; of boxes that overlap, the last one has a word."""
    cell, grid = _grid(page)
    for number, box in enumerate(boxes, start=1):
        top, left = max(int(box.top / cell), 0), max(int(box.left / cell), 0)
        grid[top : int(box.bottom / cell) + 1, left : int(box.right / cell) + 1] = number
    held: dict[int, list[Word]] = {}
    for word in words:
        down, across = (int((a + b) / 2 / cell) for a, b in ((word.box.top, word.box.bottom), word.box[::2]))
        if 0 <= down < len(grid) and 0 <= across < len(grid[0]):
            number = int(grid[down, across])
            if number and within(word.box, boxes[number - 1]):
                held.setdefault(number, []).append(word)
    return [(boxes[number - 1], inside) for number, inside in sorted(held.items())]


def _grid(page: Page) -> tuple[float, npt.NDArray[np.int64]]:
    """The side of a cell in points, and cells for the whole page."""
    cell = max(CELL, page.width / MOST_CELLS, page.height / MOST_CELLS)
    return cell, np.zeros((int(page.height / cell) + 2, int(page.width / cell) + 2), np.int64)


def _captioned(boxes: Sequence[Box], word: re.Pattern[str], seen: Sequence[Word]) -> list[Box]:
    """Those near which a caption may stand: a title between two rules is no table, and a framed text no figure."""
    words = [one for one in seen if word.fullmatch(one.text)]
    return [
        box
        for box in boxes
        if any(
            box.top - CAPTION_NEAR < one.baseline < box.bottom + CAPTION_NEAR
            and box.left - FAR < one.box.left < box.right
            for one in words
        )
    ]


def within(box: Box, region: Box) -> bool:
    """Whether the middle of a box stands in a region."""
    across, down = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return region.left <= across <= region.right and region.top <= down <= region.bottom


def around(boxes: Iterable[Box]) -> Box:
    """The least box that holds some."""
    left, top, right, bottom = zip(*boxes, strict=True)
    return Box(min(left), min(top), max(right), max(bottom))


def _drawings(page: Page) -> list[Box]:
    """Pictures and drawings, those that touch joined to one."""
    most = BACKGROUND * page.width * page.height
    found = _touching(page, [box for box in page.graphics if _area(box) < most])
    large = [box for box in found if box.right - box.left > LEAST and box.bottom - box.top > LEAST]
    return sorted(large, key=_area)[-MOST_REGIONS:]


def _touching(page: Page, boxes: Sequence[Box]) -> list[Box]:
    """The boxes around those that touch each other, or nearly."""
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
    parts, _ = ndimage.label(grid.cumsum(0).cumsum(1) > 0, structure=np.ones((3, 3)))
    return [
        Box(beside.start * cell, above.start * cell, beside.stop * cell, above.stop * cell)
        for above, beside in ndimage.find_objects(parts)
    ]


def _area(box: Box) -> float:
    return (box.right - box.left) * (box.bottom - box.top)


def _is_text(words: Sequence[Word], box: Box) -> bool:
    """Whether a drawing is but the frame or ground of running text: lines that fill its width."""
    lines: dict[int, list[Word]] = {}
    for word in words:
        lines.setdefault(round(word.baseline / 3), []).append(word)
    full = [
        line for line in lines.values() if sum(w.box.right - w.box.left for w in line) > 0.6 * (box.right - box.left)
    ]
    return len(full) >= 2 and len(full) > 0.5 * len(lines) and median(len(line) for line in full) >= 4


def _tables(page: Page) -> list[Box]:
    """Where rules make a grid, or stand one below the other with one width."""
    upright = [rule for rule in page.rules if rule.bottom - rule.top > rule.right - rule.left]
    grids = [
        box
        for box in _touching(page, page.rules)
        if sum(within(rule, box) for rule in upright[:MOST_UPRIGHT]) > 2 and box.right - box.left >= SHORTEST
    ]
    stacks = [box for box in _stacks(page) if not any(within(box, grid) for grid in grids)]
    return sorted([*grids, *stacks], key=_area)[-MOST_REGIONS:]


def _stacks(page: Page) -> list[Box]:
    groups: dict[tuple[int, int], list[list[Box]]] = {}
    for rule in sorted((r for r in page.rules if r.right - r.left >= SHORTEST), key=lambda rule: rule.top):
        left, right = round(rule.left / SAME), round(rule.right / SAME)
        near = [(a, b) for a in (left, left - 1, left + 1) for b in (right, right - 1, right + 1)]
        known = next((groups[spot] for spot in near if spot in groups), None)
        if known is None:
            groups[left, right] = [[rule]]
        elif rule.top - known[-1][-1].top < APART:
            known[-1].append(rule)
        else:
            known.append([rule])
    return [around(group) for known in groups.values() for group in known if group[-1].top - group[0].top > 8]
