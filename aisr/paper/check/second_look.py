"""What a paper says of the things that a sentence of it speaks of: tables, figures, and passages of other sections.

The second look: sentences that a first one doubts, and those of abstract, introduction, discussion and conclusion
that state a result, each held against what the rest of the paper says of it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain, groupby, zip_longest
from typing import Any, NamedTuple

from aisr.paper.check.records import Check, bare, id_of, items_of, numbers, own_cells, rows_within, tells
from aisr.paper.draft import MOST_TABLES, Draft, Float, Sentence, part_of
from aisr.paper.recompute.grid import Grid, find_mentions, make_grids
from aisr.paper.recompute.numbers import find_numbers
from aisr.programs.draft.record import DraftRecord
from aisr.programs.retrieval import bm25, fused, names_and_numbers, order, stemmed
from aisr.programs.text import tokens

SENTENCES = 3  # of one passage
LONGEST = 900  # characters of one
SECTION = "Section “"
MOST_READ = 200_000  # characters of a table's cells; a longer one is data
MOST_SEARCHED = 1_000_000  # characters of such a table in which rows are looked for by their names
RANKED = 20  # passages that are looked through for a sentence
LEAST = 0.4  # of the score of its own passage, which a passage must have: less is another subject
COPY = 0.6  # share of two sentences' stems that both have, from which on one is the other told again
FEWEST = 5  # stems of a sentence that can be told to be one
REFERRED, IN_PARAGRAPH = 10.0, 1.0  # what a float gains that the sentence refers to, or its paragraph
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
        self.tables: tuple[Grid, ...] = make_grids(list(draft.floats.values()))[:MOST_TABLES]
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
        found = dict.fromkeys(beside, IN_PARAGRAPH) | {
            key: REFERRED for key in sentence.float_keys if key in self._printed
        }
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
            if paragraph.table_key is not None:
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
        wanted = dict.fromkeys(_digits(one.text) for one in numbers(text))  # in order: floats that score alike keep it
        having = {one: [key for key, printed in self._printed.items() if one in printed] for one in wanted}
        return {one: keys for one, keys in having.items() if keys}

    def _names(self, text: str) -> dict[str, list[str]]:
        """The names in it -> keys of the tables that have rows or columns of these names."""
        found: dict[str, list[str]] = {}
        for key, table in self._by_key.items():
            for label in dict.fromkeys(one.label.casefold() for one in find_mentions(bare(text), table)):
                found.setdefault(label, []).append(key)
        return found

    def rows_of(self, key: str, texts: Sequence[str]) -> list[int]:
        """The rows of a table, from 0, that sentences name, or whose numbers they have; first those with both: a name
        may stand in every row."""
        table = self._by_key.get(key)
        if table is None:  # a table of more cells than are read as one
            return _naming(self.draft.floats[key].rows[:MOST_SEARCHED], texts)
        labels = {(one.level, one.label) for text in texts for one in find_mentions(bare(text), table)}
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
    return frozenset(_digits(found.text) for found in find_numbers(text.replace("(", " ").replace(")", " ")))


def _digits(text: str) -> str:
    return text.strip("%+ ").replace(",", "").replace("−", "-").replace("–", "-").replace(" ", "")


def _stems(text: str) -> frozenset[str]:
    """The stems of a sentence, without its numbers: with another number it is the same sentence told again."""
    return frozenset(word for word in stemmed([text])[0] if not word.isdigit())


def _are_copies(one: frozenset[str], other: frozenset[str]) -> bool:
    return min(len(one), len(other)) >= FEWEST and len(one & other) >= COPY * len(one | other)


# Sections that speak of others as well.
OF_OTHERS = re.compile(r"\b(?:introduction|discussion|limitations|outlook|implications)\b", re.IGNORECASE)
HIDDEN = "hidden from a reader"
FRONT = "stands before the abstract: how to cite the paper, and the like"
NOTHING_TOLD = "no number, comparison or named result, in abstract, introduction, discussion or conclusion"
MOST_STRAIGHT = 2_000  # sentences; a longer abstract is none
AT_ONCE = 12  # sentences in one question
TOKENS, TOKENS_MORE, MOST_TOKENS = 800, 90, 1_600  # of evidence: for one sentence, for each more, for all
MOST_TABLE = 600  # tokens of a table, beyond which only the rows are shown that sentences name
FLOATS, PASSAGES = 2, 2  # for each sentence, at most
BESIDE = 200  # characters of each neighbouring paragraph
MOST_PARAGRAPH = 600  # characters, beyond which only what is near the sentences is shown


class SecondLook:
    """What a second look at a draft asks. straight: the sentences that go to it without a first one, by paragraph."""

    def __init__(self, draft: Draft, bundles: Sequence[Sequence[str]]) -> None:
        """bundles: for each paragraph the keys of the floats that it is about."""
        self._draft, self._bundles = draft, bundles
        self._paper = Elsewhere(draft)
        self.straight: dict[int, tuple[int, ...]] = {}
        self._front = _front(draft)
        left = MOST_STRAIGHT
        for number, paragraph in enumerate(draft.paragraphs):
            if not self.is_body(number) and number not in self._front:
                of_this_paper = OF_OTHERS.search(" ".join(paragraph.headings[:1])) is None
                tables = self._paper.tables
                telling = [k for k, one in enumerate(paragraph.sentences) if tells(one, tables, of_this_paper)][:left]
                self.straight |= {number: tuple(telling)} if telling else {}
                left -= len(telling)

    def is_body(self, paragraph: int) -> bool:
        """Whether a paragraph gets a first look: it is none of those that sum up or discuss."""
        return self._paper.parts[paragraph] == "body"

    def skipped(self, paragraph: int) -> str | None:
        """Why none of a paragraph that sums up or discusses is looked at; None where some is."""
        if paragraph in self.straight:
            return None
        hidden = all(one.hidden for one in self._draft.paragraphs[paragraph].sentences)
        return HIDDEN if hidden else FRONT if paragraph in self._front else NOTHING_TOLD

    def checks(self, wanted: Mapping[int, Sequence[int]]) -> tuple[Check, ...]:
        """The records for sentences, by the positions of their paragraphs and of themselves in these. As many as fit
        stand in one question, those of a section together, and none that sum up or discuss beside others."""
        taken: Counter[str] = Counter()
        found = []
        for some in self._groups(wanted):
            paragraphs, sentences = zip(*some, strict=True)
            found.append(Check(self._record(some, taken), paragraphs[0], sentences, paragraphs=paragraphs))
        return tuple(found)

    def _groups(self, wanted: Mapping[int, Sequence[int]]) -> list[list[tuple[int, int]]]:
        """The sentences of each question. A section that does not fit beside the one before begins a new one, so that
        an edit of one moves few of the others."""
        in_order = sorted(wanted, key=lambda paragraph: (self.is_body(paragraph), paragraph))
        places = [(paragraph, place) for paragraph in in_order for place in sorted(wanted[paragraph])]
        groups: list[list[tuple[int, int]]] = []
        for (is_body, _), section in groupby(places, key=lambda one: (self.is_body(one[0]), self._top(one[0]))):
            of_section = list(section)
            for first in range(0, len(of_section), AT_ONCE):
                some = of_section[first : first + AT_ONCE]
                if groups and is_body == self.is_body(groups[-1][0][0]) and len(groups[-1]) + len(some) <= AT_ONCE:
                    groups[-1] += some
                else:
                    groups.append(some)
        return groups

    def _record(self, places: Sequence[tuple[int, int]], taken: Counter[str]) -> DraftRecord:
        said = [self._sentence(place) for place in places]
        evidence = self._evidence(places, said)
        alone = len({self._top(paragraph) for paragraph, _ in places}) == 1
        near = alone or self.is_body(places[0][0])
        before, after = (self._beside(places[k][0], step) if near else "" for k, step in ((0, -1), (-1, 1)))
        return DraftRecord.model_validate(
            {
                "id": id_of(said[0].place.file, [one.text for one in said] + list(map(str, evidence)), taken),
                "title": self._draft.title,
                "headings": self._draft.paragraphs[places[0][0]].headings if alone else (),
                "before": f"… {before[-BESIDE:]}" if len(before) > BESIDE else before,
                "paragraph": self._around(places, alone),
                "after": f"{after[:BESIDE]} …" if len(after) > BESIDE else after,
                "own_results": self._paper.parts[places[0][0]] != "summary",
                "sentences": [{"sentence": one.text} for one in said],
                "evidence_bundle": evidence,
            }
        )

    def _sentence(self, place: tuple[int, int]) -> Sentence:
        return self._draft.paragraphs[place[0]].sentences[place[1]]

    def _top(self, paragraph: int) -> str:
        """The outermost heading of a paragraph."""
        return next(iter(self._draft.paragraphs[paragraph].headings), "")

    def _around(self, places: Sequence[tuple[int, int]], alone: bool) -> str:
        """The paragraphs of sentences; of long ones these and what stands beside them. alone: whether they are of one
        section; else each section is named where it begins."""
        shown, before = [], ""
        for paragraph, together in groupby(places, key=lambda one: one[0]):
            wanted = [place for _, place in together]
            texts = [
                (k, one.text) for k, one in enumerate(self._draft.paragraphs[paragraph].sentences) if not one.hidden
            ]
            if sum(len(text) for _, text in texts) > MOST_PARAGRAPH:
                texts = [(k, text) for k, text in texts if any(abs(k - place) <= 1 for place in wanted)]
            section = "" if alone else f"({self._top(paragraph) or 'Abstract'}) "
            shown.append((section if section != before else "") + " ".join(text for _, text in texts))
            before = section
        return " … ".join(shown)

    def _beside(self, paragraph: int, step: int) -> str:
        """The paragraph before or after, if it stands in the same section."""
        place, paragraphs = paragraph + step, self._draft.paragraphs
        if not 0 <= place < len(paragraphs) or paragraphs[place].headings != paragraphs[paragraph].headings:
            return ""
        return " ".join(one.text for one in paragraphs[place].sentences if not one.hidden)

    def _evidence(self, places: Sequence[tuple[int, int]], said: Sequence[Sentence]) -> list[dict[str, Any]]:
        """What is shown, within the budget: by turns the best float and the best passage of each sentence."""
        passages = self._paper.passages(said, [paragraph for paragraph, _ in places])
        floats = [self._paper.floats(one, self._bundles[p])[:FLOATS] for one, (p, _) in zip(said, places, strict=True)]
        turns = [_by_turns(keys, best[:PASSAGES]) for keys, best in zip(floats, passages, strict=True)]
        left = min(TOKENS + TOKENS_MORE * (len(places) - 1), MOST_TOKENS)
        shown: dict[str | tuple[int, int], list[dict[str, Any]]] = {}
        for one in filter(None, chain.from_iterable(zip_longest(*turns))):
            key = one if isinstance(one, str) else (one.paragraph, one.first)
            if key not in shown:
                made = self._items(one, places, said)
                cost = sum(tokens(f"{item.get('text', '')} {_caption(item)}") for item in made)
                if cost <= left or not shown:
                    shown[key] = made
                    left -= cost
        in_order = sorted(shown, key=lambda key: (not isinstance(key, str), key))
        return [item for key in in_order for item in shown[key]]

    def _items(
        self, one: "str | Passage", places: Sequence[tuple[int, int]], said: Sequence[Sentence]
    ) -> list[dict[str, Any]]:
        if isinstance(one, str):
            table = self._draft.floats[one]
            judged = [place for paragraph, place in places if self._draft.paragraphs[paragraph].table_key == one]
            if judged:  # its own caption
                return [own_cells(table, judged)]
            made = list(items_of(self._draft.folder, table, self.rows(table, [each.text for each in said], MOST_TABLE)))
            # A picture is dear: it is shown where a sentence refers to it.
            return made if any(one in each.float_keys for each in said) else [{**made[0], "img_path": None}]
        return [{"type": "text", "text": f"{where(self._draft, one.paragraph)}: {' '.join(one.texts)}"}]

    def rows(self, table: Float, texts: Sequence[str], most: int) -> str:
        """The rows of a table; of one of more than `most` tokens its head and those that sentences name, as far as
        there is room."""
        if tokens(table.rows) <= most:
            return table.rows
        return rows_within(table.rows, self._paper.rows_of(table.key, texts), most)


def _front(draft: Draft) -> frozenset[int]:
    """The paragraphs without a heading that stand before one that is called the abstract: they are none."""
    for number, paragraph in enumerate(draft.paragraphs):
        if paragraph.headings:
            is_abstract = paragraph.headings[0].casefold().strip(" :.") == "abstract"
            return frozenset(range(number)) if is_abstract else frozenset()
    return frozenset()


def _by_turns(keys: Sequence[str], passages: Sequence[Passage]) -> "list[str | Passage]":
    pairs = zip_longest(keys, passages)
    return [one for pair in pairs for one in pair if one is not None]


def _caption(item: Mapping[str, Any]) -> str:
    return " ".join([*item.get("table_caption", ()), *item.get("image_caption", ())])
