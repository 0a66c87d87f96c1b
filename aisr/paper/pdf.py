"""A paper given as a PDF.

A PDF says where signs stand, and no more: what is a heading, a paragraph, a caption or a cell is told by size, place
and wording, so that a reader of the LaTeX sees more and errs less. Not told at all: which letters a font really draws
(one that shows other letters than it names looks honest), what stands in pictures, and displayed formulas.
"""

import re
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from aisr.paper import citations, references
from aisr.paper.author_year import Works
from aisr.paper.draft import Draft, Float, Paragraph, Place, Sentence, Unread, Work
from aisr.paper.pdf_blocks import Block, Kind, blocks, run_in, type_of
from aisr.paper.pdf_continued import continued
from aisr.paper.pdf_floats import floats
from aisr.paper.pdf_lines import Sheet, lines
from aisr.paper.pdf_process import LIMITS, Limits, Pages, pages_of
from aisr.paper.pdf_regions import regions
from aisr.paper.pdf_sections import ABSTRACT, DEEPEST, END, Headings, front, without_references
from aisr.paper.pdf_tables import without_rules
from aisr.paper.pdf_text import Text, text_of, vocabulary
from aisr.paper.pdf_unseen import hidden, left_out, without_labels
from aisr.paper.pdf_works import entries, works
from aisr.programs.errors import UserError
from aisr.programs.text.sentences import sentences

ITEM = re.compile(r"(?:[^\w\s(\[\"“‘'<>=+$€£%@#&/\\\[-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s(?=\S)")
LETTERED = re.compile(r"\[([^\[\]]{1,100})\]")
NUMBERS = re.compile(r"(\d{1,3})(?:\s?[-–]\s?(\d{1,3}))?")
FRONT_WORDS = 25  # a text in front of the first heading that is shorter is an author, an address or a date


class Reading(NamedTuple):
    """What is known of a PDF before its sentences are read. raised: works are cited by raised numbers;
    named: works by author and year."""

    file: str
    works: Mapping[str, Work]
    floats: Mapping[str, Float]
    words: Counter[str]
    raised: bool
    named: Works


def read(path: Path, limits: Limits = LIMITS) -> Draft:
    """The draft in a PDF. Raises UserError where it is none, locked, broken, beyond the limits, or holds no text."""
    found = pages_of(path, limits)
    seen, more = continued(found.pages, {page.number: regions(page) for page in found.pages})
    sheets = [Sheet(page.number, page.width, page.height, seen[page.number].text) for page in found.pages]
    ordered = lines(sheets)
    if not ordered:
        raise UserError(f"{path}: {_empty(found)}; expected a PDF with text. Read its text with an OCR program first")
    body = type_of(ordered)
    running, loose = without_rules(ordered, body)
    words = vocabulary(running)
    whole = without_labels(blocks(running, body), seen)
    title, start = front(whole, found.title)
    text, listed = without_references(whole[start:])
    found_works = works(entries(listed, words))
    known = found_works.works
    found_floats, unread = floats(path, text, words, found.pages, seen, loose, more)
    named = Works(found_works.people.items())
    reading = Reading(path.name, known, found_floats, words, _cites_raised(text, words, known), named)
    paragraphs = [*_front_paragraphs(whole[:start], reading), *_paragraphs(text, reading)]
    unseen, notes = hidden(path.name, found.pages)
    where = Place(path.name, page=listed[0].page if listed else None)
    unread += [
        Unread(where, f"no work, or more than one, among the references: “{one[:80]}”") for one in found_works.odd
    ]
    return Draft(
        folder=path.parent,
        title=title,
        paragraphs=tuple(_in_place(paragraphs, unseen)),
        floats=_where_referred_to(found_floats, paragraphs),
        works=known,
        unread=tuple(sorted([*unread, *notes, *left_out(path.name, found, seen, text)], key=lambda one: one.place)),
    )


def _empty(found: Pages) -> str:
    reasons = Counter(word.hidden for page in found.pages for word in page.words if word.hidden)
    if reasons:
        return f"no text in it that a reader sees ({reasons.total()} words are hidden: {reasons.most_common(1)[0][0]})"
    return "no text in it (a scan?)"


def _front_paragraphs(blocks_in_front: Sequence[Block], reading: Reading) -> Iterator[Paragraph]:
    """What of the front is prose: an abstract without a heading, say."""
    for block in blocks_in_front:
        if block.kind is Kind.PARAGRAPH and len(block.text.split()) >= FRONT_WORDS:
            yield _paragraph(text_of(block, reading.words), (), reading)


def _paragraphs(text: Sequence[Block], reading: Reading) -> Iterator[Paragraph]:
    above = Headings(text)
    notes = {
        (block.lines[0].page, mark)
        for block in text
        if block.kind is Kind.NOTE
        for mark in block.lines[0].atoms[0].marks
    }
    noted: dict[tuple[int, str], tuple[str, ...]] = {}  # page and mark of a footnote -> what its mark stands below
    for block in text:
        if block.kind is Kind.HEADING:
            above.add(block, reading.words)
        elif block.kind in (Kind.PARAGRAPH, Kind.NOTE):
            skip = run_in(block) if block.kind is Kind.PARAGRAPH else 0
            if skip:
                above.put(" ".join(atom.text for atom in block.lines[0].atoms[:skip]), DEEPEST)
            said = text_of(block, reading.words, skip)
            if abstract := ABSTRACT.match(said.text):
                above.put("Abstract", 1)
                said = Text(said.text[abstract.end() :], said.pages, said.marks)
            now = above.now()
            pages = [(said.page(place), mark) for place, mark in said.marks]
            if block.kind is Kind.NOTE:
                now = noted.get(pages[0], now) if pages else now
            else:
                noted.update(dict.fromkeys(pages, now))
                said = said._replace(
                    marks=tuple(one for one, at in zip(said.marks, pages, strict=True) if at not in notes)
                )
            paragraph = _paragraph(said, now, reading)
            if paragraph.sentences:
                yield paragraph


def _paragraph(said: Text, above: tuple[str, ...], reading: Reading) -> Paragraph:
    found: list[Sentence] = []
    end = 0
    text = _without_bullet(said.text)
    lead = len(said.text) - len(text)
    places = [place for place, _ in said.marks]
    for sentence in sentences(text):
        begin = text.index(sentence, end)
        end = begin + len(sentence)
        raised = said.marks[bisect_right(places, begin + lead) : bisect_right(places, end + lead)]
        marks = [mark for _, mark in raised]
        place = Place(reading.file, page=said.page(begin + lead))
        cited = _cited(sentence, marks if reading.raised else [], reading.works, reading.named)
        found.append(Sentence(sentence, place, references.floats_named(sentence, reading.floats), cited))
    return Paragraph(tuple(found), above)


def _without_bullet(text: str) -> str:
    """The text of an item of a list without its bullet or number."""
    found = ITEM.match(text)
    return text[found.end() :] if found else text


def _cited(sentence: str, raised: Sequence[str], known: Mapping[str, Work], named: Works) -> tuple[str, ...]:
    """The keys of the works that a sentence cites, in order."""
    keys: list[str] = []
    for mark in citations.marks(sentence):
        keys += mark.works if not mark.people else [named.find(one) or "" for one in mark.people]
    keys += [key.strip() for found in LETTERED.findall(sentence) for key in re.split(r"[,;]", found)]
    for number_mark in raised:
        for first, last in NUMBERS.findall(number_mark):
            keys += [str(number) for number in range(int(first), int(last or first) + 1)][:50]
    return tuple(dict.fromkeys(key for key in keys if key in known))


def _cites_raised(text: Sequence[Block], words: Counter[str], known: Mapping[str, Work]) -> bool:
    """Whether raised numbers are works, not notes: where works are numbered, and none is cited in brackets."""
    if not known or not all(key.isdigit() for key in known):
        return False
    return not any(_cited(block.text, [], known, Works(())) for block in text if block.kind is Kind.PARAGRAPH)


def _where_referred_to(found: Mapping[str, Float], paragraphs: Sequence[Paragraph]) -> dict[str, Float]:
    """Floats below the headings where they are first referred to, unless they are so where they stand as well: on paper
    they drift into later sections.

    One that nothing refers to, and that stands in a section without floats of its own, belongs to the outermost section
    of the one of its kind before it.
    """
    mentions: dict[str, list[tuple[str, ...]]] = {}
    for paragraph in paragraphs:
        for sentence in paragraph.sentences:
            for key in sentence.refers:
                mentions.setdefault(key, []).append(paragraph.headings)
    placed: dict[str, Float] = {}
    before: dict[str, tuple[str, ...]] = {}
    for key, one in found.items():
        referring = [headings for headings in mentions.get(key, []) if headings != ("Abstract",)]
        headings = one.headings
        if referring and headings not in referring:
            headings = referring[0]
        elif not referring and one.kind in before and END.match("".join(headings[:1])):
            headings = before[one.kind][:1]
        before[one.kind] = headings
        placed[key] = one._replace(headings=headings)
    return placed


def _in_place(seen: Sequence[Paragraph], unseen: Sequence[Paragraph]) -> list[Paragraph]:
    """Hidden paragraphs behind the last one that begins on their page or before."""
    if not seen:
        return list(unseen)
    # A footnote stands behind a paragraph that goes on overleaf: what counts is the least page of those to come.
    pages = [paragraph.sentences[0].place.page or 0 for paragraph in seen]
    to_come = list(accumulate(reversed(pages), min))[::-1][1:]
    found: list[Paragraph] = []
    waiting = deque(unseen)
    for paragraph, least in zip(seen, [*to_come, 10**9], strict=True):
        found.append(paragraph)
        while waiting and (waiting[0].sentences[0].place.page or 0) < least:
            found.append(waiting.popleft())
    return [*found, *waiting]
