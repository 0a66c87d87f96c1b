"""Where sentences end: in drafts, papers and instructions alike."""

import re

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
