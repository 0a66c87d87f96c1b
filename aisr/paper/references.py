"""Tables and figures as running text refers to them: "Table 3", "Figs. 2 and 3", "Figures 1–3", "Fig. 2(a)"."""

import re
from collections.abc import Iterator, Mapping

from aisr.paper.draft import Float

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
