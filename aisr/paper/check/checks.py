"""What of a paper is checked against what, and the tasks whose programs do it: paragraphs against their floats, citing
sentences against cited papers, and doubted sentences against the whole paper."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aisr.paper.check.records import (
    MOST_TABLE,
    Check,
    checkable_statements,
    float_items,
    record_id,
    table_evidence,
    without_pointers,
)
from aisr.paper.check.second_look import HIDDEN, SecondLook
from aisr.paper.cited_claims import split_claims
from aisr.paper.draft import RESULTS, Draft, Float, Paragraph, Sentence, caption_sentences
from aisr.programs.draft.record import DraftRecord
from aisr.programs.draft.task import DRAFT
from aisr.programs.task import Task
from aisr.programs.track1.record import Track1Record
from aisr.programs.track1.task import TRACK1
from aisr.programs.track2.record import Track2Record
from aisr.programs.track2.task import TRACK2

CLAIMS: Task = TRACK1
CITATIONS: Task = TRACK2
WHOLE: Task = DRAFT  # the second look, at the whole paper
Judged = Track1Record | Track2Record | DraftRecord


def without_pictures(record: Judged) -> Judged:
    """The record away from its paper's folder: a path would lead to another picture there, or to none. Halves of
    characters, which no file of records can hold, become question marks."""
    dump = json.dumps(record.model_dump(mode="json"), ensure_ascii=False).encode("utf-8", "replace")
    fields = json.loads(dump)
    for item in fields.get("evidence_bundle", ()):
        item["img_path"] = None
    return type(record).model_validate(fields)


CLAIM = re.compile(
    r"\d|%|\b(?:more|less|fewer|higher|lower|better|worse|best|worst|larg(?:er|est)|small(?:er|est)|fast(?:er|est)"
    r"|slow(?:er|est)|most|least|than|ahead|behind|against|versus|equal(?:ly|s)?|same|similar(?:ly)?|all|every|always"
    r"|never|none|no|any|outperform\w*+|exceed\w*+|surpass\w*+|beat(?:s|en)?|improv\w*+|increas\w*+|decreas\w*+|reduc\w*+"
    r"|gain\w*+|drop\w*+|falls?|fell|rises?|rose|compar\w*+|achiev\w*+|reach\w*+|obtain\w*+|yield\w*+|perform\w*+|show\w*+"
    r"|demonstrat\w*+|indicat\w*+|suggest\w*+|confirm\w*+|significan\w*+|correlat\w*+|consistent\w*+|robust\w*+"
    r"|because|due|caus\w*+|leads?|help\w*+|hurt\w*+|we (?:find|found|observe|see|report|conclude))\b",
    re.IGNORECASE,
)
PART = re.compile(r"(?i:figure|table) \S{0,12}\d[a-h]")
NO_CLAIM = "no number, comparison or claim about results"
MOST_FLOATS = 30  # of one paragraph; beyond that nobody can tell what is held against what
MOST_SHOWN = 20_000_000  # characters of floats that all checks may show together; of a paper 500,000 are many
TOO_MANY = f"refers to more than {MOST_FLOATS} figures and tables, or to none in a section that has more"
TOO_MUCH = f"comes when {MOST_SHOWN:,} characters of figures and tables are shown already"
NO_EVIDENCE = "refers to no figure or table, and stands in no results section that has one"


@dataclass(frozen=True)
class Checks:
    """What there is to check in a paper."""

    claims: tuple[Check, ...]  # for the Track 1 program
    citations: tuple[Check, ...]  # for that of Track 2
    skipped: Mapping[str, int]  # reason -> number of paragraphs that are not checked
    missing: Mapping[str, int]  # key of a cited work without a file -> number of sentences that cite it
    second: SecondLook | None = None  # what a second look at the paper asks; None where there is no paper


def collect_checks(draft: Draft, cited: Mapping[str, Mapping[str, str]]) -> Checks:
    """What there is to check in a draft. cited: key of a work -> its paragraphs, id -> text, where its file was read.

    What is hidden from a reader is never asked about. The id of a record names the file and what is in the record, not
    the line: it stays the same when something else in the paper is edited.
    """
    skipped: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    claims: list[Check] = []
    citations: list[Check] = []
    floats, left = _Floats(draft), MOST_SHOWN
    bundles = [(one.table_key,) if one.table_key is not None else floats.of(one) for one in draft.paragraphs]
    second = SecondLook(draft, [keys if len(keys) <= MOST_FLOATS else () for keys in bundles])
    for number, (paragraph, keys) in enumerate(zip(draft.paragraphs, bundles, strict=True)):
        if paragraph.table_key is not None:
            table = draft.floats[paragraph.table_key]
            left -= _size(table)
            claims += _caption_check(draft, number, table, taken) if left >= 0 else []
            continue
        visible = [(place, one) for place, one in enumerate(paragraph.sentences) if not one.hidden]
        after = left - sum(_size(draft.floats[key]) for key in keys)
        is_body = second.is_body(number)
        reason = _skip_reason([one for _, one in visible], keys, after) if is_body else second.skip_reason(number)
        if reason is not None:
            skipped[reason] += 1
        elif is_body:
            texts = [one.text for _, one in visible]
            items: list[dict[str, Any]] = []
            for key in keys:
                rows = second.rows(draft.floats[key], texts, MOST_TABLE)
                items += float_items(draft.folder, draft.floats[key], rows)
            record = _record(visible[0][1].place.file, texts, items, taken)
            claims.append(Check(record, tuple((number, place) for place, _ in visible)))
            left = after
        for place, sentence in visible:
            missing.update(key for key in sentence.work_keys if not cited.get(key))
            citations += _citation_checks(sentence, (number, place), cited, taken)
    return Checks(tuple(claims), tuple(citations), dict(skipped), dict(missing), second)


def _caption_check(draft: Draft, number: int, table: Float, taken: Counter[str]) -> list[Check]:
    """The caption and notes of a table against its own cells; nothing where nothing can be held against them."""
    statements = caption_sentences(table.caption, table.notes)
    places = checkable_statements(table, [without_pointers(text) for text in statements])
    if not places:
        return []
    sentences = draft.paragraphs[number].sentences
    texts = [sentences[place].text for place in places]
    record = _record(sentences[0].place.file, texts, [table_evidence(table, places)], taken)
    return [Check(record, tuple((number, place) for place in places))]


class _Floats:
    """The floats of a draft as paragraphs find them: by what they are called, and by the sections around them."""

    def __init__(self, draft: Draft) -> None:
        self._floats = draft.floats
        self._place = {key: place for place, key in enumerate(draft.floats)}
        self._named: dict[str, list[str]] = {}
        self._parts: dict[str, list[str]] = {}  # of a figure, by the name of the whole
        self._within: dict[tuple[str, ...], list[str]] = {}
        for key, one in draft.floats.items():
            self._named.setdefault(one.name, []).append(key)
            if one.name[-1:].isalpha():
                self._parts.setdefault(one.name[:-1], []).append(key)
            for level in range(len(one.headings) + 1):
                self._within.setdefault(one.headings[:level], []).append(key)

    def of(self, paragraph: Paragraph) -> tuple[str, ...]:
        """The keys of the floats that a paragraph is checked against: those that it refers to, a part of a figure with
        the whole and the whole with its parts; in a results section, where it refers to none, those of the section.
        More than `MOST_FLOATS` are not listed in full: nobody looks at them."""
        named = [key for one in paragraph.sentences if not one.hidden for key in one.float_keys if key in self._floats]
        keys: dict[str, None] = {}
        for key in dict.fromkeys(named):
            keys |= dict.fromkeys(self._related(key))
            if len(keys) > MOST_FLOATS:
                break
        return tuple(keys) or self._of_section(paragraph.headings)

    def _related(self, key: str) -> list[str]:
        name = self._floats[key].name
        part = PART.fullmatch(name)
        names = [self._named[name], self._named.get(name[:-1], []) if part else self._parts.get(name, [])]
        keys = {other for same in names for other in same[: MOST_FLOATS + 1]}
        return sorted(keys, key=self._place.__getitem__)

    def _of_section(self, headings: tuple[str, ...]) -> tuple[str, ...]:
        """The floats of the innermost section around, up to the results section."""
        outermost = next((level for level, title in enumerate(headings, start=1) if RESULTS.search(title)), None)
        if outermost is None:
            return ()
        for level in range(len(headings), outermost - 1, -1):
            if keys := self._within.get(headings[:level]):
                return tuple(keys[: MOST_FLOATS + 1])
        return ()


def _skip_reason(visible: Sequence[Sentence], keys: tuple[str, ...], left: int) -> str | None:
    """Why a paragraph is not checked; None where it is. left: characters of evidence that may still be shown."""
    if not visible:
        return HIDDEN
    if not any(CLAIM.search(without_pointers(one.text)) for one in visible):
        return NO_CLAIM
    if not keys:
        return NO_EVIDENCE
    if len(keys) > MOST_FLOATS:
        return TOO_MANY
    return TOO_MUCH if left < 0 else None


def _size(one: Float) -> int:
    return len(one.name) + len(one.caption) + len(one.notes) + len(one.rows)


def _record(file: str, sentences: list[str], items: list[dict[str, Any]], taken: Counter[str]) -> Track1Record:
    return Track1Record.model_validate(
        {
            "id": record_id(file, [*sentences, *map(str, items)], taken),
            "claim_text": " ".join(sentences),
            "evidence_bundle": items,
            "sentence_label": [{"sentence": sentence} for sentence in sentences],
        }
    )


def _citation_checks(
    sentence: Sentence, place: tuple[int, int], cited: Mapping[str, Mapping[str, str]], taken: Counter[str]
) -> Iterator[Check]:
    for key, claim in split_claims(sentence.text, sentence.work_keys):
        paper = cited.get(key)
        if not paper:
            continue
        record = Track2Record.model_validate(
            {
                "id": record_id(sentence.place.file, [key, claim, *paper.values()], taken),
                "claim_text": claim,
                "cited_paper_full_text": [{name: text} for name, text in paper.items()],
            }
        )
        yield Check(record, (place,), key)
