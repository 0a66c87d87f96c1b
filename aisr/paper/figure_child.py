"""Draws figures to points in a process of its own, which `drawing` starts.

    python -P -m aisr.paper.figure_child LIMITS < JOBS     # LIMITS, JOBS: JSON, see `drawing`

A job is a list of file, page from 1, box (left, top, right, bottom in points from the upper left corner of what is seen
of the page) or null, and what is cut off at the left, the bottom, the right and the top, or null. It
prints one line of JSON a job: its picture as PNG in Base64, or why there is none.
"""

import base64
import ctypes
import io
import json
import os
import sys
from contextlib import ExitStack
from typing import Any

import pypdfium2.raw as pdfium
from PIL import Image

from aisr.base.sandbox import confine
from aisr.paper.svg import Refused, svg_as_png

LARGEST = 20_000.0  # points a side; PDF itself ends at 14,400


def main() -> None:
    limits = json.loads(sys.argv[1])
    jobs = json.load(sys.stdin)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    confine(limits["memory"], limits["seconds"])
    for file, page, box, trim in jobs:
        try:
            if file.lower().endswith(".svg"):
                with open(file, "rb") as opened:
                    png = svg_as_png(opened.read(limits["bytes"]), limits["pixels"])
            else:
                png = _pdf_as_png(file, page, box, trim, limits)
            answer = {"png": base64.b64encode(png).decode()}
        except (Refused, OSError) as error:
            answer = {"refused": str(error)}
        print(json.dumps(answer), file=out, flush=True)


def _pdf_as_png(
    file: str, number: int, box: list[float] | None, trim: list[float] | None, limits: dict[str, Any]
) -> bytes:
    with ExitStack() as stack:
        document = pdfium.FPDF_LoadDocument(os.fsencode(file) + b"\0", None)
        if not document:
            raise Refused("no PDF that opens, or one with a password")
        stack.callback(pdfium.FPDF_CloseDocument, document)
        if not 0 < number <= pdfium.FPDF_GetPageCount(document):
            raise Refused(f"no page {number} in it")
        page = pdfium.FPDF_LoadPage(document, number - 1)
        if not page:
            raise Refused("a broken page")
        stack.callback(pdfium.FPDF_ClosePage, page)
        if pdfium.FPDFPage_CountObjects(page) > limits["objects"]:
            raise Refused(f"more than {limits['objects']:,} objects on its page")
        return _drawn(page, box, trim, limits)


def _drawn(page: Any, box: list[float] | None, trim: list[float] | None, limits: dict[str, Any]) -> bytes:
    width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
    if trim:
        box = [trim[0], trim[3], width - trim[2], height - trim[1]]
    left, top, right, bottom = box or (0, 0, width, height)
    left, top, right, bottom = max(left, 0), max(top, 0), min(right, width), min(bottom, height)
    if not (right - left >= 1 and bottom - top >= 1 and max(width, height) <= LARGEST):
        raise Refused(f"a page of {width:.0f} x {height:.0f} points")
    scale = min(limits["scale"], (limits["pixels"] / ((right - left) * (bottom - top))) ** 0.5)
    across, down = max(round((right - left) * scale), 1), max(round((bottom - top) * scale), 1)
    bitmap = pdfium.FPDFBitmap_CreateEx(across, down, pdfium.FPDFBitmap_BGRx, None, 0)
    if not bitmap:
        raise MemoryError
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, across, down, 0xFFFFFFFF)
        place = (round(side * scale) for side in (-left, -top, width, height))
        pdfium.FPDF_RenderPageBitmap(bitmap, page, *place, 0, pdfium.FPDF_ANNOT)
        stride = pdfium.FPDFBitmap_GetStride(bitmap)
        raw = ctypes.string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), stride * down)
        picture = Image.frombuffer("RGB", (across, down), raw, "raw", "BGRX", stride, 1)
        out = io.BytesIO()
        picture.save(out, "PNG", compress_level=3)
        return out.getvalue()
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)


if __name__ == "__main__":
    main()
