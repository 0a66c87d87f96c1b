"""The lines of a PDF's pages in the order that they are read in, in one column or two, without drawings and tables."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from statistics import median
from typing import NamedTuple, TypeVar

from aisr_papers.readers.pdf_process import Box, Page, Word, bounding_box

RAISED = 0.15  # of the size: a smaller sign that stands higher than this is an exponent or a mark
SMALL = 0.85  # of the size of its neighbour
ONE_LINE = 0.3  # of the size: words whose baselines differ by less stand in one line
MIDDLE = (0.35, 0.65)  # of the page's width: where a gutter can be
FREE = 0.4  # of the usual number of words above a spot: where there are fewer, it is a gutter
OUTER = 0.18  # of the height: running heads and feet stand no further in
FEWEST_NUMBERS = 8  # in a margin, of lines
NARROWEST = 6.0  # points, of a gutter
BOLD = re.compile(r"bold|black|heavy|medi|cmbx|sfbx|cmssbx|-bd|\+bx", re.IGNORECASE)
MARK = re.compile(r"[0-9*†‡§¶,;∗ –-]+")
NUMBER_ONLY = re.compile(r"\W*(?:[Pp]age )?(?:[0-9]{1,4}|[ivxlc]{1,6})(?: of [0-9]{1,4})?\W*")
OPENING = re.compile(r"(?:abstract|summary|(?:(?:1|I)\.?\s)?introduction)\b", re.IGNORECASE)  # the end of the front
# Its number, what marks a part that goes on, and what stands behind: nothing, where the caption is on the next line.
CAPTION = re.compile(
    r"(?P<kind>fig(?:ure)?|tab(?:le)?)\.?\s(?P<number>(?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,3})?|[IVX]{1,6})"
    r"(?:\s?[(—–-]{0,2}(?:cont\.|continued)\)?)?(?:\s?[:.|]|\s[–—-](?=\s)|$)\s?",
    re.IGNORECASE,
)
BOLD_NAME = re.compile(r"(?P<kind>fig(?:ure)?|tab(?:le)?)\.?\s(?P<number>(?:[A-Z]\.?)?\d{1,3})\s", re.IGNORECASE)
POINTING = re.compile(r"(?:see|in|of|and|the|to|by|from)", re.IGNORECASE)  # before a reference
DIGITS = re.compile(r"[0-9]+")
WIDE = 0.9  # of the size: words further apart stand in two cells; the spaces of running text may be stretched
FEWEST_WORDS = 3  # of a line in a column: cells have fewer
FEWEST_LINES = 3  # that a gutter parts
MOST_GUTTERS = 4  # of other pages, that a page is tried with
Gutter = tuple[float, float]  # its ends, as shares of the width of a page
T = TypeVar("T")


class Atom(NamedTuple):
    """A word with what is raised and lowered beside it."""

    text: str
    box: Box
    baseline: float
    size: float
    font: str
    marks: tuple[str, ...] = ()  # numbers raised behind it, of notes or of works

    @property
    def bold(self) -> bool:
        return bool(BOLD.search(self.font))


Row = list[Atom]


@dataclass(frozen=True, eq=False)
class Line:
    """Atoms from left to right."""

    atoms: tuple[Atom, ...]
    page: int
    side: int  # 0 across the page, 1 and 2 in its columns
    column: tuple[float, float]  # the left and right end of the column that it stands in

    @cached_property
    def text(self) -> str:
        return " ".join(atom.text for atom in self.atoms)

    @cached_property
    def box(self) -> Box:
        return bounding_box(atom.box for atom in self.atoms)

    @cached_property
    def baseline(self) -> float:
        return median(atom.baseline for atom in self.atoms)

    @cached_property
    def size(self) -> float:
        """That of most of its signs."""
        return _most(self, lambda atom: round(atom.size, 1))

    @cached_property
    def font(self) -> str:
        """That of most of its signs."""
        return _most(self, lambda atom: atom.font)

    @cached_property
    def bold(self) -> bool:
        return sum(len(atom.text) for atom in self.atoms if atom.bold) > 0.8 * sum(len(a.text) for a in self.atoms)

    @cached_property
    def caption(self) -> re.Match[str] | None:
        """The name of a figure or table that a caption begins with here; it ends where the caption itself begins."""
        match = CAPTION.match(self.text)
        if match is None and len(self.atoms) > 2 and self.atoms[1].bold and not self.atoms[2].bold:
            return BOLD_NAME.match(self.text)
        return match


def _most(line: Line, feature: Callable[[Atom], T]) -> T:
    counts: Counter[T] = Counter()
    for atom in line.atoms:
        counts[feature(atom)] += len(atom.text)
    return counts.most_common(1)[0][0]


def read_lines(pages: Sequence[Page], texts: Mapping[int, Sequence[Word]]) -> list[Line]:
    """Return all lines of running text in reading order, without running heads and page numbers. texts: the words of
    each page, by its number."""
    rows = [(page, split_rows(_without_line_numbers(page, join_atoms(texts[page.number])))) for page in pages]
    _remove_running_heads(rows)
    gutters = [_gutter([one]) for one in rows]
    common = [one for one in (_gutter(rows), *gutters) if one][:MOST_GUTTERS]
    lines: list[Line] = []
    for (page, page_rows), own in zip(rows, gutters, strict=True):
        lines += _in_order(page, page_rows, _best_gutter(page, page_rows, [own, *common] if own else common))
    return lines


def join_atoms(words: Iterable[Word]) -> list[Atom]:
    """Return words with what is glued to them."""
    groups: list[list[Word]] = []
    for word in words:
        if word.glued and groups and abs(word.baseline - groups[-1][-1].baseline) < word.size:
            groups[-1].append(word)
        else:
            groups.append([word])
    return [_atom(group) for group in groups]


def _atom(group: Sequence[Word]) -> Atom:
    base = max(group, key=lambda word: (word.size > SMALL * max(w.size for w in group), len(word.text)))
    text, marks = "", []
    for word in group:
        raised = word.size < SMALL * base.size and base.baseline - word.baseline > RAISED * base.size
        if raised and MARK.fullmatch(word.text) and not (text[-1:].isdigit() or text[-1:] == ")" or len(text) == 1):
            marks.append(word.text)
        else:
            text += f"^{word.text}" if raised and text else word.text
    box = bounding_box(word.box for word in group)
    font = base.font.partition("+")[2] or base.font  # without the name of a subset
    return Atom(text or base.text, box, base.baseline, base.size, font, tuple(marks))


def split_rows(atoms: Sequence[Atom]) -> list[Row]:
    """Return atoms of about one baseline, from left to right; rows from top to bottom."""
    rows: list[Row] = []
    for atom in sorted(atoms, key=lambda atom: atom.baseline):
        if rows and atom.baseline - rows[-1][0].baseline < ONE_LINE * max(min(atom.size, rows[-1][0].size), 4):
            rows[-1].append(atom)
        else:
            rows.append([atom])
    return [sorted(row, key=lambda atom: atom.box.left) for row in rows]


def _without_line_numbers(page: Page, atoms: Sequence[Atom]) -> list[Atom]:
    """Return atoms without the numbers that drafts for reviewers have in the margin of each line."""
    digits = [atom for atom in atoms if atom.text.isdecimal() and len(atom.text) <= 4]
    others = [atom for atom in atoms if not (atom.text.isdecimal() and len(atom.text) <= 4)]
    if not others or len(digits) < FEWEST_NUMBERS:
        return list(atoms)
    left = sorted(atom.box.left for atom in others)[len(others) // 50]
    right = sorted(atom.box.right for atom in others)[-1 - len(others) // 50]
    numbers: set[int] = set()
    for side in (0, 2):  # numbers of one, two and three digits begin, or end, below each other
        margin = sorted(
            (one for one in digits if one.box.right < left or one.box.left > right), key=lambda a: a.box[side]
        )
        breaks = [place for place in range(1, len(margin)) if margin[place].box[side] - margin[place - 1].box[side] > 2]
        for begin, end in pairwise([0, *breaks, len(margin)]):
            if end - begin >= FEWEST_NUMBERS and _counts_up(margin[begin:end], page):
                numbers.update(map(id, margin[begin:end]))
    return [atom for atom in atoms if id(atom) not in numbers]


def _counts_up(group: Sequence[Atom], page: Page) -> bool:
    """Return whether numbers go up in equal steps over much of a page."""
    ordered = sorted(group, key=lambda atom: atom.baseline)
    steps = Counter(int(below.text) - int(atom.text) for atom, below in pairwise(ordered))
    step, times = steps.most_common(1)[0]
    return step > 0 and times > 0.8 * len(ordered) - 1 and ordered[-1].baseline - ordered[0].baseline > page.height / 4


def _remove_running_heads(pages: Sequence[tuple[Page, list[Row]]]) -> None:
    """Take running heads and feet out of the rows: page numbers, and what stands at one height, apart from the rest, on
    most pages or with the same words."""
    for end in (0, -1, 0, -1):  # two lines at most at either end
        edges = [(page, rows, _is_apart(rows, end)) for page, rows in pages if len(rows) > 1]
        words = Counter(_wording(rows[end]) for _, rows, _ in edges)
        heights = Counter(round(rows[end][0].baseline / 3) for _, rows, _ in edges)
        apart = Counter(round(rows[end][0].baseline / 3) for _, rows, is_apart in edges if is_apart)
        for page, rows, is_apart in edges:
            height = round(rows[end][0].baseline / 3)
            most = heights[height] >= max(2, 0.4 * len(edges)) and apart[height] > 0.6 * heights[height]
            same = words[_wording(rows[end])] >= max(2, 0.3 * len(edges))
            number = is_apart and NUMBER_ONLY.fullmatch(" ".join(atom.text for atom in rows[end]))
            outer = min(rows[end][0].baseline, page.height - rows[end][0].baseline) < OUTER * page.height
            caption = CAPTION.match(" ".join(atom.text for atom in rows[end]))
            if outer and not caption and (most or same or number):
                del rows[end]


def _wording(row: Row) -> str:
    return DIGITS.sub("#", " ".join(atom.text for atom in row))


def _is_apart(rows: Sequence[Row], end: int) -> bool:
    """Return whether the first or last row stands apart from the next."""
    one, other = (rows[0], rows[1]) if end == 0 else (rows[-1], rows[-2])
    return abs(one[0].baseline - other[0].baseline) > 1.7 * max(one[0].size, other[0].size)


def _gutter(pages: Sequence[tuple[Page, list[Row]]]) -> Gutter | None:
    """Return where two columns meet on most pages, as shares of the width; None for pages in one column."""
    edges = [0] * 1002  # summed up, how many words stand over each thousandth of the width
    for page, rows in pages:
        for row in rows:
            for atom in row:
                left, right = (
                    min(max(round(1000 * side / page.width), 0), 1000) for side in (atom.box.left, atom.box.right)
                )
                edges[left] += 1
                edges[right + 1] -= 1
    covered = list(accumulate(edges))
    begin, end = (round(1000 * side) for side in MIDDLE)
    usual = median(covered[spot] for spot in range(200, 801))
    # Whoever writes in one column writes on both sides of each spot.
    free = [spot for spot in range(begin, end) if covered[spot] < FREE * usual]
    if not free or not usual:
        return None
    least = min(free, key=lambda spot: (covered[spot], abs(spot - 500)))
    left = right = least
    while left - 1 in free:
        left -= 1
    while right + 1 in free:
        right += 1
    width = pages[0][0].width
    return (left / 1000, right / 1000) if (right - left + 1) * width / 1000 >= NARROWEST else None


def _best_gutter(page: Page, rows: Sequence[Row], gutters: Sequence[Gutter]) -> Gutter | None:
    """Return the gutter that the fewest rows of a page go across; None where they do not stand in two columns."""
    best: tuple[int, Gutter] | None = None
    for gutter in gutters:
        parts = [_split_at(row, page, gutter) for row in rows]
        across = sum(bool(row) for row, _, _ in parts)
        beside = sum(min(len(left), len(right)) >= FEWEST_WORDS for _, left, right in parts)
        alone = sum(max(len(left), len(right)) >= FEWEST_WORDS > min(len(left), len(right)) for _, left, right in parts)
        has_columns = beside > max(FEWEST_LINES, 0.25 * across) or alone + beside > 2 * across
        if has_columns and (best is None or across < best[0]):
            best = across, gutter
    return best[1] if best else None


def _in_order(page: Page, rows: Sequence[Row], gutter: Gutter | None) -> list[Line]:
    """Return the lines of a page: what crosses the gutter parts it, and between two such lines the left column comes
    first."""
    if not rows:
        return []
    rows = [part for row in rows for part in _split_at_captions(row)]
    if gutter is None:
        column = _column_ends(rows)
        return [Line(tuple(row), page.number, 0, column) for row in rows]
    sides_of_rows = [_split_at(row, page, gutter) for row in rows]
    if page.number == 1:  # title and authors stand across the page, though authors may stand side by side
        front = next((place for place, parts in enumerate(sides_of_rows) if any(_opens(part) for part in parts)), 0)
        sides_of_rows[:front] = [(row, [], []) for row in rows[:front]]
    ends = {
        side: _column_ends([row for parts in sides_of_rows for row in [parts[side]] if row])
        if any(p[side] for p in sides_of_rows)
        else (0, 0)
        for side in (0, 1, 2)
    }
    lines: list[Line] = []
    sides: dict[int, list[Line]] = {1: [], 2: []}
    for parts in sides_of_rows:
        if parts[0]:
            lines += [*sides[1], *sides[2], Line(tuple(parts[0]), page.number, 0, ends[0])]
            sides = {1: [], 2: []}
        for side in (1, 2):
            if parts[side]:
                sides[side].append(Line(tuple(parts[side]), page.number, side, ends[side]))
    return [*lines, *sides[1], *sides[2]]


def _split_at_captions(row: Row) -> list[Row]:
    """Return a row parted where the caption of a second figure or table begins beside other words."""
    begins = [0]
    for place in range(1, len(row) - 1):
        before, atom = row[place - 1], row[place]
        apart = atom.box.left - before.box.right > 0.8 * atom.size and not POINTING.fullmatch(before.text)
        if apart and CAPTION.match(" ".join(one.text for one in row[place : place + 4])):
            begins.append(place)
    return [row[begin:end] for begin, end in pairwise([*begins, len(row)])]


def _opens(part: Row) -> bool:
    return bool(OPENING.match(" ".join(atom.text for atom in part)))


def _split_at(row: Row, page: Page, gutter: Gutter) -> tuple[Row, Row, Row]:
    """Return what of a row goes across, left and right of the gutter."""
    middle, gap = (gutter[0] + gutter[1]) / 2 * page.width, (gutter[1] - gutter[0]) * page.width
    left = [atom for atom in row if (atom.box.left + atom.box.right) / 2 < middle]
    right = [atom for atom in row if (atom.box.left + atom.box.right) / 2 >= middle]
    crossing = any(atom.box.left < middle - 2 and atom.box.right > middle + 2 for atom in row)
    if crossing or (left and right and right[0].box.left - left[-1].box.right < 0.7 * min(gap, left[-1].size)):
        return row, [], []
    return [], left, right


def _column_ends(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the left and right end of most lines."""
    lefts = Counter(round(row[0].box.left) for row in rows)
    rights = Counter(round(row[-1].box.right) for row in rows)
    left = min(spot for spot, number in lefts.items() if number >= 0.2 * max(lefts.values()))
    right = max(spot for spot, number in rights.items() if number >= 0.2 * max(rights.values()))
    return float(left), float(right)


def split_cells(row: Sequence[Atom], gap: float, bars: Sequence[Box] = ()) -> list[Row]:
    """Return what of a row stands together: words no further apart than so many sizes, and no upright rule between
    them."""
    groups: list[Row] = []
    for atom in row:
        before = groups[-1][-1] if groups else None
        if before is None or _are_apart(before, atom, gap, bars):
            groups.append([atom])
        else:
            groups[-1].append(atom)
    return groups


def _are_apart(before: Atom, atom: Atom, gap: float, bars: Sequence[Box]) -> bool:
    """Return whether two neighbours stand in two cells: by their distance, or by a rule between them."""
    if atom.box.left - before.box.right > gap * max(atom.size, before.size):
        return True
    middle = (atom.box.top + atom.box.bottom) / 2
    return any(
        before.box.right - 1 <= bar.left <= atom.box.left + 1 and bar.top - 2 <= middle <= bar.bottom + 2
        for bar in bars
    )


# --- How the body of a paper is set.

INDENT = 0.6  # of the size: a line that begins further right than its column begins a paragraph


class Type(NamedTuple):
    """How the body of a paper is set."""

    size: float  # points, as the leading
    leading: float
    font: str
    indents: bool  # whether paragraphs begin indented


def body_type(lines: Sequence[Line]) -> Type:
    """Return the size of most signs, the distance of most baselines, and whether paragraphs are indented."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    size = sizes.most_common(1)[0][0] if sizes else 10.0
    steps: Counter[float] = Counter()
    starts = 0
    for before, line in pairwise(lines):
        step = round((line.baseline - before.baseline) * 2) / 2
        if is_beside(before, line) and before.size == line.size == size and 0.9 * size < step < 2.8 * size:
            steps[step] += 1
            starts += INDENT * size < line.box.left - line.column[0] < 3 * size and is_full_left(before)
    leading = steps.most_common(1)[0][0] if steps else 1.2 * size
    fonts = Counter(line.font for line in lines)
    return Type(size, leading, fonts.most_common(1)[0][0], starts >= max(3, 0.01 * len(lines)))


def is_beside(before: Line, line: Line) -> bool:
    """Return whether a line stands below another in one column of one page."""
    return (before.page, before.side) == (line.page, line.side) and line.baseline > before.baseline


def is_full_left(line: Line) -> bool:
    """Return whether a line begins where its column does."""
    return line.box.left - line.column[0] < 0.4 * line.size
