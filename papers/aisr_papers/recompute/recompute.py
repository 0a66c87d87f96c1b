"""What the sentences and captions of a paper show by themselves: tests, and percentages beside their counts."""

import re
from typing import NamedTuple

from aisr_papers.citations import find_marks
from aisr_papers.draft import Draft, Sentence
from aisr_papers.recompute.facts import Fact
from aisr_papers.recompute.sentences import check_sentence
from aisr_papers.recompute.significance import ONE_SIDED

# What only says where something stands; its numbers are no results.
POINTER = re.compile(
    r"\b(?:fig(?:ure)?|tab(?:le)?|tbl|sec(?:tion)?|eq(?:uation)?|appendix|chapter|algorithm|theorem|lemma)(?:s|ses|ces)?\b"
    r"\.?\s?\(?[A-Z]?\d[\w.]{0,9}\)?",
    re.IGNORECASE,
)
LONGEST = 2_000  # characters of a sentence; a longer one is no prose


class PlacedFact(NamedTuple):
    """A fact and the sentence that it is about."""

    fact: Fact
    paragraph: int  # its position in the draft
    sentence: int  # its position in the paragraph


def recompute(draft: Draft) -> list[PlacedFact]:
    """All facts of a draft, in its order, whether they hold, are wrong or could not be decided. The captions of a draft
    are paragraphs like others, see `add_captions`."""
    prose = [
        (number, place, one.text)
        for number, paragraph in enumerate(draft.paragraphs)
        for place, one in enumerate(paragraph.sentences)
        if _is_prose(one)
    ]
    one_sided = any(ONE_SIDED.search(text) for _, _, text in prose)
    return [
        PlacedFact(fact, number, place)
        for number, place, text in prose
        for fact in dict.fromkeys(check_sentence(blank_pointers(text), one_sided))
    ]


def count_read(draft: Draft) -> int:
    """How many sentences are read."""
    return sum(_is_prose(one) for paragraph in draft.paragraphs for one in paragraph.sentences)


def _is_prose(sentence: Sentence) -> bool:
    return not sentence.hidden and len(sentence.text) <= LONGEST


def blank_pointers(text: str) -> str:
    """A sentence in which citations and pointers to floats and sections are blank, every character at its place."""
    for mark in find_marks(text):
        if not mark.textual:
            text = text[: mark.start] + " " * (mark.end - mark.start) + text[mark.end :]
    return POINTER.sub(lambda match: " " * len(match[0]), text)
