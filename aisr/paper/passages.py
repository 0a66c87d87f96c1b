"""Running text with its places, cut into sentences, and what it refers to: tables and figures."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from aisr.paper.draft import Float, Paragraph, Place, Sentence
from aisr.programs.text import sentences

# --- Tables and figures as running text refers to them: "Table 3", "Figs. 2 and 3", "Figures 1–3", "Fig. 2(a)".

KIND = re.compile(r"\b(?P<kind>fig(?:ure)?|tab(?:le)?|tbl)(?P<many>s?)\b\.?\s{0,3}", re.IGNORECASE)
# "3", "2.1", "A1", "S.2", "IV"; not the beginning of "3.5 points" or "12 %", where a list of numbers ends.
NUMBER = re.compile(r"(?:(?:[A-Z]\.?)?\d{1,4}+(?:\.\d{1,3}+)?+|[IVX]{1,6}+)(?=[a-h]?(?![\w%]|\s?%|[.,]\d))")
PART = re.compile(r"([a-h])(?!\w)|\s?\(([a-h])\)")
MORE = re.compile(r"\s{0,3}(?:(?P<till>[-–—]|to\b|through\b)|,?\s{0,3}(?:and|or|&)(?!\w)|(?P<comma>,)|/)\s{0,3}")
MORE_PARTS = re.compile(
    r"(?P<till>[-–])(?P<near>[a-h])(?!\w)|[,/](?P<beside>[a-h])(?!\w)|\s{0,3}(?:,|and|&|[-–])\s{0,3}\((?P<set>[a-h])\)"
)
LONGEST_RANGE = 20  # floats; "Tables 1-400" is no reference


def names(text: str) -> tuple[str, ...]:
    """What a text refers to, as floats are named: `Table 3`, `Figure 2a`; in order, each once."""
    found: dict[str, None] = {}
    for opening in KIND.finditer(text):
        kind = "Figure" if opening["kind"].lower().startswith("fig") else "Table"
        found.update(
            dict.fromkeys(f"{kind} {number}" for number in _numbers(text, opening.end(), bool(opening["many"])))
        )
    return tuple(found)


def by_name(floats: Mapping[str, Float]) -> dict[str, str]:
    """Name of a float, in small letters -> its key; the first one's, where two have a name."""
    return {one.name.casefold(): key for key, one in reversed(list(floats.items()))}


def keys_named(text: str, named: Mapping[str, str]) -> tuple[str, ...]:
    """The keys of the floats that a text refers to by name. A part that is no float of its own stands for the whole
    figure. named: as `by_name` gives it."""
    found = (named.get(name.casefold()) or named.get(name.rstrip("abcdefgh").casefold()) for name in names(text))
    return tuple(dict.fromkeys(key for key in found if key))


def floats_named(text: str, floats: Mapping[str, Float]) -> tuple[str, ...]:
    """The same for a single text."""
    return keys_named(text, by_name(floats))


def _numbers(text: str, begin: int, many: bool) -> Iterator[str]:
    """The numbers of a list that begins there, ranges written out."""
    last, till = "", False
    while number := NUMBER.match(text, begin):
        if last and "." in number[0] and "." not in last:  # "Table 3 and 4.5 points"
            return
        begin = number.end()
        if till:
            yield from _between(last, number[0])
        last = number[0]
        letters, begin = _letters(text, begin)
        yield from (f"{last}{letter}" for letter in letters or [""])
        more = MORE.match(text, begin)
        # "In Table 3, 12 systems" is no list: behind a singular only "and" and a dash go on.
        if more is None or (more["comma"] and not many):
            return
        begin, till = more.end(), more["till"] is not None


def _letters(text: str, begin: int) -> tuple[list[str], int]:
    """The parts of a figure that stand behind its number, "a", "(a) and (b)", "a-c", and where they end."""
    first = PART.match(text, begin)
    if first is None:
        return [], begin
    letters, begin = [first[1] or first[2]], first.end()
    while more := MORE_PARTS.match(text, begin):
        letter = more["near"] or more["beside"] or more["set"]
        if more["till"]:
            letters += [chr(one) for one in range(ord(letters[-1]) + 1, ord(letter))]
        letters.append(letter)
        begin = more.end()
    return letters, begin


def _between(first: str, last: str) -> Iterator[str]:
    """What lies between two numbers of a range."""
    if first.isdigit() and last.isdigit() and 0 < int(last) - int(first) <= LONGEST_RANGE:
        yield from (str(number) for number in range(int(first) + 1, int(last)))


PAGE = re.compile(r"\b(?:pp?|chap)\.$")


class Piece(NamedTuple):
    """Some text of one line of a file. refers, cites: what it stands for, as keys; close: it belongs to the sentence
    before, though that has ended (a citation behind the full stop)."""

    text: str
    place: Place
    refers: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    close: bool = False


class Flat(NamedTuple):
    """Text with single blanks, and where each piece of it begins."""

    text: str
    pieces: list[tuple[int, Piece]]


def flat(pieces: list[Piece]) -> Flat:
    """The pieces as one text."""
    said: list[str] = []
    found: list[tuple[int, Piece]] = []
    length = 0
    open_blank = True  # nothing, or a blank, stands before
    for piece in pieces:
        if piece.close and said and not open_blank and said[-1][-1] in ".!?":
            stop = said[-1][-1]
            said[-1] = said[-1][:-1]
            added = f" {piece.text}{stop}"
            found.append((length - 1, piece))
            said.append(added)
            length += len(added) - 1
            continue
        words = " ".join(piece.text.split())
        before = "" if open_blank or not piece.text[:1].isspace() else " "
        after = " " if piece.text[-1:].isspace() and (words or not (open_blank or before)) else ""
        found.append((length + len(before), piece))
        added = before + words + after
        if added:
            said.append(added)
            length += len(added)
            open_blank = added.endswith(" ")
    return Flat("".join(said).rstrip(), found)


def paragraph(
    pieces: list[Piece],
    headings: tuple[str, ...],
    named: Mapping[str, str],
    cited: Callable[[str], tuple[str, ...]] = lambda text: (),
) -> Paragraph | None:
    """The pieces as a paragraph, each sentence at the line that it begins in, with what it refers to and cites; None
    where there are no words. named: keys of the floats, by their names; cited: keys of the works that a sentence cites
    by its words alone."""
    text, starts = flat(pieces)
    found: list[Sentence] = []
    begin = number = 0
    for one in _whole(sentences(text)):
        begin = text.index(one, begin)
        end = begin + len(one)
        place = starts[max(0, number - 1)][1].place
        refers, cites = list[str](), list[str]()
        while number < len(starts) and starts[number][0] < end:
            start, piece = starts[number]
            place = piece.place if start <= begin else place
            refers += piece.refers
            cites += piece.cites
            number += 1
        refers += keys_named(one, named)
        cites += cited(one)
        found.append(Sentence(one, place, tuple(dict.fromkeys(refers)), tuple(dict.fromkeys(cites))))
        begin = end
    return Paragraph(tuple(found), headings) if any(any(map(str.isalnum, one.text)) for one in found) else None


def _whole(found: list[str]) -> list[str]:
    """Sentences, those joined again that were parted behind the "p." of a page."""
    joined: list[str] = []
    for one in found:
        if joined and PAGE.search(joined[-1][-6:]):
            joined[-1] += f" {one}"
        else:
            joined.append(one)
    return joined
