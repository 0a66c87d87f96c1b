"""Reads the words of a PDF, or draws a figure of it, in a process of its own, which `pdf_process` starts. LIMITS is
JSON of its `Limits`.

    python -P -m aisr_papers.readers.pdf_child FILE LIMITS               # prints the title, then a line of JSON a page
    python -P -m aisr_papers.readers.pdf_child FILE PAGE BOX LIMITS      # prints a PNG of a part of a page

PAGE counts from 1; BOX is JSON: left, top, right and bottom of what is drawn, or null for all of the page.
Coordinates are in points from the upper left corner of what is seen of a page, as it is seen (cropped and turned).
"""

import ctypes
import io
import json
import math
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfiumError

from aisr_papers.readers.pdf_process import REFUSED, Box, Limits, bounding_box, is_within

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
        (a, b), (c, d) = self.point(left, bottom), self.point(right, top)
        return Box(min(a, c), min(b, d), max(a, c), max(b, d))

    @property
    def page(self) -> Box:
        return Box(0, 0, self.width, self.height)


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
        """Return whether a sign stands directly behind this word, be it raised or lowered."""
        greater = max(size, self.size)
        if box == self.last:  # two letters of one ligature
            return True
        distance = box.left - self.box.right
        return abs(baseline - self.baseline) < 0.6 * greater and -0.5 * self.size < distance < 0.35 * greater

    def is_base_of(self, box: Box, baseline: float, size: float) -> bool:
        """Return whether a sign behind a break stands at this word as an exponent or index, or behind such a one."""
        greater = max(size, self.size)
        step = abs(baseline - self.baseline)
        return 0.12 * greater < step < 0.6 * greater and abs(box.left - self.box.right) < 0.12 * greater

    def takes(self, baseline: float, size: float, look: Look, hidden: str) -> bool:
        """Return whether a sign directly behind this word belongs to it."""
        looks_so = (hidden, look.color, look.alpha) == (self.hidden, self.look.color, self.look.alpha)
        return looks_so and abs(baseline - self.baseline) < 0.12 * max(size, self.size)

    def add(self, sign: str, box: Box, size: float) -> None:
        self.box = bounding_box((self.box, box))
        self.text += sign
        self.last = box
        self.size = max(self.size, size)


def read_words(text: Any, view: View, order: dict[int, int], limits: Limits) -> list[Word]:
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
        hidden = look.hidden if look.hidden not in ("", TURNED) or is_within(box, view.page) else "off the page"
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
    """Return a sign as text: ligatures parted, and the minus sign as all software has it."""
    if known := KNOWN.get(code):
        return known
    if code < 32 or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        return " " if chr(min(code, 32)).isspace() else "\ufffd"
    return chr(code)


def _look(text: Any, index: int, one: Any, order: int, view: View, limits: Limits) -> Look:
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
    elif size < limits.least_size:
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


def render_page(page: Any, view: View, limits: Limits) -> tuple[Pixels, float]:
    """Return the page as it is seen, and its pixels a point."""
    scale = min(PIXELS_PER_POINT, (limits.pixels / max(view.width * view.height, 1)) ** 0.5)
    return page.render(scale=scale, may_draw_forms=False, draw_annots=False).to_numpy().copy(), scale


def mark_invisible(words: Sequence[Word], picture: tuple[Pixels, float], covers: list[tuple[int, Box]]) -> None:
    """Set `hidden` of words that the file states as visible, but the page's pixels do not show. picture: of
    `render_page`; covers: opaque pictures, with their places among the objects."""
    pixels, scale = picture
    for word in words:
        if word.hidden:
            continue
        if any(place > word.look.order >= 0 and is_within(word.box, box) for place, box in covers):
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
    """Return what of a page stands in a box, and so many points around it."""
    left, top = (max(int((side - around) * scale), 0) for side in box[:2])
    right, bottom = (max(int((side + around) * scale) + 1, 1) for side in box[2:])
    return pixels[top:bottom, left:right].astype(np.int16)


def _edge(piece: Signed) -> Signed:
    """Return the colour above and below signs, or else the most frequent one."""
    if (piece[0] == piece[0, 0]).all() and (piece[-1] == piece[0, 0]).all():
        edge: Signed = piece[0, 0]
        return edge
    return _usual(piece)


def _usual(piece: Signed) -> Signed:
    """Return the most frequent colour."""
    flat = piece.reshape(-1, 3)[::2]  # every other pixel is enough
    coarse = flat >> 4
    keys = (coarse[:, 0] << 8) | (coarse[:, 1] << 4) | coarse[:, 2]
    usual: Signed = flat[keys == np.bincount(keys).argmax()][0]
    return usual


# --- The document, page by page.

THIN = 3.0  # points; what is thinner is a rule of a table
LONG = 8.0  # points; what is shorter is no rule
LONGEST_TITLE = 2_000  # bytes
BROKEN = "this page is broken; nothing of it is read"
LOCKED = (4, 5)  # PDFium's errors for passwords and other protection


def main() -> None:
    file, *figure, last = sys.argv[1], *map(json.loads, sys.argv[2:])
    limits = Limits(*last)
    bound("RLIMIT_AS", limits.memory)
    bound("RLIMIT_CPU", max(int(limits.seconds), 1))
    bound("RLIMIT_CORE", 0)
    try:
        document = PdfDocument(Path(file).read_bytes())
    except (PdfiumError, OSError) as error:
        if isinstance(error, PdfiumError) and error.err_code in LOCKED:
            refuse("encrypted, and opens with a password only; save it without one")
        refuse("not a PDF, or a broken one; expected a PDF that a viewer opens")
    with document:
        if figure:
            number, box = figure
            sys.stdout.buffer.write(draw(document, number, box, limits))
        else:
            _read(document, limits)


def refuse(reason: str) -> NoReturn:
    """End this process, which tells the one that runs it why its file is not read."""
    print(reason, file=sys.stderr)
    sys.exit(REFUSED)


def bound(name: str, most: int) -> None:
    """Limit this process for good, where the system can: macOS does not bound memory, Windows nothing."""
    with suppress(ImportError, AttributeError, OSError, ValueError):
        import resource

        resource.setrlimit(getattr(resource, name), (most, most))


def _read(document: PdfDocument, limits: Limits) -> None:
    count = len(document)
    if not 0 < count <= limits.pages:
        refuse(f"{count} pages; expected a paper of 1 to {limits.pages}")
    print(json.dumps(_title(document)))
    left = limits.signs
    for number in range(count):
        try:
            with closing(document[number]) as page:
                line = _page(page, limits)
        except PdfiumError:
            line = BROKEN
        left -= 0 if isinstance(line, str) else sum(len(text) for text, *_ in line[2])
        if left < 0:
            refuse(f"more than {limits.signs:,} signs of text; expected a paper")
        print(json.dumps(line), flush=True)


def _title(document: Any) -> str:
    size = pdfium.FPDF_GetMetaText(document, b"Title", None, 0)
    if not 2 < size <= LONGEST_TITLE:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDF_GetMetaText(document, b"Title", buffer, size)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\0")


def _page(page: Any, limits: Limits) -> str | list[Any]:
    """Return the fields of a `pdf_process.Page` but its number, or why it is not read. Raises PdfiumError where it is
    broken."""
    count = pdfium.FPDFPage_CountObjects(page)
    if count > limits.objects:
        return f"more than {limits.objects:,} objects on this page; nothing of it is read"
    objects = [pdfium.FPDFPage_GetObject(page, place) for place in range(count)]
    _remove_actual_text(objects)
    text = page.get_textpage()
    if text.count_chars() > limits.signs_per_page:
        return f"more than {limits.signs_per_page:,} signs on this page; nothing of it is read"
    view = _view(page)
    if min(view.width, view.height) < 1:
        return BROKEN
    rules, graphics, order, covers = _objects(objects, view)
    words = read_words(text, view, order, limits)
    mark_invisible(words, render_page(page, view, limits), covers)
    rows = [
        (w.text, _rounded(w.box), round(w.baseline, 2), round(w.size, 2), w.look.font, w.hidden, w.glued) for w in words
    ]
    return [view.width, view.height, rows, rules, graphics]


def _view(page: Any) -> View:
    left, bottom, right, top = page.get_bbox()
    turns = max(pdfium.FPDFPage_GetRotation(page), 0)
    width, height = abs(right - left), abs(top - bottom)
    if turns % 2:
        width, height = height, width
    return View(left, min(bottom, top), width, height, turns)


def _rounded(box: Box) -> list[float]:
    return [round(side, 2) for side in box]


def _remove_actual_text(objects: Sequence[Any]) -> None:
    """Remove the text that the file puts in place of what it draws: the reader of the page does not see it."""
    objects = list(objects)
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


def _objects(
    objects: Sequence[Any], view: View
) -> tuple[list[list[float]], list[list[float]], dict[int, int], list[tuple[int, Box]]]:
    """Rules; pictures and drawings; the place of each text object by its address; and opaque pictures, with theirs."""
    rules: list[list[float]] = []
    graphics: list[list[float]] = []
    order: dict[int, int] = {}
    covers: list[tuple[int, Box]] = []
    sides = [ctypes.c_float() for _ in range(4)]
    for place, one in enumerate(objects):
        kind = pdfium.FPDFPageObj_GetType(one)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            order[address_of(one)] = place
            continue
        if not pdfium.FPDFPageObj_GetBounds(one, *sides):
            continue
        box = view.box(*(side.value for side in sides))
        if not all(map(math.isfinite, box)):
            continue
        if kind == pdfium.FPDF_PAGEOBJ_PATH and min(box.width, box.height) <= THIN:
            if max(box.width, box.height) >= LONG:
                rules.append(_rounded(box))
        else:
            graphics.append(_rounded(box))
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE and not pdfium.FPDFPageObj_HasTransparency(one):
            covers.append((place, box))
    return rules, graphics, order, covers


# --- A part of a page as a picture of points.

LARGEST = 20_000.0  # points a side; PDF itself ends at 14,400
PIXELS = 1_200_000
SCALE = 4.0  # pixels a point at most


def draw(document: PdfDocument, number: int, box: list[float] | None, limits: Limits) -> bytes:
    """Return a part of a page as PNG."""
    if not 0 < number <= len(document):
        refuse(f"no page {number} in it")
    try:
        page = document[number - 1]
    except PdfiumError:
        refuse("a broken page")
    if pdfium.FPDFPage_CountObjects(page) > limits.objects:
        refuse(f"more than {limits.objects:,} objects on its page")
    width, height = page.get_size()
    left, top, right, bottom = box or (0, 0, width, height)
    left, top, right, bottom = max(left, 0), max(top, 0), min(right, width), min(bottom, height)
    if not (right - left >= 1 and bottom - top >= 1 and max(width, height) <= LARGEST):
        refuse(f"a page of {width:.0f} x {height:.0f} points")
    scale = min(SCALE, (PIXELS / ((right - left) * (bottom - top))) ** 0.5)
    picture = page.render(scale=scale, crop=(left, height - bottom, width - right, top), may_draw_forms=False)
    out = io.BytesIO()
    picture.to_pil().save(out, "PNG", compress_level=3)
    return out.getvalue()


if __name__ == "__main__":
    main()
