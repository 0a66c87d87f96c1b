"""The figures and tables of a PDF: captions, the cells that stand beside them, and where what is drawn stands.

A PDF has no cells: they are derived from the gaps between words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from aisr.paper.draft import Float, Picture, Place, Unread
from aisr.paper.readers.pdf_blocks import CAPTION, Block, Headings, Kind, Type, text_of
from aisr.paper.readers.pdf_lines import (
    BACKGROUND,
    Atom,
    Line,
    Regions,
    bounding_box,
    is_within,
    join_atoms,
    split_rows,
)
from aisr.paper.readers.pdf_process import Box, Page

# --- The cells of tables.

GAP = 0.55  # of the size: words further apart stand in two cells; a space is a third of it wide
WIDE = 0.9  # the same for rows without rules around them, since the spaces of running text may be stretched
FEWEST = 2  # rows of a table without rules
NUMBER_CELL = re.compile(r"[-+−]?\d[\d.,]*+%?")
FEWEST_ROWS = 3  # of one without a caption as well

Cell = tuple[float, float, str]  # left, right, text


def table_cells(page: Page, region: Box) -> list[list[str]]:
    """The rows of a table between rules, from top to bottom. A cell that spans columns stands in each of them."""
    words = [word for word in page.words if not word.hidden and is_within(word.box, region)]
    wider = Box(region.left - 3, region.top - 3, region.right + 3, region.bottom + 3)
    bars = [rule for rule in page.rules if rule.bottom - rule.top > 4 and is_within(rule, wider)]
    parts = [rule for rule in page.rules if is_within(rule, region) and rule.width < region.width - 6]
    return _in_columns([_widen(_cells(row, GAP, bars), row, parts) for row in split_rows(join_atoms(words))])


def take_unruled_tables(lines: Sequence[Line], body: Type) -> tuple[list[Line], dict[Line, list[list[str]]]]:
    """Lines without the rows of tables that have no rules; and those rows, by the first line of their caption."""
    tables: dict[Line, list[list[str]]] = {}
    taken: set[int] = set()
    for place, line in enumerate(lines):
        caption = CAPTION.match(line.text)
        if caption is None or not caption["kind"].lower().startswith("tab"):
            continue
        end = place + 1
        while end < len(lines) and _is_next(lines[end - 1], lines[end], body) and not _ends_caption(lines[end]):
            end += 1
        for way in (range(end, len(lines)), range(place - 1, -1, -1)):
            rows = _adjacent_rows(lines, end - 1 if way.step > 0 else place, way, body)
            if len(rows) >= FEWEST:
                tables[line] = _in_columns([_cells(lines[row].atoms, WIDE, []) for row in sorted(rows)])
                taken.update(rows)
                break
    return [line for place, line in enumerate(lines) if place not in taken], tables


def is_rows(block: Block) -> bool:
    """Whether a block is no prose but rows of a table: one without a caption, or that goes on from another page."""
    if block.kind is not Kind.PARAGRAPH or len(block.lines) < FEWEST_ROWS or not all(map(_is_row, block.lines)):
        return False
    cells = [text for line in block.lines for _, _, text in _cells(line.atoms, WIDE, [])]
    return 2 * sum(NUMBER_CELL.fullmatch(cell) is not None for cell in cells) >= len(cells)


def _is_next(before: Line, line: Line, body: Type) -> bool:
    distance = abs(line.baseline - before.baseline)
    return (before.page, before.side) == (line.page, line.side) and 0 < distance < 2.5 * body.leading


def _adjacent_rows(lines: Sequence[Line], start: int, way: range, body: Type) -> list[int]:
    """The places of rows that stand directly below or above a line."""
    rows: list[int] = []
    before = lines[start]
    for place in way:
        if not (_is_next(before, lines[place], body) and _is_row(lines[place])):
            break
        rows.append(place)
        before = lines[place]
    return rows


def _ends_caption(line: Line) -> bool:
    return CAPTION.match(line.text) is not None or _is_row(line)


def _is_row(line: Line) -> bool:
    """Whether the words of a line stand so far apart that they are cells."""
    return len(_cells(line.atoms, WIDE, [])) > 1 and CAPTION.match(line.text) is None


def _cells(row: Sequence[Atom], gap: float, bars: Sequence[Box]) -> list[Cell]:
    """What of a row stands together."""
    groups: list[list[Atom]] = []
    for atom in row:
        before = groups[-1][-1] if groups else None
        if before is None or _are_apart(before, atom, gap, bars):
            groups.append([atom])
        else:
            groups[-1].append(atom)
    boxes = [bounding_box(atom.box for atom in group) for group in groups]
    texts = [" ".join(atom.text for atom in group) for group in groups]
    return [(box.left, box.right, text) for box, text in zip(boxes, texts, strict=True)]


def _are_apart(before: Atom, atom: Atom, gap: float, bars: Sequence[Box]) -> bool:
    """Whether two neighbours stand in two cells: by their distance, or by a rule between them."""
    if atom.box.left - before.box.right > gap * max(atom.size, before.size):
        return True
    middle = (atom.box.top + atom.box.bottom) / 2
    return any(
        before.box.right - 1 <= bar.left <= atom.box.left + 1 and bar.top - 2 <= middle <= bar.bottom + 2
        for bar in bars
    )


def _widen(row: list[Cell], atoms: Sequence[Atom], parts: Sequence[Box]) -> list[Cell]:
    """Cells as wide as the rules that stand directly below them, of a part of the table each."""
    bottom, size = max(atom.baseline for atom in atoms), max(atom.size for atom in atoms)
    below = [part for part in parts if 0 <= part.top - bottom < 0.9 * size and part.height < 4]
    cells = []
    for left, right, text in row:
        part = next((part for part in below if part.left <= (left + right) / 2 <= part.right), None)
        cells.append((min(left, part.left), max(right, part.right), text) if part else (left, right, text))
    return cells


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
            if CAPTION.match(block.text):
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


def read_floats(
    path: Path,
    blocks: Sequence[Block],
    words: Counter[str],
    pages: Sequence[Page],
    regions: Mapping[int, Regions],
    unruled: Mapping[Line, list[list[str]]],
) -> tuple[dict[str, Float], list[Unread]]:
    """Figures and tables by their names, and what of them could not be read. unruled: the rows of tables without rules,
    by the first line of their caption."""
    figures = Figures(blocks, pages, regions)
    floats: dict[str, Float] = {}
    unread: list[Unread] = []
    above = Headings(blocks)
    by_number = {page.number: page for page in pages}
    free = {number: list(one.tables) for number, one in regions.items()}
    for block in blocks:
        if block.kind is Kind.HEADING:
            above.add(block, words)
        caption = CAPTION.match(block.text) if block.kind is Kind.CAPTION else None
        if caption is None:
            continue
        is_table = caption["kind"].lower().startswith("tab")
        name = f"{'Table' if is_table else 'Figure'} {caption['number']}"
        number = block.lines[0].page
        place = Place(path.name, page=number)
        if len(floats) == MOST_FLOATS:
            why = f"more than {MOST_FLOATS} figures and tables; {name} and those behind it are left out"
            unread.append(Unread(place, why))
            break
        if name in floats:
            unread.append(Unread(place, f"a second {name}; the first one counts"))
            continue
        rows = unruled.get(block.lines[0], [])
        if is_table and (region := _nearest(block, free[number])):
            free[number].remove(region)
            rows = table_cells(by_number[number], region)
        if is_table and not rows:
            unread.append(Unread(place, f"the cells of {name}: no rows could be told apart beside its caption"))
        text = text_of(block, words).text[caption.end() :].strip()
        table = "\n".join("\t".join(row) for row in rows)
        box = None if rows else figures.take_beside(block)
        if not rows and box is None and not is_table:
            unread.append(Unread(place, f"the drawing of {name}: nothing drawn stands beside its caption"))
        pictures = (Picture(path, number, (*box,)),) if box else ()
        floats[name] = Float(name, name, "table" if is_table else "figure", text, place, table, pictures, above.now())
    for number, boxes in free.items():
        for box in boxes:
            table_words = (word for word in by_number[number].words if not word.hidden and is_within(word.box, box))
            excerpt = " ".join(word.text for word in table_words)[:LONGEST_EXCERPT]
            unread.append(Unread(Place(path.name, page=number), f"a table without a caption: “{excerpt}”"))
    return floats, unread


def _nearest(caption: Block, tables: Sequence[Box]) -> Box | None:
    """The table that a caption stands over or under."""

    def distance(box: Box) -> float:
        top, bottom = caption.lines[0].box.top, caption.lines[-1].box.bottom
        return max(box.top - bottom, top - box.bottom, 0)

    left = min(line.box.left for line in caption.lines)
    right = max(line.box.right for line in caption.lines)
    beside = [box for box in tables if box.left < right and left < box.right and distance(box) < NEAR]
    return min(beside, key=distance, default=None)
