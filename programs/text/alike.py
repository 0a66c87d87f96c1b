"""Texts in the form in which they are held against each other, where it counts whether two records share one.

A stranger's copy of a text must not pass for another text by what nobody sees. Letters that only look alike (a Cyrillic
`а` for a Latin one) stay different.
"""

import re
import unicodedata

from aisr.programs.text.sanitize import INVISIBLE, folded

# Not seen either, by Unicode's list of what is ignored by default, and what a page shows nothing of; all but blanks.
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a]"
)
PIECE = re.compile("[\x00-\x7f]?[^\x00-\x7f]+")  # with the letter that marks may stand on
WORD = re.compile(r"\w+")


def alike(text: str) -> str:
    """The text but for capitals, compatibility forms (full width, ligatures) and what is not seen; Unicode calls this
    NFKC_Casefold. Only for comparing: nobody reads it."""
    text = UNSEEN.sub("", text)
    if text.isascii():
        return text.lower()
    return _composed(_composed(INVISIBLE.sub("", text)).casefold())


def words(text: str) -> list[str]:
    """The words of a text in that form."""
    return WORD.findall(alike(text))


def _composed(text: str) -> str:
    return text if unicodedata.is_normalized("NFKC", text) else PIECE.sub(lambda piece: folded(piece[0]), text)
