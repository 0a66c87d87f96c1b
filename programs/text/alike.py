"""Texts in the form in which they are held against each other, where it counts whether two records share one.

A stranger's copy of a text must not pass for another text by what nobody sees, nor by letters that only look alike (a
Cyrillic `а` for a Latin one; which are known, `look_alikes` says).
"""

import re
import unicodedata

from aisr.programs.text.look_alikes import table
from aisr.programs.text.sanitize import INVISIBLE, folded

UNSEEN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")  # what a page shows nothing of; all but blanks
OTHER = re.compile("[^\x00-\x7f]+")
PIECE = re.compile("[\x00-\x7f]?[^\x00-\x7f]+")  # with the letter that marks may stand on
WORD, NO_WORD = re.compile(r"\w+"), re.compile(r"\W+")


def alike(text: str) -> str:
    """The text but for capitals, compatibility forms (full width, ligatures), look-alikes and what is not seen: what
    Unicode calls NFKC_Casefold, in letters of English where others look like these. Only for comparing: nobody reads
    it."""
    text = UNSEEN.sub("", text)
    if text.isascii():
        return text.lower()
    seen = _in_english(INVISIBLE.sub("", text))  # before, or a `ϲ` would be a sigma; and behind, for `𝛼` and `ᾳ`
    return _composed(_in_english(_in_english(_composed(seen)).casefold()))


def words(text: str) -> list[str]:
    """The words of a text in that form."""
    return WORD.findall(alike(text))


def spaced(text: str) -> str:
    """The same with a blank between words: of a text of megabytes no list is made."""
    return NO_WORD.sub(" ", alike(text)).strip()


def _in_english(text: str) -> str:
    return OTHER.sub(lambda others: others[0].translate(table()), text)


def _composed(text: str) -> str:
    return text if unicodedata.is_normalized("NFKC", text) else PIECE.sub(lambda piece: folded(piece[0]), text)
