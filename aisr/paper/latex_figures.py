"""Figures of a LaTeX paper, with their captions, labels and pictures."""

import re

from aisr.paper.draft import Picture
from aisr.paper.latex_counters import Counters
from aisr.paper.latex_floats import Parts
from aisr.paper.latex_names import LONG
from aisr.paper.latex_tables import Tables
from aisr.paper.latex_tokens import Token, plain

PAGE = re.compile(r"\bpage\s{0,9}=\s{0,9}(\d{1,4})\b")


CLIP = re.compile(r"\bclip\b(?!\s{0,9}=\s{0,9}f)")
TRIM = re.compile(r"\btrim\s{0,9}=\s{0,9}\{?([^,{}]{1,80})")
LENGTH = re.compile(r"(-?\d{0,5}(?:\.\d{0,6})?)(bp|pt|mm|cm|in)?")
POINTS = {"bp": 1.0, "pt": 72 / 72.27, "mm": 72 / 25.4, "cm": 72 / 2.54, "in": 72.0}  # PDF's, of which 72 are an inch


class Figures(Tables, Counters):
    """Reads what makes figures, and the captions and labels of tables."""

    def _caption(self, token: Token) -> None:
        starred = self.stream.star()
        self.stream.option()
        said = self._inline(self.stream.argument(), token.place)
        if not self._open:
            self.files.refuse(token.place, "a caption outside of a figure or table")
            return
        parts = self._open[-1]
        if parts.number and parts.environment in LONG:
            return  # the head of its next page
        if len(self._open) == 1 and not starred and parts.number:
            parts = self._beside(parts)
        if len(self._open) == 1 and not starred:
            parts.number = self._next_number(parts.kind)
        parts.captions.append(said)
        parts.before_caption = tuple(map(len, parts.content))

    def _beside(self, first: Parts) -> Parts:
        """A second float in the same environment. Where the first has its caption below, what follows that is of the
        second."""
        second = Parts(first.kind, first.environment, first.place, first.headings, first.below)
        if any(first.before_caption):
            first.part_at(first.before_caption, second)
        self.floats.append(first)
        self._open[-1] = second
        self._items = second.notes
        return second

    def _caption_of(self, token: Token) -> None:
        self.stream.star()
        kind = self.stream.word()
        if not self._open and kind in ("figure", "table"):
            environment = self._environments[-1] if self._environments else ""
            self._open_float("table" if kind == "table" else "figure", f"\\{environment}", token.place)
        self._caption(token)

    def _subfloat(self, token: Token) -> None:
        r"""\subfloat[caption]{picture}, and \subcaptionbox{caption}{picture}."""
        if not self._open:
            return
        self._open_float(self._open[-1].kind, token.text, token.place)
        self.stream.star()
        said = self.stream.argument() if token.text == "subcaptionbox" else self.stream.option()
        self.stream.option()
        caption = self._inline(said or (), token.place)
        self._open[-1].captions.append(caption)
        self._items += self._inline(self.stream.argument(), token.place)
        self._close_float("")

    def _subcaption(self, token: Token) -> None:
        """The caption of a part of a figure; where none is open, what stands before it becomes one."""
        if len(self._open) != 1:
            self._caption(token)
            return
        whole = self._open[-1]
        self._open_float(whole.kind, token.text, token.place)
        self._caption(token)
        part = self._open[-1]
        self._close_float("")
        whole.part_at((0, 0, len(whole.within), 0), part)

    def _label(self, name: str) -> None:
        if self._open:
            self._open[-1].labels.append(name)
        elif self._reading:
            self.labels.setdefault(name, self._here)

    def _picture(self, token: Token) -> None:
        clipped = self.stream.star()
        options = ",".join(plain(one) for one in (self.stream.option(), self.stream.option()) if one)
        name = self.stream.word()
        if not self._reading and not self._within:
            return
        if not self._open:
            self.files.refuse(token.place, f"{name[:80]!a}: a picture outside of a figure")
            return
        file = self.files.picture(name.strip('"'), token.place, self._folders)
        page = PAGE.search(options)
        if file is not None:
            cut = file.suffix.lower() == ".pdf" and (clipped or CLIP.search(options))
            trim = _trim(options) if cut else None
            self._open[-1].pictures.append(Picture(file, int(page[1]) if page else 1, None, trim))

    def _picture_folders(self, token: Token) -> None:
        folders = re.findall(r"[^{}]+", plain(self.stream.argument()))
        self._folders = ("", *(folder.strip() for folder in folders[:20] if folder.strip()))


def _trim(options: str) -> tuple[float, float, float, float] | None:
    """What `trim=1cm 0 1cm 2cm` cuts off, in points: left, bottom, right, top; None where it says nothing."""
    found = TRIM.search(options)
    sides = [LENGTH.fullmatch(one) for one in found[1].split()] if found else []
    if len(sides) != 4 or not all(one and any(map(str.isdigit, one[1])) for one in sides):
        return None
    left, bottom, right, top = (max(float(one[1]), 0.0) * POINTS[one[2] or "bp"] for one in sides if one)
    return (left, bottom, right, top) if left + bottom + right + top else None
