"""A text that is far too long for a prompt: the part of it that has most to do with a claim."""

from collections.abc import Iterator
from itertools import accumulate, pairwise

from aisr.programs.retrieval.retrievers import stemmed
from aisr.programs.text.sentences import sentences
from aisr.programs.text.table import ROW, flat
from aisr.programs.text.tokens import BYTES_PER_TOKEN, tokens


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
