"""Numbers as papers print them, in sentences and in the cells of tables."""

import re
from collections.abc import Iterator
from typing import NamedTuple

SIGNS = "−–-"  # the plain one last: these stand in classes of regular expressions
DIGITS = r"(?:\d{1,3}(?:[, \u00a0\u2009\u202f]\d{3})+(?![\d.,]?\d)|\d+)(?:\.\d+)?|\.\d+"
# In running text: not within a word, and without what only says where something stands.
IN_TEXT = re.compile(
    rf"(?<![\w.,/])(?P<number>(?P<sign>[+{SIGNS}]\s?)?(?<!\d[-–])(?P<digits>{DIGITS})(?P<percent>\s?%)?"
    r"(?P<scale>\s?(?:thousand|million|billion)\b|[kKM](?!\w))?)"
    r"(?![^\W_]|_(?!±)|\^(?![*∗†‡§¶])|[.,]\d|\s?[:/]\s?\d)"
)
# What only says where something stands: "Table 3", "Section 4.1", "Eq. (2)"; of any case.
POINTED = (
    r"\b(?:fig(?:ure)?|tab(?:le)?|tbl|sec(?:tion)?|eq(?:uation)?|appendix|chapter|algorithm|theorem|lemma)(?:s|ses|ces)?\b"
    r"\.?\s?\(?[A-Z]?\d[\w.]{0,9}\)?"
)
DECIMAL = r"(?:\d++(?:\.\d++)?|\.\d++)"
# What papers set behind the number of a cell: a spread, an interval, marks of footnotes and ranks, "(2nd)".
SPREAD = (
    rf"_?\(?(?:±|\+/?-)\s?{DECIMAL}\s?%?\)?|_?\([±+{SIGNS}]?\s?{DECIMAL}\s?%?\)"
    rf"|(?:[\^_][+{SIGNS}]{DECIMAL}){{1,2}}"
)
MARKS = (
    r"[\^_]?\(?(?:[*∗⋆★†‡§¶#↑↓▲▼△▽](?:,?\s?[*∗†‡§¶#]){0,3}|[a-h](?:,\s?[a-h]){0,3})\)?(?![^\W_])"
    r"|_\(?\d{1,2}\)?|\(\d{1,2}(?:st|nd|rd|th)\)"
)
RAISED = r"(?:(?<=\.\d)|(?<=\.\d\d)|(?<=\.\d\d\d))\^\(?\d{1,2}\)?"  # 83.9^1 has a footnote, 10^5 is a power
IN_CELL = re.compile(
    rf"(?:[<>≈~]|[*∗†‡§¶]{{1,3}})?\s*(?P<number>(?P<sign>[+{SIGNS}]\s?)?\$?(?P<digits>{DIGITS})\s?(?P<percent>%)?"
    rf"\s?(?P<scale>[kKMB]|million|billion)?)(?:{RAISED})?(?:\s?(?:{SPREAD})){{0,2}}"
    rf"(?:\s?[\[(]{DECIMAL}\s?(?:,|[{SIGNS}]{{1,2}})\s?{DECIMAL}[\])])?"  # an interval
    rf"(?:\s?(?:{MARKS})){{0,3}}\s*"
)
SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "b": 1e9, "billion": 1e9}
LONGEST = 40  # characters of a cell that is a number


class Number(NamedTuple):
    """A printed number."""

    value: float
    places: int  # digits behind the point
    text: str  # without the marks behind it
    percent: bool = False


def find_numbers(text: str) -> Iterator[Number]:
    """Return the numbers of a sentence, in order."""
    return map(_number, IN_TEXT.finditer(text))


def parse_cell(text: str) -> Number | None:
    """Return the number that a cell of a table is, without marks of footnotes and spread; None where it is something
    else."""
    match = IN_CELL.fullmatch(text.strip()) if 0 < len(text) <= LONGEST else None
    return _number(match) if match else None


def _number(match: re.Match[str]) -> Number:
    digits = re.sub(r"[,\s\u00a0\u2009\u202f]", "", match["digits"])
    places = len(digits.partition(".")[2])
    factor = SCALES.get((match["scale"] or "").strip().lower(), 1.0)
    sign = -1 if (match["sign"] or "+")[0] in SIGNS else 1
    value = sign * float(digits) * factor
    return Number(value, places if factor == 1 else 0, match["number"].strip(), bool(match["percent"]))
