"""Noise that PDF readers leave in captions and texts, taken out only where nothing that is said can change.

Left as it is: digits spaced apart ("9 5 . 3"), since joining them could make a number that was never there, and a
control character that may have been a minus sign, of which nothing more than a space is known.
"""

import re
import unicodedata

# Words that LaTeX's math fonts were given letter by letter: \\mathrm { B L E U }.
SPACED = re.compile(r"(\\(?:mathrm|mathbf|mathit|mathsf|mathtt|text|textbf|textit|operatorname)\s*\{)([^{}]*)\}")
LETTERS = re.compile(r"(?<!\S)[^\W\d_](?: [^\W\d_])+(?!\S)")
KEPT = str.maketrans("\n\t", "  ")


def clean(text: str) -> str:
    """The text without control and other invisible characters, and with letter-spaced words of LaTeX joined."""
    # Python's own look at all signs at once is a hundred times quicker, and finds nothing in most texts.
    if not text.translate(KEPT).isprintable():
        text = "".join(" " if _invisible(sign) else sign for sign in text)
    return SPACED.sub(_closed_up, text)


def _invisible(sign: str) -> bool:
    return ord(sign) not in KEPT and unicodedata.category(sign) in ("Cc", "Cs", "Co", "Cn")


def _closed_up(found: re.Match[str]) -> str:
    joined = LETTERS.sub(lambda letters: letters[0].replace(" ", ""), found[2])
    return found[0] if joined == found[2] else f"{found[1]}{joined.strip()}}}"
