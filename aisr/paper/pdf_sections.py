"""How a PDF's blocks are divided: title, sections, list of references."""

import re
from collections import Counter
from collections.abc import Sequence

from aisr.paper.pdf_blocks import KNOWN, REFERENCES, Block, Kind, heading
from aisr.paper.pdf_lines import Line
from aisr.paper.pdf_text import text_of

ABSTRACT = re.compile(r"abstract\s?[—–:.-]+\s?", re.IGNORECASE)
# Sections that have no floats of their own.
END = re.compile(r"conclusion|limitation|ethic|acknowledg|references|bibliography", re.IGNORECASE)
DEEPEST = 6  # the rank of a heading that its paragraph goes on behind; none is deeper


def front(whole: Sequence[Block], stated: str) -> tuple[str, int]:
    """The title, and how many blocks stand before the first section."""
    first = [place for place, block in enumerate(whole) if block.lines[0].page == 1]
    large = [
        place for place in first if whole[place].kind is Kind.HEADING and not KNOWN.fullmatch(heading(whole[place])[0])
    ]
    top = max(large, key=lambda place: (whole[place].lines[0].size, -place), default=None)
    others = [whole[place].lines[0].size for place in large if place != top]
    if top is None or whole[top].lines[0].size <= max(others, default=0):
        top = None  # as large as a section: a page of a longer work
    for place in first[0 if top is None else top + 1 :]:
        name, depth = heading(whole[place])
        is_section = whole[place].kind is Kind.HEADING and (depth or KNOWN.fullmatch(name))
        if is_section or (whole[place].kind is Kind.PARAGRAPH and ABSTRACT.match(whole[place].text)):
            return _title(whole, top, stated), place
    return _title(whole, top, stated), 0 if top is None else top + 1


def _title(whole: Sequence[Block], top: int | None, stated: str) -> str:
    return stated.strip() if top is None else " ".join(whole[top].text.split())


def without_references(text: Sequence[Block]) -> tuple[list[Block], list[Line]]:
    """The blocks without the list of references, and its lines."""
    begin = next(
        (p for p, b in enumerate(text) if b.kind is Kind.HEADING and REFERENCES.fullmatch(heading(b)[0])), None
    )
    if begin is None:
        return list(text), []
    size = text[begin].lines[0].size - 0.3
    end = begin + 1
    while end < len(text) and not (text[end].kind is Kind.HEADING and text[end].lines[0].size >= size):
        end += 1
    listed = [block for block in text[begin + 1 : end] if block.kind not in (Kind.CAPTION, Kind.HEADING)]
    captions = [block for block in text[begin + 1 : end] if block.kind is Kind.CAPTION]
    return [*text[:begin], *captions, *text[end:]], [line for block in listed for line in block.lines]


class Headings:
    """The headings that stand above what comes next."""

    def __init__(self, text: Sequence[Block]) -> None:
        self._open: list[tuple[int, str]] = []
        self._ranks: dict[float, int] = {}
        sizes: set[float] = set()
        for block in text:
            if block.kind is Kind.HEADING:
                depth = heading(block)[1]
                sizes.add(block.lines[0].size)
                if depth:
                    self._ranks.setdefault(block.lines[0].size, depth)
        for place, size in enumerate(sorted(sizes, reverse=True), start=1):
            self._ranks.setdefault(size, place)

    def add(self, block: Block, words: Counter[str]) -> None:
        name, depth = heading(block._replace(lines=block.lines))
        text = heading_text(block, words)
        rank = depth or (1 if KNOWN.fullmatch(name) else self._ranks[block.lines[0].size])
        self.put(text, rank)

    def put(self, text: str, rank: int) -> None:
        rank = min(rank, DEEPEST)
        self._open = [one for one in self._open if one[0] < rank] + [(rank, text)]

    def now(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._open)


def heading_text(block: Block, words: Counter[str]) -> str:
    """A heading without its number."""
    whole = text_of(block, words).text
    return whole[len(block.text) - len(heading(block)[0]) :].strip() if heading(block)[1] else whole
