"""Everything that can be recomputed in a paper: its sentences, its captions, and its tables by themselves."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aisr_papers.citations import find_marks
from aisr_papers.draft import MOST_TABLES, Draft, Paragraph, Sentence, caption_sentences
from aisr_papers.recompute.cells import Context, check_cells
from aisr_papers.recompute.comparisons import check_comparisons
from aisr_papers.recompute.grid import Grid, make_grids
from aisr_papers.recompute.numbers import Fact, find_numbers
from aisr_papers.recompute.sentences import check_sentence
from aisr_papers.recompute.significance import ONE_SIDED
from aisr_papers.recompute.totals import check_totals

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
    text: str  # the sentence as it stands; of a table by itself the cell
    paragraph: int | None  # its position in the draft; None of a caption, or of a table by itself
    sentence: int  # its position in the paragraph or caption
    float: str | None = None  # the key of the table, of a caption or a table by itself


def recompute(draft: Draft) -> list[PlacedFact]:
    """All facts of a draft, in its order, whether they hold, are wrong or could not be decided; behind them those of
    captions and tables."""
    tables = _tables(draft)
    running = [one for one in draft.paragraphs if one.caption_of is None]  # captions come with their tables
    one_sided = any(ONE_SIDED.search(one.text) for paragraph in running for one in paragraph.sentences)
    printed = _printed(draft)
    facts: list[PlacedFact] = []
    for number, paragraph in enumerate(draft.paragraphs):
        if paragraph.caption_of is not None:
            continue
        keys = float_keys_of(paragraph)
        for place, sentence in enumerate(paragraph.sentences):
            if not _is_prose(sentence):
                continue
            near, referred = relevant_tables(sentence, keys, draft, tables)
            text = blank_pointers(sentence.text)
            of_sentence = [*check_sentence(text, one_sided)]
            if not sentence.work_keys:  # numbers of others are not in this paper's tables
                of_sentence += check_comparisons(text, near, near if sentence.float_keys else tables, referred)
                if referred:
                    before = paragraph.sentences[place - 1].text if place else ""
                    repeated = _repeated(printed, sentence.text)
                    of_sentence += check_cells(text, Context(near, tables, repeated, before))
            facts += (PlacedFact(fact, sentence.text, number, place) for fact in _distinct(of_sentence))
    for table in tables:
        facts += _check_table(table, tables, one_sided, printed)
    return facts


def count_read(draft: Draft) -> tuple[int, int]:
    """How many sentences and tables are read."""
    paragraphs = (one for one in draft.paragraphs if one.caption_of is None)
    tables = [one for one in draft.floats.values() if one.kind == "table" and one.rows]
    return sum(_is_prose(each) for one in paragraphs for each in one.sentences), len(tables)


def _tables(draft: Draft) -> tuple[Grid, ...]:
    return make_grids(draft.floats.values())[:MOST_TABLES]


def _is_prose(sentence: Sentence) -> bool:
    return not sentence.hidden and len(sentence.text) <= LONGEST


def _check_table(table: Grid, tables: Sequence[Grid], one_sided: bool, printed: Counter[str]) -> Iterator[PlacedFact]:
    """A table's caption and notes against its own cells, and the cells against each other."""
    for place, sentence in enumerate(caption_sentences(table.caption, table.notes)):
        if len(sentence) > LONGEST or find_marks(sentence):
            continue
        text = blank_pointers(sentence)
        facts = [*check_sentence(text, one_sided), *check_comparisons(text, [table], tables, True)]
        facts += check_cells(text, Context([table], tables, _repeated(printed, sentence)))
        yield from (PlacedFact(fact, sentence, None, place, table.key) for fact in _distinct(facts))
    yield from (PlacedFact(fact, fact.statement, None, 0, table.key) for fact in check_totals(table))


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


def float_keys_of(paragraph: Paragraph) -> tuple[str, ...]:
    """The keys of all floats that a paragraph refers to."""
    return tuple(dict.fromkeys(key for one in paragraph.sentences for key in one.float_keys))


def blank_pointers(text: str) -> str:
    """A sentence in which citations and pointers to floats and sections are blank, every character at its place."""
    for mark in find_marks(text):
        if not mark.textual:
            text = text[: mark.start] + " " * (mark.end - mark.start) + text[mark.end :]
    return POINTER.sub(lambda match: " " * len(match[0]), text)


def _printed(draft: Draft) -> Counter[str]:
    """In how many sentences and captions each number stands."""
    texts = [one.text for paragraph in draft.paragraphs if paragraph.caption_of is None for one in paragraph.sentences]
    texts += [text for one in draft.floats.values() for text in (one.caption, one.notes)]
    return Counter(digits for text in texts for digits in _digits(text))


def _repeated(printed: Counter[str], text: str) -> frozenset[str]:
    """Of the numbers of a sentence those that other sentences hold as well."""
    return frozenset(digits for digits in _digits(text) if printed[digits] > 1)


def _digits(text: str) -> set[str]:
    return {one.text.rstrip("% ") for one in find_numbers(text)}


def _distinct(facts: Sequence[Fact]) -> list[Fact]:
    """Each fact of the same words once."""
    return list({(fact.label, fact.statement, fact.computed): fact for fact in facts}.values())
