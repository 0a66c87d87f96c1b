"""Works as running text cites them: [3, 5–7], (Okafor, 2019; Marlow and Finch, 2021), Obi (2022), [@key, p. 3]."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

NUMBERS = re.compile(r"\[(\d{1,4}(?:\s?[,;–—-]\s?\d{1,4})*+)\]")
RANGE = re.compile(r"(\d{1,4})(?:\s?[–—-]\s?(\d{1,4}))?")
KEYS = re.compile(r"\[[^\[\]@]{0,200}@[^\[\]]{1,1000}\]")
KEY = re.compile(r"(?<![\w@])-?@\{?([\w:.#$%&+?<>~/-]*\w)\}?")
BRACKETS = re.compile(r"\([^()]{4,1000}\)")
YEAR = re.compile(r"(?<![\d-])((?:1[89]|20)\d\d)([a-z]?)(?![\w-])")
NAME = re.compile(r"[^\W\d_a-z][\w'’‐-]+")
NO_NAME = frozenset(
    ("See", "Section", "Sections", "Sec", "Chapter", "Table", "Figure", "Fig", "In", "And", "Since", "Cf")
)
# The names before a year in brackets: "Obi", "Marlow and Finch", "van Dam, Okafor and Reyes", "Holm et al."
NAMED = re.compile(r"([^\W\d_a-z][\w'’‐-]{1,40})(?:,? (?:and|&) [^\W\d_a-z][\w'’‐-]{1,40}|,? et al\.?)? $")
LONGEST_NAMES = 100  # characters before the bracket that are searched for them
LONGEST_RANGE = 50  # works


class Mark(NamedTuple):
    """A place where works are cited. start, end: its characters, names before a bracket not counted; works: the number
    of the work, its key, or its first author and year as in `marlow 2021`, in order; textual: the sentence needs the
    name ("Obi (2022) found"), so that the mark does not end a claim."""

    start: int
    end: int
    works: tuple[str, ...]
    textual: bool = False


def marks(text: str) -> tuple[Mark, ...]:
    """All places where a text cites, in order."""
    found = [*_numbered(text), *_keyed(text), *_by_year(text)]
    return tuple(sorted(found))


def without(text: str, found: Sequence[Mark] | None = None) -> str:
    """The text without marks, its own if none are given, but for those that it needs to be read."""
    pieces, begin = [], 0
    for mark in marks(text) if found is None else found:
        if not mark.textual:
            pieces.append(text[begin : mark.start].rstrip())
            begin = mark.end
    return "".join([*pieces, text[begin:]]).strip()


def _numbered(text: str) -> Iterator[Mark]:
    for found in NUMBERS.finditer(text):
        works: list[str] = []
        for first, last in RANGE.findall(found[1]):
            end = int(last or first)
            works += map(str, range(int(first), end + 1)) if end - int(first) <= LONGEST_RANGE else [first, last]
        yield Mark(found.start(), found.end(), tuple(works))


def _keyed(text: str) -> Iterator[Mark]:
    for found in KEYS.finditer(text):
        if works := KEY.findall(found[0]):
            yield Mark(found.start(), found.end(), tuple(works))


def _by_year(text: str) -> Iterator[Mark]:
    for found in BRACKETS.finditer(text):
        inside = found[0][1:-1]
        if YEAR.match(inside.strip()):  # (2022), (2021a,b), (2021, Section 3): the name stands before
            before = NAMED.search(text[max(0, found.start() - LONGEST_NAMES) : found.start()])
            if before:
                works = tuple(f"{before[1].lower()} {year}" for year in _years(inside))
                yield Mark(found.start(), found.end(), works, textual=True)
            continue
        works = tuple(work for entry in inside.split(";") for work in _entry(entry))
        if works:
            yield Mark(found.start(), found.end(), works)


def _entry(entry: str) -> Iterator[str]:
    """`see Holm et al., 2020, 2021, p. 3` as works; nothing for brackets that hold a year but no author."""
    year = YEAR.search(entry)
    before = entry[: year.start()] if year else ""
    name = next((one for one in NAME.findall(before) if one not in NO_NAME), None)
    # Author and year stand side by side in a citation: "(Kettle Bay in the autumn of 2019)" is none.
    if name and before.rstrip(" ,(").endswith((".", *NAME.findall(before))):
        yield from (f"{name.lower()} {found}" for found in _years(entry))


def _years(text: str) -> Iterator[str]:
    """2021 and 2022b of "2021, 2022b"; 2021a and 2021b of "2021a,b"."""
    for found in YEAR.finditer(text):
        yield found[1] + found[2]
        more = text[found.end() : found.end() + 2]
        if found[2] and len(more) == 2 and more[0] == "," and more[1].islower():
            yield found[1] + more[1]
