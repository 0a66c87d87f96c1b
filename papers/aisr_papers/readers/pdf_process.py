"""PDFs are read and drawn by processes of their own (`pdf_child`), without keys and within limits.

A PDF is a program of strangers for a large library. Whatever goes wrong there (a crash, a loop, memory without end)
ends such a process and no other, and is one `UserError` here.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from aisr import UserError
from aisr.text import INVISIBLE

ROOT = str(Path(__file__).parents[2])
# The only variables passed on: whoever breaks out of the library should find no key there.
PASSED = ("LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "PYTHONPATH", "SYSTEMROOT")
REFUSED = 3  # the exit code of a process that tells why
OUT_OF_TIME = (-24, -9)  # ended by SIGXCPU, or by SIGKILL where its soft and hard limits are one
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


def run_child(arguments: list[str], limits: Limits) -> bytes:
    """Return what `pdf_child` prints. Raises UserError with the reason where it refuses its file, breaks, or takes more
    than its limits."""
    environment = {name: os.environ[name] for name in PASSED if name in os.environ}
    paths = filter(None, [ROOT, environment.get("PYTHONPATH")])
    environment |= {"PYTHONPATH": os.pathsep.join(paths), "PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"}
    # -P: nothing of the current folder is imported there
    command = [sys.executable, "-P", "-m", "aisr_papers.readers.pdf_child", *arguments, json.dumps(limits)]
    try:
        process = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=limits.waiting,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UserError(f"takes more than {limits.waiting:g} seconds") from error
    if process.returncode == REFUSED:
        raise UserError(process.stderr.decode().strip())
    if process.returncode in OUT_OF_TIME:
        raise UserError(f"takes more than {limits.seconds:g} seconds of a core")
    if process.returncode and b"ModuleNotFoundError" in process.stderr:
        raise UserError("PDFs need pypdfium2 and pillow; `pip install 'aisr-papers[pdf]'` brings them")
    if process.returncode:
        raise UserError(f"broken, or takes over {limits.memory >> 20} MiB of memory")
    return process.stdout


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
    """Return the least box that holds some."""
    left, top, right, bottom = zip(*boxes, strict=True)
    return Box(min(left), min(top), max(right), max(bottom))


def is_within(box: Box, region: Box) -> bool:
    """Return whether the middle of a box stands in a region."""
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
    """Return the pages of a PDF. Raises UserError where it is none, locked, broken or beyond the limits."""
    if not file.is_file():
        raise UserError(f"{file}: not a file; expected a PDF")
    if file.stat().st_size > limits.bytes:
        raise UserError(f"{file}: larger than {limits.bytes >> 20} MiB; expected the PDF of a paper")
    try:
        output = run_child([str(file.absolute())], limits)
    except UserError as error:
        raise UserError(f"{file}: {error}; or {NEXT}") from error
    title, *lines = map(json.loads, output.splitlines())
    pages, unread = [], {}
    for number, line in enumerate(lines, start=1):
        if isinstance(line, str):
            unread[number] = line
        else:
            width, height, words, *boxes = line
            rules, graphics = (tuple(Box(*box) for box in some) for some in boxes)
            seen = ((INVISIBLE.sub("", text), box, look) for text, box, *look in words)
            texts = tuple(Word(text, Box(*box), *look) for text, box, look in seen if text)
            pages.append(Page(number, width, height, texts, rules, graphics))
    return Pages(INVISIBLE.sub("", title), tuple(pages), unread)
