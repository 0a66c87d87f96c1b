"""Draws figures to points in a process of its own, which `figures` starts.

    python -P -m aisr_papers.readers.figure_child LIMITS < JOBS     # LIMITS, JOBS: JSON, see `figures`

A job is a list of file, page from 1, box (left, top, right, bottom in points from the upper left corner of the visible
page) or null, and what is cut off at the left, the bottom, the right and the top, or null. It prints one line of JSON a
job: its picture as PNG in Base64, or why there is none.
"""

import base64
import io
import json
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, tostring

import pypdfium2.raw as pdfium
from defusedxml.ElementTree import fromstring
from PIL import Image

from aisr_papers.readers.pdf_child import Refused, open_document, open_page, render
from aisr_papers.sandbox import confine

# --- SVG, by resvg: no scripts, no network.
#
# resvg loads pictures that an SVG names by path, wherever they are. So only what stands in the file itself is let
# through: names of its own parts, and pictures of points as `data:`. What was checked is what is drawn.

DATA = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]*+", re.IGNORECASE)
SVG = "{http://www.w3.org/2000/svg}"
FOREIGN = ("script", "foreignObject")
MAX_ELEMENTS = 200_000
MAX_DEPTH = 200


def svg_as_png(content: bytes, pixels: int) -> bytes:
    """An SVG on white, as PNG of at most that many pixels. Raises Refused."""
    try:
        import resvg_py
    except ImportError as error:
        raise Refused("drawing an SVG needs the package resvg-py; save it as PDF or PNG beside it") from error
    try:
        root = fromstring(content)
    except Exception as error:  # whatever XML of a stranger is: broken, with entities of its own, in an odd encoding
        raise Refused(f"no SVG that can be read ({type(error).__name__})") from error
    _remove_foreign(root)
    side = int(pixels**0.5)
    try:
        # With both sides set it is fitted between them, whatever size it states.
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=tostring(root, encoding="unicode"),
                background="white",
                width=side,
                height=side,
                skip_system_fonts=True,
                font_dirs=_fonts(),
                font_family="DejaVu Sans",
                sans_serif_family="DejaVu Sans",
                serif_family="DejaVu Serif",
                monospace_family="DejaVu Sans Mono",
            )
        )
    except ValueError as error:
        raise Refused(f"no SVG that can be drawn ({ascii(str(error))[1:80]})") from error


def _remove_foreign(root: Element) -> None:
    """Take out what is not drawn here. Raises Refused for links to other files, and beyond the limits."""
    if root.tag != f"{SVG}svg":
        raise Refused("no SVG")
    level, count = [root], 0
    for _ in range(MAX_DEPTH):
        for parent in level:
            for child in list(parent):
                if not isinstance(child.tag, str) or child.tag.removeprefix(SVG) in FOREIGN:
                    parent.remove(child)
            _check_links(parent)
        count += len(level)
        level = [child for parent in level for child in parent]
        if not level:
            return
        if count + len(level) > MAX_ELEMENTS:
            raise Refused(f"more than {MAX_ELEMENTS:,} elements in it")
    raise Refused(f"elements within more than {MAX_DEPTH} others")


def _check_links(one: Element) -> None:
    for name, value in one.attrib.items():
        is_link = name.rpartition("}")[2] == "href" and one.tag != f"{SVG}a"
        if is_link and not (value.startswith("#") or DATA.fullmatch(value)):
            raise Refused("it names another file, which is not read")


def _fonts() -> list[str]:
    """The fonts that come with matplotlib: the same text on every machine."""
    spec = find_spec("matplotlib")
    return [str(Path(spec.origin).parent / "mpl-data/fonts/ttf")] if spec and spec.origin else []


# --- PDF, and the whole.

LARGEST = 20_000.0  # points a side; PDF itself ends at 14,400


def main() -> None:
    limits = json.loads(sys.argv[1])
    jobs = json.load(sys.stdin)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    confine(limits["memory"], limits["seconds"])
    for file, page, box in jobs:
        try:
            if file.lower().endswith(".svg"):
                with open(file, "rb") as stream:
                    png = svg_as_png(stream.read(limits["bytes"]), limits["pixels"])
            else:
                png = pdf_as_png(file, page, box, limits)
            answer = {"png": base64.b64encode(png).decode()}
        except (Refused, OSError) as error:
            answer = {"refused": str(error)}
        print(json.dumps(answer), file=out, flush=True)


def pdf_as_png(file: str, number: int, box: list[float] | None, limits: dict[str, Any]) -> bytes:
    """A part of a page of a PDF. Raises Refused."""
    with open_document(file) as document:
        if not 0 < number <= pdfium.FPDF_GetPageCount(document):
            raise Refused(f"no page {number} in it")
        with open_page(document, number - 1) as page:
            if not page:
                raise Refused("a broken page")
            if pdfium.FPDFPage_CountObjects(page) > limits["objects"]:
                raise Refused(f"more than {limits['objects']:,} objects on its page")
            return _draw_part(page, box, limits)


def _draw_part(page: Any, box: list[float] | None, limits: dict[str, Any]) -> bytes:
    width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
    left, top, right, bottom = box or (0, 0, width, height)
    left, top, right, bottom = max(left, 0), max(top, 0), min(right, width), min(bottom, height)
    if not (right - left >= 1 and bottom - top >= 1 and max(width, height) <= LARGEST):
        raise Refused(f"a page of {width:.0f} x {height:.0f} points")
    scale = min(limits["scale"], (limits["pixels"] / ((right - left) * (bottom - top))) ** 0.5)
    size = max(round((right - left) * scale), 1), max(round((bottom - top) * scale), 1)
    place = [round(side * scale) for side in (-left, -top, width, height)]
    pixels = render(page, size, place, pdfium.FPDF_ANNOT)
    out = io.BytesIO()
    Image.fromarray(pixels[:, :, ::-1]).save(out, "PNG", compress_level=3)
    return out.getvalue()


if __name__ == "__main__":
    main()
