"""What a table bears out of a sentence, cell by cell: the numbers that it takes from it, and the orders that it tells.

Only what the names in the sentence decide counts: a fault that is planted there can be seen in the table by anybody.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from aisr_papers.recompute.cells import is_derivable
from aisr_papers.recompute.comparisons import check_comparisons, find_claims
from aisr_papers.recompute.grid import (
    BETTER,
    WORSE,
    Cell,
    Grid,
    Mention,
    find_mentions,
    labels_by_level,
    matching_cells,
)
from aisr_papers.recompute.names import clause_span
from aisr_papers.recompute.numbers import Number, excerpt, find_numbers

# Words that say which of two is ahead, their opposites, and what they say: of the number, or of how good that is.
TURNED = {
    "higher": ("lower", "more"), "lower": ("higher", "less"), "larger": ("smaller", "more"),
    "smaller": ("larger", "less"), "greater": ("smaller", "more"), "above": ("below", "more"),
    "below": ("above", "less"), "fewer": ("more", "less"), "more than": ("less than", "more"),
    "less than": ("more than", "less"),
    "exceeds": ("falls below", "more"), "better": ("worse", "better"), "worse": ("better", "worse"),
    "ahead of": ("behind", "better"), "behind": ("ahead of", "worse"), "outperforms": ("underperforms", "better"),
    "outperform": ("underperform", "better"), "beats": ("falls behind", "better"), "faster": ("slower", "better"),
    "slower": ("faster", "worse"), "surpasses": ("falls behind", "better"),
}  # fmt: skip
MOST = {
    "highest": ("lowest", "more"), "lowest": ("highest", "less"), "largest": ("smallest", "more"),
    "smallest": ("largest", "less"), "best": ("worst", "better"), "worst": ("best", "worse"),
    "strongest": ("weakest", "better"), "weakest": ("strongest", "worse"), "fastest": ("slowest", "better"),
    "slowest": ("fastest", "worse"), "fewest": ("most", "less"),
}  # fmt: skip
STEPS = {
    "increases": ("decreases", "more"), "increased": ("decreased", "more"), "increase": ("decrease", "more"),
    "decreases": ("increases", "less"), "decreased": ("increased", "less"), "decrease": ("increase", "less"),
    "rises": ("falls", "more"), "rose": ("fell", "more"), "falls": ("rises", "less"), "fell": ("rose", "less"),
    "drops": ("climbs", "less"), "grows": ("shrinks", "more"), "reduces": ("raises", "less"),
    "improves": ("degrades", "better"), "improved": ("degraded", "better"), "degrades": ("improves", "worse"),
}  # fmt: skip
WORDS = {**TURNED, **MOST, **STEPS}
WORD = re.compile(rf"\b(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})\b")
# A superlative beside one of these is of what lies between cells, not of cells.
BETWEEN = re.compile(
    r"\b(?:gains?|gaps?|margins?|differences?|improvements?|drops?|increases?|decreases?|effects?|change[sd]?|costs?"
    r"|second|third|next|one of|among)\b"
)
AMOUNT = re.compile(r"(?:\d|points?|%|percent|pp|times|[a-z]s)\s$")  # "3.7 points more than", not "more than three"
AT_ONCE = 30  # characters behind "more than" within which the second name stands
DIGITS = 2  # of a number that tells its cell; one digit stands for anything
ALONE = 3  # the same where the sentence names the table and none of its rows and columns
LONG = 4  # the same of a number that stands in one cell of the whole paper, whatever the sentence names
YEARS = range(1900, 2100)


DOUBT = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|without|unlike|except|if|unless|would|could|may|might|should|expect\w*"
    r"|hypothes\w+|assum\w+|suppos\w+|whether|rather)\b|n['’]t\b",
    re.IGNORECASE,
)


class SupportedValue(NamedTuple):
    """A number of a sentence with the cells of a table that it may be."""

    number: Number
    table: Grid
    cells: tuple[Cell, ...]


class Order(NamedTuple):
    """A word of a sentence that tells an order which a table bears out. subject: the name that it is said of."""

    start: int
    end: int
    opposite: str
    table: Grid
    subject: Mention


def supported_values(
    text: str, near: Sequence[Grid], known: Sequence[Grid], referred: bool
) -> Iterator[SupportedValue]:
    """The numbers of a sentence that stand in cells of the tables near, of which it names a row or column; of a
    sentence that refers to the table itself, a number of some digits is enough; and those of many digits that stand in
    a single cell of all tables known. Amounts by which two things differ are none."""
    spans = [(one.start, one.end) for one in find_claims(text)]
    for number in find_numbers(text):
        if any(begin <= number.start < end for begin, end in spans):
            continue
        for table in near:
            cells = tuple(cells_of(text, number, table, referred))
            if cells:
                yield SupportedValue(number, table, cells)
                break
        else:
            yield from _only(number, known)


def differences(text: str, near: Sequence[Grid], known: Sequence[Grid]) -> Iterator[SupportedValue]:
    """The amounts by which two things of a table differ, as far as the table bears them out."""
    facts = {fact.statement: fact for fact in check_comparisons(text, near, known, False)}
    for claim in find_claims(text):
        fact = facts.get(excerpt(text, claim.start, claim.end))
        if fact is not None and fact.holds and not claim.hedge and claim.number.text[:1].isdigit():
            yield from (SupportedValue(claim.number, table, ()) for table in near if (table.key,) == fact.tables)


def cells_of(text: str, number: Number, table: Grid, referred: bool) -> list[Cell]:
    """The cells of a table that a number of a sentence may be, by all the names in the sentence."""
    wanted = labels_by_level(find_mentions(text, table))
    digits = sum(map(str.isdigit, number.text))
    if digits < (DIGITS if wanted else ALONE) or not (wanted or referred):
        return []
    return [cell for cell in matching_cells(table.cells, wanted) if _prints(cell, number)]


def _only(number: Number, known: Sequence[Grid]) -> Iterator[SupportedValue]:
    digits = "".join(filter(str.isdigit, number.text))
    if len(digits) >= LONG and len(digits.rstrip("0")) >= ALONE and number.value not in YEARS:
        matches = [(table, cell) for table in known for cell in table.cells if cell.number.value == number.value]
        if len(matches) == 1:
            yield SupportedValue(number, matches[0][0], (matches[0][1],))


def gives(text: str, near: Sequence[Grid], known: Sequence[Grid], referred: bool, start: int) -> bool:
    """Whether the amount at a place of a sentence is a difference of cells: of those that are named or any others."""
    number = next((one for one in find_numbers(text) if one.start == start), None)
    if number is None or any(is_derivable(number, table, True) for table in near):
        return True
    return any(one.number.start == start for one in differences(text, near, known))


def holds_number(table: Grid, number: Number) -> bool:
    """Whether any cell of a table is a number, as it is printed."""
    return any(_prints(cell, number) for cell in table.cells)


def orders(text: str, near: Sequence[Grid]) -> Iterator[Order]:
    """The words of a sentence that tell an order which a table near bears out."""
    for word in WORD.finditer(text):
        for table in near:
            order = _order(text, word.start(), word.end(), table)
            if order is not None and order[0]:
                yield Order(word.start(), word.end(), WORDS[word[0]][0], table, order[1])
                break


def _order(text: str, start: int, end: int, table: Grid) -> tuple[bool, Mention] | None:
    """Whether a table bears out the word at a place, and of what name; None where it does not decide."""
    begin, stop = clause_span(text, start)
    if DOUBT.search(text[begin:stop]):
        return None
    mentions = find_mentions(text, table)
    close = [one for one in mentions if begin <= one.start < stop]
    word = text[start:end]
    if word in MOST:
        return None if BETWEEN.search(text[begin:stop]) else _most(word, mentions, close, table)
    for level in range(len(table.levels)):
        here = [one for one in close if one.level == level]
        first, second = _two(text, start, end, here) if word in TURNED else _from_to(text, here)
        if len({one.label for one in first}) == len({one.label for one in second}) == 1:
            sign = _sign(mentions, table, level, first[0].label, second[0].label, _sense(word))
            if sign:
                return (sign > 0) == (word in TURNED), first[0]
    return None


def _two(text: str, start: int, end: int, here: Sequence[Mention]) -> tuple[list[Mention], list[Mention]]:
    """The names on both sides of a word; behind it the next one, if that follows at once."""
    if text[start:end].endswith(" than") and not AMOUNT.search(text[max(0, start - 12) : start]):
        return [], []
    behind = [one for one in here if one.start >= end]
    if behind and behind[0].start - end <= AT_ONCE:
        behind = behind[:1]
    return [one for one in here if one.end <= start], behind


def _from_to(text: str, here: Sequence[Mention]) -> tuple[list[Mention], list[Mention]]:
    """The two names of "from Bog to Heath"."""
    for first, second in pairwise(here):
        if text[: first.start].endswith(("from ", "From ")) and text[first.end : second.start] == " to ":
            return [first], [second]
    return [], []


def _sense(word: str) -> str:
    return WORDS[word][1]


def _sign(mentions: Sequence[Mention], table: Grid, level: int, first: str, second: str, sense: str) -> int:
    """1 where what is called first is as the sense says against the second in all cells that may be meant, -1 where it
    is the other way round in all, 0 where they disagree or nobody can tell."""
    if first == second:
        return 0
    others: dict[tuple[str, ...], dict[str, Cell]] = {}
    for cell in matching_cells(table.cells, labels_by_level(mentions), level):
        others.setdefault((*cell.at[:level], *cell.at[level + 1 :]), {})[cell.at[level]] = cell
    signs = set()
    for cells in others.values():
        if first in cells and second in cells:
            gap = cells[first].number.interval.minus(cells[second].number.interval)
            sign = 1 if gap.low > 0 else -1 if gap.high < 0 else 0
            signs.add(sign * _direction(table, cells[first], sense))
    return signs.pop() if len(signs) == 1 else 0


def _most(word: str, mentions: Sequence[Mention], close: Sequence[Mention], table: Grid) -> tuple[bool, Mention] | None:
    for level in range(len(table.levels)):
        here = [one for one in close if one.level == level]
        if len({one.label for one in here}) != 1:
            continue
        columns: dict[tuple[str, ...], list[Cell]] = {}
        for cell in matching_cells(table.cells, labels_by_level(mentions), level):
            columns.setdefault((*cell.at[:level], *cell.at[level + 1 :]), []).append(cell)
        verdicts = {_is_most(here[0].label, level, cells, table, _sense(word)) for cells in columns.values()}
        if len(verdicts) == 1 and (only := verdicts.pop()) is not None:
            return only, here[0]
    return None


def _is_most(label: str, level: int, cells: Sequence[Cell], table: Grid, sense: str) -> bool | None:
    own = [cell for cell in cells if cell.at[level] == label]
    rest = [cell.number.value for cell in cells if cell.at[level] != label]
    if len(own) != 1 or len(rest) < 2:
        return None
    direction = _direction(table, own[0], sense)
    return all(direction * own[0].number.value > direction * other for other in rest) if direction else None


def _direction(table: Grid, cell: Cell, sense: str) -> int:
    """1 where the sense means the larger number, -1 where the smaller, 0 where nobody can tell."""
    if sense in ("more", "less"):
        return 1 if sense == "more" else -1
    good = _larger_is_better(table, cell)
    return 0 if good is None else 1 if good == (sense == "better") else -1


def _larger_is_better(table: Grid, cell: Cell) -> bool | None:
    """By the names that a cell stands for, else by the caption; None where neither says."""
    for text in (" ; ".join(cell.at), table.caption):
        better, worse = BETTER.search(text) is not None, WORSE.search(text) is not None
        if better != worse:
            return better
        if better:
            return None
    return None


def _prints(cell: Cell, number: Number) -> bool:
    """Whether a number is that of a cell, rounded or not."""
    return cell.number.places >= number.places and abs(cell.number.value - number.value) <= number.half + 1e-9
