"""The text in a picture, row by row, as its author laid it out.

RapidOCR runs PP-OCR models that its wheel carries, on the CPU. What it read of a picture is kept by the digest of the
file, so that a picture is read once.
"""

import threading
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from pydantic import TypeAdapter

from aisr.programs.errors import UserError
from aisr.programs.text_store import TextStore
from aisr.programs.vision.images import BadPicture, decode, digest

SURE = 0.5  # of 1: what the reader is less sure of is left out
CELL = " | "
_reading = threading.Lock()  # one picture at a time: each keeps all cores busy


class Piece(NamedTuple):
    """A piece of text and where it stands, in pixels from the upper left corner."""

    text: str
    left: float
    top: float
    bottom: float


class Reader:
    """Reads pictures, each once: what was read is kept in a folder."""

    def __init__(self, cache: Path) -> None:
        self.kept = TextStore(cache, TypeAdapter(list[str]))
        try:
            self.name = f"rapidocr {version('rapidocr')}"
        except PackageNotFoundError as error:
            raise UserError("reading text in pictures needs RapidOCR; `pip install 'aisr[ocr]'` brings it") from error

    def __call__(self, file: str) -> list[str]:
        """The rows of text in a picture, from top to bottom, their cells from left to right with ` | ` between them.
        Raises `BadPicture`."""
        return self.kept.once(f"{self.name} {digest(file)}", lambda: rows(pieces(file)))


def pieces(file: str) -> list[Piece]:
    """The pieces of text in a picture. Raises `BadPicture`."""
    pixels = np.asarray(decode(file))[:, :, ::-1]  # the reader wants blue first
    with _reading:
        engine = _engine()
        try:
            found = engine(pixels)
        except Exception as error:  # of a shape that the reader cannot stand, such as a line of 20,000 x 3 pixels
            raise BadPicture(f"its text cannot be read ({type(error).__name__})") from error
    if found.txts is None:
        return []
    corners = zip(found.boxes, found.txts, found.scores, strict=True)
    return [
        Piece(text.strip(), float(box[:, 0].min()), float(box[:, 1].min()), float(box[:, 1].max()))
        for box, text, sure in corners
        if sure >= SURE and text.strip()
    ]


def rows(found: list[Piece]) -> list[str]:
    """The pieces as rows: what overlaps with the middle of a row's height stands in that row."""
    lines: list[list[Piece]] = []
    for piece in sorted(found, key=lambda piece: piece.top + piece.bottom):
        middle = (piece.top + piece.bottom) / 2
        if lines and middle <= median(other.bottom for other in lines[-1]):
            lines[-1].append(piece)
        else:
            lines.append([piece])
    return [CELL.join(piece.text for piece in sorted(line, key=lambda piece: piece.left)) for line in lines]


@lru_cache(maxsize=1)
def _engine() -> Any:
    """The reader, opened once a process."""
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "critical", "Global.use_cls": False})
