"""Running text with its places, cut into sentences."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from aisr.paper.draft import Paragraph, Place, Sentence
from aisr.paper.references import keys_named
from aisr.programs.text.sentences import sentences

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
