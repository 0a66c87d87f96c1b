"""What a demo shows of a paper: the paragraphs that decide, and the ones that are most easily taken for them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aisr.programs.labels import EVIDENCE_K
from aisr.programs.retrieval.content import without_content
from aisr.programs.retrieval.retrievers import stemmed
from aisr.programs.text.sentences import sentences
from aisr.programs.text.table import ROW, flat

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
