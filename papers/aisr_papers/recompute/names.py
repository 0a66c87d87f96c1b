"""Which names of a table each number of a sentence goes with."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from aisr_papers.recompute.grid import Grid, Mention, find_mentions, labels_by_level
from aisr_papers.recompute.numbers import Number

CLAUSE = re.compile(r";\s|,\s(?:and|but|while|whereas|although|though|yet)\s|\s(?:while|whereas|but)\s|:\s")
# Between a name and its number: "CI 0.64", "Heron (83.9)", "Recall by 1.2"; and between a number and its name.
AHEAD = re.compile(r"\s?(?:score|value)?\s?(?:of|=|:|is|was|at|by)?\s?[(\[]?")
BEHIND = re.compile(r"(?:\s?(?:percentage points|points|pp|%|ms|s))?\s(?:(?:on|at|for|in)\s(?:the\s)?)?")
LONGEST_GAP = 30  # characters between a name and its number
AT_BEGINNING = re.compile(r"(?:(?:The|Our)\s)?")


class Names(NamedTuple):
    """The names of a table that a number of a sentence goes with."""

    labels: Mapping[int, set[str]]  # level -> names
    is_beside: bool  # one of them stands right beside the number


@lru_cache(maxsize=1024)  # a place is asked about for each table
def clause_span(text: str, place: int) -> tuple[int, int]:
    """Where the clause begins and ends that stands around a place."""
    cuts = [one.span() for one in CLAUSE.finditer(text)]
    begin = max((after for _, after in cuts if after <= place), default=0)
    end = min((before for before, _ in cuts if before >= place), default=len(text))
    return begin, end


def names_of_numbers(
    text: str, numbers: Sequence[Number], table: Grid, exclusive: bool, before: str = ""
) -> list[Names]:
    """For each number the names that it goes with. A name right beside a number goes with no other one; other names of
    the clause go with all numbers, or else what "It" stands for, or all names of the sentence. exclusive: whether a
    name ahead of a number is the only one of its level, as of a value, and not one of two that differ by it. before:
    the sentence before."""
    mentions = find_mentions(text, table)
    ends, starts = _by_place((one.end, one) for one in mentions), _by_place((one.start, one) for one in mentions)
    ahead = [_ahead(text, ends, number) for number in numbers]
    behind = [_behind(text, starts, number) for number in numbers]
    taken = {id(one) for group in (*ahead, *behind) for one in group}
    free = [one for one in mentions if id(one) not in taken]
    # Where some name of a level is taken, a number without any name of its own may be of another one.
    bound = {one.level for one in mentions if id(one) in taken}
    shared = labels_by_level(one for one in free if one.level not in bound)
    subject = _subject(text, before, table)
    result = []
    for number, first, after in zip(numbers, ahead, behind, strict=True):
        begin, end = clause_span(text, number.start)
        close = labels_by_level(one for one in free if begin <= one.start < end)
        labels = {**(labels_by_level(mentions) if first else shared), **subject, **close}
        for level, own in labels_by_level(after if exclusive else [*first, *after]).items():
            labels[level] = own | close.get(level, set())  # "trained on NQ, it reaches 64.1 on WebQ"
        result.append(Names(labels | labels_by_level(first if exclusive else ()), bool(first or after)))
    return result


def _by_place(placed: Iterable[tuple[int, Mention]]) -> dict[int, list[Mention]]:
    """Mentions by where they begin or end, so that a long sentence is not gone through for each of its numbers."""
    mentions: dict[int, list[Mention]] = {}
    for place, one in placed:
        mentions.setdefault(place, []).append(one)
    return mentions


def _ahead(text: str, ends: Mapping[int, Sequence[Mention]], number: Number) -> list[Mention]:
    places = [place for place in range(number.start - LONGEST_GAP, number.start + 1) if place in ends]
    return [one for place in places if AHEAD.fullmatch(text, place, number.start) for one in ends[place]]


def _behind(text: str, starts: Mapping[int, Sequence[Mention]], number: Number) -> list[Mention]:
    places = [place for place in range(number.end, number.end + LONGEST_GAP + 1) if place in starts]
    return [one for place in places if BEHIND.fullmatch(text, number.end, place) for one in starts[place]]


def _subject(text: str, before: str, table: Grid) -> dict[int, set[str]]:
    """What "It" stands for at the beginning of a sentence: the name at the beginning of the sentence before."""
    first = find_mentions(before, table)[:1] if text.startswith(("It ", "Its ")) else []
    return labels_by_level(one for one in first if AT_BEGINNING.fullmatch(before, 0, one.start))
