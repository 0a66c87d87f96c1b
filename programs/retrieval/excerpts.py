"""Parts of a text that is too long for a prompt: what has most to do with a claim, and what a demo shows of a paper."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from aisr.programs.labels import EVIDENCE_K
from aisr.programs.retrieval.content import without_content
from aisr.programs.retrieval.retrievers import stemmed
from aisr.programs.text.sanitize import ROW, flat
from aisr.programs.text.units import BYTES_PER_TOKEN, sentences, tokens


def within(claim: str, text: str, most: int) -> str:
    """The text as an item (see `flat`), where it has `most` tokens at most; else as many whole sentences (of a table
    rows) around the one that shares most words with the claim as have no more. What is longer alone is cut between
    words.

    It stands so in the text, but for white space, and nothing marks the cuts: what is quoted of it is word for word.
    """
    most, whole = max(most, 1), flat(text)
    if tokens(whole) <= most:
        return whole
    spans = list(_spans(whole, most))
    wanted, *stems = stemmed([claim, *(whole[begin:end] for begin, end in spans)])
    shared = [len(set(wanted) & set(own)) for own in stems]
    first = last = shared.index(max(shared))
    borders = [0, *(place for span in spans for place in span)]
    taken = list(accumulate(len(whole[begin:end].encode()) for begin, end in pairwise(borders)))  # bytes up to each

    def fits(one: int, other: int) -> bool:
        return taken[2 * other + 1] - taken[2 * one] <= most * BYTES_PER_TOKEN

    while True:
        after = last + 1 < len(spans) and fits(first, last + 1)
        before = first > 0 and fits(first - 1, last)
        if not (after or before):
            return whole[spans[first][0] : spans[last][1]]
        first, last = (first, last + 1) if after else (first - 1, last)


def _spans(text: str, most: int) -> Iterator[tuple[int, int]]:
    """Where the sentences or rows of a flat text begin and end, longer ones in pieces of `most` tokens at most."""
    begin = 0
    parts = text.split(ROW) if ROW in text else sentences(text)
    for part in filter(None, parts) if any(parts) else parts:  # nothing stands before a table without a caption
        begin = text.index(part, begin)
        end = begin + len(part)
        while end - begin > most:  # a character is a token at most
            cut = text.rfind(" ", begin + 1, begin + most)
            yield begin, cut if cut > 0 else begin + most
            begin = cut + 1 if cut > 0 else begin + most
        yield begin, end
        begin = end


DISTRACTORS = 2  # beside gold paragraphs; one more where there are none
SHORT = 60  # characters; a shorter paragraph says little, and stands in for a distractor only where there is no other
# Characters that are shown of one gold paragraph and of one distractor: six demos fit into 3,000 tokens. Brief ones are
# for a demo that would be too long.
USUAL, BRIEF = (1200, 500), (600, 250)
LONG = 2000  # characters of all together that may be too long
CUT = "…"


class Lesson(NamedTuple):
    """gold: the gold ids of a demo, up to three; shown: these and the best-ranked others that have content, in document
    order; text: the passages, long ones cut to the sentences around the one that is most like the claim."""

    gold: list[str]
    shown: list[str]
    text: str


def lesson(
    claim: str,
    paragraphs: Mapping[str, str],
    gold: Sequence[str],
    best_first: Sequence[str],
    lengths: tuple[int, int] = USUAL,
) -> Lesson:
    """What a demo shows of a paper, given its ids from the best-ranked down, and `lengths`."""
    named = list(gold[:EVIDENCE_K])
    idle = without_content(paragraphs)
    others = [key for key in best_first if key not in gold and key not in idle]
    telling = sorted(others, key=lambda key: len(paragraphs[key]) < SHORT)
    beside = telling[: DISTRACTORS if named else DISTRACTORS + 1]
    most = dict.fromkeys(beside, lengths[1]) | dict.fromkeys(named, lengths[0])
    shown = [key for key in paragraphs if key in most]
    return Lesson(named, shown, "\n".join(f"[{key}] {excerpt(claim, paragraphs[key], most[key])}" for key in shown))


def excerpt(claim: str, text: str, most: int) -> str:
    """As many whole sentences of a text around the one that shares most words with a claim as `most` characters hold,
    in one line; that sentence cut where it alone is longer. Of a table rows take the place of sentences."""
    whole = flat(text)
    if len(whole) <= most:
        return whole
    between = ROW if ROW in whole else " "
    parts = whole.split(ROW) if ROW in whole else sentences(whole)
    wanted, *stems = stemmed([claim, *parts])
    shared = [len(set(wanted) & set(own)) for own in stems]
    first = last = shared.index(max(shared))
    while True:
        after = last + 1 < len(parts) and len(between.join(parts[first : last + 2])) <= most
        before = first > 0 and len(between.join(parts[first - 1 : last + 1])) <= most
        if not (after or before):
            break
        first, last = (first, last + 1) if after else (first - 1, last)
    kept = between.join(parts[first : last + 1])[:most]
    return f"{CUT if first else ''}{kept}{CUT if last + 1 < len(parts) or len(kept) == most else ''}"
