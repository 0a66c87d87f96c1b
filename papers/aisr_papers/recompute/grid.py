"""A table as numbers below and beside names: which cell stands for what, and which of the names a text has."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from aisr_papers.draft import Float
from aisr_papers.recompute.numbers import Number, parse_cell

MOST_HEADER = 4  # rows above the numbers that are names
MOST_STUB = 4  # columns before the numbers that are names
MOST_CELLS = 2_000  # numbers; a larger table is data
MARKS = re.compile(r"[†‡§¶*↑↓⇑⇓]|\[@[^\[\]]*+\]|\([^()]*\d{4}[a-z]?\)|(?<!\d)\^\S+")
ASIDE = re.compile(r"(?:(?<!\s)\s++)?\(([^()]*+)\)")
LEADING = re.compile(r"^[\s–—−+\-•·.]+")
DASHES = re.compile(r"[‐‑‒–—−]")


class Cell(NamedTuple):
    """A number of a table."""

    row: int  # its position among all cells, from 0
    column: int
    number: Number
    at: tuple[str, ...]  # the names that it stands for, one a level of the table (see Grid)


@dataclass(frozen=True, eq=False)  # compared by identity: a hash of all its cells would cost more than what is cached
class Grid:
    """A table as numbers below and beside names."""

    key: str
    name: str
    cells: tuple[Cell, ...]
    # For each level of names the names, in the table's order: first those beside the numbers, the outermost being the
    # section that rows stand in, then those above.
    levels: tuple[tuple[str, ...], ...]
    beside: int  # how many levels stand beside the numbers


@lru_cache(maxsize=8192)  # names recur, cell by cell
def normalize_label(text: str) -> str:
    """A name as it is compared: small, without marks and with one kind of dash."""
    bare = MARKS.sub(" ", DASHES.sub("-", unicodedata.normalize("NFKC", text)))
    return " ".join(LEADING.sub("", bare).casefold().split())


def variants(label: str) -> Iterator[str]:
    """What a text may call a row or column, as `plain` gives it, the longest first."""
    whole = normalize_label(label)
    bare = normalize_label(ASIDE.sub("", label))
    yield whole
    if bare != whole and bare:
        yield bare
        yield from (
            normalize_label(inside) for inside in ASIDE.findall(label) if inside[:1].isupper() and len(inside) > 1
        )


def make_grids(floats: Iterable[Float]) -> tuple[Grid, ...]:
    """The tables among the floats that have numbers."""
    tables = (make_grid(one) for one in floats if one.kind == "table" and one.rows)
    return tuple(table for table in tables if table is not None)


def make_grid(table: Float) -> Grid | None:
    """A table's cells, each with what it stands for; None where there are no numbers below names."""
    layout = read_layout([line.split("\t") for line in table.rows.split("\n")])
    cells: list[Cell] = []
    for place, names in layout.beside.items():
        for column, number in enumerate(layout.numbers[place]):
            if number is not None and column >= layout.stub:
                at = (*names, *layout.above(column))
                cells.append(Cell(place, column, number, at))
    if not cells or len(cells) > MOST_CELLS:
        return None
    levels = tuple(tuple(dict.fromkeys(one.at[level] for one in cells)) for level in range(len(cells[0].at)))
    return Grid(table.key, table.name, tuple(cells), levels, 1 + layout.stub)


class Layout(NamedTuple):
    """Which cells of a table are names."""

    rows: list[list[str]]  # all of one width
    numbers: list[list[Number | None]]
    header: int  # how many rows at the top are names
    stub: int  # how many columns at the left are
    sections: list[int]  # rows that are the name of those below them
    beside: dict[int, tuple[str, ...]]  # row below the header -> the section that it stands in, then its own names

    def above(self, column: int) -> tuple[str, ...]:
        """The names above a column; none for one that the table does not have."""
        return tuple(row[column] for row in self.rows[: self.header] if column < len(row))

    def with_names(self, rows: Iterable[int]) -> set[int]:
        """Rows, those that are names above them all, and the section that each stands in."""
        shown = {*rows, *range(self.header)}
        return shown | {self.sections[after - 1] for row in shown if (after := bisect_right(self.sections, row))}


def read_layout(rows: Sequence[Sequence[str]]) -> Layout:
    """The names of a table."""
    width = max(map(len, rows), default=0)
    even = [[cell.strip() for cell in row] + [""] * (width - len(row)) for row in rows]
    numbers = [[parse_cell(cell) for cell in row] for row in even]
    stub = _stub(numbers, even, width)
    header = _header(numbers, even, stub)
    beside: dict[int, tuple[str, ...]] = {}
    sections: list[int] = []
    for place in range(header, len(even)):
        if _is_section(even[place], numbers[place]):
            sections.append(place)
        beside[place] = (even[sections[-1]][0] if sections else "", *even[place][:stub])
    return Layout(even, numbers, header, stub, sections, beside)


def _stub(numbers: Sequence[Sequence[Number | None]], rows: Sequence[Sequence[str]], width: int) -> int:
    """How many columns at the left are names: at least one."""
    body = range(1, len(rows))
    for column in range(1, min(width, MOST_STUB + 1)):
        filled = [place for place in body if rows[place][column]]
        if sum(numbers[place][column] is not None for place in filled) * 2 >= len(filled) > 0:
            return column
    return 1


def _header(numbers: Sequence[Sequence[Number | None]], rows: Sequence[Sequence[str]], stub: int) -> int:
    """How many rows at the top are names: at least one."""
    for place in range(1, min(len(numbers), MOST_HEADER)):
        if any(one is not None for one in numbers[place][stub:]) or _is_section(rows[place], numbers[place]):
            return place
    return 1


def _is_section(row: Sequence[str], numbers: Sequence[Number | None]) -> bool:
    """Whether a row is the name of those below it: one text in all columns, or in the first alone."""
    return row[0] != "" and len(set(filter(None, row))) == 1 and not any(one is not None for one in numbers)


SHORT = 3  # characters up to which capitals must agree: "IT", "US", "P"
# Names that mean something else in most sentences; taken for mentions, they would narrow down the cells wrongly.
VAGUE_WORDS = """
all total mean average avg sum overall model models method methods system approach data dataset datasets task type none
yes no other others name id no. size set value values result results score scores metric metrics baseline baselines full
base small large best test train dev year source setting time change parameters
"""
VAGUE = frozenset(VAGUE_WORDS.split())
LONGEST_LABEL = 60


class Mention(NamedTuple):
    """A name in a text."""

    level: int  # of the table's names
    label: str  # the name as the table has it
    start: int
    end: int


def find_mentions(text: str, table: Grid) -> list[Mention]:
    """All names of a table in a text, in order. Of names within others the longest counts; a name of two levels counts
    on both."""
    even = DASHES.sub("-", text)
    small = even.lower()
    if len(small) != len(even):  # a letter that is two in small ones
        return []
    spans: list[tuple[int, int]] = []
    mentions: list[Mention] = []
    for pattern, cased, names in _patterns(table):
        for match in pattern.finditer(even if cased else small):
            span = match.span()
            if span in spans or not any(begin < span[1] and span[0] < end for begin, end in spans):
                spans.append(span)
                mentions += [Mention(level, label, *span) for level, label in names]
    return sorted(dict.fromkeys(mentions), key=lambda one: (one.start, one.level))


@lru_cache(maxsize=256)
def _patterns(table: Grid) -> tuple[tuple[re.Pattern[str], bool, tuple[tuple[int, str], ...]], ...]:
    """What to look for, the longest first, whether capitals count, and the names that it stands for."""
    names: dict[tuple[str, bool], dict[tuple[int, str], None]] = {}
    for level, labels in enumerate(table.levels):
        for label in filter(None, labels):
            for form, cased in _forms(label):
                names.setdefault((form, cased), {})[level, label] = None
    ordered = sorted(names, key=lambda one: -len(one[0]))
    return tuple(
        (re.compile(rf"(?<![\w-]){re.escape(form)}(?:'s|’s)?(?![\w-]|\.\d)"), cased, tuple(names[form, cased]))
        for form, cased in ordered
    )


def _forms(label: str) -> list[tuple[str, bool]]:
    """What to look for, and whether capitals count."""
    if len(label) > LONGEST_LABEL:
        return []
    forms = []
    bare = " ".join(MARKS.sub(" ", label).split())
    for form in variants(label):
        letters = sum(map(str.isalpha, form))
        if form in VAGUE or not letters or (letters < 2 and not any(map(str.isdigit, form))):
            continue
        if len(form) > SHORT:
            forms.append((form, False))
        elif bare[: len(form)].casefold() == form:
            forms.append((DASHES.sub("-", bare[: len(form)]), True))
    return forms
