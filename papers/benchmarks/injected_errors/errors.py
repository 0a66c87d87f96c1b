"""Errors to inject into a paper: a few words of a sentence changed, so that its own tables contradict it.

Before the change a table supports the sentence, after it no longer: numbers and names are looked up in the cells. Only
what the names in the sentence decide is changed: anybody can see it in the table.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from aisr_papers.draft import MOST_TABLES, Draft, Paragraph, Sentence
from aisr_papers.recompute.grid import Cell, Grid, Mention, find_mentions, make_grids
from aisr_papers.recompute.numbers import Number, find_numbers
from aisr_papers.recompute.recompute import LONGEST, blank_pointers, recompute

# What two things differ by is in no cell: "3.2 points", "2 times", "higher by 3.2".
AMOUNT = re.compile(r"[\s-]?(?:(?:percentage )?points?|pp|times|fold|[x×])(?!\w)|\s?%\s(?:more|less|higher|lower)")
BY = re.compile(r"\bby\s(?:about\s)?$")
SUMMED_UP = re.compile(r"(?:(?:overall|grand|macro)[- ])?(?:total|sum|all|overall|average|mean|avg\.?)", re.IGNORECASE)
CHANGES = (0.65, 0.8, 0.88, 0.93, 1.08, 1.14, 1.25, 1.4)  # times that a number becomes larger
DIGITS_ALONE = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
MOST_NAMES = 4  # of a table that are tried in another's place
FEWEST_DIGITS = 2  # of a number that tells its cell; one digit stands for anything
ALONE_DIGITS = 3  # the same where the sentence names the table and none of its rows and columns


class Kind(StrEnum):
    """The kind of an injected error."""

    NUMBER = "number"
    NAME = "name"


class Fault(NamedTuple):
    """A change of one sentence. paragraph, sentence: positions in the draft; start, end: of the words that go; words:
    those that come in their place; table: what the sentence is held against, by its name."""

    kind: Kind
    paragraph: int
    sentence: int
    start: int
    end: int
    words: str
    table: str

    def changed(self, text: str) -> str:
        """The sentence as it is with the fault."""
        return text[: self.start] + self.words + text[self.end :]


class Value(NamedTuple):
    """A number of a sentence that a table bears out. cells: those that it may be."""

    number: Number
    table: Grid
    cells: tuple[Cell, ...]


class Spot(NamedTuple):
    """A sentence that a table bears out. text: with pointers and citations blank, every character at its place."""

    text: str
    near: Sequence[Grid]
    known: Sequence[Grid]
    numbers: Sequence[Value]


Change = tuple[int, int, str, str]  # start, end, words, table


def faults(draft: Draft, seed: int) -> list[Fault]:
    """Every possible error, in the paper's order, one of each kind and place. Sentences that cite speak of the tables
    of others and are left alone, as are those with a wrong percentage or test as they are."""
    draw = random.Random(seed)
    digits_of_paper = {digits for one in draft.paragraphs for each in one.sentences for digits in _digits(each.text)}
    possible: list[Fault] = []
    for number, place, spot in spots(draft):
        text = draft.paragraphs[number].sentences[place].text
        for kind, changes in KINDS.items():
            for start, end, words, table in changes(spot, text, draw):
                if kind is not Kind.NUMBER or not _digits(words) & digits_of_paper:
                    possible.append(Fault(kind, number, place, start, end, words, table))
    return possible


def spots(draft: Draft) -> Iterator[tuple[int, int, Spot]]:
    """The sentences that a table bears out, with their positions in the draft and in the paragraph."""
    known = make_grids(list(draft.floats.values()))[:MOST_TABLES]
    wrong = {position for position, fact in recompute(draft) if fact.wrong}
    for number, paragraph in enumerate(draft.paragraphs):
        nearby = float_keys_of(paragraph)
        for place, sentence in enumerate(paragraph.sentences):
            if sentence.hidden or sentence.work_keys or len(sentence.text) > LONGEST or (number, place) in wrong:
                continue
            near, referred = relevant_tables(sentence, nearby, draft, known)
            text, itself = blank_pointers(sentence.text), referred and bool(sentence.float_keys)
            if values := list(cell_values(text, near, itself)):
                yield number, place, Spot(text, near, known, values)


def float_keys_of(paragraph: Paragraph) -> tuple[str, ...]:
    """The keys of all floats that a paragraph refers to."""
    return tuple(dict.fromkeys(key for one in paragraph.sentences for key in one.float_keys))


def relevant_tables(
    sentence: Sentence, keys: Sequence[str], draft: Draft, tables: Sequence[Grid]
) -> tuple[list[Grid], bool]:
    """The tables that a sentence is about, and whether it, or its paragraph, says so. One about figures alone is about
    no table; where nothing is referred to, all tables come into question. keys: of the floats of its paragraph."""
    for named in (sentence.float_keys, keys):
        floats = [key for key in named if key in draft.floats]
        if floats:
            return [table for table in tables if table.key in floats], True
    return list(tables), False


def labels_by_level(mentions: Iterable[Mention]) -> dict[int, set[str]]:
    """Level -> its names that are mentioned."""
    levels: dict[int, set[str]] = {}
    for one in mentions:
        levels.setdefault(one.level, set()).add(one.label)
    return levels


def matching_cells(cells: Sequence[Cell], wanted: Mapping[int, set[str]]) -> list[Cell]:
    """The cells that stand for one of the wanted names on each level that has some."""
    return [cell for cell in cells if all(cell.at[level] in labels for level, labels in wanted.items())]


def cell_values(text: str, near: Sequence[Grid], referred: bool) -> Iterator[Value]:
    """The numbers of a sentence that stand in cells of which it names a row or column; of a sentence that refers to
    the table itself, a number of some digits is enough. Amounts by which two things differ are none."""
    for number in find_numbers(text):
        if not (AMOUNT.match(text, number.end) or BY.search(text[: number.start])):
            held = ((table, cells_of(text, number, table, referred)) for table in near)
            yield from [Value(number, table, cells) for table, cells in held if cells][:1]


def cells_of(text: str, number: Number, table: Grid, referred: bool) -> tuple[Cell, ...]:
    """The cells of a table that a number of a sentence may be, by all the names in the sentence."""
    wanted = labels_by_level(find_mentions(text, table))
    digits = sum(map(str.isdigit, number.text))
    if digits < (FEWEST_DIGITS if wanted else ALONE_DIGITS) or not (wanted or referred):
        return ()
    return tuple(cell for cell in matching_cells(table.cells, wanted) if _prints(cell, number))


def _prints(cell: Cell, number: Number) -> bool:
    """Whether a number is that of a cell, rounded or not."""
    return cell.number.places >= number.places and abs(cell.number.value - number.value) <= number.half + 1e-9


def _numbers(spot: Spot, text: str, draw: random.Random) -> Iterator[Change]:
    """A number of a cell becomes one that no table holds."""
    for one in spot.numbers:
        for other in _others(one.number, draw):
            read = next(find_numbers(other), None)
            if read is not None and not any(_prints(cell, read) for table in spot.known for cell in table.cells):
                yield (*_digits_at(one.number, text), other, one.table.name)
                break


def _names(spot: Spot, text: str, draw: random.Random) -> Iterator[Change]:
    """A row or column becomes another of the same table, of which the number is not true."""
    done: set[int] = set()
    for bearing in spot.numbers:
        table = bearing.table
        mentions = find_mentions(spot.text, table)
        for one in mentions:
            alone = sum(other.label == one.label for other in mentions) == 1
            if one.start in done or not alone or text[one.start : one.end] != one.label:
                continue
            others = [label for label in table.levels[one.level] if _is_plain(label) and label not in text]
            for other in draw.sample(others, min(len(others), MOST_NAMES)):
                if not _still_borne_out(spot.text, one, other, bearing):
                    done.add(one.start)
                    yield one.start, one.end, other, table.name
                    break


KINDS: dict[Kind, Callable[[Spot, str, random.Random], Iterator[Change]]] = {
    Kind.NUMBER: _numbers,
    Kind.NAME: _names,
}


def _others(number: Number, draw: random.Random) -> Iterator[str]:
    """Numbers near by, of the same form; shares and percentages stay such."""
    digits = _bare_digits(number)
    value = float(digits.replace(",", ""))
    for factor in draw.sample(CHANGES, len(CHANGES)):
        other = value * factor
        if number.places == 0 and abs(other - value) < 1:
            other = value + (1 if factor > 1 else -1)
        number_text = f"{other:,.{number.places}f}" if "," in digits else f"{other:.{number.places}f}"
        if (
            number_text != digits
            and len(number_text) == len(digits)
            and not (value <= 1 < other or value <= 100 < other)
        ):
            yield number_text


def _digits_at(number: Number, text: str) -> tuple[int, int]:
    """Where the digits of a number are, without its sign and unit."""
    start = text.index(_bare_digits(number), number.start)
    return start, start + len(_bare_digits(number))


def _bare_digits(number: Number) -> str:
    match = DIGITS_ALONE.search(number.text)
    return match[0] if match else "0"


def _still_borne_out(text: str, name: Mention, other: str, bearing: Value) -> bool:
    """Whether the table of a number bears it out with another name as well."""
    changed = text[: name.start] + other + text[name.end :]
    start = bearing.number.start + (len(other) - len(name.label) if name.start < bearing.number.start else 0)
    return any(one.start == start and cells_of(changed, one, bearing.table, True) for one in find_numbers(changed))


def _is_plain(label: str) -> bool:
    """Whether a name can be written into a source as it is."""
    letters = label.replace(" ", "").replace("-", "").replace(".", "")
    return letters.isalnum() and letters.isascii() and label[0].isalpha() and not SUMMED_UP.fullmatch(label)


def _digits(text: str) -> set[str]:
    return {one.text.rstrip("% ") for one in find_numbers(text)}
