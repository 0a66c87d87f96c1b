"""Draws a figure of a PDF to points in a process of its own, which `figures` starts.

    python -P -m aisr_papers.readers.figure_child FILE PAGE BOX LIMITS     # LIMITS: JSON of `pdf_process.Limits`

PAGE counts from 1; BOX is JSON: left, top, right and bottom in points from the upper left corner of the visible page,
or null for all of it. It prints a PNG.
"""

import io
import json
import sys
from typing import Any

import pypdfium2.raw as pdfium
from PIL import Image

from aisr_papers.readers.pdf_child import open_document, open_page, render
from aisr_papers.sandbox import confine, refuse

LARGEST = 20_000.0  # points a side; PDF itself ends at 14,400
PIXELS = 1_200_000
SCALE = 4.0  # pixels a point at most


def main() -> None:
    file, page, box, limits = sys.argv[1], *map(json.loads, sys.argv[2:])
    confine(limits["memory"], limits["seconds"])
    sys.stdout.buffer.write(pdf_as_png(file, page, box, limits))


def pdf_as_png(file: str, number: int, box: list[float] | None, limits: dict[str, Any]) -> bytes:
    """A part of a page of a PDF as PNG."""
    with open_document(file) as document:
        if not 0 < number <= pdfium.FPDF_GetPageCount(document):
            refuse(f"no page {number} in it")
        with open_page(document, number - 1) as page:
            if not page:
                refuse("a broken page")
            if pdfium.FPDFPage_CountObjects(page) > limits["objects"]:
                refuse(f"more than {limits['objects']:,} objects on its page")
            return _draw_part(page, box, limits)


def _draw_part(page: Any, box: list[float] | None, limits: dict[str, Any]) -> bytes:
    width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
    left, top, right, bottom = box or (0, 0, width, height)
    left, top, right, bottom = max(left, 0), max(top, 0), min(right, width), min(bottom, height)
    if not (right - left >= 1 and bottom - top >= 1 and max(width, height) <= LARGEST):
        refuse(f"a page of {width:.0f} x {height:.0f} points")
    scale = min(SCALE, (PIXELS / ((right - left) * (bottom - top))) ** 0.5)
    size = max(round((right - left) * scale), 1), max(round((bottom - top) * scale), 1)
    place = [round(side * scale) for side in (-left, -top, width, height)]
    pixels = render(page, size, place, pdfium.FPDF_ANNOT)
    out = io.BytesIO()
    Image.fromarray(pixels[:, :, ::-1]).save(out, "PNG", compress_level=3)
    return out.getvalue()


if __name__ == "__main__":
    main()
