"""The signs of a PDF's page as words, with what the file says of how they are seen. Runs in `pdf_child` alone."""

import ctypes
import math
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

TURNED = "turned"
UPRIGHT = 0.95  # the cosine of an angle that a reader need not turn the head for
INVISIBLE_MODES = (3, 7)  # text rendering modes: neither filled nor stroked; clip only (ISO 32000-1, 9.3.6)
STROKED_MODES = (1, 5)
FAINT = 26  # of 255: what is more transparent
HYPHEN = 0x02  # what PDFium gives for a hyphen at the end of a line
MINUS = 0x2212
# Type 3 fonts of TeX say no more of a sign than its code, in Cork's encoding.
CORK = {0x10: "“", 0x11: "”", 0x15: "–", 0x16: "—", 0x1B: "ff", 0x1C: "fi", 0x1D: "fl", 0x1E: "ffi", 0x1F: "ffl"}
KNOWN = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", HYPHEN: "-", MINUS: "-"} | CORK

Box = tuple[float, float, float, float]  # left, top, right, bottom


class Look(NamedTuple):
    """What all signs of a text object share."""

    color: tuple[int, int, int] | None  # None: unknown, such as a pattern
    alpha: int
    font: str
    size: float  # points on the page
    hidden: str  # why none of them can be seen, as far as the file says so
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

    def near(self, box: Box, baseline: float, size: float) -> bool:
        """Whether a sign stands directly behind this word, be it raised or lowered."""
        greater = max(size, self.size)
        if box == self.last:  # two letters of one ligature
            return True
        return (
            abs(baseline - self.baseline) < 0.6 * greater and -0.5 * self.size < box[0] - self.box[2] < 0.35 * greater
        )

    def raises(self, box: Box, baseline: float, size: float) -> bool:
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


def words_of(text: Any, view: View, order: dict[int, int], limits: dict[str, Any]) -> list[Word]:
    looks: dict[int, Look] = {}
    words: list[Word] = []
    going = False
    loose = pdfium.FS_RECTF()
    across, up = ctypes.c_double(), ctypes.c_double()
    for index in range(pdfium.FPDFText_CountChars(text)):
        sign = _sign(pdfium.FPDFText_GetUnicode(text, index))
        if sign.isspace():
            going = False
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
        if going:
            glued = hidden == TURNED or words[-1].near(box, baseline, size)
        else:  # some programs write exponents as lines of their own
            glued = bool(words) and words[-1].raises(box, baseline, size)
        if glued and (hidden == words[-1].hidden == TURNED or words[-1].takes(baseline, size, look, hidden)):
            words[-1].add(sign, box, size)
        else:
            words.append(Word(sign, box, baseline, size, look, hidden, glued))
        going = True
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
    return Look(color, alpha, name.value.decode("utf-8", "replace"), size, hidden, order)
