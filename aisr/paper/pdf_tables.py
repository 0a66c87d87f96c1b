"""The cells of tables in a PDF, which says nothing of cells: by the gaps between words."""

from collections.abc import Sequence

from aisr.paper.pdf_blocks import CAPTION, Type
from aisr.paper.pdf_lines import Atom, Line, atoms, rows_of
from aisr.paper.pdf_process import Box, Page
from aisr.paper.pdf_regions import around, within

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
