"""The figures and tables of a PDF: captions, and the rows that stand beside them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from aisr.paper.draft import Float, Picture, Place, Unread
from aisr.paper.pdf_blocks import CAPTION, Block, Kind
from aisr.paper.pdf_continued import GOES_ON
from aisr.paper.pdf_figures import Figures
from aisr.paper.pdf_lines import Line
from aisr.paper.pdf_process import Box, Page
from aisr.paper.pdf_regions import Regions, within
from aisr.paper.pdf_sections import Headings
from aisr.paper.pdf_tables import cells
from aisr.paper.pdf_text import text_of

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
