"""What of a PDF's page can be seen on it once it is drawn. Runs in `pdf_child` alone.

A file can hide text in more ways than one can look for: behind something, outside of a clip, in a layer that is off, in
the colour of what lies below. All of them leave no ink where the text should be.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as pdfium

from aisr.paper.pdf_signs import Box, View, Word

CLOSE = 40  # of 255: a colour that differs from what is behind it by less in every channel is not read
INK = 20  # of 255: strokes thinner than a pixel come out paler than their colour
PIXELS_PER_POINT = 2.0

Pixels = npt.NDArray[np.uint8]  # (rows, columns, blue green red)
Signed = npt.NDArray[np.int16]


def drawn(page: Any, view: View, limits: dict[str, Any]) -> tuple[Pixels, float]:
    """The page as it is seen, (rows, columns, blue green red), and its pixels a point."""
    scale = min(PIXELS_PER_POINT, (limits["pixels"] / max(view.width * view.height, 1)) ** 0.5)
    across, down = max(round(view.width * scale), 1), max(round(view.height * scale), 1)
    bitmap = pdfium.FPDFBitmap_CreateEx(across, down, pdfium.FPDFBitmap_BGRx, None, 0)
    if not bitmap:
        raise MemoryError
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, across, down, 0xFFFFFFFF)
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, across, down, 0, 0)
        stride = pdfium.FPDFBitmap_GetStride(bitmap)
        start = ctypes.cast(pdfium.FPDFBitmap_GetBuffer(bitmap), ctypes.POINTER(ctypes.c_ubyte * (stride * down)))
        rows = np.frombuffer(start.contents, np.uint8).reshape(down, stride)[:, : across * 4]
        return rows.reshape(down, across, 4)[:, :, :3].copy(), scale
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)


def mark_unseen(words: Sequence[Word], seen: tuple[Pixels, float], covers: list[tuple[int, Box]]) -> None:
    """Say of words that should be seen, by the file, but are not, by the page's pixels, why that is."""
    pixels, scale = seen
    for word in words:
        if word.hidden:
            continue
        if any(place > word.look.order >= 0 and _inside(word.box, box) for place, box in covers):
            word.hidden = "behind a picture"
            continue
        inside, outside = (_cut(pixels, word.box, scale, around) for around in (0, 0.25 * word.size))
        if not inside.size:
            word.hidden = "off the page"
            continue
        ground = _ground(outside)
        if word.look.color is not None and np.abs(ground - np.array(word.look.color[::-1])).max() < CLOSE:
            word.hidden = "in the colour of what is behind it"
        elif np.abs(inside - ground).max() < INK:
            word.hidden = "not drawn"


def _cut(pixels: Pixels, box: Box, scale: float, around: float) -> Signed:
    """What of a page stands in a box, and so many points around it."""
    left, top = (max(int((side - around) * scale), 0) for side in box[:2])
    right, bottom = (max(int((side + around) * scale) + 1, 1) for side in box[2:])
    return pixels[top:bottom, left:right].astype(np.int16)


def _ground(piece: Signed) -> Signed:
    """The colour that signs stand on: that of the edge above and below, or else the most frequent one."""
    if (piece[0] == piece[0, 0]).all() and (piece[-1] == piece[0, 0]).all():
        edge: Signed = piece[0, 0]
        return edge
    flat = piece.reshape(-1, 3)[::2]  # every other pixel says it as well
    coarse = flat >> 4
    keys = (coarse[:, 0] << 8) | (coarse[:, 1] << 4) | coarse[:, 2]
    usual: Signed = flat[keys == np.bincount(keys).argmax()][0]
    return usual


def _inside(word: Box, box: Box) -> bool:
    across, down = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    return box[0] <= across <= box[2] and box[1] <= down <= box[3]
