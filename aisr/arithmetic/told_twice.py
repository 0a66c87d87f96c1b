"""Sentences of two sections that are the same but for one number: abstract and results, say, or conclusion and results.

What may rightly differ is left alone: sentences of one section, other names, words or units, more than one number, and
numbers that only tell things apart ("experiment 2") or are a setting ("a threshold of 0.5").
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from aisr.arithmetic.facts import Fact, Label, around
from aisr.arithmetic.numbers import Number, in_text
from aisr.paper.draft import Draft
from aisr.paper.sections import Part, part_of

WORD = re.compile(r"[^\W\d_][\w’'-]*+|%")
ENDING = re.compile(r"(?<=\w{4})(?:ing|ed|es|e|s)$")
# Words that change nothing of what is said. "Not", "only", "up to" and their kin are none of them.
FRAMING_WORDS = """
a an the this that these those it its we our here there is are was were be been has have had and of in on at by to for
with as also thus hence overall then which can show shows showed find finds found conclude see paper work study results
result demonstrate demonstrates demonstrated
"""
FRAMING = frozenset(FRAMING_WORDS.split())
FEWEST = 4  # words that say something, below which two sentences are not told to be the same
MOST = 20  # sentences of one wording; more are a list
SETTING = re.compile(
    r"(?:[=<>≤≥≈×^/(\[]|\b(?:threshold|rate|temperature|level|seed|layer|step|epoch|depth|width|size|degree|order|ratio"
    r"|alpha|beta|gamma|lambda|sigma|version|p|k|n)(?: (?:of|is|at|to|=))?)\s?$",
    re.IGNORECASE,
)
BEFORE = re.compile(
    r"(?:^|\b(?:of|to|by|with|is|are|was|were|has|have|had|all|the|these|our|on|over|in|from|and|about|than|recorded"
    r"|used|contains?|comprises?|includes?|takes?|needs?|costs?|counted|hold|holds))\s$",
    re.IGNORECASE,
)
AFTER = re.compile(r"\s[a-z]{3}")


class Told(NamedTuple):
    """A sentence of running text: positions of its paragraph and of itself; text: without citations and pointers."""

    paragraph: int
    sentence: int
    text: str


class Placed(NamedTuple):
    """One with its numbers, in order, and the part of the paper that it stands in."""

    told: Told
    numbers: tuple[Number, ...]
    part: Part


def disagreeing(draft: Draft, said: Iterable[Told]) -> Iterator[tuple[Told, Fact]]:
    """The sentences that sum up or discuss, and say with another number what another section says, which is named."""
    has_headings = any(paragraph.headings for paragraph in draft.paragraphs)
    same: dict[tuple[str, ...], list[Placed]] = {}
    for told in said:
        numbers = tuple(in_text(told.text))
        wording = _wording(told.text, numbers) if numbers else ()
        if sum(word not in ("#", "%") for word in wording) >= FEWEST:
            part = part_of(draft.paragraphs[told.paragraph], has_headings)
            same.setdefault(wording, []).append(Placed(told, numbers, part))
    for alike in same.values():
        if 1 < len(alike) <= MOST:
            yield from _among(draft, alike)


def _among(draft: Draft, alike: Sequence[Placed]) -> Iterator[tuple[Told, Fact]]:
    """What sums up against what reports, or else against what sums up before it."""
    sources = [one for one in alike if one.part == "body"]
    for place, one in enumerate(alike):
        against = [other for other in sources or alike[:place] if _top(draft, one.told) != _top(draft, other.told)]
        if one.part == "body" or not against:
            continue
        differing = [_differing(one, other) for other in against]
        if not all(differing):  # one has the same numbers
            continue
        for other, apart in zip(against, differing, strict=True):
            if len(apart) == 1 and _is_result(one.told.text, one.numbers[apart[0]]):
                yield one.told, _fact(draft, one, other, apart[0])
                break


def _fact(draft: Draft, one: Placed, other: Placed, at: int) -> Fact:
    mine, theirs = one.numbers[at], other.numbers[at]
    there = draft.paragraphs[other.told.paragraph].sentences[other.told.sentence].place
    words = around(other.told.text, theirs.start, theirs.end)
    section = _top(draft, other.told) or "the abstract"
    said = around(one.told.text, mine.start, mine.end)
    return Fact(Label.PLACES, said, f"{section} ({there}) has {theirs.text}: “{words}”", False)


def _wording(text: str, numbers: Sequence[Number]) -> tuple[str, ...]:
    """The words of a sentence that say something, in order and without endings, with # for each number."""
    found, after = list[str](), 0
    for number in numbers:
        found += [*_words(text[after : number.start]), "#", *(["%"] if number.percent else [])]
        after = number.end
    return (*found, *_words(text[after:]))


def _words(text: str) -> list[str]:
    words = (word.lower() for word in WORD.findall(text))
    return [ENDING.sub("", word) for word in words if word not in FRAMING]


def _differing(one: Placed, other: Placed) -> list[int]:
    """Which of the numbers cannot be the same."""
    pairs = enumerate(zip(one.numbers, other.numbers, strict=True))
    return [place for place, (here, there) in pairs if not here.interval.meets(there.interval)]


def _is_result(text: str, number: Number) -> bool:
    """Whether a number says how much or how many, and not which."""
    before = text[max(0, number.start - 40) : number.start]
    if SETTING.search(before):
        return False
    counts = BEFORE.search(before) is not None and AFTER.match(text, number.end) is not None
    return number.percent or number.places > 0 or counts


def _top(draft: Draft, told: Told) -> str:
    return next(iter(draft.paragraphs[told.paragraph].headings), "")
