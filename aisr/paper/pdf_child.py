"""Reads the words of a PDF in a process of its own, which `pdf_process` starts.

A PDF is a program of strangers for a large C++ library. What may go wrong there (a crash, a loop, memory without end)
ends this process and no other. It prints one line of JSON a page.

    python -P -m aisr.paper.pdf_child FILE LIMITS     # LIMITS: JSON of `pdf_process.Limits`

Coordinates are in points from the upper left corner of what is seen of a page, as it is seen (cropped and turned).
"""

import ctypes
import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pypdfium2.raw as pdfium

from aisr.base.sandbox import confine
from aisr.paper.pdf_pixels import drawn, mark_unseen
from aisr.paper.pdf_signs import Box, View, address_of, words_of

THIN = 3.0  # points; what is thinner is a rule of a table
LONG = 8.0  # points; what is shorter is no rule
NAMED = {1: "password", 2: "file", 3: "format", 4: "password", 5: "security", 6: "page"}


class Refused(Exception):
    """One word on why a document is not read."""


def main() -> None:
    file, limits = sys.argv[1], json.loads(sys.argv[2])
    confine(limits["memory"], limits["seconds"])
    try:
        with _open(file) as document:
            _read(document, limits)
    except Refused as error:
        print(json.dumps({"refused": str(error)}))


def _read(document: Any, limits: dict[str, Any]) -> None:
    count = pdfium.FPDF_GetPageCount(document)
    if not 0 < count <= limits["pages"]:
        raise Refused(f"pages {count}")
    print(json.dumps({"pages": count, "title": _title(document)}))
    left = limits["signs"]
    for number in range(count):
        read = _page(document, number, limits)
        left -= sum(len(word[0]) for word in read.get("words", ()))
        if left < 0:
            raise Refused("signs")
        print(json.dumps(read), flush=True)


@contextmanager
def _open(file: str) -> Iterator[Any]:
    document = pdfium.FPDF_LoadDocument(file.encode() + b"\0", None)
    if not document:
        raise Refused(NAMED.get(pdfium.FPDF_GetLastError(), "format"))
    try:
        yield document
    finally:
        pdfium.FPDF_CloseDocument(document)


def _title(document: Any) -> str:
    size = pdfium.FPDF_GetMetaText(document, b"Title", None, 0)
    if not 2 < size <= 2_000:
        return ""
    kept = ctypes.create_string_buffer(size)
    pdfium.FPDF_GetMetaText(document, b"Title", kept, size)
    return _utf16(kept.raw)


def _utf16(raw: bytes) -> str:
    return raw.decode("utf-16-le", "replace").rstrip("\0")


@contextmanager
def _opened(document: Any, number: int) -> Iterator[Any]:
    page = pdfium.FPDF_LoadPage(document, number)
    try:
        yield page
    finally:
        if page:
            pdfium.FPDF_ClosePage(page)


def _page(document: Any, number: int, limits: dict[str, Any]) -> dict[str, Any]:
    with _opened(document, number) as page:
        if not page:
            return {"unread": "broken"}
        if pdfium.FPDFPage_CountObjects(page) > limits["objects"]:
            return {"unread": "objects"}
        _forget_actual_text(
            [pdfium.FPDFPage_GetObject(page, place) for place in range(pdfium.FPDFPage_CountObjects(page))]
        )
        text = pdfium.FPDFText_LoadPage(page)
        if not text:
            return {"unread": "broken"}
        try:
            if pdfium.FPDFText_CountChars(text) > limits["signs_per_page"]:
                return {"unread": "signs"}
            view = _view(page)
            if min(view.width, view.height) < 1:
                return {"unread": "broken"}
            rules, graphics, order, covers = _objects(page, view)
            words = words_of(text, view, order, limits)
            mark_unseen(words, drawn(page, view, limits), covers)
        finally:
            pdfium.FPDFText_ClosePage(text)
    kept = [
        [w.text, *(round(v, 2) for v in (*w.box, w.baseline, w.size)), w.look.font, w.hidden, w.glued] for w in words
    ]
    return {"width": view.width, "height": view.height, "words": kept, "rules": rules, "graphics": graphics}


def _view(page: Any) -> View:
    box = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, box)
    turns = max(pdfium.FPDFPage_GetRotation(page), 0)
    width, height = abs(box.right - box.left), abs(box.top - box.bottom)
    if turns % 2:
        width, height = height, width
    return View(box.left, min(box.bottom, box.top), width, height, turns)


def _forget_actual_text(objects: list[Any]) -> None:
    """Take away what the file gives to be read in place of what it draws: the reader of the page does not see it."""
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


if __name__ == "__main__":
    main()
