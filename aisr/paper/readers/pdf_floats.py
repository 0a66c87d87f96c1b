"""The figures and tables of a PDF: captions, the rows that stand beside them, and where what is drawn stands."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from aisr.paper.draft import Float, Picture, Place, Unread
from aisr.paper.readers.pdf_blocks import CAPTION, Block, Headings, Kind, text_of
from aisr.paper.readers.pdf_lines import BACKGROUND, Line, Regions, around, within
from aisr.paper.readers.pdf_process import Box, Page
from aisr.paper.readers.pdf_tables import GOES_ON, cells

# --- Where the figures of a PDF stand: what is drawn beside a caption, up to the running text around it.

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


MOST_FLOATS = 500
NEAR = 90.0  # points between a caption and its table
MOST_HEADS = 4  # rows of a table's head
LONGEST_EXCERPT = 80  # characters


def floats(
    path: Path,
    text: Sequence[Block],
    words: Counter[str],
    pages: Sequence[Page],
    seen: Mapping[int, Regions],
    loose: Mapping[Line, list[list[str]]],
    more: Mapping[tuple[int, Box], list[tuple[int, Box]]],
) -> tuple[dict[str, Float], list[Unread]]:
    """Figures and tables by their names, and what of them could not be read. more: of a table on a page, its parts on
    the next ones."""
    file = path.name
    figures = Figures(text, pages, seen)
    found: dict[str, Float] = {}
    unread: list[Unread] = []
    above = Headings(text)
    by_number = {page.number: page for page in pages}
    free = {number: list(one.tables) for number, one in seen.items()}
    for block in text:
        if block.kind is Kind.HEADING:
            above.add(block, words)
        caption = CAPTION.match(block.text) if block.kind is Kind.CAPTION else None
        if caption is None:
            continue
        is_table = caption["kind"].lower().startswith("tab")
        name = f"{'Table' if is_table else 'Figure'} {caption['number']}"
        place = Place(file, page=block.lines[0].page)
        if len(found) == MOST_FLOATS:
            unread.append(
                Unread(place, f"more than {MOST_FLOATS} figures and tables; {name} and those behind it are left out")
            )
            break
        if name in found and GOES_ON.search(block.text):
            found[name] = _longer(found[name], block, free, by_number)
            continue
        if name in found:
            unread.append(Unread(place, f"a second {name}; the first one counts"))
            continue
        rows = loose.get(block.lines[0], [])
        if is_table and (region := _nearest(block, free[block.lines[0].page])):
            number = block.lines[0].page
            parts = [(number, region), *more.get((number, region), [])]
            for on_page, box in parts:
                free[on_page].remove(box)
            rows = joined([cells(by_number[on_page], box) for on_page, box in parts])
        if is_table and not rows:
            unread.append(Unread(place, f"the cells of {name}: no rows could be told apart beside its caption"))
        said = text_of(block, words).text[caption.end() :].strip()
        table = "\n".join("\t".join(row) for row in rows)
        shown = None if rows else figures.beside(block)
        if not rows and shown is None and not is_table:
            unread.append(Unread(place, f"the drawing of {name}: nothing drawn stands beside its caption"))
        pictures = (Picture(path, block.lines[0].page, (*shown,)),) if shown else ()
        found[name] = Float(name, name, "table" if is_table else "figure", said, place, table, pictures, above.now())
    for number, boxes in free.items():
        unread += [
            Unread(Place(file, page=number), f"a table without a caption: “{_excerpt(by_number[number], box)}”")
            for box in boxes
        ]
    return found, unread


def joined(parts: Sequence[list[list[str]]]) -> list[list[str]]:
    """The rows of a table's parts on several pages, without heads that are set again and lines on where it goes on."""
    first = parts[0]
    head = [[cell for cell in row if cell] for row in first[:MOST_HEADS]]
    more = [row for part in parts[1:] for row in part]
    again = [row for row in more if [cell for cell in row if cell] not in head]
    return [row for row in [*first, *again] if not (GOES_ON.search(" ".join(row)) and len({*row} - {""}) == 1)]


def _longer(one: Float, caption: Block, free: Mapping[int, list[Box]], pages: Mapping[int, Page]) -> Float:
    """A table with the part that a caption such as "Table 3, continued" stands by."""
    number = caption.lines[0].page
    box = _nearest(caption, free[number])
    if box is None or not one.rows:
        return one
    free[number].remove(box)
    rows = joined([[row.split("\t") for row in one.rows.split("\n")], cells(pages[number], box)])
    return one._replace(rows="\n".join("\t".join(row) for row in rows))


def _nearest(caption: Block, tables: Sequence[Box]) -> Box | None:
    """The table that a caption stands over or under."""

    def distance(box: Box) -> float:
        top, bottom = caption.lines[0].box.top, caption.lines[-1].box.bottom
        return max(box.top - bottom, top - box.bottom, 0)

    left = min(line.box.left for line in caption.lines)
    right = max(line.box.right for line in caption.lines)
    beside = [box for box in tables if box.left < right and left < box.right and distance(box) < NEAR]
    return min(beside, key=distance, default=None)


def _excerpt(page: Page, box: Box) -> str:
    said = " ".join(word.text for word in page.words if not word.hidden and within(word.box, box))
    return said[:LONGEST_EXCERPT]
