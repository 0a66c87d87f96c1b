"""Sentences, words and tokens of a text.

Where sentences end: in drafts, papers and instructions alike.

About how many tokens a text has.
"""

import math
import re
from collections.abc import Sequence
from typing import Any

# A sentence ends at . ! or ? before a space and what can begin another, but not behind an abbreviation or an initial.
END = re.compile(r"(?<=[.!?])[\"”')\]]*\s+(?=[A-Z0-9\"“'(\[])")
SHORT = re.compile(r"(?:\b(?i:figs?|tabs?|eqs?|secs?|refs?|al|e\.g|i\.e|vs|cf|approx|resp|dr|prof|ca|vol)|\b[A-Z])\.$")
LONGEST = 500  # characters of a word; a longer one is none, but a picture in letters or the like
LONGEST_SHORT = 12  # characters at the end of a sentence that tell an abbreviation


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph, in order; their words are those of the text, but for white space."""
    found: list[str] = []
    begin = 0
    flat = " ".join(text.split())
    for end in END.finditer(flat):
        if not SHORT.search(flat[max(begin, end.start() - LONGEST_SHORT) : end.start()]):
            found.append(flat[begin : end.start()] + end[0].rstrip())
            begin = end.end()
    return [*found, flat[begin:]] if flat[begin:] else found


def words(text: str) -> list[str]:
    """What stands between white space; a word of more than `LONGEST` characters is cut, so that a number of words
    bounds a text."""
    found = text.split()
    if all(len(word) <= LONGEST for word in found):
        return found
    return [word[cut : cut + LONGEST] for word in found for cut in range(0, len(word), LONGEST)]


def length(row: Any, fields: Sequence[str]) -> int:
    """About how many tokens a row takes as a demo."""
    return sum(tokens(str(row[name])) for name in fields if name in row)


BYTES_PER_TOKEN = 4  # the usual rule of thumb for English text; only a budget is kept with it, no price is made of it


def tokens(text: str) -> int:
    """About how many tokens a text has."""
    return math.ceil(len(text.encode()) / BYTES_PER_TOKEN)
