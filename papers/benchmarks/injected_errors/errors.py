"""Errors to inject into a paper: a few words of a sentence changed, so that its own tables contradict it.

Before the change a table supports the sentence, after it no longer: numbers and names are looked up in the cells, and
differences are recomputed from them. A scope and a cause are added to sentences that a table supports, which then claim
more than the table holds. Only what the names in the sentence decide is changed: anybody can see it in the table.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from aisr_papers.cues import is_general, names_cause
from aisr_papers.draft import MOST_TABLES, Draft
from aisr_papers.recompute.cells import is_derivable
from aisr_papers.recompute.comparisons import check_comparisons, find_claims
from aisr_papers.recompute.grid import (
    Cell,
    Grid,
    Mention,
    find_mentions,
    is_mean,
    is_total,
    labels_by_level,
    make_grids,
    matching_cells,
)
from aisr_papers.recompute.numbers import Number, excerpt, find_numbers
from aisr_papers.recompute.recompute import LONGEST, blank_pointers, float_keys_of, recompute, relevant_tables

CHANGES = (0.65, 0.8, 0.88, 0.93, 1.08, 1.14, 1.25, 1.4)  # times that a number becomes larger
DIGITS_ALONE = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
MOST_NAMES = 4  # of a table that are tried in another's place
CAUSES = (
    "because it models long-range structure better",
    "which stems from a smoother loss surface",
    "as its representations separate the rare cases more clearly",
    "owing to the regularising effect of its training signal",
    "since it suppresses noise in the early layers",
)
OPPOSITES = {
    "ahead of": "behind", "behind": "ahead of", "above": "below", "below": "above", "more": "less", "less": "more",
    "fewer": "more", "higher": "lower", "lower": "higher", "larger": "smaller", "smaller": "larger",
    "greater": "smaller", "better": "worse", "worse": "better", "faster": "slower", "slower": "faster",
}  # fmt: skip
OPPOSITE = re.compile(rf"\b(?:{'|'.join(OPPOSITES)})\b")
BESIDE = 30  # characters from an amount to the word that says its direction
FEWEST_DIGITS = 2  # of a number that tells its cell; one digit stands for anything
ALONE_DIGITS = 3  # the same where the sentence names the table and none of its rows and columns
SCOPES = (
    "and the same holds for every dataset and setting",
    "regardless of domain, size or language",
    "in all conditions that matter in practice",
    "and this carries over to any comparable system",
)


class Kind(StrEnum):
    """The kind of an injected error."""

    NUMBER = "number"
    DIFFERENCE = "difference"
    DIRECTION = "direction"
    NAME = "name"
    SCOPE = "scope"
    CAUSE = "cause"


CONTRADICTED = (
    Kind.NUMBER,
    Kind.DIFFERENCE,
    Kind.DIRECTION,
    Kind.NAME,
)  # the cells say otherwise; the others go beyond them


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
    """A number of a sentence that a table bears out. cells: those that it may be; none of a difference."""

    number: Number
    table: Grid
    cells: tuple[Cell, ...]


class Spot(NamedTuple):
    """A sentence that a table bears out. text: with pointers and citations blank, every character at its place."""

    text: str
    near: Sequence[Grid]
    known: Sequence[Grid]
    numbers: Sequence[Value]
    differences: Sequence[Value]

    @property
    def bearing(self) -> list[Value]:
        """All that a table bears out of it."""
        return [*self.numbers, *self.differences]


Change = tuple[int, int, str, str]  # start, end, words, table


def faults(draft: Draft, seed: int) -> list[Fault]:
    """Every possible error, in the paper's order, one of each kind and place. Sentences that cite speak of the tables
    of others and are left alone, as are those that the arithmetic finds wrong as they are."""
    draw = random.Random(seed)
    digits_of_paper = {digits for one in draft.paragraphs for each in one.sentences for digits in _digits(each.text)}
    possible: list[Fault] = []
    for number, place, spot in spots(draft):
        text = draft.paragraphs[number].sentences[place].text
        for kind, changes in KINDS.items():
            for start, end, words, table in changes(spot, text, draw):
                if kind not in (Kind.NUMBER, Kind.DIFFERENCE) or not _digits(words) & digits_of_paper:
                    possible.append(Fault(kind, number, place, start, end, words, table))
    return possible


def spots(draft: Draft) -> Iterator[tuple[int, int, Spot]]:
    """The sentences that a table bears out, with their positions in the draft and in the paragraph."""
    known = make_grids(list(draft.floats.values()))[:MOST_TABLES]
    wrong = {(one.paragraph, one.sentence) for one in recompute(draft) if one.fact.wrong}
    for number, paragraph in enumerate(draft.paragraphs):
        nearby = float_keys_of(paragraph)
        for place, sentence in enumerate(paragraph.sentences):
            if sentence.hidden or sentence.work_keys or len(sentence.text) > LONGEST or (number, place) in wrong:
                continue
            near, referred = relevant_tables(sentence, nearby, draft, known)
            text, itself = blank_pointers(sentence.text), referred and bool(sentence.float_keys)
            values, apart = list(cell_values(text, near, itself)), list(differences(text, near, known))
            if values or apart:
                yield number, place, Spot(text, near, known, values, apart)


def cell_values(text: str, near: Sequence[Grid], referred: bool) -> Iterator[Value]:
    """The numbers of a sentence that stand in cells of which it names a row or column; of a sentence that refers to
    the table itself, a number of some digits is enough. Amounts by which two things differ are none."""
    spans = [(one.start, one.end) for one in find_claims(text)]
    for number in find_numbers(text):
        if not any(begin <= number.start < end for begin, end in spans):
            held = ((table, cells_of(text, number, table, referred)) for table in near)
            yield from [Value(number, table, cells) for table, cells in held if cells][:1]


def differences(text: str, near: Sequence[Grid], known: Sequence[Grid]) -> Iterator[Value]:
    """The amounts by which two things of a table differ, as far as the table bears them out."""
    facts = {fact.statement: fact for fact in check_comparisons(text, near, known, False)}
    for claim in find_claims(text):
        fact = facts.get(excerpt(text, claim.start, claim.end))
        if fact is not None and fact.holds and not claim.hedge and claim.number.text[:1].isdigit():
            yield from (Value(claim.number, table, ()) for table in near if (table.key,) == fact.tables)


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


def _differences(spot: Spot, text: str, draw: random.Random) -> Iterator[Change]:
    """An amount becomes one that no two cells of the tables near give."""
    for one in spot.differences:
        start, end = _digits_at(one.number, text)
        for other in _others(one.number, draw):
            if not _is_given(spot, one.number.start, spot.text[:start] + other + spot.text[end:]):
                yield start, end, other, one.table.name
                break


def _is_given(spot: Spot, start: int, text: str) -> bool:
    """Whether the amount at a place of a changed sentence is a difference of cells: of those that are named or any
    others."""
    number = next((one for one in find_numbers(text) if one.start == start), None)
    if number is None or any(is_derivable(number, table, True) for table in spot.near):
        return True
    return any(one.number.start == start for one in differences(text, spot.near, spot.known))


def _directions(spot: Spot, text: str, draw: random.Random) -> Iterator[Change]:
    """Beside a difference, better becomes worse."""
    for one in spot.differences:
        start, end = one.number.start, one.number.end
        before = list(OPPOSITE.finditer(text, max(0, start - BESIDE), start))
        word = OPPOSITE.search(text, end, end + BESIDE) or (before[-1] if before else None)
        if word:
            yield word.start(), word.end(), OPPOSITES[word[0]], one.table.name


def _names(spot: Spot, text: str, draw: random.Random) -> Iterator[Change]:
    """A row or column becomes another of the same table, of which the number is not true."""
    done: set[int] = set()
    for bearing in spot.bearing:
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


def _scopes(spot: Spot, text: str, draw: random.Random) -> Iterator[Change]:
    yield from _tail(_with_tail(text, draw.choice(SCOPES)), is_general, spot, text)


def _causes(spot: Spot, text: str, draw: random.Random) -> Iterator[Change]:
    yield from _tail(_with_tail(text, draw.choice(CAUSES)), names_cause, spot, text)


def _with_tail(sentence: str, tail: str) -> str | None:
    body = sentence.rstrip()
    return f"{body[:-1]}, {tail}{body[-1]}" if body.endswith((".", "!")) and len(body.split()) > 3 else None


KINDS: dict[Kind, Callable[[Spot, str, random.Random], Iterator[Change]]] = {
    Kind.NUMBER: _numbers,
    Kind.DIFFERENCE: _differences,
    Kind.DIRECTION: _directions,
    Kind.NAME: _names,
    Kind.SCOPE: _scopes,
    Kind.CAUSE: _causes,
}


def _tail(changed: str | None, is_cue: Callable[[str], bool], spot: Spot, text: str) -> Iterator[Change]:
    """What was added before the full stop, to a sentence without words of that kind."""
    if changed is None or is_cue(text):
        return
    end = len(text) - 1
    yield end, end, changed[end : len(changed) - 1], spot.bearing[0].table.name


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
    if not bearing.cells:
        return True  # which of two names an amount hangs on is not looked into
    changed = text[: name.start] + other + text[name.end :]
    start = bearing.number.start + (len(other) - len(name.label) if name.start < bearing.number.start else 0)
    return any(one.start == start and cells_of(changed, one, bearing.table, True) for one in find_numbers(changed))


def _is_plain(label: str) -> bool:
    """Whether a name can be written into a source as it is."""
    letters = label.replace(" ", "").replace("-", "").replace(".", "")
    return letters.isalnum() and letters.isascii() and label[0].isalpha() and not (is_total(label) or is_mean(label))


def _digits(text: str) -> set[str]:
    return {one.text.rstrip("% ") for one in find_numbers(text)}
