"""The parts of a figure's caption: what it says of all panels, its head, and what it says of each.

Captions mark panels in one of four ways: `(A) … (B and C) … (D–F) …` before what they are about, or behind it as in
`growth (a), light (b)`; and by a letter that begins a sentence, `a) …`, `A, …`, `A. …`, `a | …`. One way goes through a
caption; a letter of another in between is a part of the text, such as the (B) of "as in (B)".
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from aisr.programs.retrieval.elements.citations import spelled_out

SEVERAL = r"[A-Za-z](?:\s?(?:[,&–—-]|and|to)\s?[A-Za-z]){0,9}"
BEGIN = r"(?:(?<=[.;:!?)])\s|\A)\s*"  # of a sentence, or of the caption
WAYS = (
    re.compile(rf"\((?P<panels>{SEVERAL})\)"),
    re.compile(rf"{BEGIN}(?P<panels>{SEVERAL})\)"),
    re.compile(rf"{BEGIN}(?P<panels>[A-Z](?:\s?(?:[,&–—-]|and|to)\s?[A-Z]){{0,9}})(?:[,:.|]|\s\|)\s(?=[A-Z(\d])"),
    re.compile(rf"{BEGIN}(?P<panels>[a-z](?:\s?(?:[,&–—-]|and|to)\s?[a-z]){{0,9}})(?:[,:.|]|\s\|)\s(?=[A-Z(\d])"),
)
MARKUP = re.compile(r"\*\*|__|(?<=\()[_*](?=[A-Za-z][_*]\))|(?<=\([_*][A-Za-z])[_*](?=\))")
BEFORE = re.compile(r"[.;:!?)]\s*\Z")
BEHIND = re.compile(r"\s*(?:[,.;]|and\b|\Z)")
SKIPPED = 2  # letters that a caption may leave out between two panels: one that was misread, an I
PAPERS = 4096  # captions whose parts are kept


class Parts(NamedTuple):
    """head: what stands before the first panel; panels: what is said of each, by its letter, a capital."""

    head: str
    panels: Mapping[str, str]


class _Mark(NamedTuple):
    begin: int
    end: int
    panels: tuple[str, ...]


@lru_cache(maxsize=PAPERS)
def parts(caption: str) -> Parts:
    """The parts of a caption; one without panels is all head."""
    text = " ".join(MARKUP.sub("", caption).split())
    for way in WAYS:
        marks = _in_order(text, [_Mark(*found.span(), spelled_out(found["panels"])) for found in way.finditer(text)])
        if len({panel for mark in marks for panel in mark.panels}) > 1:
            return _behind(text, marks) if way is WAYS[0] and _trails(text, marks) else _before(text, marks)
    return Parts(text, {})


def of_panel(caption: str, letters: Sequence[str]) -> str:
    """A caption as far as it is about a panel, which goes by one letter or several: the head and what is said of them;
    the head alone where it tells other panels apart, and all of it where it tells none."""
    found = parts(caption)
    own = [found.panels[letter] for letter in letters if letter in found.panels]
    return " ".join(filter(None, (found.head, *dict.fromkeys(own))))


def _in_order(text: str, marks: Sequence[_Mark]) -> list[_Mark]:
    """The marks that begin a part: A first, then what comes next in the alphabet; and where a sentence begins with one,
    panels that had their turn before."""
    kept: list[_Mark] = []
    last = ord("A") - 1
    for mark in marks:
        first = ord(mark.panels[0])
        begins = not mark.begin or BEFORE.search(text, 0, mark.begin) is not None
        if last < first <= last + 1 + SKIPPED * bool(kept) or (kept and begins and first <= last):
            kept.append(mark)
            last = max(last, *map(ord, mark.panels))
    return kept


def _trails(text: str, marks: Sequence[_Mark]) -> bool:
    """Whether marks stand behind what they are about, whatever follows the last."""
    return not BEFORE.search(text, 0, marks[0].begin) and all(BEHIND.match(text, mark.end) for mark in marks[:-1])


def _before(text: str, marks: Sequence[_Mark]) -> Parts:
    ends = [*(mark.begin for mark in marks[1:]), len(text)]
    told = [(mark.panels, text[mark.end : end]) for mark, end in zip(marks, ends, strict=True)]
    return Parts(text[: marks[0].begin].strip(), _joined(told))


def _behind(text: str, marks: Sequence[_Mark]) -> Parts:
    begins = [0, *(mark.end for mark in marks[:-1])]
    told = [(mark.panels, text[begin : mark.begin]) for mark, begin in zip(marks, begins, strict=True)]
    return Parts(text[marks[-1].end :].strip(" .,;"), _joined(told))


def _joined(told: Sequence[tuple[tuple[str, ...], str]]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for panels, text in told:
        for panel in panels:
            found.setdefault(panel, []).append(text.strip(" ,;:|"))
    return {panel: " ".join(filter(None, texts)) for panel, texts in found.items()}
