"""Everything that can be recomputed in a paper: its sentences, its captions, and its tables by themselves."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aisr.paper.citations import find_marks
from aisr.paper.draft import MOST_TABLES, Draft, Paragraph, Sentence, caption_sentences
from aisr.paper.recompute.cells import bounds, quoted, sums
from aisr.paper.recompute.comparisons import compared
from aisr.paper.recompute.facts import Fact
from aisr.paper.recompute.grid import Grid, grids
from aisr.paper.recompute.numbers import in_text
from aisr.paper.recompute.sentences import ONE_SIDED, means, shares, steps, tests

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
    for place, said in enumerate(caption_sentences(table.caption, table.notes)):
        if len(said) > LONGEST or find_marks(said):
            continue
        text = bare(said)
        facts = [*in_words(text, f"{table.caption} {table.notes}", one_sided), *bounds(text, [table])]
        facts += compared(text, [table], known, True)
        facts += quoted(text, [table], known, _elsewhere(printed, said))
        yield from (Recomputed(fact, None, place, table.key) for fact in _once(facts))
    yield from (Recomputed(fact, None, 0, table.key) for fact in sums(table))


def about(sentence: Sentence, nearby: Sequence[str], draft: Draft, known: Sequence[Grid]) -> tuple[list[Grid], bool]:
    """The tables that a sentence is about, and whether it, or its paragraph, says so. One about figures alone is about
    no table; where nothing is said, all tables come into question. nearby: what its paragraph refers to."""
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
