"""The figures and tables of a PDF, by their captions."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from aisr_papers.draft import Float, Picture, Place, Unread
from aisr_papers.readers.pdf_blocks import Block, Kind, text_of
from aisr_papers.readers.pdf_lines import Line
from aisr_papers.readers.pdf_process import Box, Page, Word, bounding_box, is_within
from aisr_papers.readers.pdf_regions import Regions
from aisr_papers.readers.pdf_tables import Part, Rows, join_parts, rows_of, table_cells

# --- Where the figures of a PDF stand: the drawings that their captions are nearest to.

LEAST = 25.0  # points, of a side of a figure
MARGIN = 3.0  # points of margin around it
MOST = 10_000  # rules of a page that are looked at
BESIDE = 60.0  # points between a drawing and the labels at its sides


def find_pictures(captions: Sequence[Block], pages: Sequence[Page], regions: Mapping[int, Regions]) -> dict[Line, Box]:
    """Return what is drawn beside each caption, with its labels, by the first line of the caption. Drawings above a
    caption are taken, where there are none those below it; each is of the nearest caption."""
    drawings: dict[Line, list[Box]] = {}
    boxes: dict[Line, Box] = {}
    for block in captions:
        first = block.lines[0]
        boxes[first] = bounding_box(line.box for line in block.lines if line.page == first.page)
    for page in pages:
        lines = [line for line in boxes if line.page == page.number]
        for drawing in regions[page.number].figures if lines else ():
            nearest = min(lines, key=lambda line: _distance(boxes[line], drawing))
            drawings.setdefault(nearest, []).append(drawing)
    by_number = {page.number: page for page in pages}
    pictures: dict[Line, Box] = {}
    for line, beside in drawings.items():
        above = [box for box in beside if box.top < boxes[line].top]
        whole = bounding_box(above or beside)
        box = _with_labels(whole, line, boxes[line], by_number[line.page], regions[line.page].text)
        if min(box.width, box.height) >= LEAST:
            pictures[line] = box
    return pictures


def _distance(caption: Box, drawing: Box) -> float:
    """Return how far a drawing stands from a caption; one below it, and one that is not in its middle, counts as
    further away."""
    distance = max(drawing.top - caption.bottom, caption.top - drawing.bottom, 0)
    aside = max(drawing.left - caption.right, caption.left - drawing.right, 0)
    off = abs(drawing.left + drawing.right - caption.left - caption.right)
    return distance + NEAR / 2 * (drawing.top >= caption.top) + aside + 0.1 * off


def _with_labels(drawing: Box, line: Line, caption: Box, page: Page, words: Sequence[Word]) -> Box:
    """Return a drawing with the rules and words at its sides, and those between it and its caption. words: those of the
    page outside of drawings."""
    bottom = caption.top - 1 if drawing.bottom < caption.top else drawing.bottom + MARGIN
    left = max(min(line.column[0], drawing.left), drawing.left - BESIDE)
    right = min(max(line.column[1], drawing.right), drawing.right + BESIDE)
    band = Box(left, drawing.top, right, bottom)
    turned = [word for word in page.words if word.hidden == "turned"]
    beside = [box for box in (*page.rules[:MOST], *(word.box for word in (*words, *turned))) if is_within(box, band)]
    whole = bounding_box([drawing, *beside])
    return Box(
        max(whole.left - MARGIN, 0),
        max(whole.top - MARGIN, 0),
        min(whole.right + MARGIN, page.width),
        min(whole.bottom + MARGIN, bottom, page.height),
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
    drawn = find_pictures([block for block in blocks if block.kind is Kind.CAPTION], pages, regions)
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
        picture_box = None if rows else drawn.get(block.lines[0])
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
    """Return the table that each caption stands over or under, by its first line: the nearest pairs first, and those
    where the caption stands on the side that most captions of the paper do."""
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
    """Return the cheapest pairs, each caption and each table once."""
    matches: dict[Line, Box] = {}
    taken: set[tuple[int, Box]] = set()
    for _, _, line, box in sorted(pairs, key=lambda one: cost(*one[:2])):
        if line not in matches and (line.page, box) not in taken:
            matches[line] = box
            taken.add((line.page, box))
    return matches
