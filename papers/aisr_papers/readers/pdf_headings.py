"""The headings of a PDF: lines that its outline names, lines that carry the next number, and known ones."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from aisr_papers.readers.pdf_lines import Line, Type, is_beside, is_full_left

LONGEST_HEADING = 120  # characters
MOST_LINES = 3  # of a heading
APART = 1.35  # of the usual leading: lines further apart belong to two blocks
SAME_SIZE = 0.6  # points
SPACED = 1.15  # of the usual leading: above and below a heading is at least so much
AHEAD = 2  # a heading may be missing before the next number
NUMBERED = re.compile(
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.|[A-Z](?:\.\d{1,2}){0,2}\.?)\s(?=[^\W\d_a-z])"
)
KNOWN = re.compile(
    r"(?:abstract|introduction|related work|background|methods?|materials and methods|experiments|results|"
    r"results and discussion|discussion|limitations?|ethics statement|conclusions?|acknowledge?ments?|references|"
    r"bibliography|literature cited|works cited|appendix|appendices|supplementary material)[:.]?",
    re.IGNORECASE,
)
WORD = re.compile(r"[^\W\d_]{4,}")
SIGN = re.compile(r"[^\W_]+")
ROMAN = {"I": 1, "V": 5, "X": 10}


def split_number(text: str) -> tuple[str, str]:
    """The number of a heading, empty where it has none, and the rest."""
    match = NUMBERED.match(text)
    return (match["number"], text[match.end() :].strip()) if match else ("", text.strip())


def find_headings(lines: Sequence[Line], body: Type, outline: Iterable[tuple[str, int, int]]) -> dict[Line, int]:
    """The lines of headings with their depth, from 1, as the outline has it or their numbers; further lines of one
    heading have 0. outline: title, page and depth of each section."""
    depths = {(page, _signs(split_number(title)[1])): depth for title, page, depth in outline}
    result: dict[Line, int] = {}
    numbering = Numbering()
    for place, line in enumerate(lines):
        if line in result:
            continue
        for end in range(place + 1, place + 1 + MOST_LINES) if depths else ():
            number, name = split_number(" ".join(one.text for one in lines[place:end]))
            if depth := depths.get((line.page, _signs(name)), 0):
                result |= dict.fromkeys(lines[place:end], 0) | {line: depth}
                numbering.depth_of(number, True)
                break
        if line in result or not _is_candidate(lines, place, body):
            continue
        depth = numbering.depth_of(split_number(line.text)[0], is_set_off(line, body))
        if depth:
            result[line] = depth
            for before, other in pairwise(lines[place : place + MOST_LINES]):
                if _is_plain(line, body) or not _is_alike(before, other) or not is_near(before, other, body):
                    break
                result[other] = 0
    return result


def _signs(text: str) -> str:
    """Letters and digits alone: in an outline spaces and symbols are written in other ways."""
    return "".join(SIGN.findall(text)).casefold()


def is_near(before: Line, line: Line, body: Type) -> bool:
    """Whether a line stands below another as in one paragraph."""
    leading = body.leading * max(line.size, before.size) / body.size
    return is_beside(before, line) and line.baseline - before.baseline < APART * leading


def is_set_off(line: Line, body: Type) -> bool:
    """Whether a line is larger than the text, or bold."""
    return line.size > body.size + SAME_SIZE or line.bold


def _is_alike(before: Line, line: Line) -> bool:
    return before.font == line.font and abs(before.size - line.size) < SAME_SIZE and not NUMBERED.match(line.text)


def _is_plain(line: Line, body: Type) -> bool:
    return line.font == body.font and abs(line.size - body.size) < SAME_SIZE


def _is_apart(before: Line, line: Line, body: Type) -> bool:
    """Whether more space is between two lines than within a paragraph."""
    return not is_beside(before, line) or line.baseline - before.baseline > SPACED * body.leading


def _is_candidate(lines: Sequence[Line], place: int, body: Type) -> bool:
    """Whether a numbered line may be a heading: it looks otherwise than the text, or stands apart from it."""
    line = lines[place]
    name = split_number(line.text)[1]
    if not NUMBERED.match(line.text) or len(line.text) > LONGEST_HEADING or not WORD.search(name):
        return False
    if line.size < body.size - SAME_SIZE or line.text.endswith((",", ";")):
        return False
    before = lines[place - 1] if place else None
    after = lines[place + 1] if place + 1 < len(lines) else None
    above = before is None or _is_apart(before, line, body)
    below = after is None or _is_apart(line, after, body)
    if not _is_plain(line, body) or line.bold or name.isupper():
        return above or below or before is None or before.font != line.font
    is_centered = abs(sum(line.box[::2]) - sum(line.column)) < line.size
    return above and below and not line.text.endswith(".") and (is_full_left(line) or is_centered)


class Numbering:
    """The numbers of headings as they go up, in Arabic, Roman and letters."""

    def __init__(self) -> None:
        self.last: dict[str, list[int]] = {}

    def depth_of(self, number: str, is_sure: bool) -> int:
        """The depth of a heading with a number that is the next one, or that is surely one; 0 for any other."""
        for style, parts in _read_number(number):
            last = self.last.get(style, [])
            parents = parts[:-1]
            before = last[len(parents)] if len(last) > len(parents) else 0
            is_first_word = number == "A" and not self.last
            if parents == last[: len(parents)] and before < parts[-1] <= before + AHEAD and not is_first_word:
                self.last[style] = parts
                if style == "I":  # below each of these, letters begin anew
                    self.last.pop("A", None)
                return len(parts) + (style == "A" and "I" in self.last)
        # "A" alone may be the first word of a title.
        return len(number.strip(".").split(".")) if is_sure and len(number) > 1 else 0


def _read_number(number: str) -> list[tuple[str, list[int]]]:
    """A number as it may be meant: Arabic "1", Roman "I" or letters "A", and its parts."""
    first, *rest = [part for part in number.split(".") if part] or [""]
    more = [int(part) for part in rest]
    if first.isdecimal():
        return [("1", [int(first), *more])]
    readings = []
    if len(first) == 1:
        readings.append(("A", [ord(first) - ord("A") + 1, *more]))
    if first and not first.strip("IVX"):
        values = [ROMAN[sign] for sign in first]
        signed = [-one if one < after else one for one, after in pairwise([*values, 0])]
        readings.insert(0, ("I", [sum(signed), *more]))
    return readings
