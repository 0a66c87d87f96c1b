"""The second look: sentences that a first one doubts, and those of abstract, introduction, discussion and conclusion
that state a result, each held against what the rest of the paper says of it: tables, figures, passages of other
sections."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain, groupby, zip_longest
from typing import Any, NamedTuple

from aisr.paper.check.records import (
    Check,
    float_items,
    record_id,
    result_numbers,
    rows_within,
    states_result,
    table_evidence,
    without_pointers,
)
from aisr.paper.draft import MOST_TABLES, Draft, Float, Sentence, part_of
from aisr.paper.recompute.grid import Grid, find_mentions, make_grids
from aisr.paper.recompute.numbers import find_numbers
from aisr.programs.draft.record import DraftRecord
from aisr.programs.retrieval import bm25, fused, names_and_numbers, order, stemmed
from aisr.programs.text import tokens

# --- The paper as an index: which tables, figures and passages speak of a sentence.

SENTENCES = 3  # of one passage
LONGEST = 900  # characters of one
SECTION = "Section “"
MOST_READ = 200_000  # characters of a table's cells; a longer one is data
MOST_SEARCHED = 1_000_000  # characters of such a table in which rows are looked for by their names
RANKED = 20  # passages that are looked through for a sentence
LEAST = 0.4  # of the score of its own passage, which a passage must have: less is another subject
COPY = 0.6  # share of two sentences' stems that both have, from which on one restates the other
FEWEST = 5  # stems of a sentence that can be called a restatement
REFERRED, IN_PARAGRAPH = 10.0, 1.0  # what a float gains that the sentence refers to, or its paragraph
WORD = re.compile(r"\w+")
match = fused(bm25, names_and_numbers(bm25))


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
        self.tables: tuple[Grid, ...] = make_grids(draft.floats.values())[:MOST_TABLES]
        has_headings = any(paragraph.headings for paragraph in draft.paragraphs)
        self.parts = [part_of(paragraph, has_headings) for paragraph in draft.paragraphs]
        self._passages = list(self._split())
        self._texts = tuple(" ".join(one.texts) for one in self._passages)
        self._by_key = {table.key: table for table in self.tables}
        self._stems = cache(_stems)

    @cached_property
    def _printed(self) -> dict[str, frozenset[str]]:
        """The numbers that each float prints."""
        return {key: _numbers_of(one) for key, one in self.draft.floats.items()}

    def _split(self) -> Iterator[Passage]:
        """The sentences that a reader sees, some at a time; captions are shown with their tables."""
        for number, paragraph in enumerate(self.draft.paragraphs):
            if paragraph.table_key is not None:
                continue
            is_source = self.parts[number] != "summary"
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

    def floats(self, sentence: Sentence, of_paragraph: Sequence[str]) -> list[str]:
        """Keys of the floats that speak of a sentence, the best first: those that it refers to, those that its
        paragraph is about, and those with its numbers, and names of its rows and columns, rare ones counting more."""
        scores = dict.fromkeys(of_paragraph, IN_PARAGRAPH)
        scores |= {key: REFERRED for key in sentence.float_keys if key in self.draft.floats}
        for keys in (*self._with_numbers(sentence.text), *self._with_names(sentence.text)):
            for key in keys:
                scores[key] = scores.get(key, 0) + 1 / len(keys)
        return sorted(scores, key=lambda key: -scores[key])

    def _with_numbers(self, text: str) -> list[list[str]]:
        """For each number of a sentence the keys of the floats that print it."""
        numbers = dict.fromkeys(_digits(one.text) for one in result_numbers(text))
        return [[key for key, printed in self._printed.items() if one in printed] for one in numbers]

    def _with_names(self, text: str) -> list[list[str]]:
        """For each name in it the keys of the tables that have rows or columns of this name."""
        keys: dict[str, list[str]] = {}
        for key, table in self._by_key.items():
            mentions = find_mentions(without_pointers(text), table)
            for label in dict.fromkeys(one.label.casefold() for one in mentions):
                keys.setdefault(label, []).append(key)
        return list(keys.values())

    def passages(self, sentences: Sequence[Sentence], paragraphs: Sequence[int]) -> list[list[Passage]]:
        """For each of some sentences the best passages that may support it: none of its own paragraph, and none of
        them or of their restatements. paragraphs: of each its own."""
        if not self._texts:
            return [[] for _ in sentences]
        stems = [self._stems(one.text) for one in sentences]
        texts = {one.text for one in sentences}
        best: list[list[Passage]] = []
        for sentence, own in zip(sentences, paragraphs, strict=True):
            query = without_pointers(sentence.text)
            scores = bm25(query, self._texts)
            ranked = order(match(query, self._texts))[:RANKED]
            passages = []
            for one in (self._passages[place] for place in ranked if scores[place] >= LEAST * scores.max()):
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
        """The rows of a table, from 0, that sentences name, or whose numbers they have; first those with both: a name
        may stand in every row."""
        table = self._by_key.get(key)
        if table is None:  # a table of more cells than are read as one
            by_name, by_number = _search_rows(self.draft.floats[key].rows[:MOST_SEARCHED], texts)
        else:
            names = {(one.level, one.label) for text in texts for one in find_mentions(without_pointers(text), table)}
            beside = [(level, label) for level, label in names if level < table.beside]
            numbers = {_digits(one.text) for text in texts for one in result_numbers(text)}
            by_name = {cell.row for cell in table.cells if any(cell.at[level] == label for level, label in beside)}
            by_number = {cell.row for cell in table.cells if _digits(cell.number.text) in numbers}
        both = by_name & by_number
        return [*sorted(both), *sorted((by_name | by_number) - both)]


def _search_rows(rows: str, texts: Sequence[str]) -> tuple[set[int], set[int]]:
    """The rows, from 0, whose first cell sentences name, and those of which they have a number of three digits or
    more."""
    words = " ".join(["", *(word for text in texts for word in WORD.findall(text.casefold())), ""])
    by_name, by_number = set(), set()
    for place, row in enumerate(rows.split("\n")):
        first, *cells = [" ".join(WORD.findall(cell)) for cell in row.casefold().split("\t")]
        if first and f" {first} " in words:
            by_name.add(place)
        if any(sum(map(str.isdigit, cell)) >= 3 and f" {cell} " in words for cell in cells):
            by_number.add(place)
    return by_name, by_number


def _section_name(draft: Draft, paragraph: int) -> str:
    """What a paragraph's section is called, as a person finds it."""
    headings = draft.paragraphs[paragraph].headings
    return f"{SECTION}{' > '.join(headings)}”" if headings else "Text above the first heading"


def _numbers_of(one: Float) -> frozenset[str]:
    text = " ".join((one.caption, one.notes, one.rows[:MOST_READ].replace("\t", " ")))
    return frozenset(_digits(number.text) for number in find_numbers(text.replace("(", " ").replace(")", " ")))


def _digits(text: str) -> str:
    return text.strip("%+ ").replace(",", "").replace("−", "-").replace("–", "-").replace(" ", "")


def _stems(text: str) -> frozenset[str]:
    """The stems of a sentence, without its numbers: with another number it is still a restatement."""
    return frozenset(word for word in stemmed([text])[0] if not word.isdigit())


def _is_restatement(one: frozenset[str], other: frozenset[str]) -> bool:
    return min(len(one), len(other)) >= FEWEST and len(one & other) >= COPY * len(one | other)


# --- The look itself.

# Sections that speak of others as well.
OF_OTHERS = re.compile(r"\b(?:introduction|discussion|limitations|outlook|implications)\b", re.IGNORECASE)
HIDDEN = "hidden from a reader"
FRONT = "stands before the abstract: how to cite the paper, and the like"
NO_RESULT = "no number, comparison or named result, in abstract, introduction, discussion or conclusion"
MOST_STRAIGHT = 2_000  # sentences; a longer abstract is none
AT_ONCE = 12  # sentences in one question
TOKENS, TOKENS_MORE, MOST_TOKENS = 800, 90, 1_600  # of evidence: for one sentence, for each more, for all
MOST_TABLE = 600  # tokens of a table, beyond which only the rows are shown that sentences name
FLOATS, PASSAGES = 2, 2  # for each sentence, at most
BESIDE = 200  # characters of each neighbouring paragraph
MOST_PARAGRAPH = 600  # characters, beyond which only what is near the sentences is shown


class SecondLook:
    """What a second look at a draft asks."""

    def __init__(self, draft: Draft, bundles: Sequence[Sequence[str]]) -> None:
        """bundles: for each paragraph the keys of the floats that it is about."""
        self._draft, self._bundles = draft, bundles
        self._paper = PaperIndex(draft)
        self.straight: dict[int, tuple[int, ...]] = {}  # what goes to it without a first look, by paragraph
        self._front = _front(draft)
        left = MOST_STRAIGHT
        for number, paragraph in enumerate(draft.paragraphs):
            if not self.is_body(number) and number not in self._front:
                ours = OF_OTHERS.search(" ".join(paragraph.headings[:1])) is None
                tables = self._paper.tables
                claims = [k for k, one in enumerate(paragraph.sentences) if states_result(one, tables, ours)][:left]
                self.straight |= {number: tuple(claims)} if claims else {}
                left -= len(claims)

    def is_body(self, paragraph: int) -> bool:
        """Whether a paragraph gets a first look: it is none of those that sum up or discuss."""
        return self._paper.parts[paragraph] == "body"

    def skip_reason(self, paragraph: int) -> str | None:
        """Why none of a paragraph that sums up or discusses is looked at; None where some is."""
        if paragraph in self.straight:
            return None
        if all(one.hidden for one in self._draft.paragraphs[paragraph].sentences):
            return HIDDEN
        return FRONT if paragraph in self._front else NO_RESULT

    def rows(self, table: Float, texts: Sequence[str], most: int) -> str:
        """The rows of a table; of one of more than `most` tokens its head and those that sentences name, as far as
        there is room."""
        if tokens(table.rows) <= most:
            return table.rows
        return rows_within(table.rows, self._paper.rows_of(table.key, texts), most)

    def checks(self, wanted: Mapping[int, Sequence[int]]) -> tuple[Check, ...]:
        """The records for sentences, by the positions of their paragraphs and of themselves in these. As many as fit
        stand in one question, those of a section together, and none that sum up or discuss beside others."""
        taken: Counter[str] = Counter()
        return tuple(Check(self._record(places, taken), tuple(places)) for places in self._groups(wanted))

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
        first = places[0][0]
        sentences = [self._draft.paragraphs[paragraph].sentences[place] for paragraph, place in places]
        evidence = self._evidence(places, sentences)
        alone = len({self._top(paragraph) for paragraph, _ in places}) == 1
        near = alone or self.is_body(first)
        before = self._neighbour(first, -1) if near else ""
        after = self._neighbour(places[-1][0], 1) if near else ""
        return DraftRecord.model_validate(
            {
                "id": record_id(
                    sentences[0].place.file, [*(one.text for one in sentences), *map(str, evidence)], taken
                ),
                "title": self._draft.title,
                "headings": self._draft.paragraphs[first].headings if alone else (),
                "before": f"… {before[-BESIDE:]}" if len(before) > BESIDE else before,
                "paragraph": self._around(places, alone),
                "after": f"{after[:BESIDE]} …" if len(after) > BESIDE else after,
                "own_results": self._paper.parts[first] != "summary",
                "sentences": [{"sentence": one.text} for one in sentences],
                "evidence_bundle": evidence,
            }
        )

    def _top(self, paragraph: int) -> str:
        """The outermost heading of a paragraph."""
        return next(iter(self._draft.paragraphs[paragraph].headings), "")

    def _around(self, places: Sequence[tuple[int, int]], alone: bool) -> str:
        """The paragraphs of sentences; of long ones these and what stands beside them. alone: whether they are of one
        section; else each section is named where it begins."""
        parts, before = [], ""
        for paragraph, of_paragraph in groupby(places, key=lambda one: one[0]):
            wanted = [place for _, place in of_paragraph]
            sentences = enumerate(self._draft.paragraphs[paragraph].sentences)
            texts = [(k, one.text) for k, one in sentences if not one.hidden]
            if sum(len(text) for _, text in texts) > MOST_PARAGRAPH:
                texts = [(k, text) for k, text in texts if any(abs(k - place) <= 1 for place in wanted)]
            section = "" if alone else f"({self._top(paragraph) or 'Abstract'}) "
            parts.append((section if section != before else "") + " ".join(text for _, text in texts))
            before = section
        return " … ".join(parts)

    def _neighbour(self, paragraph: int, step: int) -> str:
        """The paragraph before or after, if it stands in the same section."""
        place, paragraphs = paragraph + step, self._draft.paragraphs
        if not 0 <= place < len(paragraphs) or paragraphs[place].headings != paragraphs[paragraph].headings:
            return ""
        return " ".join(one.text for one in paragraphs[place].sentences if not one.hidden)

    def _evidence(self, places: Sequence[tuple[int, int]], sentences: Sequence[Sentence]) -> list[dict[str, Any]]:
        """What is shown, within the budget: by turns the best float and the best passage of each sentence."""
        passages = self._paper.passages(sentences, [paragraph for paragraph, _ in places])
        turns = []
        for sentence, (paragraph, _), best in zip(sentences, places, passages, strict=True):
            floats = self._paper.floats(sentence, self._bundles[paragraph])
            turns.append(
                [one for pair in zip_longest(floats[:FLOATS], best[:PASSAGES]) for one in pair if one is not None]
            )
        left = min(TOKENS + TOKENS_MORE * (len(places) - 1), MOST_TOKENS)
        evidence: dict[str | tuple[int, int], list[dict[str, Any]]] = {}
        for one in filter(None, chain.from_iterable(zip_longest(*turns))):
            key = one if isinstance(one, str) else (one.paragraph, one.first)
            if key not in evidence:
                items = self._items(one, places, sentences)
                cost = sum(tokens(f"{item.get('text', '')} {_caption(item)}") for item in items)
                if cost <= left or not evidence:
                    evidence[key] = items
                    left -= cost
        in_order = sorted(evidence, key=lambda key: (not isinstance(key, str), key))
        return [item for key in in_order for item in evidence[key]]

    def _items(
        self, one: str | Passage, places: Sequence[tuple[int, int]], sentences: Sequence[Sentence]
    ) -> list[dict[str, Any]]:
        """A float, by its key, or a passage as items of evidence."""
        if isinstance(one, Passage):
            return [{"type": "text", "text": f"{_section_name(self._draft, one.paragraph)}: {' '.join(one.texts)}"}]
        table = self._draft.floats[one]
        judged = [place for paragraph, place in places if self._draft.paragraphs[paragraph].table_key == one]
        if judged:  # its own caption
            return [table_evidence(table, judged)]
        rows = self.rows(table, [sentence.text for sentence in sentences], MOST_TABLE)
        items = list(float_items(self._draft.folder, table, rows))
        # A picture is dear: it is shown where a sentence refers to it.
        return items if any(one in each.float_keys for each in sentences) else [{**items[0], "img_path": None}]


def _front(draft: Draft) -> frozenset[int]:
    """The paragraphs without a heading that stand before one that is called the abstract: they are none."""
    for number, paragraph in enumerate(draft.paragraphs):
        if paragraph.headings:
            is_abstract = paragraph.headings[0].casefold().strip(" :.") == "abstract"
            return frozenset(range(number)) if is_abstract else frozenset()
    return frozenset()


def _caption(item: Mapping[str, Any]) -> str:
    return " ".join([*item.get("table_caption", ()), *item.get("image_caption", ())])
