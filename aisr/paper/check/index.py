"""What a paper says of the things that a sentence of it speaks of: tables, figures, and passages of other sections."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import NamedTuple

from aisr.paper.check.record import bare, numbers
from aisr.paper.draft import MOST_TABLES, Draft, Float, Sentence, part_of
from aisr.paper.recompute.grid import Grid, grids, mentions
from aisr.paper.recompute.numbers import in_text
from aisr.programs.retrieval import bm25, fused, names_and_numbers, order, stemmed

SENTENCES = 3  # of one passage
LONGEST = 900  # characters of one
SECTION = "Section “"
MOST_READ = 200_000  # characters of a table's cells; a longer one is data
MOST_SEARCHED = 1_000_000  # characters of such a table in which rows are looked for by their names
RANKED = 20  # passages that are looked through for a sentence
LEAST = 0.4  # of the score of its own passage, which a passage must have: less is another subject
COPY = 0.6  # share of two sentences' stems that both have, from which on one is the other told again
FEWEST = 5  # stems of a sentence that can be told to be one
REFERRED, BESIDE = 10.0, 1.0  # what a float gains that the sentence refers to, or its paragraph
WORD = re.compile(r"\w+")
match = fused(bm25, names_and_numbers(bm25))


class Passage(NamedTuple):
    """Sentences of a paragraph that stand one behind the other; source: whether they may bear something out."""

    paragraph: int
    first: int
    texts: tuple[str, ...]
    source: bool


class Elsewhere:
    """A paper as a place to look things up in. Abstract, introduction and conclusion are none: they tell again."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.tables: tuple[Grid, ...] = grids(list(draft.floats.values()))[:MOST_TABLES]
        has_headings = any(paragraph.headings for paragraph in draft.paragraphs)
        self.parts = [part_of(paragraph, has_headings) for paragraph in draft.paragraphs]
        self._passages = list(self._split())
        self._texts = tuple(" ".join(one.texts) for one in self._passages)
        self._by_key = {table.key: table for table in self.tables}
        self._named = cache(self._names)
        self._stems = cache(_stems)

    @cached_property
    def _printed(self) -> dict[str, frozenset[str]]:
        """The numbers that each float prints."""
        return {key: _numbers_of(one) for key, one in self.draft.floats.items()}

    def floats(self, sentence: Sentence, beside: Sequence[str]) -> list[str]:
        """Keys of the floats that speak of a sentence, the best first: those that it refers to, those that its
        paragraph is about, and those with its numbers, and names of its rows and columns, rare ones counting more."""
        found = dict.fromkeys(beside, BESIDE) | {key: REFERRED for key in sentence.refers if key in self._printed}
        for what in (self._numbers(sentence.text), self._named(sentence.text)):
            for having in what.values():
                for key in having:
                    found[key] = found.get(key, 0) + 1 / len(having)
        return sorted(found, key=lambda key: -found[key])

    def passages(self, said: Sequence[Sentence], paragraphs: Sequence[int]) -> list[list[Passage]]:
        """For each of some sentences the best passages that may bear it out: none of its own paragraph, and none of
        them or of what tells one of them again. paragraphs: of each its own."""
        stems = [self._stems(one.text) for one in said]
        found: list[list[Passage]] = []
        asked = {one.text for one in said}
        for sentence, own in zip(said, paragraphs, strict=True) if self._texts else ():
            text = bare(sentence.text)
            scores = bm25(text, self._texts)
            ranked = [
                place for place in order(match(text, self._texts))[:RANKED] if scores[place] >= LEAST * scores.max()
            ]
            best = [self._passages[place] for place in ranked]
            passages = []
            for one in best:
                if one.paragraph == own:
                    continue
                kept = tuple(
                    text
                    for text in one.texts
                    if text not in asked and not any(_are_copies(those, self._stems(text)) for those in stems)
                )
                passages += [one._replace(texts=kept)] if one.source and kept else []
            found.append(passages)
        return found or [[] for _ in said]

    def _split(self) -> Iterator[Passage]:
        """The sentences that a reader sees, some at a time; captions are shown with their tables."""
        for number, paragraph in enumerate(self.draft.paragraphs):
            if paragraph.of is not None:
                continue
            shown = [(place, one.text) for place, one in enumerate(paragraph.sentences) if not one.hidden]
            some: list[tuple[int, str]] = []
            for place, text in shown:
                if some and (len(some) == SENTENCES or sum(len(one) for _, one in some) + len(text) > LONGEST):
                    yield self._passage(number, some)
                    some = []
                some.append((place, text))
            if some:
                yield self._passage(number, some)

    def _passage(self, paragraph: int, some: Sequence[tuple[int, str]]) -> Passage:
        texts = tuple(text for _, text in some)
        return Passage(paragraph, some[0][0], texts, self.parts[paragraph] != "summary")

    def _numbers(self, text: str) -> dict[str, list[str]]:
        """The numbers of a sentence -> keys of the floats that print them."""
        wanted = {_digits(one.text) for one in numbers(text)}
        having = {one: [key for key, printed in self._printed.items() if one in printed] for one in wanted}
        return {one: keys for one, keys in having.items() if keys}

    def _names(self, text: str) -> dict[str, list[str]]:
        """The names in it -> keys of the tables that have rows or columns of these names."""
        found: dict[str, list[str]] = {}
        for key, table in self._by_key.items():
            for label in {one.label.casefold() for one in mentions(bare(text), table)}:
                found.setdefault(label, []).append(key)
        return found

    def rows_of(self, key: str, texts: Sequence[str]) -> list[int]:
        """The rows of a table, from 0, that sentences name, or whose numbers they have; first those with both: a name
        may stand in every row."""
        table = self._by_key.get(key)
        if table is None:  # a table of more cells than are read as one
            return _naming(self.draft.floats[key].rows[:MOST_SEARCHED], texts)
        labels = {(one.level, one.label) for text in texts for one in mentions(bare(text), table)}
        wanted = {_digits(one.text) for text in texts for one in numbers(text)}
        beside = [(level, label) for level, label in labels if level < table.beside]
        by_number = {cell.row for cell in table.cells if _digits(cell.number.text) in wanted}
        by_name = {cell.row for cell in table.cells if any(cell.at[level] == label for level, label in beside)}
        return _both_first(by_name, by_number)


def _naming(rows: str, texts: Sequence[str]) -> list[int]:
    """The rows, from 0, whose first cell sentences name, or of which they have a number of three digits or more; first
    those with both."""
    said = " ".join(["", *(word for text in texts for word in WORD.findall(text.casefold())), ""])
    by_name, by_number = set(), set()
    for place, row in enumerate(rows.split("\n")):
        first, *cells = [" ".join(WORD.findall(cell)) for cell in row.casefold().split("\t")]
        if first and f" {first} " in said:
            by_name.add(place)
        if any(sum(map(str.isdigit, cell)) >= 3 and f" {cell} " in said for cell in cells):
            by_number.add(place)
    return _both_first(by_name, by_number)


def _both_first(by_name: set[int], by_number: set[int]) -> list[int]:
    both = by_name & by_number
    return [*sorted(both), *sorted((by_name | by_number) - both)]


def where(draft: Draft, paragraph: int) -> str:
    """What a paragraph's section is called, as a person finds it."""
    headings = draft.paragraphs[paragraph].headings
    return f"{SECTION}{' > '.join(headings)}”" if headings else "Text above the first heading"


def _numbers_of(one: Float) -> frozenset[str]:
    text = " ".join((one.caption, one.notes, one.rows[:MOST_READ].replace("\t", " ")))
    return frozenset(_digits(found.text) for found in in_text(text.replace("(", " ").replace(")", " ")))


def _digits(text: str) -> str:
    return text.strip("%+ ").replace(",", "").replace("−", "-").replace("–", "-").replace(" ", "")


def _stems(text: str) -> frozenset[str]:
    """The stems of a sentence, without its numbers: with another number it is the same sentence told again."""
    return frozenset(word for word in stemmed([text])[0] if not word.isdigit())


def _are_copies(one: frozenset[str], other: frozenset[str]) -> bool:
    return min(len(one), len(other)) >= FEWEST and len(one & other) >= COPY * len(one | other)
