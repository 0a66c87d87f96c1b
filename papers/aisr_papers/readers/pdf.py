"""A paper in a PDF.

A PDF states the places of signs only. Headings, paragraphs, captions and cells are derived from size, place and
wording, so the LaTeX of a paper is read with fewer errors. Not detected: a font that draws other letters than it names,
text in pictures, and displayed formulas.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from aisr import UserError
from aisr.text import sentences
from aisr_papers.citations import PARTICLES, YEAR, People, WorkIndex, find_marks
from aisr_papers.draft import Draft, Float, Paragraph, Place, Sentence, Unread, Work
from aisr_papers.passages import float_keys, keys_by_name
from aisr_papers.readers.pdf_blocks import (
    ABSTRACT,
    DEEPEST,
    Block,
    Headings,
    Kind,
    Text,
    build_blocks,
    count_words,
    read_front,
    run_in_words,
    take_references,
    text_of,
)
from aisr_papers.readers.pdf_floats import read_floats
from aisr_papers.readers.pdf_headings import find_headings
from aisr_papers.readers.pdf_lines import Line, body_type, read_lines
from aisr_papers.readers.pdf_process import LIMITS, Box, Limits, Page, Pages, Word, is_within, read_pages
from aisr_papers.readers.pdf_regions import Regions, find_regions
from aisr_papers.readers.pdf_tables import Part, take_rows, take_unruled_tables

# --- What of a PDF no reader sees, and what of it is not read.

LONGEST_EXCERPT = 80  # characters
LEAST_USED = 0.9  # of the characters of a page
FEW = 4  # words of a label
BESIDE = 30.0  # points between a drawing and its labels


def read_hidden(file: str, pages: Sequence[Page]) -> tuple[list[Paragraph], list[Unread]]:
    """What no reader sees: a paragraph and a note for each run of words that are hidden in one place for one reason."""
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
    """The pages of which much is in no paragraph, heading, caption, table, figure or reference. lines: all that stand
    outside of tables and figures; blocks: those that are read; parts: rows that belong to no table."""
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
    """Whether a block is the label of an axis or the like: a few words beside a drawing."""
    if block.kind not in (Kind.PARAGRAPH, Kind.FORMULA) or len(block.text.split()) > FEW or block.text[-1] in ".:;?!":
        return False
    first = block.lines[0]
    return any(
        is_within(first.box, Box(box.left - BESIDE, box.top - BESIDE, box.right + BESIDE, box.bottom + BESIDE))
        for box in regions[first.page].figures
    )


# --- The list of references at the end of a PDF: entries, and what of them is number, author, year, title and DOI.

LABEL = re.compile(r"\[([^\[\]]{1,24})\]|(\d{1,3})\.")
DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+")
QUOTED = re.compile(r"[“\"]([^“”\"]{8,400}?)[,.]?[”\"]")
BEHIND_YEAR = re.compile(r"(?:\((?:1[89]|20)\d\d[a-z]?\)|(?<!\d)(?:1[89]|20)\d\d[a-z]?)[.,:]\s{0,3}")
LONGEST = 1_500  # characters of an entry; a longer one has swallowed what stands behind it
FEWEST_HANGING = 0.15  # of the lines of a list whose entries are split by their indent
AUTHORS_END = 200  # characters; a year further behind is none that stands behind the authors
WEB = re.compile(r"\b(?:doi|url|https?|arxiv)\b", re.IGNORECASE)
INITIALS = re.compile(r"(?:[^\W\d_a-z]\.?[-‐]?\s?){1,4}|Jr\.?|I{2,3}")
GROUPS = ("Collaboration", "Consortium", "Team", "Group")
LONGEST_AUTHOR = 6  # words
NAMES_END = re.compile(r"(?<=[^\W\d_]{2})(?<!\bal)(?<!\bJr)\.\s")  # a full stop that is not behind initials
PARTED = re.compile(r",|;|\band\b|&|\bet al\b|\(")


def split_entries(lines: Sequence[Line], words: Counter[str]) -> list[str]:
    """The entries of a list, each in one line: by their labels, or by where their lines begin."""
    begins = [LABEL.match(line.text) is not None for line in lines]
    if begins[:1] != [True]:
        begins = _begins_by_indent(lines)
    entries: list[list[Line]] = []
    for line, new in zip(lines, begins, strict=True):
        if new or not entries:
            entries.append([line])
        else:
            entries[-1].append(line)
    return [text_of(Block(Kind.PARAGRAPH, tuple(entry)), words).text for entry in entries]


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


class References(NamedTuple):
    """A list of references."""

    works: dict[str, Work]  # by their number, or first author and year as in `marlow 2021`
    people: dict[str, People]  # of each work whose entry names them
    odd: list[str]  # entries that are no work, or hold more than one


def read_references(entries: Sequence[str]) -> References:
    """The works of a list of references."""
    references = References({}, {}, [])
    for entry in entries:
        label = LABEL.match(entry)
        text = entry[label.end() :].strip() if label else entry
        people = _people(text)
        work = _work(label, text, people)
        if work is not None:
            if work.key in references.works and people not in (None, references.people.get(work.key)):
                work = work._replace(key=f"{work.key} ({len(references.works) + 1})")
            references.works.setdefault(work.key, work)
            if people is not None:
                references.people.setdefault(work.key, people)
        if work is None or len(entry) > LONGEST:
            references.odd.append(entry)
    return references


def _work(label: re.Match[str] | None, text: str, people: People | None) -> Work | None:
    """A work by its number, or as `marlow 2021` of that author's; None where an entry has neither."""
    if label:
        key = label[1] or label[2]
    elif people:
        key = f"{people.surnames[0].split()[-1].lower()} {people.year}"
    else:
        return None
    doi = DOI.search(text.replace("/ ", "/"))
    return Work(key, title_of(text), doi[0].rstrip(".,;)").lower() if doi else "")


def title_of(entry: str) -> str:
    """The title in an entry without its label, for the usual styles; empty for others."""
    if quoted := QUOTED.search(entry):
        return quoted[1].strip()
    if year := _early_year(entry):
        parts = sentences(entry[year.end() :])
        return parts[0].rstrip(".") if parts else ""
    parts = sentences(entry)
    return parts[1].rstrip(".") if len(parts) > 1 else ""


def _early_year(entry: str) -> re.Match[str] | None:
    """The year where it stands behind the authors and before all else."""
    year = BEHIND_YEAR.search(entry, 0, AUTHORS_END)
    return year if year and year.start() > 3 and len(sentences(entry[: year.start()])) == 1 else None


def _people(text: str) -> People | None:
    """The authors of an entry and its year; None where it has no year, or nobody stands in front."""
    end = WEB.search(text)
    years = [match[1] + match[2] for match in YEAR.finditer(text[: end.start() if end else len(text)])]
    years = years or [match[1] + match[2] for match in YEAR.finditer(text)]
    early = YEAR.search(text, 0, AUTHORS_END)
    is_early = early is not None and (_early_year(text) is not None or _is_names(text[: early.start()]))
    year = f"{early[1]}{early[2]}" if early and is_early else years[-1] if years else ""
    end = NAMES_END.search(text)
    authors = text[: early.start()] if early and is_early else text[: end.start() if end else None]
    surnames = [name for part in PARTED.split(authors) if (name := _surname(part))]
    many = bool(re.search(r"\bet al\b|\bothers\b", authors))
    return People(tuple(surnames[:30]), many, year) if surnames and year else None


def _is_names(text: str) -> bool:
    """Whether nothing but names stands before a year: `Agol, E., & Clarkson, W. 2005`."""
    if NAMES_END.search(text.rstrip(" .,(")):
        return False
    parts = [part.strip(" .") for part in PARTED.split(text) if part.strip(" .()")]
    return bool(parts) and all(_surname(part) or INITIALS.fullmatch(part.replace(" ", "")) for part in parts)


def _surname(part: str) -> str:
    """`Geva` of `Mor Geva`, of `M. Geva` and of `Geva M.`; empty for initials, and for what is no name."""
    words = part.strip(" ,.()").split()
    if words and not INITIALS.fullmatch(words[0]):  # MNRAS: "Geva M."
        while len(words) > 1 and INITIALS.fullmatch(words[-1]):
            words.pop()
    names = [word for word in words if not INITIALS.fullmatch(word)]
    if not names or len(words) > LONGEST_AUTHOR or not names[-1][:1].isupper():
        return ""
    begin = len(names) - 1
    while begin and (names[begin - 1].lower() in PARTICLES or names[-1] in GROUPS):
        begin -= 1
    return " ".join(names[begin:])


# --- The whole.

ITEM = re.compile(r"(?:[^\w\s(\[\"“‘'<>=+$€£%@#&/\\\[-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s(?=\S)")
LETTERED = re.compile(r"\[([^\[\]]{1,100})\]")
NUMBERS = re.compile(r"(\d{1,3})(?:\s?[-–]\s?(\d{1,3}))?")
FRONT_WORDS = 25  # a text in front of the first heading that is shorter is an author, an address or a date


def read(path: Path, limits: Limits = LIMITS) -> Draft:
    """The draft in a PDF. Raises UserError where it is none, locked, broken, beyond the limits, or holds no text."""
    pdf = read_pages(path, limits)
    regions = {page.number: find_regions(page) for page in pdf.pages}
    all_lines = read_lines(pdf.pages, {number: one.text for number, one in regions.items()})
    if not all_lines:
        raise UserError(f"{path}: {_why_empty(pdf)}; expected a PDF with text. Read its text with an OCR program first")
    body = body_type(all_lines)
    headings = find_headings(all_lines, body, pdf.outline)
    lines, unruled = take_unruled_tables(all_lines, body, headings)
    words = count_words(lines)
    all_blocks = [block for block in build_blocks(lines, body, headings) if not _is_label(block, regions)]
    title, start = read_front(all_blocks, pdf.title, words)
    front_captions = [block for block in all_blocks[:start] if block.kind is Kind.CAPTION]
    blocks, reference_lines = take_references([*front_captions, *all_blocks[start:]])
    blocks, other_rows = take_rows(blocks)
    references = read_references(split_entries(reference_lines, words))
    floats, unread, parts = read_floats(path, blocks, words, pdf.pages, regions, unruled, other_rows)
    paragraphs = _Paragraphs(path.name, references, floats, words, blocks).read(all_blocks[:start], blocks)
    hidden, notes = read_hidden(path.name, pdf.pages)
    where = Place(path.name, page=reference_lines[0].page if reference_lines else None)
    unread += [
        Unread(where, f"no work, or more than one, among the references: “{one[:80]}”") for one in references.odd
    ]
    unread += [*notes, *list_unread(path.name, pdf, regions, blocks)]
    unread += list_unused(path.name, pdf.pages, regions, lines, all_blocks, floats.values(), parts)
    return Draft(
        folder=path.parent,
        title=title,
        paragraphs=(*paragraphs, *hidden),
        floats=floats,
        works=references.works,
        unread=tuple(sorted(unread, key=lambda one: one.place)),
    )


def _why_empty(pdf: Pages) -> str:
    reasons = Counter(word.hidden for page in pdf.pages for word in page.words if word.hidden)
    if reasons:
        return f"no text in it that a reader sees ({reasons.total()} words are hidden: {reasons.most_common(1)[0][0]})"
    return "no text in it (a scan?)"


class _Paragraphs:
    """Reads the sentences of a PDF, with what they refer to and cite."""

    def __init__(
        self,
        file: str,
        references: References,
        floats: Mapping[str, Float],
        words: Counter[str],
        blocks: Sequence[Block],
    ) -> None:
        self.file = file
        self.works = references.works
        self.index = WorkIndex(references.people.items())
        self.float_names = keys_by_name(floats)
        self.words = words
        self.cites_raised = self._cites_raised(blocks)

    def _cites_raised(self, blocks: Sequence[Block]) -> bool:
        """Whether raised numbers are works, not notes: where works are numbered, and none is cited in brackets."""
        if not self.works or not all(key.isdigit() for key in self.works):
            return False
        return not any(self._numbered_keys(block.text) for block in blocks if block.kind is Kind.PARAGRAPH)

    def _numbered_keys(self, text: str) -> list[str]:
        return [key for mark in find_marks(text) if not mark.people for key in mark.works if key in self.works] + [
            key
            for match in LETTERED.findall(text)
            for one in re.split(r"[,;]", match)
            if (key := one.strip()) in self.works
        ]

    def read(self, front: Sequence[Block], blocks: Sequence[Block]) -> list[Paragraph]:
        # What of the front is prose: an abstract without a heading, say.
        prose = [one for one in front if one.kind is Kind.PARAGRAPH and len(one.text.split()) >= FRONT_WORDS]
        return [*(self._paragraph(text_of(one, self.words), ()) for one in prose), *self._paragraphs(blocks)]

    def _paragraphs(self, blocks: Sequence[Block]) -> Iterator[Paragraph]:
        above = Headings(blocks)
        notes = {
            (block.lines[0].page, mark)
            for block in blocks
            if block.kind is Kind.NOTE
            for mark in block.lines[0].atoms[0].marks
        }
        note_headings: dict[
            tuple[int, str], tuple[str, ...]
        ] = {}  # page and mark of a footnote -> those above its mark
        for block in blocks:
            if block.kind is Kind.HEADING:
                above.add(block, self.words)
            elif block.kind in (Kind.PARAGRAPH, Kind.NOTE):
                skip = run_in_words(block) if block.kind is Kind.PARAGRAPH else 0
                if skip:
                    above.put(" ".join(atom.text for atom in block.lines[0].atoms[:skip]), DEEPEST)
                text = text_of(block, self.words, skip)
                if abstract := ABSTRACT.match(text.text):
                    above.put("Abstract", 1)
                    text = Text(text.text[abstract.end() :], text.pages, text.marks)
                headings = above.now()
                pages = [(text.page(place), mark) for place, mark in text.marks]
                if block.kind is Kind.NOTE:
                    headings = note_headings.get(pages[0], headings) if pages else headings
                else:
                    note_headings.update(dict.fromkeys(pages, headings))
                    marks = (one for one, page in zip(text.marks, pages, strict=True) if page not in notes)
                    text = text._replace(marks=tuple(marks))
                paragraph = self._paragraph(text, headings)
                if paragraph.sentences:
                    yield paragraph

    def _paragraph(self, block: Text, headings: tuple[str, ...]) -> Paragraph:
        result: list[Sentence] = []
        end = 0
        bullet = ITEM.match(block.text)  # or the number of an item of a list
        lead = bullet.end() if bullet else 0
        text = block.text[lead:]
        places = [place for place, _ in block.marks]
        for sentence in sentences(text):
            begin = text.index(sentence, end)
            end = begin + len(sentence)
            raised = block.marks[bisect_right(places, begin + lead) : bisect_right(places, end + lead)]
            place = Place(self.file, page=block.page(begin + lead))
            keys = self._cited_keys(sentence, [mark for _, mark in raised] if self.cites_raised else [])
            result.append(Sentence(sentence, place, float_keys(sentence, self.float_names), keys))
        return Paragraph(tuple(result), headings)

    def _cited_keys(self, sentence: str, raised: Sequence[str]) -> tuple[str, ...]:
        """The keys of the works that a sentence cites, in order."""
        keys: list[str] = []
        for mark in find_marks(sentence):
            keys += [self.index.find(one) or "" for one in mark.people] if mark.people else mark.works
        keys += [key.strip() for match in LETTERED.findall(sentence) for key in re.split(r"[,;]", match)]
        for number_mark in raised:
            for first, last in NUMBERS.findall(number_mark):
                keys += [str(number) for number in range(int(first), int(last or first) + 1)][:50]
        return tuple(dict.fromkeys(key for key in keys if key in self.works))
