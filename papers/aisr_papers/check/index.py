"""A paper as an index: which of its tables, figures and passages speak of a sentence."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import islice
from typing import NamedTuple

from aisr.task import Matcher, bm25, fused, order, stemmed
from aisr_papers.check.layout import Layout, read_layout
from aisr_papers.check.statements import result_numbers, without_pointers
from aisr_papers.draft import MOST_TABLES, Draft, Float, Sentence, sums_up
from aisr_papers.recompute.numbers import find_numbers, parse_cell

SENTENCES = 3  # of one passage
LONGEST = 900  # characters of one
MOST_CELLS = 2_000  # of a table in whose rows and columns names are looked for; a larger one is data
MOST_READ = 200_000  # characters of a table's cells; a longer one is data
RANKED = 20  # passages that are looked through for a sentence; more have no room beside those of others
COPY = 0.6  # share of two sentences' stems that both have, from which on one restates the other
FEWEST = 5  # stems of a sentence that can be called a restatement
# What a float scores that a sentence refers to, or its paragraph. Each number and name of the sentence scores 1, shared
# by all floats that have it. More for a number in the very cell that the sentence names found the right one of 41
# tables less often: 154 to 164 of 200 injected errors, for 165 to 173.
REFERRED, IN_PARAGRAPH = 4.0, 1.0
PART = re.compile(r"(?i:figure|table) \S{0,12}\d[a-h]")
MOST_PARTS = 12  # of a figure
MOST_FLOATS = 60  # that are looked through for a sentence; more have no room in a question
WORD = re.compile(r"\w[\w.+%-]*\w|\w")
SHORT = 3  # letters
NAME_OR_NUMBER = re.compile(r"\b(?=\w*[A-Z])[\w-]{2,}\b|\d+(?:\.\d+)?")
# By all words, and by the names and numbers alone where a sentence has some.
match: Matcher = fused(bm25, lambda text, texts: bm25(" ".join(NAME_OR_NUMBER.findall(text)) or text, texts))


class Passage(NamedTuple):
    """Sentences of a paragraph that stand one behind the other."""

    paragraph: int
    first: int
    texts: tuple[str, ...]
    is_source: bool  # whether they may support something


class PaperIndex:
    """A paper as a place to look things up in. Abstract, introduction and conclusion are not used as evidence: they
    restate results."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        has_headings = any(paragraph.headings for paragraph in draft.paragraphs)
        self.sums_up = [sums_up(paragraph, has_headings) for paragraph in draft.paragraphs]
        self._passages = list(self._split())
        self._texts = tuple(" ".join(one.texts) for one in self._passages)
        self._stems = cache(stems)
        self._order = {key: place for place, key in enumerate(draft.floats)}
        self._shown = [key for key, one in draft.floats.items() if one.caption or one.rows]
        self._families: dict[str, list[str]] = {}
        for key, one in draft.floats.items():
            self._families.setdefault(_whole(one), []).append(key)

    @cached_property
    def _tables(self) -> dict[str, Layout]:
        """The tables, but for those that are data."""
        rows = {key: [line.split("\t") for line in one.rows.split("\n")] for key, one in self.draft.floats.items()}
        tables = [key for key, lines in rows.items() if 1 < sum(map(len, lines)) <= MOST_CELLS][:MOST_TABLES]
        return {key: read_layout(rows[key]) for key in tables}

    @cached_property
    def _with_name(self) -> dict[str, list[str]]:
        """The tables by each name of their rows and columns, as names are compared."""
        tables = defaultdict[str, list[str]](list)
        for key, table in self._tables.items():
            for name in frozenset(map(_words, _all_names(table))):
                tables[name].append(key)
        return tables

    @cached_property
    def _by_word(self) -> dict[str, list[str]]:
        """These names by their first words."""
        names = defaultdict[str, list[str]](list)
        for name in self._with_name:
            names[next(iter(name.split()), "")].append(name)
        return names

    @cached_property
    def _with_number(self) -> dict[str, list[str]]:
        """The floats by each number that they print."""
        floats = defaultdict[str, list[str]](list)
        for key, one in self.draft.floats.items():
            for number in _numbers_of(one):
                floats[number].append(key)
        return floats

    def _split(self) -> Iterator[Passage]:
        """Return the sentences that a reader sees, some at a time; captions are shown with their floats."""
        for number, paragraph in enumerate(self.draft.paragraphs):
            if paragraph.caption_of is not None:
                continue
            is_source = not self.sums_up[number]
            first, texts = 0, list[str]()
            for place, sentence in enumerate(paragraph.sentences):
                if sentence.hidden:
                    continue
                if texts and (len(texts) == SENTENCES or sum(map(len, texts)) + len(sentence.text) > LONGEST):
                    yield Passage(number, first, tuple(texts), is_source)
                    texts = []
                if not texts:
                    first = place
                texts.append(sentence.text)
            if texts:
                yield Passage(number, first, tuple(texts), is_source)

    def family(self, key: str) -> list[str]:
        """Return the keys of a figure and its parts, in the paper's order; of any other float its own."""
        return self._families[_whole(self.draft.floats[key])][:MOST_PARTS]

    def referred(self, *sentences: Sentence) -> list[str]:
        """Return the keys of the floats that sentences refer to; of a figure and its parts the first."""
        keys = (key for one in sentences if not one.hidden for key in one.float_keys if key in self.draft.floats)
        return list(dict.fromkeys(self.family(key)[0] for key in keys))

    def floats(self, sentence: Sentence, paragraph: int) -> list[str]:
        """Return keys of the floats, those first that speak of a sentence: those that it refers to, those that its
        paragraph refers to, and those with its numbers, and names of its rows and columns, rare ones counting more; of
        equal ones the first of the paper. Of a figure and its parts the first; of a caption, not its own float."""
        numbers = {_digits(one.text) for one in result_numbers(sentence.text)}
        words = _words(without_pointers(sentence.text))
        names = {name for word in words.split() for name in self._by_word[word] if name in words}
        scores = dict.fromkeys(self.referred(*self.draft.paragraphs[paragraph].sentences), IN_PARAGRAPH)
        scores |= dict.fromkeys(self.referred(sentence), REFERRED)
        for keys in (*(self._with_number[one] for one in numbers), *(self._with_name[one] for one in names)):
            for key in keys:
                scores[key] = scores.get(key, 0.0) + 1 / len(keys)
        own = self.draft.paragraphs[paragraph].caption_of
        # Sums are rounded: the order in which members of a set are added, another in each process, decides nothing.
        best = sorted(scores, key=lambda key: (-round(scores[key], 9), self._order[key]))
        others = islice((key for key in self._shown if key not in scores), MOST_FLOATS)
        keys = [key for key in (*best[:MOST_FLOATS], *others) if key != own]
        return list(dict.fromkeys(self.family(key)[0] for key in keys))[:MOST_FLOATS]

    def passages(self, sentences: Sequence[Sentence], paragraphs: Sequence[int]) -> list[list[Passage]]:
        """Return for each of some sentences the best passages that may support it: none of its own paragraph, and none
        of them or of their restatements. paragraphs: of each its own."""
        if not self._texts:
            return [[] for _ in sentences]
        stems = [self._stems(one.text) for one in sentences]
        texts = {one.text for one in sentences}
        best: list[list[Passage]] = []
        for sentence, own in zip(sentences, paragraphs, strict=True):
            query = without_pointers(sentence.text)
            passages = []
            for one in (self._passages[place] for place in order(match(query, self._texts))[:RANKED]):
                if one.paragraph == own or not one.is_source:
                    continue
                kept = tuple(
                    text
                    for text in one.texts
                    if text not in texts and not any(_is_restatement(those, self._stems(text)) for those in stems)
                )
                passages += [one._replace(texts=kept)] if kept else []
            best.append(passages)
        return best

    def rows_of(self, key: str, texts: Sequence[str]) -> list[int]:
        """Return the rows of a table, from 0, that sentences name, or whose numbers they have; first those with both: a
        name may stand in every row."""
        table = self._tables.get(key)
        if table is None:  # data
            return []
        words = _words(" ".join(map(without_pointers, texts)))
        numbers = {_digits(one.text) for text in texts for one in result_numbers(text)}
        by_name = {row for row, names in table.beside.items() if any(_words(one) in words for one in names if one)}
        by_number = {row for row in table.beside for one in table.numbers[row] if one and _digits(one.text) in numbers}
        both = by_name & by_number
        return [*sorted(both), *sorted((by_name | by_number) - both)]


def _whole(one: Float) -> str:
    """Return what a figure and its parts have in common: the name without a letter; the key of a float without a
    number."""
    if PART.fullmatch(one.name):
        return one.name[:-1]
    return one.name if one.name[-1:].isdigit() else one.key


def _all_names(table: Layout) -> Iterator[str]:
    """Return the names of rows, of their sections and of columns that have two letters."""
    above = (name for row in table.rows[: table.header] for name in row)
    for name in (*above, *(name for names in table.beside.values() for name in names)):
        if sum(map(str.isalpha, name)) > 1:
            yield name


def _words(text: str) -> str:
    """Return the words of a text between blanks, as names are looked up in it; of short ones, such as "IT", capitals
    count."""
    words = (word if len(word) <= SHORT else word.casefold() for word in WORD.findall(text))
    return f" {' '.join(words)} "


def _numbers_of(one: Float) -> frozenset[str]:
    rows = one.rows[:MOST_READ].replace("\t", "\n")
    text = " ".join((one.caption, one.notes, rows)).replace("(", " ").replace(")", " ")
    cells = filter(None, map(parse_cell, rows.split("\n")))
    return frozenset(_digits(number.text) for number in (*find_numbers(text), *cells))


def _digits(text: str) -> str:
    return text.strip("%+ ").replace(",", "").replace("−", "-").replace("–", "-").replace(" ", "")


def stems(text: str) -> frozenset[str]:
    """Return the stems of a sentence, without its numbers: with another number it is still a restatement."""
    return frozenset(word for word in stemmed([text])[0] if not word.isdigit())


def _is_restatement(one: frozenset[str], other: frozenset[str]) -> bool:
    return min(len(one), len(other)) >= FEWEST and len(one & other) >= COPY * len(one | other)
