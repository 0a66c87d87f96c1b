"""The figures and tables of a PDF, by their captions."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from aisr_papers.draft import Float, Picture, Place, Unread
from aisr_papers.readers.pdf_blocks import Block, Kind, text_of
from aisr_papers.readers.pdf_lines import Line
from aisr_papers.readers.pdf_process import Box, Page, bounding_box
from aisr_papers.readers.pdf_regions import BACKGROUND, Regions
from aisr_papers.readers.pdf_tables import Part, Rows, join_parts, rows_of, table_cells

# --- Where the figures of a PDF stand: what is drawn beside a caption, up to the running text around it.

PART = re.compile(r"\(?[a-h]\)")  # begins what stands below a part of a figure
FEWEST_WORDS = 6  # of running text; what has fewer is a label
LEAST = 25.0  # points, of a side of a figure
EDGE = 0.03  # of the page's height, above and below which nothing of a figure stands
MARGIN = 3.0  # points of margin around it
BESIDE = 12.0  # points that a drawing may stand out of its column
MOST = 10_000  # drawings of a page that are looked at
MOST_A_PAGE = 40  # figures, and so many captions and parts


class Figures:
    """The regions of a PDF's figures, by their captions. blocks: its text; regions: those of each page."""

    def __init__(self, blocks: Sequence[Block], pages: Sequence[Page], regions: Mapping[int, Regions]) -> None:
        self._pages = {page.number: page for page in pages}
        # Running text and tables, which a figure ends at, by page.
        self._walls: dict[int, list[Box]] = {number: list(one.tables) for number, one in regions.items()}
        self._taken: dict[int, list[Box]] = {}
        self._captions: dict[int, list[Box]] = {}
        parts: dict[int, list[Line]] = {}
        for block in blocks:
            first = block.lines[0]
            if first.caption:
                self._captions.setdefault(first.page, []).append(first.box)
            if PART.match(block.text) and len(parts.setdefault(first.page, [])) < MOST_A_PAGE:
                parts[first.page] += [line for line in block.lines if line.page == first.page]
        for block in blocks:
            if _is_running(block) and not _goes_on(block, parts.get(block.lines[0].page, ())):
                for line in block.lines:
                    self._walls.setdefault(line.page, []).append(line.box)

    def take_beside(self, caption: Block) -> Box | None:
        """What stands above a caption, or else below it, and belongs to no other one; None for nothing."""
        page = self._pages[caption.lines[0].page]
        if len(self._taken.get(page.number, ())) >= MOST_A_PAGE:
            return None
        lines = [line for line in caption.lines if line.page == page.number]
        box = bounding_box(line.box for line in lines)
        captions = self._captions.get(page.number, [])[: 2 * MOST_A_PAGE]
        left = min(box.left, *(line.column[0] for line in lines))
        right = max(box.right, *(line.column[1] for line in lines))
        for other in captions:
            if abs(other.top - box.top) < LEAST and other.left > box.right:  # of a figure beside its own
                right = min(right, (box.right + other.left) / 2)
            elif abs(other.top - box.top) < LEAST and other.right < box.left:
                left = max(left, (other.right + box.left) / 2)
        walls = [
            wall
            for wall in (*self._walls.get(page.number, ()), *self._taken.get(page.number, ()))
            if min(wall.right, right) - max(wall.left, left) > BESIDE
        ]
        above = max((wall.bottom for wall in walls if wall.bottom <= box.top + 1), default=EDGE * page.height)
        below = min((wall.top for wall in walls if wall.top >= box.bottom - 1), default=(1 - EDGE) * page.height)
        best = _drawn(page, Box(left, above, right, box.top))
        if best is None and not any(one.top == below for one in captions):  # what stands over the next one is of that
            best = _drawn(page, Box(left, box.bottom, right, below))
        if best is not None:
            self._taken.setdefault(page.number, []).append(best)
        return best


def _is_running(block: Block) -> bool:
    if block.kind is Kind.CAPTION:
        return True
    return not PART.match(block.text) and (block.kind is Kind.HEADING or len(block.text.split()) >= FEWEST_WORDS)


def _goes_on(block: Block, parts: Sequence[Line]) -> bool:
    """Whether a block is the rest of what stands below a part of a figure, in another column than its beginning."""
    first = block.lines[0]
    return block.kind is Kind.PARAGRAPH and any(
        0 < first.baseline - part.baseline < 1.6 * first.size
        and part.box.left < first.box.right
        and first.box.left < part.box.right
        for part in parts
    )


def _drawn(page: Page, band: Box) -> Box | None:
    """The part of a band that has drawings, with the words beside them; None where they are too small for a figure."""
    drawings = list(_inside((*page.graphics[:MOST], *page.rules[:MOST]), band, page))
    if not drawings:
        return None
    words = _inside((word.box for word in page.words if word.hidden in ("", "turned")), band, page)
    whole = bounding_box([*drawings, *words])
    if min(whole.width, whole.height) < LEAST:
        return None
    return Box(
        max(whole.left - MARGIN, 0),
        max(whole.top - MARGIN, band.top),
        min(whole.right + MARGIN, page.width),
        min(whole.bottom + MARGIN, band.bottom),
    )


def _inside(boxes: Iterable[Box], band: Box, page: Page) -> Iterator[Box]:
    """The boxes whose middle is in a band, cut to its height; not the ground that all of the page stands on."""
    for box in boxes:
        across, down = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        large = box.area > BACKGROUND * page.width * page.height
        if band.left <= across <= band.right and band.top <= down <= band.bottom and not large:
            yield Box(
                max(box.left, 0), max(box.top, band.top), min(box.right, page.width), min(box.bottom, band.bottom)
            )


# --- Both, by their captions.

MOST_FLOATS = 500
NEAR = 90.0  # points between a caption and its table
LONGEST_EXCERPT = 80  # characters
Pair = tuple[float, bool, Line, Box]  # points between a caption and a table; whether it stands over it


def read_floats(
    path: Path,
    blocks: Sequence[Block],
    words: Counter[str],
    pages: Sequence[Page],
    regions: Mapping[int, Regions],
    unruled: Mapping[Line, Rows],
    others: Sequence[Part],
) -> tuple[dict[str, Float], list[Unread], list[Part]]:
    """Figures and tables by their names, what of them could not be read, and rows that belong to no table. unruled: the
    rows of tables without rules, by the first line of their caption; others: such rows without a caption."""
    figures = Figures(blocks, pages, regions)
    floats: dict[str, Float] = {}
    tables: dict[str, list[Part]] = {}
    others = list(others)
    unread: list[Unread] = []
    by_number = {page.number: page for page in pages}
    matches = _match_tables([block for block in blocks if _is_table(block)], regions)
    for block in blocks:
        caption = block.lines[0].caption if block.kind is Kind.CAPTION else None
        if caption is None:
            continue
        kind: Literal["table", "figure"] = "table" if _is_table(block) else "figure"
        name = f"{kind.capitalize()} {caption['number']}"
        number = block.lines[0].page
        place = Place(path.name, page=number)
        if len(floats) == MOST_FLOATS:
            why = f"more than {MOST_FLOATS} figures and tables; {name} and those behind it are left out"
            unread.append(Unread(place, why))
            break
        note = f"a second {name}; the first one counts"
        box, rows = bounding_box(line.box for line in block.lines), unruled.get(block.lines[0], [])
        if region := matches.get(block.lines[0]):
            box, rows = region, table_cells(by_number[number], region)
        if name in floats and rows:  # "Table 4, continued"
            others.append(Part(number, box, rows, note))
        elif name in floats:
            unread.append(Unread(place, note))
        if name in floats:
            continue
        if kind == "table":
            tables[name] = [Part(number, box, rows, "")]
        picture_box = None if rows else figures.take_beside(block)
        if kind == "figure" and picture_box is None:
            unread.append(Unread(place, f"the drawing of {name}: nothing drawn stands beside its caption"))
        pictures = (Picture(path, number, (*picture_box,)),) if picture_box else ()
        text = text_of(block, words)[caption.end() :].strip()
        floats[name] = Float(name, name, kind, text, place, "", pictures)
    captioned = {(line.page, box) for line, box in matches.items()}
    for page in pages:
        for box in regions[page.number].tables:
            if (page.number, box) not in captioned:
                rows = table_cells(page, box)
                excerpt = " ".join(" ".join(filter(None, row)) for row in rows)[:LONGEST_EXCERPT]
                others.append(Part(page.number, box, rows, f"a table without a caption: “{excerpt}”"))
    left = join_parts(tables, others)
    unread += [Unread(Place(path.name, page=one.page), one.note) for one in left]
    for name, parts in tables.items():
        rows = rows_of(parts)
        floats[name] = floats[name]._replace(rows="\n".join("\t".join(row) for row in rows))
        if not rows:
            why = f"the cells of {name}: no rows could be told apart beside its caption"
            unread.append(Unread(floats[name].place, why))
    return floats, unread, left


def _is_table(block: Block) -> bool:
    caption = block.lines[0].caption if block.kind is Kind.CAPTION else None
    return caption is not None and caption["kind"].lower().startswith("tab")


def _match_tables(captions: Sequence[Block], regions: Mapping[int, Regions]) -> dict[Line, Box]:
    """The table that each caption stands over or under, by its first line: the nearest pairs first, and those where the
    caption stands on the side that most captions of the paper do."""
    pairs: list[Pair] = []
    for caption in captions:
        first, last = caption.lines[0], caption.lines[-1]
        left = min(min(line.box.left, line.column[0]) for line in caption.lines)
        right = max(max(line.box.right, line.column[1]) for line in caption.lines)
        for box in regions[first.page].tables:
            distance = max(box.top - last.box.bottom, first.box.top - box.bottom, 0)
            if box.left < right and left < box.right and distance < NEAR:
                pairs.append((distance, first.box.top < box.top, first, box))
    nearest = _pair(pairs, lambda distance, _: distance)
    usual = 2 * sum(line.box.top < box.top for line, box in nearest.items()) >= len(nearest)
    return _pair(pairs, lambda distance, is_over: distance + NEAR / 2 * (is_over is not usual))


def _pair(pairs: Sequence[Pair], cost: Callable[[float, bool], float]) -> dict[Line, Box]:
    """The cheapest pairs, each caption and each table once."""
    matches: dict[Line, Box] = {}
    taken: set[tuple[int, Box]] = set()
    for _, _, line, box in sorted(pairs, key=lambda one: cost(*one[:2])):
        if line not in matches and (line.page, box) not in taken:
            matches[line] = box
            taken.add((line.page, box))
    return matches
