"""Finding a quote in a text that was read from a PDF: by its letters and digits alone.

Parsers join and part words, keep hyphens of line ends, write ligatures as one sign or lose them, and turn quotation
marks and dashes into others. So texts are compared without all that is no letter or digit, and without case; what is
given back is the text's own wording.
"""

import unicodedata
from array import array
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

SHORTEST = 12  # letters and digits of a quote; fewer are found by chance
PAPERS = 32  # whose letters are kept: a megabyte for a long one


class Letters(NamedTuple):
    """The letters and digits of texts one behind the other. signs: for each the place in its text of the sign that it
    is of; begins: where the letters of each text begin, ascending."""

    text: str
    signs: "array[int]"
    begins: tuple[int, ...]


def letters(text: str) -> str:
    """The letters and digits of a text, ligatures taken apart, in lower case."""
    return "".join(_folded(sign) for sign in text)


@lru_cache(maxsize=PAPERS)
def lettered(texts: tuple[str, ...]) -> Letters:
    """The letters of several texts, to look quotes up in."""
    found: list[str] = []
    signs = array("L")
    lengths = []
    for text in texts:
        before = len(signs)
        for place, sign in enumerate(text):
            folded = _folded(sign)
            found.append(folded)
            signs.extend([place] * len(folded))
        lengths.append(len(signs) - before)
    return Letters("".join(found), signs, tuple(accumulate(lengths, initial=0))[:-1])


def stretch(quote: str, texts: tuple[str, ...]) -> str | None:
    """Where a quote stands in one of the texts, in that text's own wording with single blanks; None where it does not,
    or where it is too short to tell."""
    sought = letters(quote)
    if len(sought) < SHORTEST:
        return None
    known = lettered(texts)
    begin = known.text.find(sought)
    while begin >= 0:
        end = begin + len(sought) - 1
        owner = bisect_right(known.begins, begin) - 1
        if bisect_right(known.begins, end) - 1 == owner:
            first, last = known.signs[begin], known.signs[end]
            return " ".join(texts[owner][first : _closed(texts[owner], last)].split())
        begin = known.text.find(sought, begin + 1)
    return None


def _closed(text: str, last: int) -> int:
    """The end of a stretch whose last letter stands at `last`: with the sign that ends the sentence, if there is one,
    and what closes behind it."""
    end = last + 1
    while end < len(text) and text[end] in ".!?)]\"'”’%":
        end += 1
    return end


@lru_cache(maxsize=4096)
def _folded(sign: str) -> str:
    if sign.isascii():
        return sign.lower() if sign.isalnum() else ""
    return "".join(part for part in unicodedata.normalize("NFKC", sign).casefold() if part.isalnum())
