"""Works as running text cites them: [3, 5–7], (Okafor, 2019; Marlow and Finch, 2021), Obi (2022), [@key, p. 3]."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from aisr.paper.author_year import People, people

NUMBERS = re.compile(r"\[(\d{1,4}(?:\s?[,;–—-]\s?\d{1,4})*+)\]")
RANGE = re.compile(r"(\d{1,4})(?:\s?[–—-]\s?(\d{1,4}))?")
KEYS = re.compile(r"\[[^\[\]@]{0,200}@[^\[\]]{1,1000}\]")
KEY = re.compile(r"(?<![\w@])-?@\{?([\w:.#$%&+?<>~/-]*\w)\}?")
BRACKETS = re.compile(r"\([^()]{4,1000}\)|\[[^\[\]@]{4,1000}\]")
YEAR = re.compile(r"(?<![\d-])((?:1[89]|20)\d\d)([a-z]?)(?![\w-])")
NAME = re.compile(r"[^\W\d_a-z][\w'’‐-]+")
NO_NAME = frozenset(
    ("See", "Section", "Sections", "Sec", "Chapter", "Table", "Figure", "Fig", "In", "And", "Since", "Cf")
)
# The names before a year in brackets: "Obi", "Marlow and Finch", "van Dam, Okafor and Reyes", "Holm et al."
NAMED = re.compile(r"([^\W\d_a-z][\w'’‐-]{1,40})(?:,? (?:and|&) [^\W\d_a-z][\w'’‐-]{1,40}|,? et al\.?)? $")
LETTERS = re.compile(r"(?:,\s?[a-z](?![\w.]))+")
LONGEST_NAMES = 100  # characters before the bracket that are searched for them
LONGEST_RANGE = 50  # works


class Mark(NamedTuple):
    """A place where works are cited. start, end: its characters, names before a bracket not counted; works: the number
    of the work, its key, or its first author and year as in `marlow 2021`, in order; textual: the sentence needs the
    name ("Obi (2022) found"), so that the mark does not end a claim; people: of each work cited by author and year, in
    the same order."""

    start: int
    end: int
    works: tuple[str, ...]
    textual: bool = False
    people: tuple[People, ...] = ()


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
            before = text[max(0, found.start() - LONGEST_NAMES) : found.start()]
            one = people(before, "") if NAMED.search(before) else None
            if one:
                cited = tuple(one._replace(year=year) for year in _years(inside))
                yield Mark(found.start(), found.end(), tuple(map(_named, cited)), True, cited)
            continue
        cited = tuple(one for entry in inside.split(";") for one in _entry(entry))
        if cited:
            yield Mark(found.start(), found.end(), tuple(map(_named, cited)), False, cited)


def _entry(entry: str) -> Iterator[People]:
    """`see Holm et al., 2020, 2021, p. 3` as works; nothing for brackets that hold a year but no author."""
    begin, cited = 0, None
    for year in YEAR.finditer(entry):
        before = entry[begin : year.start()]
        names = [one for one in NAME.findall(before) if one not in NO_NAME]
        # Author and year stand side by side in a citation: "(Kettle Bay in the autumn of 2019)" is none.
        if names and before.rstrip(" ,(").endswith((".", *NAME.findall(before))):
            cited = people(before, "")
        if cited is None:
            return
        yield from (cited._replace(year=said) for said in _years(entry[year.start() :], most=1))
        begin = year.end()


def _named(one: People) -> str:
    """First author and year, as in `marlow 2021`."""
    return f"{one.surnames[0].split()[-1].lower()} {one.year}"


def _years(text: str, most: int = 100) -> Iterator[str]:
    """2021 and 2022b of "2021, 2022b"; 2021a, 2021b and 2021c of "2021a,b, c". most: numbers that are looked at."""
    for found in islice(YEAR.finditer(text), most):
        yield found[1] + found[2]
        more = LETTERS.match(text, found.end()) if found[2] else None
        yield from (found[1] + letter for letter in re.findall(r"[a-z]", more[0])) if more else ()
