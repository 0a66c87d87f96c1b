"""The words of a PDF, read by a process of its own that is held to limits, so that no file can stop or break this one.

Whatever happens there (a crash of the library, a loop, memory without end) is one `UserError` here.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from aisr import UserError
from aisr_papers import sandbox

CHILD = "aisr_papers.readers.pdf_child"
NEXT = "give its LaTeX or Markdown instead, or print it to a new PDF"


class Limits(NamedTuple):
    """What a PDF may take. A paper of 30 pages has some 150,000 signs; a page with a dense plot 20,000 objects."""

    bytes: int = 50 * 2**20
    pages: int = 300
    signs: int = 1_500_000
    signs_per_page: int = 40_000
    objects: int = 200_000  # a page, forms counted as one
    pixels: int = 8_000_000  # a page, as it is drawn to see what can be seen of it
    memory: int = 2**30  # bytes of address space, the libraries included
    seconds: float = 60.0  # of one core, for the whole document
    waiting: float = 300.0  # seconds that it may take beside other work
    least_size: float = 2.0  # points; smaller text is hidden


LIMITS = Limits()


class Box(NamedTuple):
    """In points from the upper left corner of a page as it is seen."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def area(self) -> float:
        return self.width * self.height


def bounding_box(boxes: Iterable[Box]) -> Box:
    """The least box that holds some."""
    left, top, right, bottom = zip(*boxes, strict=True)
    return Box(min(left), min(top), max(right), max(bottom))


def is_within(box: Box, region: Box) -> bool:
    """Whether the middle of a box stands in a region."""
    across, down = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return region.left <= across <= region.right and region.top <= down <= region.bottom


class Word(NamedTuple):
    """Signs without a space between them."""

    text: str
    box: Box
    baseline: float  # points from the top
    size: float  # of its font, in points
    font: str
    hidden: str  # why a reader does not see it, empty where one does; `turned` where it does not stand upright
    glued: bool  # no space stands between it and the word before (an exponent, say)


class Page(NamedTuple):
    """What stands on a page, words in the order of the file. rules: thin lines; graphics: pictures and drawings."""

    number: int
    width: float
    height: float
    words: tuple[Word, ...]
    rules: tuple[Box, ...]
    graphics: tuple[Box, ...]


class Pages(NamedTuple):
    """A PDF."""

    title: str  # of the file's metadata
    pages: tuple[Page, ...]  # those that could be read
    unread: dict[int, str]  # number of each other page -> why


def read_pages(file: Path, limits: Limits = LIMITS) -> Pages:
    """The pages of a PDF. Raises UserError where it is none, locked, broken or beyond the limits."""
    if not file.is_file():
        raise UserError(f"{file}: not a file; expected a PDF")
    if file.stat().st_size > limits.bytes:
        raise UserError(f"{file}: larger than {limits.bytes >> 20} MiB; expected the PDF of a paper")
    try:
        output = sandbox.run(CHILD, [str(file.absolute())], limits._asdict())
    except UserError as error:
        raise UserError(f"{file}: {error}; or {NEXT}") from error
    head, *rest = map(json.loads, output.splitlines())
    pages, unread = [], {}
    for number, line in enumerate(rest, start=1):
        if "unread" in line:
            unread[number] = line["unread"]
        else:
            pages.append(_page(number, line))
    return Pages(head["title"], tuple(pages), unread)


def _page(number: int, line: dict[str, Any]) -> Page:
    words = tuple(
        Word(text, Box(left, top, right, bottom), baseline, size, font, hidden, glued)
        for text, left, top, right, bottom, baseline, size, font, hidden, glued in line["words"]
    )
    boxes = [tuple(Box(*box) for box in line[name]) for name in ("rules", "graphics")]
    return Page(number, line["width"], line["height"], words, *boxes)
