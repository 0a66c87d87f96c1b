"""A paper in a PDF.

A PDF states the places of signs only. Headings, paragraphs, captions and cells are derived from size, place and
wording, so the LaTeX of a paper is read with fewer errors. Not detected: a font that draws other letters than it names,
text in pictures, and displayed formulas.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

from aisr import UserError
from aisr.text import sentences
from aisr_papers.citations import LONGEST_RANGE, RANGE, Entry, WorkIndex, cited_in_words
from aisr_papers.draft import Draft, Float, Paragraph, Place, Sentence, Unread, Work
from aisr_papers.passages import Piece, build_paragraphs
from aisr_papers.readers.pdf_blocks import (
    ABSTRACT,
    DEEPEST,
    Block,
    Headings,
    Kind,
    TextWord,
    build_blocks,
    count_words,
    find_headings,
    read_front,
    run_in_words,
    take_references,
    text_of,
    words_of,
)
from aisr_papers.readers.pdf_floats import read_floats
from aisr_papers.readers.pdf_lines import Line, body_type, read_lines
from aisr_papers.readers.pdf_process import LIMITS, Box, Limits, Page, Pages, Word, is_within, read_pages
from aisr_papers.readers.pdf_regions import Regions, find_regions
from aisr_papers.readers.pdf_tables import Part, take_rows, take_unruled_tables
from aisr_papers.readers.references import LABEL, read_reference

# --- What of a PDF no reader sees, and what of it is not read.

LONGEST_EXCERPT = 80  # characters
LEAST_USED = 0.9  # of the characters of a page
FEW = 4  # words of a label
BESIDE = 30.0  # points between a drawing and its labels


def read_hidden(file: str, pages: Sequence[Page]) -> tuple[list[Paragraph], list[Unread]]:
    """Return what no reader sees: a paragraph and a note for each run of words that are hidden in one place for one
    reason."""
    paragraphs: list[Paragraph] = []
    notes: list[Unread] = []
    for page in pages:
        place = Place(file, page=page.number)
        runs: list[list[Word]] = []
        for word in page.words:
            if word.hidden in ("", "turned"):
                continue
            last = runs[-1][-1] if runs else word
            if not runs or last.hidden != word.hidden or abs(last.baseline - word.baseline) > 2 * word.size + 2:
                runs.append([])
            runs[-1].append(word)
        for run in runs:
            text = _join_words(run)
            paragraphs.append(Paragraph(tuple(Sentence(one, place, hidden=True) for one in sentences(text))))
            what = f"{len(run)} hidden words ({run[0].hidden}), kept out of what is checked"
            notes.append(Unread(place, f"{what}: “{text[:LONGEST_EXCERPT]}”"))
    return paragraphs, notes


def list_unread(file: str, pdf: Pages, regions: Mapping[int, Regions], blocks: Sequence[Block]) -> Iterator[Unread]:
    for number, why in pdf.unread.items():
        yield Unread(Place(file, page=number), why)
    formulas = Counter(
        block.lines[min(behind, len(block.lines)) - 1].page for block in blocks for behind in block.formulas
    )
    for page in pdf.pages:
        place = Place(file, page=page.number)
        if all(word.hidden for word in page.words):
            yield Unread(place, "no text on this page that a reader sees")
        figures = regions[page.number].figures
        turned = [word for word in page.words if word.hidden == "turned"]
        turned = [word for word in turned if not any(is_within(word.box, box) for box in figures)]
        if turned:
            yield Unread(place, f"{len(turned)} words that stand sideways: “{_join_words(turned)[:LONGEST_EXCERPT]}”")
        if formulas[page.number]:
            yield Unread(place, f"displayed formulas, for which [formula] stands: {formulas[page.number]}")


def list_unused(
    file: str,
    pages: Sequence[Page],
    regions: Mapping[int, Regions],
    lines: Sequence[Line],
    blocks: Sequence[Block],
    floats: Iterable[Float],
    parts: Sequence[Part],
) -> Iterator[Unread]:
    """Return the pages of which much is in no paragraph, heading, caption, table, figure or reference. lines: all that
    stand outside of tables and figures; blocks: those that are read; parts: rows that belong to no table."""
    used = {line for block in blocks if block.kind is not Kind.FORMULA for line in block.lines}
    pictures = {picture.page for one in floats for picture in one.pictures}
    texts: dict[int, list[str]] = {page.number: [] for page in pages}
    for line in lines:
        if line not in used:
            texts[line.page].append(line.text)
    for part in parts:
        texts[part.page] += [" ".join(filter(None, row)) for row in part.rows]
    for page in pages:
        if page.number not in pictures:
            texts[page.number] += [word.text for word in regions[page.number].labels]
        lost = " ".join(texts[page.number])
        whole = sum(len(word.text) for word in page.words if not word.hidden)
        share = 1 - len(lost.replace(" ", "")) / max(whole, 1)
        if share < LEAST_USED:
            why = f"{int(100 * share)} % of the characters of this page are read, but not: “{lost[:LONGEST_EXCERPT]}”"
            yield Unread(Place(file, page=page.number), why)


def _join_words(words: Sequence[Word]) -> str:
    return "".join(word.text if word.glued else f" {word.text}" for word in words).strip()


def _is_label(block: Block, regions: Mapping[int, Regions]) -> bool:
    """Return whether a block is the label of an axis or the like: a few words beside a drawing."""
    if block.kind not in (Kind.PARAGRAPH, Kind.FORMULA) or len(block.text.split()) > FEW or block.text[-1] in ".:;?!":
        return False
    first = block.lines[0]
    return any(
        is_within(first.box, Box(box.left - BESIDE, box.top - BESIDE, box.right + BESIDE, box.bottom + BESIDE))
        for box in regions[first.page].figures
    )


# --- The list of references at the end of a PDF, and its entries.

LONGEST = 1_500  # characters of an entry; a longer one has swallowed what stands behind it
FEWEST_HANGING = 0.15  # of the lines of a list whose entries are split by their indent


def split_entries(lines: Sequence[Line], words: Counter[str]) -> list[str]:
    """Return the entries of a list, each in one line: by their labels, or by where their lines begin."""
    begins = [LABEL.match(line.text) is not None for line in lines]
    if begins[:1] != [True]:
        begins = _begins_by_indent(lines)
    entries: list[list[Line]] = []
    for line, new in zip(lines, begins, strict=True):
        if new or not entries:
            entries.append([line])
        else:
            entries[-1].append(line)
    return [text_of(Block(Kind.PARAGRAPH, tuple(entry)), words) for entry in entries]


def _begins_by_indent(lines: Sequence[Line]) -> list[bool]:
    """Of each line whether an entry begins there: the others hang in, or it does itself, or it stands apart.

    Only the lines of the list count: in a column full of long entries nearly all of them hang in.
    """
    left: dict[tuple[int, int], float] = {}  # of a column on odd or even pages
    for line in lines:
        column = line.side, line.page % 2
        left[column] = min(left.get(column, line.box.left), line.box.left)
    out = [line.box.left - left[line.side, line.page % 2] < 0.5 * line.size for line in lines]
    if out.count(False) > FEWEST_HANGING * len(out):
        return out if out[0] else [not one for one in out]
    steps = [line.baseline - before.baseline for before, line in pairwise(lines) if line.side == before.side]
    usual = median([step for step in steps if step > 0] or [0.0])
    apart = [step > 1.2 * usual or step < 0 for step in (line.baseline - b.baseline for b, line in pairwise(lines))]
    return [True, *apart] if lines else []


def read_references(entries: Sequence[str]) -> tuple[dict[str, Entry], list[str]]:
    """Return the works of a list of references, and entries that are no work or hold more than one."""
    works: dict[str, Entry] = {}
    odd: list[str] = []
    for text in entries:
        entry = read_reference(text)
        if entry is not None:
            key = entry.work.key
            if key in works and entry.people not in (None, works[key].people):
                key = f"{key} ({len(works) + 1})"
            works.setdefault(key, entry._replace(work=entry.work._replace(key=key)))
        if entry is None or len(text) > LONGEST:
            odd.append(text)
    return works, odd


# --- The whole.

ITEM = re.compile(r"(?:[^\w\s(\[\"“‘'<>=+$€£%@#&/\\\[-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s(?=\S)")
FRONT_WORDS = 25  # a text in front of the first heading that is shorter is an author, an address or a date


def read(path: Path, limits: Limits = LIMITS) -> Draft:
    """Return the draft in a PDF. Raises UserError where it is none, locked, broken, beyond the limits, or holds no
    text."""
    pdf = read_pages(path, limits)
    regions = {page.number: find_regions(page) for page in pdf.pages}
    all_lines = read_lines(pdf.pages, {number: one.text for number, one in regions.items()})
    if not all_lines:
        raise UserError(f"{path}: {_why_empty(pdf)}; expected a PDF with text. Read its text with an OCR program first")
    body = body_type(all_lines)
    headings = find_headings(all_lines, body)
    lines, unruled = take_unruled_tables(all_lines, body, headings)
    words = count_words(lines)
    all_blocks = [block for block in build_blocks(lines, body, headings) if not _is_label(block, regions)]
    title, start = read_front(all_blocks, pdf.title, words)
    front_captions = [block for block in all_blocks[:start] if block.kind is Kind.CAPTION]
    blocks, reference_lines = take_references([*front_captions, *all_blocks[start:]])
    blocks, other_rows = take_rows(blocks)
    works, odd = read_references(split_entries(reference_lines, words))
    floats, unread, parts = read_floats(path, blocks, words, pdf.pages, regions, unruled, other_rows)
    # What of the front is prose: an abstract without a heading, say.
    prose = [one for one in all_blocks[:start] if one.kind is Kind.PARAGRAPH and len(one.text.split()) >= FRONT_WORDS]
    front = ((_pieces(path.name, words_of(one, words), 0, ()), (), False) for one in prose)
    paragraphs = build_paragraphs([*front, *_paragraphs(path.name, blocks, words, works)], floats, works)
    cited = [key for paragraph in paragraphs for one in paragraph.sentences for key in one.work_keys]
    hidden, notes = read_hidden(path.name, pdf.pages)
    where = Place(path.name, page=reference_lines[0].page if reference_lines else None)
    unread += [Unread(where, f"no work, or more than one, among the references: “{one[:80]}”") for one in odd]
    unread += [*notes, *list_unread(path.name, pdf, regions, blocks)]
    unread += list_unused(path.name, pdf.pages, regions, lines, all_blocks, floats.values(), parts)
    return Draft(
        folder=path.parent,
        title=title,
        paragraphs=(*paragraphs, *hidden),
        floats=floats,
        works={key: one.work for key, one in works.items()} | {key: Work(key) for key in cited if key not in works},
        unread=tuple(sorted(unread, key=lambda one: one.place)),
    )


def _why_empty(pdf: Pages) -> str:
    reasons = Counter(word.hidden for page in pdf.pages for word in page.words if word.hidden)
    if reasons:
        return f"no text in it that a reader sees ({reasons.total()} words are hidden: {reasons.most_common(1)[0][0]})"
    return "no text in it (a scan?)"


def _cites_raised(blocks: Sequence[Block], works: Mapping[str, Entry]) -> bool:
    """Return whether raised numbers are works, not notes: where works are numbered, and none is cited in brackets."""
    if not works or not all(key.isdigit() for key in works):
        return False
    texts = (block.text for block in blocks if block.kind is Kind.PARAGRAPH)
    return not any(cited_in_words(text, WorkIndex(()), works) for text in texts)


def _paragraphs(
    file: str, blocks: Sequence[Block], words: Counter[str], works: Mapping[str, Entry]
) -> Iterator[tuple[Iterable[Piece], tuple[str, ...], bool]]:
    """Return the paragraphs and footnotes among the blocks, with the headings above each."""
    above = Headings(blocks)
    cited = works if _cites_raised(blocks, works) else {}
    notes = {
        (block.lines[0].page, mark)
        for block in blocks
        if block.kind is Kind.NOTE
        for mark in block.lines[0].atoms[0].marks
    }
    note_headings: dict[tuple[int, str], tuple[str, ...]] = {}  # page and mark of a footnote -> those above its mark
    for block in blocks:
        if block.kind is Kind.HEADING:
            above.add(block, words)
        elif block.kind in (Kind.PARAGRAPH, Kind.NOTE):
            skip = run_in_words(block) if block.kind is Kind.PARAGRAPH else 0
            if skip:
                above.put(" ".join(atom.text for atom in block.lines[0].atoms[:skip]), DEEPEST)
            text = words_of(block, words, skip)
            abstract = ABSTRACT.match("".join(word.text for word in text))
            if abstract:
                above.put("Abstract", 1)
            headings = above.now()
            marks = [(word.page, mark) for word in text for mark in word.marks]
            if block.kind is Kind.NOTE:
                headings = note_headings.get(marks[0], headings) if marks else headings
            else:
                note_headings.update(dict.fromkeys(marks, headings))
                text = [
                    word._replace(marks=tuple(mark for mark in word.marks if (word.page, mark) not in notes))
                    for word in text
                ]
            yield _pieces(file, text, abstract.end() if abstract else 0, cited), headings, False


def _pieces(file: str, text: Sequence[TextWord], begin: int, works: Collection[str]) -> Iterator[Piece]:
    """Return a text from its first sign behind the mark of a list, word by word. works: those that raised numbers
    cite."""
    bullet = ITEM.match("".join(word.text for word in text), begin)  # or the number of an item of a list
    begin = bullet.end() if bullet else begin
    for word in text:
        ranges = [
            range(int(first), int(last or first) + 1) for mark in word.marks for first, last in RANGE.findall(mark)
        ]
        keys = (str(number) for one in ranges for number in one[:LONGEST_RANGE])
        yield Piece(word.text[begin:], Place(file, page=word.page), (), tuple(key for key in keys if key in works))
        begin = max(begin - len(word.text), 0)
