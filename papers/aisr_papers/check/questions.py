"""What of a paper is checked against what: statements, some at a time, against the tables, figures and passages of the
rest of the paper that speak of them, and citing sentences against cited papers. Each check is a record to judge."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, zip_longest
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from aisr.text import clean, digest_text, digest_texts, item as as_item, tokens
from aisr_papers.check.index import PaperIndex, Passage
from aisr_papers.check.layout import read_layout
from aisr_papers.check.statements import MARKED, choose_statements
from aisr_papers.cited_claims import split_claims
from aisr_papers.draft import Draft, Float, Sentence, caption_sentences
from aisr_papers.draft_record import DraftRecord

AT_ONCE = 8  # statements in one question
MOST_TOKENS = 2_400  # of evidence in one question, estimated
MOST_TABLE = 600  # tokens of a table, beyond which only the rows are shown that statements name
MOST_WHOLE = 4_000  # the same of a table whose caption is judged, or that a flag rests on
BESIDE = 200  # characters of each neighbouring paragraph
MOST_PARAGRAPH = 600  # characters, beyond which only what is near the statements is shown
LEFT_OUT = "(rows are left out here)"
SECTION = "Section “"
NO_EVIDENCE = "nothing else in the paper speaks of it"

Place = tuple[int, int]  # the position of a paragraph in the draft, and that of a sentence in it
Citation = Mapping[str, Any]  # a record of Track 2, as a line of its files has it


class Check(NamedTuple):
    """A record to judge."""

    record: DraftRecord | Citation
    places: tuple[Place, ...]  # of each sentence that it has to judge, a single one for a citation
    statements: tuple[str, ...]  # the texts that are judged, as a prompt shows them
    work: str | None = None  # the key of the cited work for a citation
    subject: str = ""  # a digest of that work, whatever part of it a model is shown


def claim_check(fields: Mapping[str, Any], places: Sequence[Place]) -> Check:
    """Return the check of statements by a record of the task draft. fields: as a line of its files has them."""
    record = DraftRecord.model_validate(fields)
    return Check(record, tuple(places), tuple(as_item(clean(one)) for one in record.statements))


@dataclass(frozen=True)
class Checks:
    """What there is to check in a paper."""

    claims: tuple[Check, ...]  # for the program of the task draft
    citations: tuple[Check, ...]  # for that of Track 2
    skipped: Mapping[str, int]  # reason -> number of sentences that are not held against the paper
    missing: Mapping[str, int]  # key of a cited work without a file -> number of sentences that cite it

    @property
    def statements(self) -> int:
        """How many sentences are held against the paper."""
        return sum(len(check.places) for check in self.claims)


def collect_checks(draft: Draft, cited: Mapping[str, Mapping[str, str]]) -> Checks:
    """Return what there is to check in a draft. cited: key of a work -> its paragraphs, id -> text, where its file was
    read.

    What is hidden from a reader is never asked about. The id of a record names the file and what is in the record, not
    the line: it stays the same when something else in the paper is edited.
    """
    index = PaperIndex(draft)
    chosen = choose_statements(draft)
    claims = Questions(index).checks(chosen.places)
    skipped = chosen.skipped
    skipped[NO_EVIDENCE] = sum(map(len, chosen.places.values())) - sum(len(check.places) for check in claims)
    missing: Counter[str] = Counter()
    citations: list[Check] = []
    for place, sentence in draft.placed_sentences():
        if not sentence.hidden and draft.paragraphs[place[0]].caption_of is None:
            missing.update(key for key in sentence.work_keys if not cited.get(key))
            citations += _citation_checks(sentence, place, cited)
    return Checks(claims, tuple(citations), dict(+skipped), dict(missing))


def _citation_checks(sentence: Sentence, place: Place, cited: Mapping[str, Mapping[str, str]]) -> Iterator[Check]:
    for key, claim in split_claims(sentence.text, sentence.work_keys):
        if paper := cited.get(key):
            record = {
                "id": record_id(sentence.place.file, [key, claim, *paper.values()]),
                "claim_text": claim,
                "cited_paper_full_text": [{name: text} for name, text in paper.items()],
            }
            subject = digest_texts([json.dumps(record["cited_paper_full_text"])])
            yield Check(record, (place,), (as_item(claim, paper.__contains__),), key, subject)


class Questions:
    """What is asked about the statements of a draft."""

    def __init__(self, index: PaperIndex) -> None:
        self._draft, self._index = index.draft, index

    def checks(self, wanted: Mapping[int, Sequence[int]]) -> tuple[Check, ...]:
        """Return the records for statements, by the positions of their paragraphs and of themselves in these; those for
        which nothing can be shown are left out. As many as fit stand in one question, those of a section together, and
        none that sum up beside others."""
        made = ((places, self._evidence(places)) for places in self._groups(wanted))
        return tuple(self._check(places, evidence) for places, evidence in made if evidence)

    # --- Which statements stand in one question.

    def _groups(self, wanted: Mapping[int, Sequence[int]]) -> list[list[Place]]:
        """Return the statements of each question. A section that does not fit beside the one before begins a new one,
        so that an edit of one moves few of the others."""
        groups: list[list[Place]] = []
        for _, part in groupby(sorted(wanted, key=lambda number: (self._part(number), number)), key=self._part):
            room = 0
            for _, section in groupby(part, key=self._top):
                places = [[(paragraph, place) for place in sorted(wanted[paragraph])] for paragraph in section]
                units = [some[first : first + AT_ONCE] for some in places for first in range(0, len(some), AT_ONCE)]
                room = room if sum(map(self._weight, units)) <= room else 0
                for unit in units:
                    if self._weight(unit) > room:
                        groups.append([])
                        room = AT_ONCE
                    groups[-1] += unit
                    room -= self._weight(unit)
        return groups

    def _part(self, paragraph: int) -> int:
        """Summaries, the body, and captions are not asked about together."""
        if self._draft.paragraphs[paragraph].caption_of is not None:
            return 2
        return int(not self._index.sums_up[paragraph])

    def _weight(self, unit: Sequence[Place]) -> int:
        """Return how many statements a unit takes the place of: of a caption its table must find room."""
        key = self._draft.paragraphs[unit[0][0]].caption_of
        rows = self._draft.floats[key].rows if key else ""
        return max(len(unit), ceil(AT_ONCE * tokens(rows) / MOST_TOKENS))

    def _top(self, paragraph: int) -> str:
        """Return the outermost heading of a paragraph."""
        return next(iter(self._draft.paragraphs[paragraph].headings), "")

    # --- A record.

    def _sentence(self, place: Place) -> Sentence:
        return self._draft.sentence(place)

    def _check(self, places: Sequence[Place], evidence: list[dict[str, Any]]) -> Check:
        first, last = places[0][0], places[-1][0]
        sentences = [self._sentence(place) for place in places]
        alone = len({self._top(paragraph) for paragraph, _ in places}) == 1
        near = alone and self._draft.paragraphs[first].caption_of is None
        before = self._neighbour(first, -1) if near else ""
        after = self._neighbour(last, 1) if near else ""
        fields = {
            "id": record_id(sentences[0].place.file, [*(one.text for one in sentences), *map(str, evidence)]),
            "title": self._draft.title,
            "headings": self._draft.paragraphs[first].headings if alone else (),
            "before": f"… {before[-BESIDE:]}" if len(before) > BESIDE else before,
            "paragraph": self._around(places, alone),
            "after": f"{after[:BESIDE]} …" if len(after) > BESIDE else after,
            "own_results": not self._index.sums_up[first],
            "sentences": [{"sentence": one.text} for one in sentences],
            "evidence_bundle": evidence,
        }
        return claim_check(fields, places)

    def _around(self, places: Sequence[Place], alone: bool) -> str:
        """Return the paragraphs of statements; of long ones these and what stands beside them. alone: whether they are
        of one section; else each section is named where it begins."""
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
        """Return the paragraph before or after, if it stands in the same section."""
        place, paragraphs = paragraph + step, self._draft.paragraphs
        if not 0 <= place < len(paragraphs) or paragraphs[place].headings != paragraphs[paragraph].headings:
            return ""
        return " ".join(one.text for one in paragraphs[place].sentences if not one.hidden)

    # --- Its evidence.

    def _evidence(self, places: Sequence[Place]) -> list[dict[str, Any]]:
        """Return what is shown, as far as there is room: by turns the best float and the best passage of each
        statement, then the next ones; of the caption and notes of a table its cells first."""
        passages = self._index.passages([self._sentence(place) for place in places], [one for one, _ in places])
        turns: list[list[str | Passage]] = []
        own_tables = set[str | Passage]()  # always shown; `_weight` bounds them
        for place, best in zip(places, passages, strict=True):
            own = self._draft.paragraphs[place[0]].caption_of
            if own is not None and self._draft.floats[own].rows:
                own_tables.add(own)
                turns.append([own])
            else:
                pairs = zip_longest(self._index.floats(self._sentence(place), place[0]), best)
                turns.append([one for pair in pairs for one in pair if one is not None])
        left = MOST_TOKENS
        evidence: dict[str | Place, list[dict[str, Any]]] = {}
        for one in filter(None, chain.from_iterable(zip_longest(*turns))):
            key = one if isinstance(one, str) else (one.paragraph, one.first)
            if key not in evidence:
                items = self._items(one, places)
                cost = sum(tokens(f"{item.get('text', '')} {_caption(item)}") for item in items)
                if cost <= left or not evidence or one in own_tables:
                    evidence[key] = items
                    left -= cost
        in_order = sorted(evidence, key=lambda key: (not isinstance(key, str), key))
        return [item for key in in_order for item in evidence[key]]

    def _items(self, one: str | Passage, places: Sequence[Place]) -> list[dict[str, Any]]:
        """Return a float with its parts, by its key, or a passage as items of evidence."""
        if isinstance(one, str):
            return [item for key in self._index.family(one) for item in self._float_items(key, places)]
        headings = self._draft.paragraphs[one.paragraph].headings
        section = f"{SECTION}{' > '.join(headings)}”" if headings else "Text above the first heading"
        return [{"type": "text", "text": f"{section}: {' '.join(one.texts)}"}]

    def _float_items(self, key: str, places: Sequence[Place]) -> list[dict[str, Any]]:
        """Return a float as items, of a long table those rows that the statements name, as far as there is room. A
        picture is dear: it is shown where a statement refers to it. Where its caption is judged, only its cells and
        what is not judged are shown."""
        one = self._draft.floats[key]
        judged = [place for paragraph, place in places if self._draft.paragraphs[paragraph].caption_of == key]
        if judged:
            return [whole_table(one, judged, _speaks_of_bold(one, judged))] if one.rows else []
        sentences = [self._sentence(place) for place in places]
        rows = one.rows
        if tokens(rows) > MOST_TABLE:
            rows = rows_within(rows, self._index.rows_of(key, [sentence.text for sentence in sentences]), MOST_TABLE)
        items = list(float_items(self._draft.folder, one, rows))
        is_looked_at = self._index.family(key)[0] in self._index.referred(*sentences)
        return items if is_looked_at else [{**items[0], "img_path": None}]


def _caption(item: Mapping[str, Any]) -> str:
    return " ".join([*item.get("table_caption", ()), *item.get("image_caption", ())])


def record_id(file: str, texts: Sequence[str]) -> str:
    """Return the file and a digest of what is in a record."""
    return f"{file}:{digest_text(chr(0).join(texts))}"


def rows_within(rows: str, named: Sequence[int], most: int) -> str:
    """Return the rows of a table; of one of more than `most` tokens its head, then those that are named, from 0, with
    their sections, and then the others, as far as there is room."""
    if tokens(rows) <= most:
        return rows
    lines = rows.split("\n")
    layout = read_layout([line.split("\t") for line in lines])
    wanted = [place for row in named for place in sorted(layout.with_names([row]))]
    kept: set[int] = set()
    for place in dict.fromkeys([0, 1, *wanted, *range(2, len(lines))]):
        cost = tokens(lines[place]) + 1 if place < len(lines) else most + 1
        if cost > most:
            break
        kept.add(place)
        most -= cost
    return "\n".join([*(lines[place] for place in sorted(kept)), LEFT_OUT])


def float_items(folder: Path, one: Float, rows: str) -> Iterator[dict[str, Any]]:
    """Return a float as items of evidence, its pictures by their paths from the folder; each picture behind the first
    is an item of its own. rows: those of its cells that are shown."""
    words = " ".join(part for part in (one.caption, one.notes) if part)
    caption = f"{one.name}: {words}" if words else one.name
    paths = [picture.path(folder) for picture in one.pictures if picture.file.is_relative_to(folder)]
    kind = (
        {"type": "table", "table_caption": [caption]}
        if one.kind == "table"
        else {"type": "image", "image_caption": [caption]}
    )
    yield {**kind, "text": rows, "img_path": paths[0] if paths else None}
    for number, path in enumerate(paths[1:], start=2):
        yield {"type": "image", "image_caption": [f"{one.name} ({number} of {len(paths)})"], "img_path": path}


def _speaks_of_bold(table: Float, judged: Sequence[int]) -> bool:
    """Return whether one of some sentences of caption and notes does, by their positions."""
    texts = caption_sentences(table.caption, table.notes)
    return any(MARKED.search(texts[place]) for place in judged)


def whole_table(table: Float, judged: Sequence[int], with_bold: bool = True) -> dict[str, Any]:
    """Return a table with all of its rows (of a very long one the first) and of caption and notes what is not judged;
    bold cells stand between `**`. judged: the positions of sentences of caption and notes."""
    texts = caption_sentences(table.caption, table.notes)
    rest = " ".join(text for place, text in enumerate(texts) if place not in judged)
    rows = table.rows
    if with_bold:
        lines = [row.split("\t") for row in rows.split("\n")]
        rows = "\n".join(
            "\t".join(f"**{cell}**" if (line, column) in table.bold else cell for column, cell in enumerate(row))
            for line, row in enumerate(lines)
        )
    return {
        "type": "table",
        "table_caption": [f"{table.name}: {rest}" if rest else table.name],
        "text": rows_within(rows, (), MOST_WHOLE),
    }
