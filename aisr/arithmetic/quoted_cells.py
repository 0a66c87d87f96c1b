"""Numbers that a sentence takes from a table: held against the one cell that it names."""

import re
from collections.abc import Iterator, Sequence

from aisr.arithmetic.claims import HEDGE, claims, clause
from aisr.arithmetic.facts import Fact, Label, around
from aisr.arithmetic.grid import Cell, Grid, places
from aisr.arithmetic.names import consistent, mentions, named, unnamed
from aisr.arithmetic.numbers import Number, in_text
from aisr.arithmetic.polarity import foreign

GIVEN = re.compile(
    r"(?:\b(?:reach\w*|achiev\w*|obtain\w*|scor\w*|attain\w*|yield\w*|gets?|got|has|have|had|is|was|are|were|of|at|with"
    r"|only|and|takes?|needs?|uses?|keeps?|shows?|reports?)|[=:(,])\s?(?:(?:an?|the|only|just)\s)?$"
)
# Not a value of the table: thresholds, numbers of an enumeration, steps on the way.
OTHERWISE = re.compile(
    r"\b(?:than|threshold|by|from|to|between|p|n|N|α|alpha|version|seed|step|top|least|most)\s?[=<>]?\s?$"
)
# The number is that of the paper's own method, or of one beside the one that is named.
OTHERS = re.compile(
    r"\b(?:our|ours|we|us|proposed|its|their|this|these)\b|\b(?:compared (?:to|with)|than|over|versus|vs|against"
    r"|unlike)\b",
    re.IGNORECASE,
)
BEHIND = re.compile(r"(?:\s?(?:points|%|ms|s))?\s(?:on|at|for|in)\s(?:the\s)?")
FAR = 2.0  # times by which a slip or a changed digit may be off; what is farther is another quantity


def quoted(text: str, near: Sequence[Grid], everywhere: Sequence[Grid], elsewhere: frozenset[str]) -> Iterator[Fact]:
    """Numbers of a sentence whose cell it names by all that the table tells its cells apart by. elsewhere: the numbers
    that other sentences and captions of the paper hold, as they are printed."""
    spans = [(one.start, one.end) for one in claims(text)]
    for number in in_text(text):
        if any(begin <= number.start < end for begin, end in spans) or number.places == 0:
            continue
        before = text[: number.start]
        if HEDGE.search(before) or OTHERWISE.search(before) or not GIVEN.search(before):
            continue
        fact = _held(text, number, near, everywhere, elsewhere)
        if fact is not None:
            yield fact


def _held(
    text: str, number: Number, near: Sequence[Grid], everywhere: Sequence[Grid], elsewhere: frozenset[str]
) -> Fact | None:
    for table in near:
        cells = _pinned(text, number, table)
        for cell in cells:
            if cell.number.interval.meets(number.interval):
                shown = f"{table.where(cell)}: {cell.number.text} ({table.name})"
                return Fact(Label.CELL, around(text, number.start, number.end), shown, True, (table.key,))
    digits = number.text.rstrip("% ")
    known = [*near, *everywhere]
    if digits in elsewhere or any(derivable(number, table, place < len(near)) for place, table in enumerate(known)):
        return None
    begin, end = clause(text, number.start)
    for table in near:
        cells = _pinned(text, number, table)
        if len(cells) != 1 or cells[0].number.places != number.places:
            continue
        said = unnamed(text, table)[begin:end]
        if OTHERS.search(said) or foreign(said, table):
            continue
        (cell,) = cells
        small, large = sorted((abs(cell.number.value), abs(number.value)))
        if small * FAR >= large:
            shown = f"{table.name} has {cell.number.text} there ({table.where(cell)})"
            return Fact(Label.CELL, around(text, number.start, number.end), shown, False, (table.key,), places(cell))
    return None


def _pinned(text: str, number: Number, table: Grid) -> list[Cell]:
    """The cells that a number may be, each level of the table that has several names being named: in the clause of the
    number, or if it names none there, in the sentence."""
    found = mentions(text, table)
    begin, end = clause(text, number.start)
    close = named([one for one in found if begin <= one.start < end])
    wanted = {**named(found), **close}
    ends = [one.end for one in in_text(text)]
    for one in found:  # "83.3 on NQ and 84.9 on WebQ", but not "trained on NQ, it reaches 64.1 on WebQ"
        if BEHIND.fullmatch(text[number.end : one.start]) and all(
            any(BEHIND.fullmatch(text[end : other.start]) for end in ends)
            for other in found
            if other.level == one.level
        ):
            wanted[one.level] = {one.label}
    if any(len(labels) > 1 and level not in wanted for level, labels in enumerate(table.levels)):
        return []
    return consistent(table.cells, wanted)


def derivable(number: Number, table: Grid, near: bool) -> bool:
    """Whether a table holds the number to the printed digit; of those that the sentence is about, also whether it is a
    difference or mean of some cells."""
    value, slack = abs(number.value), number.half + 1e-9
    lines = [*table.rows().values(), *table.columns().values()]
    for line in lines:
        values = [cell.number.value for cell in line]
        if any(abs(abs(one) - value) <= slack or abs(abs(one) * 100 - value) <= slack for one in values):
            return True
        if not near:
            continue
        if len(values) > 1 and abs(abs(sum(values) / len(values)) - value) <= slack:
            return True
        if len(values) <= 60 and any(
            abs(abs(one - other) - value) <= slack for place, one in enumerate(values) for other in values[:place]
        ):
            return True
    return False
