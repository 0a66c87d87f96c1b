"""The rows and columns of a table that a text names."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from aisr.arithmetic.grid import DASHES, Cell, Grid, variants

SHORT = 3  # characters up to which a name is told by its capitals as well: "IT", "US", "P"
# Names that mean something else in most sentences; taken as named, they would narrow down the cells wrongly.
VAGUE_WORDS = """
all total mean average avg sum overall model models method methods system approach data dataset datasets task type none
yes no other others name id no. size set value values result results score scores metric metrics baseline baselines full
base small large best test train dev year source setting time change parameters
"""
VAGUE = frozenset(VAGUE_WORDS.split())
ABBREVIATED = re.compile(r"([A-Za-z][\w-]*(?: [a-z][\w-]*)?) \(([A-Z][\w@-]{0,6})\)")
LONGEST_LABEL = 60


class Mention(NamedTuple):
    """A name in a text. level: of the table's names; label: the name as the table has it; start, end: where it is."""

    level: int
    label: str
    start: int
    end: int


def mentions(text: str, table: Grid) -> list[Mention]:
    """All names of a table in a text, in order. Of names within others the longest counts; a name of two levels counts
    on both."""
    even = DASHES.sub("-", text)
    small = even.lower()
    if len(small) != len(even):  # a letter that is two in small ones
        return []
    taken: list[tuple[int, int]] = []
    found: list[Mention] = []
    for pattern, cased, meant in _patterns(table):
        for one in pattern.finditer(even if cased else small):
            span = one.span()
            if span in taken or not any(begin < span[1] and span[0] < end for begin, end in taken):
                taken.append(span)
                found += [Mention(level, label, *span) for level, label in meant]
    return sorted(dict.fromkeys(found), key=lambda one: (one.start, one.level))


def unnamed(text: str, table: Grid) -> str:
    """A sentence with blanks for the names of a table, "Ours" among them."""
    for one in mentions(text, table):
        text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return text


def named(found: Collection[Mention]) -> dict[int, set[str]]:
    """Level -> its names that were found."""
    levels: dict[int, set[str]] = {}
    for one in found:
        levels.setdefault(one.level, set()).add(one.label)
    return levels


def consistent(cells: Sequence[Cell], wanted: dict[int, set[str]], but: int | None = None) -> list[Cell]:
    """The cells that stand for one of the wanted names on each level that has some, `but` one level."""
    return [cell for cell in cells if all(cell.at[level] in labels for level, labels in wanted.items() if level != but)]


@lru_cache(maxsize=256)
def _patterns(table: Grid) -> tuple[tuple[re.Pattern[str], bool, tuple[tuple[int, str], ...]], ...]:
    """What to look for, the longest first, whether capitals count, and the names that it stands for."""
    spelled = {short: words.lower() for words, short in ABBREVIATED.findall(table.caption)}
    wanted: dict[tuple[str, bool], dict[tuple[int, str], None]] = {}
    for level, labels in enumerate(table.levels):
        for label in filter(None, labels):
            for form, cased in _forms(label, spelled):
                wanted.setdefault((form, cased), {})[level, label] = None
    ordered = sorted(wanted, key=lambda one: -len(one[0]))
    return tuple(
        (re.compile(rf"(?<![\w-]){re.escape(form)}(?:'s|’s)?(?![\w-]|\.\d)"), cased, tuple(wanted[form, cased]))
        for form, cased in ordered
    )


def _forms(label: str, spelled: dict[str, str]) -> list[tuple[str, bool]]:
    if len(label) > LONGEST_LABEL:
        return []
    found = []
    bare = label.strip()
    for form in variants(label):
        letters = sum(map(str.isalpha, form))
        if form in VAGUE or not letters or (letters < 2 and not any(map(str.isdigit, form))):
            continue
        if len(form) <= SHORT:
            if len(bare) == len(form):
                found.append((DASHES.sub("-", bare), True))
        else:
            found.append((form, False))
    if bare in spelled:
        words = spelled[bare].split()
        found += [(" ".join(words[place:]), False) for place in range(len(words)) if words[place] not in VAGUE]
    return found
