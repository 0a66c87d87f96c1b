"""What is said of single cells, of all of them, and by a table of itself: numbers that a sentence takes from the one
cell that it names, bounds that all cells keep to, and rows and columns that are sums or means of others.

Everything that can be recomputed in a paper: its sentences, its captions, and its tables by themselves.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from aisr.paper.citations import find_marks
from aisr.paper.draft import MOST_TABLES, Draft, Paragraph, Sentence, caption_sentences
from aisr.paper.recompute.comparisons import HEDGE, claims, clause, compared
from aisr.paper.recompute.grid import (
    Cell,
    Grid,
    consistent,
    foreign,
    grids,
    is_mean,
    is_total,
    mentions,
    named,
    places,
    plain,
    unnamed,
)
from aisr.paper.recompute.numbers import DIGITS, Fact, Label, Number, around, in_text, said
from aisr.paper.recompute.sentences import ONE_SIDED, means, shares, steps, tests

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


RELATION = (
    r"(?P<over>>|≥|>=|above|over|more than|greater than|larger than|higher than|at least)"
    r"|(?P<under><|≤|<=|below|under|less than|smaller than|lower than|at most)"
)
BOUNDS = [
    # all p > 0.3; all p-values are below .05; every |r| < .1
    re.compile(
        rf"\b(?i:all|every|each)(?:\s(?:the|of the))?\s(?P<what>[\w|χ²²-]+(?:\s[\w-]+)?)\s?(?:(?:are|is|were|was"
        rf"|stay|remain)\s)?"
        rf"(?:{RELATION})\s?(?P<number>{DIGITS})"
    ),
    # p > .3 for all pairs, p < .05 in each case
    re.compile(
        rf"(?<!\w)(?P<what>p)\s?(?:{RELATION})\s?(?P<number>{DIGITS})\s(?:for|in|across|at|on)\s(?:all|every|each)\b"
    ),
]
NEVER = re.compile(
    r"\b(?:(?P<under>never (?:exceeds?|exceeded|rises? above|goes above|reaches more than)|(?:always|consistently"
    r"|stays?"
    r"|remains?) (?:below|under|at most))"
    r"|(?P<over>never (?:falls?|drops?|fell|dropped|goes) below|(?:always|consistently|stays?|remains?) (?:above"
    r"|over|at"
    rf" least)))\s(?P<number>{DIGITS})"
)
P_VALUE = re.compile(r"p(?:[ -]?(?:values?|val)?\.?)?(?: \(.*\))?")


def bounds(text: str, near: Sequence[Grid]) -> Iterator[Fact]:
    """What a sentence or caption says that all cells keep to. near: the tables that it is about."""
    for pattern in BOUNDS:
        for found in pattern.finditer(text):
            for table in near:
                what = plain(found["what"])
                cells = [one for one in table.cells if any(_is_called(name, what) for name in one.at)]
                yield from _keep(found, cells, table)
    for found in NEVER.finditer(text):
        begin, end = clause(text, found.start())
        for table in near:
            everything = mentions(text, table)
            wanted = {**named(everything), **named([one for one in everything if begin <= one.start < end])}
            if any(len(labels) > 1 for labels in wanted.values()) or len(wanted) < 2:
                continue
            yield from _keep(found, [one for one in consistent(table.cells, wanted) if not _sums_up(one)], table)


def _is_called(name: str, what: str) -> bool:
    known = plain(name)
    if P_VALUE.fullmatch(what) or what in ("p's", "p values", "p-values"):
        return P_VALUE.fullmatch(known) is not None
    return known == what or known == what.rstrip("s")


def _keep(found: re.Match[str], cells: Sequence[Cell], table: Grid) -> Iterator[Fact]:
    """Whether all cells keep to a bound."""
    bound = next(in_text(found["number"]), None)
    if bound is None or not cells or (bound.value > 1 and all(abs(one.number.value) <= 1 for one in cells)):
        return
    over = bool(found["over"])
    beyond = [
        cell
        for cell in cells
        if (cell.number.interval.high < bound.value if over else cell.number.interval.low > bound.value)
    ]
    if beyond:
        worst = (min if over else max)(beyond, key=lambda cell: cell.number.value)
        shown = f"{table.where(worst)}: {worst.number.text} ({table.name})"
        yield Fact(Label.BOUND, found[0], shown, False, (table.key,), places(worst))
    else:
        yield Fact(Label.BOUND, found[0], f"all {len(cells)} cells of {table.name} keep to it", True, (table.key,))


def _sums_up(cell: Cell) -> bool:
    return any(is_total(name) or is_mean(name) for name in cell.at)


FEWEST = 2  # columns in which a rule must hold before its breach in another counts
MOST_PARTS = 12  # rows of which every choice is tried
BY_CHANCE = 2  # parts


def sums(table: Grid) -> Iterator[Fact]:
    """Rows that sum up those above them, and columns that sum up those before them, as totals or means.

    A table shows by its other columns what its total or mean is made of. So one counts as wrong only where the same
    rows give it in most other columns, or, of a single column of counts, where no choice of rows gives it.
    """
    for lines, place in ((table.columns(), "row"), (table.rows(), "column")):
        for called, label, rule in ((is_total, Label.SUM, sum), (is_mean, Label.MEAN, _mean)):
            whole = [_split(line, place, called, table) for line in lines.values()]
            found = [(parts, total) for parts, total in filter(None, whole) if len(parts) >= 2]
            held = [_agrees(parts, total, rule) for parts, total in found]
            if not any(held):
                found = found if label is Label.SUM and len(found) == 1 and _no_choice(*found[0]) else []
            elif sum(held) < FEWEST or 3 * sum(held) < 2 * len(held):
                found = [one for one, holds in zip(found, held, strict=True) if holds]
            for parts, total in found:
                if label is Label.SUM and total.number.value <= max(_values(parts)):
                    continue  # all sites together, not their sum
                yield _fact(label, parts, total, rule(_values(parts)), _agrees(parts, total, rule), table)


def _split(line: Sequence[Cell], place: str, called: object, table: Grid) -> tuple[list[Cell], Cell] | None:
    """The cells of a row or column before its total, and that; None where there is none, or there are several."""
    levels = range(table.beside) if place == "row" else range(table.beside, len(table.levels))
    is_whole = [any(called(cell.at[level]) for level in levels if cell.at[level]) for cell in line]  # type: ignore[operator]
    if sum(is_whole) != 1 or is_whole[-1] is False:
        return None
    others = [cell for cell in line[:-1] if not any(is_mean(name) or is_total(name) for name in _names(cell, levels))]
    if len(others) != len(line) - 1 or len({cell.at[0] for cell in line}) > 1:
        return None  # several sums, or sections: what is summed up is not plain
    if place == "row" and len(table.columns()) and len(line) != len(table.rows()):
        return None  # an empty cell: perhaps not all parts are there
    if place == "column" and len({cell.number.percent for cell in line}) > 1:
        return None
    return others, line[-1]


def _names(cell: Cell, levels: range) -> list[str]:
    return [cell.at[level] for level in levels if cell.at[level]]


def _values(cells: Sequence[Cell]) -> list[float]:
    return [cell.number.value for cell in cells]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _agrees(parts: Sequence[Cell], whole: Cell, rule: object) -> bool:
    """Whether the parts give the whole, each of them rounded either way; counts are exact."""
    exact = all(cell.number.places == 0 for cell in parts) and rule is sum
    low, high = (
        rule([getattr(cell.number.interval, end) for cell in parts])  # type: ignore[operator]
        for end in ("low", "high")
    )
    if exact and whole.number.places == 0 and not whole.number.percent:
        return sum(_values(parts)) == whole.number.value
    return bool(low <= whole.number.interval.high + 1e-9 and high >= whole.number.interval.low - 1e-9)


def _no_choice(parts: Sequence[Cell], whole: Cell) -> bool:
    """Whether counts cannot be what a total sums up in any way: no choice of two or more of them gives it, and it is
    near enough to their sum to be a slip."""
    values = _values(parts)
    if not 3 <= len(parts) <= MOST_PARTS or any(cell.number.places or cell.number.percent for cell in (*parts, whole)):
        return False
    if not 0.8 <= whole.number.value / max(sum(values), 1) <= 1.25 or min(values) < 0:
        return False
    return not any(
        sum(chosen) == whole.number.value
        for size in range(BY_CHANCE, len(values) + 1)
        for chosen in combinations(values, size)
    )


def _fact(label: Label, parts: Sequence[Cell], whole: Cell, come: float, holds: bool, table: Grid) -> Fact:
    digits = max(cell.number.places for cell in (*parts, whole))
    what = "sum" if label is Label.SUM else "mean"
    computed = f"the {what} of the {len(parts)} cells before is {said(come, digits)}, not {whole.number.text}"
    if holds:
        computed = f"the {what} of the {len(parts)} cells before is {whole.number.text}"
    cells = places(*parts, whole)
    return Fact(label, f"{table.where(whole)}: {whole.number.text}", computed, holds, (table.key,), cells)


# What only says where something stands; its numbers are no results.
POINTER = re.compile(
    r"\b(?:fig(?:ure)?|tab(?:le)?|tbl|sec(?:tion)?|eq(?:uation)?|appendix|chapter|algorithm|theorem|lemma)(?:s|ses|ces)?\b"
    r"\.?\s?\(?[A-Z]?\d[\w.]{0,9}\)?",
    re.IGNORECASE,
)
LONGEST = 2_000  # characters of a sentence; a longer one is no prose


class Recomputed(NamedTuple):
    """A fact and the sentence that it is about: positions in the draft and in the paragraph; of a caption, or of a
    table by itself, the key of the float and the position of the sentence in its caption."""

    fact: Fact
    paragraph: int | None
    sentence: int
    float: str | None = None


def recomputed(draft: Draft) -> list[Recomputed]:
    """All facts of a draft, in its order; behind them those of captions and tables."""
    known = _known(draft)
    one_sided = any(ONE_SIDED.search(one.text) for paragraph in draft.paragraphs for one in paragraph.sentences)
    printed = _printed(draft)
    found: list[Recomputed] = []
    for number, paragraph in enumerate(draft.paragraphs):
        if paragraph.table_key is not None:
            continue  # captions are told of with their tables
        around = " ".join(one.text for one in paragraph.sentences)
        nearby = refers(paragraph)
        for place, sentence in enumerate(paragraph.sentences):
            if not _is_prose(sentence):
                continue
            near, referred = about(sentence, nearby, draft, known)
            text = bare(sentence.text)
            facts = [*in_words(text, around, one_sided)]
            if not sentence.work_keys:  # numbers of others are not in this paper's tables
                facts += compared(text, near, near if sentence.float_keys else known, referred)
                facts += quoted(text, near if referred else (), known, _elsewhere(printed, sentence.text))
                facts += bounds(text, near)
            found += (Recomputed(fact, number, place) for fact in _once(facts))
    for table in known:
        found += _of_table(table, known, one_sided, printed)
    return found


def reach(draft: Draft) -> tuple[int, int]:
    """How many sentences and tables are read: no table without numbers, and none so large that it is data."""
    paragraphs = (one for one in draft.paragraphs if one.table_key is None)
    return sum(_is_prose(each) for one in paragraphs for each in one.sentences), len(_known(draft))


def _known(draft: Draft) -> tuple[Grid, ...]:
    return grids(list(draft.floats.values()))[:MOST_TABLES]


def _is_prose(sentence: Sentence) -> bool:
    return not sentence.hidden and len(sentence.text) <= LONGEST


def in_words(text: str, around: str, one_sided: bool) -> Iterator[Fact]:
    """What a sentence shows by itself. around: its paragraph."""
    yield from tests(text, one_sided)
    yield from shares(text)
    yield from means(text, around)
    yield from steps(text)


def _of_table(table: Grid, known: Sequence[Grid], one_sided: bool, printed: Counter[str]) -> Iterator[Recomputed]:
    """A table's caption and notes against its own cells, and the cells against each other."""
    for place, statement in enumerate(caption_sentences(table.caption, table.notes)):
        if len(statement) > LONGEST or find_marks(statement):
            continue
        text = bare(statement)
        facts = [*in_words(text, f"{table.caption} {table.notes}", one_sided), *bounds(text, [table])]
        facts += compared(text, [table], known, True)
        facts += quoted(text, [table], known, _elsewhere(printed, statement))
        yield from (Recomputed(fact, None, place, table.key) for fact in _once(facts))
    yield from (Recomputed(fact, None, 0, table.key) for fact in sums(table))


def about(sentence: Sentence, nearby: Sequence[str], draft: Draft, known: Sequence[Grid]) -> tuple[list[Grid], bool]:
    """The tables that a sentence is about, and whether it, or its paragraph, says so. One about figures alone is about
    no table; where nothing is statement, all tables come into question. nearby: what its paragraph refers to."""
    for keys in (sentence.float_keys, nearby):
        floats = [key for key in keys if key in draft.floats]
        if floats:
            return [table for table in known if table.key in floats], True
    return list(known), False


def refers(paragraph: Paragraph) -> tuple[str, ...]:
    """The keys of all floats that a paragraph refers to."""
    return tuple(dict.fromkeys(key for one in paragraph.sentences for key in one.float_keys))


def bare(text: str) -> str:
    """A sentence in which citations and pointers to floats and sections are blank, every character at its place."""
    for mark in find_marks(text):
        if not mark.textual:
            text = text[: mark.start] + " " * (mark.end - mark.start) + text[mark.end :]
    return POINTER.sub(lambda found: " " * len(found[0]), text)


def _printed(draft: Draft) -> Counter[str]:
    """In how many sentences and captions each number stands."""
    said = [one.text for paragraph in draft.paragraphs if paragraph.table_key is None for one in paragraph.sentences]
    said += [text for one in draft.floats.values() for text in (one.caption, one.notes)]
    return Counter(digits for text in said for digits in _digits(text))


def _elsewhere(printed: Counter[str], text: str) -> frozenset[str]:
    """Of the numbers of a sentence those that other sentences hold as well."""
    return frozenset(digits for digits in _digits(text) if printed[digits] > 1)


def _digits(text: str) -> set[str]:
    return {one.text.rstrip("% ") for one in in_text(text)}


def _once(facts: Sequence[Fact]) -> list[Fact]:
    """A fact of each kind for the same words once."""
    kept: dict[tuple[str, str], Fact] = {}
    for fact in facts:
        kept.setdefault((fact.label, fact.said), fact)
    return list(kept.values())
