"""Where the figures of a PDF stand: what is drawn beside a caption, up to the running text around it."""

import re
from collections.abc import Iterator, Mapping, Sequence

from aisr.paper.pdf_blocks import CAPTION, Block, Kind
from aisr.paper.pdf_lines import Line
from aisr.paper.pdf_process import Box, Page
from aisr.paper.pdf_regions import BACKGROUND, Regions, around

PART = re.compile(r"\(?[a-h]\)")  # begins what stands below a part of a figure
FEWEST_WORDS = 6  # of running text; what has fewer is a label
LEAST = 25.0  # points, of a side of a figure
EDGE = 0.03  # of the page's height, above and below which nothing of a figure stands
MARGIN = 3.0  # points that are shown around it
BESIDE = 12.0  # points that a drawing may stand out of its column
MOST = 10_000  # drawings of a page that are looked at
MOST_A_PAGE = 40  # figures, and so many captions and parts


class Figures:
    """The regions of a PDF's figures, by their captions. text: its blocks; seen: the regions of each page."""

    def __init__(self, text: Sequence[Block], pages: Sequence[Page], seen: Mapping[int, Regions]) -> None:
        self._pages = {page.number: page for page in pages}
        self._walls: dict[int, list[Box]] = {number: list(one.tables) for number, one in seen.items()}
        self._taken: dict[int, list[Box]] = {}
        self._captions: dict[int, list[Box]] = {}
        parts: dict[int, list[Line]] = {}
        for block in text:
            first = block.lines[0]
            if CAPTION.match(block.text):
                self._captions.setdefault(first.page, []).append(first.box)
            if PART.match(block.text) and len(parts.setdefault(first.page, [])) < MOST_A_PAGE:
                parts[first.page] += [line for line in block.lines if line.page == first.page]
        for block in text:
            if _is_running(block) and not _goes_on(block, parts.get(block.lines[0].page, ())):
                for line in block.lines:
                    self._walls.setdefault(line.page, []).append(line.box)

    def beside(self, caption: Block) -> Box | None:
        """What stands above a caption, or else below it, and was not given to another one; None for nothing."""
        page = self._pages[caption.lines[0].page]
        if len(self._taken.get(page.number, ())) >= MOST_A_PAGE:
            return None
        lines = [line for line in caption.lines if line.page == page.number]
        box = around(line.box for line in lines)
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
        next_one = any(one.top == below for one in captions)
        if best is None and not next_one:  # what stands over the next one is of that
            best = _drawn(page, Box(left, box.bottom, right, below))
        if best is not None:
            self._taken.setdefault(page.number, []).append(best)
        return best


def _is_running(block: Block) -> bool:
    if block.kind is Kind.CAPTION or CAPTION.match(block.text):
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
    whole = around([*drawings, *words])
    if min(whole.right - whole.left, whole.bottom - whole.top) < LEAST:
        return None
    return Box(
        max(whole.left - MARGIN, 0),
        max(whole.top - MARGIN, band.top),
        min(whole.right + MARGIN, page.width),
        min(whole.bottom + MARGIN, band.bottom),
    )


def _inside(boxes: "Iterator[Box] | Sequence[Box]", band: Box, page: Page) -> Iterator[Box]:
    """The boxes whose middle is in a band, cut to its height; not the ground that all of the page stands on."""
    for box in boxes:
        across, down = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        large = (box.right - box.left) * (box.bottom - box.top) > BACKGROUND * page.width * page.height
        if band.left <= across <= band.right and band.top <= down <= band.bottom and not large:
            yield Box(
                max(box.left, 0), max(box.top, band.top), min(box.right, page.width), min(box.bottom, band.bottom)
            )
