"""Reads the words of a PDF, or draws a figure of it, in a process of its own, which `pdf_process` or `figures` starts.

A PDF is a program of strangers for a large C++ library. What may go wrong there (a crash, a loop, memory without end)
ends this process and no other. LIMITS is JSON of `pdf_process.Limits`.

    python -P -m aisr_papers.readers.pdf_child FILE LIMITS               # prints one line of JSON a page
    python -P -m aisr_papers.readers.pdf_child FILE PAGE BOX LIMITS      # prints a PNG of a part of a page

PAGE counts from 1; BOX is JSON: left, top, right and bottom of what is drawn, or null for all of the page.
Coordinates are in points from the upper left corner of what is seen of a page, as it is seen (cropped and turned).
"""

import ctypes
import io
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as pdfium

from aisr_papers.sandbox import confine, refuse

# --- The signs of a page as words, with what the file states of how they look.

TURNED = "turned"
UPRIGHT = 0.95  # the cosine of an angle that a reader need not turn the head for
INVISIBLE_MODES = (3, 7)  # text rendering modes: neither filled nor stroked; clip only (ISO 32000-1, 9.3.6)
STROKED_MODES = (1, 5)
FAINT = 26  # of 255: what is more transparent
HYPHENS = (0x02, 0xAD)  # what PDFium gives for a hyphen at the end of a line, and a soft one, which is drawn as well
MINUS = 0x2212
# Type 3 fonts of TeX say no more of a sign than its code, in Cork's encoding.
CORK = {0x10: "“", 0x11: "”", 0x15: "–", 0x16: "—", 0x1B: "ff", 0x1C: "fi", 0x1D: "fl", 0x1E: "ffi", 0x1F: "ffl"}
LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl"}
KNOWN = LIGATURES | CORK | dict.fromkeys((*HYPHENS, MINUS), "-")

Box = tuple[float, float, float, float]  # left, top, right, bottom


class Look(NamedTuple):
    """What all signs of a text object share."""

    color: tuple[int, int, int] | None  # None: unknown, such as a pattern
    alpha: int
    font: str
    size: float  # points on the page
    hidden: str  # why none of them can be seen, as far as the file states it
    order: int  # its place among the objects of the page; -1 inside of a form


class View(NamedTuple):
    """From a page's own coordinates to those of its reader."""

    left: float
    bottom: float
    width: float
    height: float
    turns: int  # by 90 degrees, clockwise

    def point(self, x: float, y: float) -> tuple[float, float]:
        right, up = x - self.left, y - self.bottom
        if self.turns == 1:
            return up, right
        if self.turns == 2:
            return self.width - right, up
        if self.turns == 3:
            return self.width - up, self.height - right
        return right, self.height - up

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Left, top, right, bottom."""
        (a, b), (c, d) = self.point(left, bottom), self.point(right, top)
        return min(a, c), min(b, d), max(a, c), max(b, d)

    def holds(self, box: Box) -> bool:
        """Whether the middle of a box is on the page."""
        across, down = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return 0 <= across <= self.width and 0 <= down <= self.height


def address_of(one: Any) -> int:
    return ctypes.cast(one, ctypes.c_void_p).value or 0


class Word:
    """Signs of one line without a space between them, that are all seen or all hidden for one reason.

    glued: no space stands before it; it goes on with the word before, raised, lowered, or in another colour.
    """

    def __init__(self, sign: str, box: Box, baseline: float, size: float, look: Look, hidden: str, glued: bool):
        self.text, self.box, self.baseline, self.size = sign, box, baseline, size
        self.look, self.hidden, self.glued = look, hidden, glued
        self.last = box

    def is_before(self, box: Box, baseline: float, size: float) -> bool:
        """Whether a sign stands directly behind this word, be it raised or lowered."""
        greater = max(size, self.size)
        if box == self.last:  # two letters of one ligature
            return True
        return (
            abs(baseline - self.baseline) < 0.6 * greater and -0.5 * self.size < box[0] - self.box[2] < 0.35 * greater
        )

    def is_base_of(self, box: Box, baseline: float, size: float) -> bool:
        """Whether a sign behind a break stands at this word as an exponent or index, or behind such a one."""
        greater = max(size, self.size)
        step = abs(baseline - self.baseline)
        return 0.12 * greater < step < 0.6 * greater and abs(box[0] - self.box[2]) < 0.12 * greater

    def takes(self, baseline: float, size: float, look: Look, hidden: str) -> bool:
        """Whether a sign directly behind this word belongs to it."""
        looks_so = (hidden, look.color, look.alpha) == (self.hidden, self.look.color, self.look.alpha)
        return looks_so and abs(baseline - self.baseline) < 0.12 * max(size, self.size)

    def add(self, sign: str, box: Box, size: float) -> None:
        mine = self.box
        self.box = (min(mine[0], box[0]), min(mine[1], box[1]), max(mine[2], box[2]), max(mine[3], box[3]))
        self.text += sign
        self.last = box
        self.size = max(self.size, size)


def read_words(text: Any, view: View, order: dict[int, int], limits: dict[str, Any]) -> list[Word]:
    looks: dict[int, Look] = {}
    words: list[Word] = []
    in_word = False
    loose = pdfium.FS_RECTF()
    across, up = ctypes.c_double(), ctypes.c_double()
    half = 0  # the first one of a pair that stands for one sign, such as a bold letter of a formula
    for index in range(pdfium.FPDFText_CountChars(text)):
        code = pdfium.FPDFText_GetUnicode(text, index)
        if 0xD800 <= code < 0xDC00:
            half = code
            continue
        if half and 0xDC00 <= code < 0xE000:
            code += 0x10000 - 0xDC00 + (half - 0xD800 << 10)
        half = 0
        sign = _sign(code)
        if sign.isspace():
            in_word = False
            continue
        one = pdfium.FPDFText_GetTextObject(text, index)
        address = address_of(one)
        look = looks.get(address)
        if look is None:
            look = looks[address] = _look(text, index, one, order.get(address, -1), view, limits)
        pdfium.FPDFText_GetLooseCharBox(text, index, loose)
        pdfium.FPDFText_GetCharOrigin(text, index, across, up)
        box = view.box(loose.left, loose.bottom, loose.right, loose.top)
        baseline, size = view.point(across.value, up.value)[1], look.size
        hidden = look.hidden if look.hidden not in ("", TURNED) or view.holds(box) else "off the page"
        if in_word:
            glued = hidden == TURNED or words[-1].is_before(box, baseline, size)
        else:  # some programs write exponents as lines of their own
            glued = bool(words) and words[-1].is_base_of(box, baseline, size)
        if glued and (hidden == words[-1].hidden == TURNED or words[-1].takes(baseline, size, look, hidden)):
            words[-1].add(sign, box, size)
        else:
            words.append(Word(sign, box, baseline, size, look, hidden, glued))
        in_word = True
    return words


def _sign(code: int) -> str:
    """A sign as text: ligatures parted, and the minus sign as all software has it."""
    if known := KNOWN.get(code):
        return known
    if code < 32 or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        return " " if chr(min(code, 32)).isspace() else "\ufffd"
    return chr(code)


def _look(text: Any, index: int, one: Any, order: int, view: View, limits: dict[str, Any]) -> Look:
    mode = pdfium.FPDFTextObj_GetTextRenderMode(one)
    parts = [ctypes.c_uint() for _ in range(4)]
    ask = pdfium.FPDFText_GetStrokeColor if mode in STROKED_MODES else pdfium.FPDFText_GetFillColor
    red, green, blue, alpha = (part.value for part in parts) if ask(text, index, *parts) else (-1, -1, -1, 255)
    name = ctypes.create_string_buffer(128)
    pdfium.FPDFText_GetFontInfo(text, index, name, 128, ctypes.c_int())
    font = name.value.decode("utf-8", "replace") or f"Type3 {address_of(pdfium.FPDFTextObj_GetFont(one))}"
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(text, index, matrix)
    size = abs(pdfium.FPDFText_GetFontSize(text, index)) * (matrix.c**2 + matrix.d**2) ** 0.5
    angle = pdfium.FPDFText_GetCharAngle(text, index)
    if mode in INVISIBLE_MODES:
        hidden = "invisible"
    elif size < limits["least_size"]:
        hidden = "tiny"
    elif alpha < FAINT:
        hidden = "transparent"
    else:
        hidden = TURNED if angle >= 0 and math.cos(angle + view.turns * math.pi / 2) < UPRIGHT else ""
    color = None if red < 0 else (red, green, blue)
    return Look(color, alpha, font, size, hidden, order)


# --- What of a page is visible once it is drawn.
#
# A file can hide text in more ways than one can look for: behind something, outside of a clip, in a layer that is off,
# in the colour of what lies below. All of them leave no ink where the text should be.

CLOSE = 40  # of 255: a colour that differs from what is behind it by less in every channel is not read
INK = 20  # of 255: strokes thinner than a pixel come out paler than their colour
PIXELS_PER_POINT = 2.0

Pixels = npt.NDArray[np.uint8]  # (rows, columns, blue green red)
Signed = npt.NDArray[np.int16]


def render(page: Any, size: tuple[int, int], place: Sequence[int], flags: int = 0) -> Pixels:
    """A page or a part of it on white. size: columns and rows of the result; place: left, top, width and height of the
    page in its pixels."""
    across, down = size
    bitmap = pdfium.FPDFBitmap_CreateEx(across, down, pdfium.FPDFBitmap_BGRx, None, 0)
    if not bitmap:
        raise MemoryError
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, across, down, 0xFFFFFFFF)
        pdfium.FPDF_RenderPageBitmap(bitmap, page, *place, 0, flags)
        stride = pdfium.FPDFBitmap_GetStride(bitmap)
        start = ctypes.cast(pdfium.FPDFBitmap_GetBuffer(bitmap), ctypes.POINTER(ctypes.c_ubyte * (stride * down)))
        rows = np.frombuffer(start.contents, np.uint8).reshape(down, stride)[:, : across * 4]
        return rows.reshape(down, across, 4)[:, :, :3].copy()
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)


def render_page(page: Any, view: View, limits: dict[str, Any]) -> tuple[Pixels, float]:
    """The page as it is seen, and its pixels a point."""
    scale = min(PIXELS_PER_POINT, (limits["pixels"] / max(view.width * view.height, 1)) ** 0.5)
    across, down = max(round(view.width * scale), 1), max(round(view.height * scale), 1)
    return render(page, (across, down), (0, 0, across, down)), scale


def mark_invisible(words: Sequence[Word], picture: tuple[Pixels, float], covers: list[tuple[int, Box]]) -> None:
    """Set `hidden` of words that the file states as visible, but the page's pixels do not show. picture: of
    `render_page`; covers: opaque pictures, with their places among the objects."""
    pixels, scale = picture
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
        # A white label on a bar no wider than itself stands on the page's white by its edges, not by most of its box.
        if word.look.color is not None and all(
            np.abs(ground - np.array(word.look.color[::-1])).max() < CLOSE
            for ground in (_edge(outside), _usual(inside))
        ):
            word.hidden = "in the colour of what is behind it"
        elif np.ptp(inside, axis=(0, 1)).max() < INK:
            word.hidden = "not drawn"


def _cut(pixels: Pixels, box: Box, scale: float, around: float) -> Signed:
    """What of a page stands in a box, and so many points around it."""
    left, top = (max(int((side - around) * scale), 0) for side in box[:2])
    right, bottom = (max(int((side + around) * scale) + 1, 1) for side in box[2:])
    return pixels[top:bottom, left:right].astype(np.int16)


def _edge(piece: Signed) -> Signed:
    """The colour above and below signs, or else the most frequent one."""
    if (piece[0] == piece[0, 0]).all() and (piece[-1] == piece[0, 0]).all():
        edge: Signed = piece[0, 0]
        return edge
    return _usual(piece)


def _usual(piece: Signed) -> Signed:
    """The most frequent colour."""
    flat = piece.reshape(-1, 3)[::2]  # every other pixel is enough
    coarse = flat >> 4
    keys = (coarse[:, 0] << 8) | (coarse[:, 1] << 4) | coarse[:, 2]
    usual: Signed = flat[keys == np.bincount(keys).argmax()][0]
    return usual


def _inside(word: Box, box: Box) -> bool:
    across, down = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    return box[0] <= across <= box[2] and box[1] <= down <= box[3]


# --- The document, page by page.

THIN = 3.0  # points; what is thinner is a rule of a table
LONG = 8.0  # points; what is shorter is no rule
LONGEST_TITLE = 2_000  # bytes
BROKEN = "this page is broken; nothing of it is read"
LOCKED = (4, 5)  # PDFium's errors for passwords and other protection


def main() -> None:
    file, *figure, limits = sys.argv[1], *map(json.loads, sys.argv[2:])
    confine(limits["memory"], limits["seconds"])
    with open_document(file) as document:
        if figure:
            number, box = figure
            sys.stdout.buffer.write(draw(document, number, box, limits))
        else:
            _read(document, limits)


def _read(document: Any, limits: dict[str, Any]) -> None:
    count = pdfium.FPDF_GetPageCount(document)
    if not 0 < count <= limits["pages"]:
        refuse(f"{count} pages; expected a paper of 1 to {limits['pages']}")
    print(json.dumps({"title": _title(document)}))
    left = limits["signs"]
    for number in range(count):
        with open_page(document, number) as page:
            line = _page(page, limits)
        left -= sum(len(word[0]) for word in line.get("words", ()))
        if left < 0:
            refuse(f"more than {limits['signs']:,} signs of text; expected a paper")
        print(json.dumps(line), flush=True)


@contextmanager
def open_document(file: str) -> Iterator[Any]:
    document = pdfium.FPDF_LoadDocument(os.fsencode(file) + b"\0", None)
    if not document:
        if pdfium.FPDF_GetLastError() in LOCKED:
            refuse("encrypted, and opens with a password only; save it without one")
        refuse("not a PDF, or a broken one; expected a PDF that a viewer opens")
    try:
        yield document
    finally:
        pdfium.FPDF_CloseDocument(document)


@contextmanager
def open_page(document: Any, number: int) -> Iterator[Any]:
    """A page, from 0; false for a broken one."""
    page = pdfium.FPDF_LoadPage(document, number)
    try:
        yield page
    finally:
        if page:
            pdfium.FPDF_ClosePage(page)


def _title(document: Any) -> str:
    size = pdfium.FPDF_GetMetaText(document, b"Title", None, 0)
    if not 2 < size <= LONGEST_TITLE:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDF_GetMetaText(document, b"Title", buffer, size)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\0")


def _page(page: Any, limits: dict[str, Any]) -> dict[str, Any]:
    if not page:
        return {"unread": BROKEN}
    if pdfium.FPDFPage_CountObjects(page) > limits["objects"]:
        return {"unread": f"more than {limits['objects']:,} objects on this page; nothing of it is read"}
    _remove_actual_text([pdfium.FPDFPage_GetObject(page, place) for place in range(pdfium.FPDFPage_CountObjects(page))])
    text = pdfium.FPDFText_LoadPage(page)
    if not text:
        return {"unread": BROKEN}
    try:
        if pdfium.FPDFText_CountChars(text) > limits["signs_per_page"]:
            return {"unread": f"more than {limits['signs_per_page']:,} signs on this page; nothing of it is read"}
        view = _view(page)
        if min(view.width, view.height) < 1:
            return {"unread": BROKEN}
        rules, graphics, order, covers = _objects(page, view)
        words = read_words(text, view, order, limits)
        mark_invisible(words, render_page(page, view, limits), covers)
    finally:
        pdfium.FPDFText_ClosePage(text)
    rows = [
        [w.text, *(round(v, 2) for v in (*w.box, w.baseline, w.size)), w.look.font, w.hidden, w.glued] for w in words
    ]
    return {"width": view.width, "height": view.height, "words": rows, "rules": rules, "graphics": graphics}


def _view(page: Any) -> View:
    box = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, box)
    turns = max(pdfium.FPDFPage_GetRotation(page), 0)
    width, height = abs(box.right - box.left), abs(box.top - box.bottom)
    if turns % 2:
        width, height = height, width
    return View(box.left, min(box.bottom, box.top), width, height, turns)


def _remove_actual_text(objects: list[Any]) -> None:
    """Remove the text that the file puts in place of what it draws: the reader of the page does not see it."""
    while objects:
        one = objects.pop()
        if pdfium.FPDFPageObj_GetType(one) == pdfium.FPDF_PAGEOBJ_FORM:
            objects += [
                pdfium.FPDFFormObj_GetObject(one, place) for place in range(pdfium.FPDFFormObj_CountObjects(one))
            ]
        for place in reversed(range(pdfium.FPDFPageObj_CountMarks(one))):
            mark = pdfium.FPDFPageObj_GetMark(one, place)
            size = ctypes.c_ulong()
            if pdfium.FPDFPageObjMark_GetParamStringValue(mark, b"ActualText", None, 0, size):
                pdfium.FPDFPageObj_RemoveMark(one, mark)


def _objects(page: Any, view: View) -> tuple[list[Box], list[Box], dict[int, int], list[tuple[int, Box]]]:
    """Rules; pictures and drawings; the place of each text object by its address; and opaque pictures, with theirs."""
    rules: list[Box] = []
    graphics: list[Box] = []
    order: dict[int, int] = {}
    covers: list[tuple[int, Box]] = []
    sides = [ctypes.c_float() for _ in range(4)]
    for place in range(pdfium.FPDFPage_CountObjects(page)):
        one = pdfium.FPDFPage_GetObject(page, place)
        kind = pdfium.FPDFPageObj_GetType(one)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            order[address_of(one)] = place
            continue
        if not pdfium.FPDFPageObj_GetBounds(one, *sides):
            continue
        box = view.box(*(side.value for side in sides))
        if not all(map(math.isfinite, box)):
            continue
        across, down = box[2] - box[0], box[3] - box[1]
        rounded = tuple(round(side, 2) for side in box)
        if kind == pdfium.FPDF_PAGEOBJ_PATH and min(across, down) <= THIN:
            if max(across, down) >= LONG:
                rules.append(rounded)  # type: ignore[arg-type]
        else:
            graphics.append(rounded)  # type: ignore[arg-type]
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE and not pdfium.FPDFPageObj_HasTransparency(one):
            covers.append((place, box))
    return rules, graphics, order, covers


# --- A part of a page as a picture of points.

LARGEST = 20_000.0  # points a side; PDF itself ends at 14,400
PIXELS = 1_200_000
SCALE = 4.0  # pixels a point at most


def draw(document: Any, number: int, box: list[float] | None, limits: dict[str, Any]) -> bytes:
    """A part of a page as PNG."""
    from PIL import Image

    if not 0 < number <= pdfium.FPDF_GetPageCount(document):
        refuse(f"no page {number} in it")
    with open_page(document, number - 1) as page:
        if not page:
            refuse("a broken page")
        if pdfium.FPDFPage_CountObjects(page) > limits["objects"]:
            refuse(f"more than {limits['objects']:,} objects on its page")
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
