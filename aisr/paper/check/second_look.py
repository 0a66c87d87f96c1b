"""The second look: sentences that a first one doubts, and those of abstract, introduction, discussion and conclusion
that state a result, each held against what the rest of the paper says of it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, groupby, zip_longest
from typing import Any

from aisr.paper.check.index import Elsewhere, Passage, where
from aisr.paper.check.record import Check, id_of, items_of, own_cells, rows_within, tells
from aisr.paper.draft import Draft, Float, Sentence
from aisr.programs.draft.record import DraftRecord
from aisr.programs.text import tokens

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
            judged = [place for paragraph, place in places if self._draft.paragraphs[paragraph].of == one]
            if judged:  # its own caption
                return [own_cells(table, judged)]
            made = list(items_of(self._draft.folder, table, self.rows(table, [each.text for each in said], MOST_TABLE)))
            # A picture is dear: it is shown where a sentence refers to it.
            return made if any(one in each.refers for each in said) else [{**made[0], "img_path": None}]
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
