"""A paper given as a PDF.

A PDF says where signs stand, and no more: what is a heading, a paragraph, a caption or a cell is told by size, place
and wording, so that a reader of the LaTeX sees more and errs less. Not told at all: which letters a font really draws
(one that shows other letters than it names looks honest), what stands in pictures, and displayed formulas.
"""

import re
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from aisr.paper import citations
from aisr.paper.citations import PARTICLES, YEAR, People, WorkIndex
from aisr.paper.draft import Draft, Float, Paragraph, Place, Sentence, Unread, Work
from aisr.paper.passages import float_keys, keys_by_name
from aisr.paper.readers.pdf_blocks import (
    ABSTRACT,
    DEEPEST,
    END,
    Block,
    Headings,
    Kind,
    Text,
    blocks,
    front,
    run_in,
    text_of,
    type_of,
    vocabulary,
    without_references,
)
from aisr.paper.readers.pdf_floats import floats
from aisr.paper.readers.pdf_lines import Line, Regions, Sheet, lines, regions, within
from aisr.paper.readers.pdf_process import LIMITS, Box, Limits, Page, Pages, Word, pages_of
from aisr.paper.readers.pdf_tables import continued, without_rules
from aisr.programs.errors import UserError
from aisr.programs.text import sentences

# --- What of a PDF no reader sees, and what of it is not read.

LONGEST_EXCERPT = 80  # characters
FEW = 4  # words of a label
BESIDE = 30.0  # points between a drawing and its labels


def hidden(file: str, pages: Sequence[Page]) -> tuple[list[Paragraph], list[Unread]]:
    """What no reader sees: a paragraph and a note for each run of words that are hidden in one place for one reason."""
    found: list[Paragraph] = []
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
            text = _said(run)
            found.append(Paragraph(tuple(Sentence(one, place, hidden=True) for one in sentences(text))))
            what = f"{len(run)} hidden words ({run[0].hidden}), kept out of what is checked"
            notes.append(Unread(place, f"{what}: “{text[:LONGEST_EXCERPT]}”"))
    return found, notes


def left_out(file: str, found: Pages, seen: Mapping[int, Regions], text: Sequence[Block]) -> Iterator[Unread]:
    for number, why in found.unread.items():
        yield Unread(Place(file, page=number), why)
    formulas = Counter(
        block.lines[min(behind, len(block.lines)) - 1].page for block in text for behind in block.formulas
    )
    for page in found.pages:
        place = Place(file, page=page.number)
        upright = [word for word in page.words if not word.hidden]
        turned = [word for word in page.words if word.hidden == "turned"]
        turned = [word for word in turned if not any(within(word.box, box) for box in seen[page.number].figures)]
        if not upright:
            yield Unread(place, "no text on this page that a reader sees")
        if turned:
            yield Unread(place, f"{len(turned)} words that stand sideways: “{_said(turned)[:LONGEST_EXCERPT]}”")
        if formulas[page.number]:
            yield Unread(place, f"displayed formulas, for which [formula] stands: {formulas[page.number]}")


def _said(words: Sequence[Word]) -> str:
    return "".join(word.text if word.glued else f" {word.text}" for word in words).strip()


def without_labels(found: Sequence[Block], seen: Mapping[int, Regions]) -> list[Block]:
    """Blocks without the labels of axes and the like, which stand beside a drawing and are a few words each."""
    return [block for block in found if not (_few_words(block) and _at_drawing(block, seen))]


def _few_words(block: Block) -> bool:
    return (
        block.kind in (Kind.PARAGRAPH, Kind.FORMULA)
        and len(block.text.split()) <= FEW
        and block.text[-1] not in ".:;?!"
    )


def _at_drawing(block: Block, seen: Mapping[int, Regions]) -> bool:
    first = block.lines[0]
    return any(
        within(first.box, Box(box.left - BESIDE, box.top - BESIDE, box.right + BESIDE, box.bottom + BESIDE))
        for box in seen[first.page].figures
    )


# --- The list of references at the end of a PDF: entries, and what of them is number, author, year, title and DOI.

LABEL = re.compile(r"\[([^\[\]]{1,24})\]|(\d{1,3})\.")
DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+")
QUOTED = re.compile(r"[“\"]([^“”\"]{8,400}?)[,.]?[”\"]")
BEHIND_YEAR = re.compile(r"(?:\((?:1[89]|20)\d\d[a-z]?\)|(?<!\d)(?:1[89]|20)\d\d[a-z]?)[.,:]\s{0,3}")
LONGEST = 1_500  # characters of an entry; a longer one has swallowed what stands behind it
FEWEST_HANGING = 0.15  # of the lines of a list whose entries are told by their indent
AUTHORS_END = 200  # characters; a year further behind is none that stands behind the authors
WEB = re.compile(r"\b(?:doi|url|https?|arxiv)\b", re.IGNORECASE)
INITIALS = re.compile(r"(?:[^\W\d_a-z]\.?[-‐]?\s?){1,4}|Jr\.?|I{2,3}")
GROUPS = ("Collaboration", "Consortium", "Team", "Group")
LONGEST_AUTHOR = 6  # words
NAMES_END = re.compile(r"(?<=[^\W\d_]{2})(?<!\bal)(?<!\bJr)\.\s")  # a full stop that is not behind initials
PARTED = re.compile(r",|;|\band\b|&|\bet al\b|\(")


def entries(lines: Sequence[Line], words: Counter[str]) -> list[str]:
    """The entries of a list, each in one line: by their labels, or by where their lines begin."""
    begins = [_label(line) is not None for line in lines]
    if begins[:1] != [True]:
        begins = _by_indent(lines)
    found: list[list[Line]] = []
    for line, new in zip(lines, begins, strict=True):
        if new or not found:
            found.append([line])
        else:
            found[-1].append(line)
    return [text_of(Block(Kind.PARAGRAPH, tuple(entry)), words).text for entry in found]


def _by_indent(lines: Sequence[Line]) -> list[bool]:
    """Of each line whether an entry begins there: the others hang in, or it does itself, or it stands apart.

    Where lines begin is asked of the list alone: in a column full of long entries nearly all of them hang in.
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


class Listed(NamedTuple):
    """A list of references. works: by what running text calls them, their number, or first author and year as in
    `marlow 2021`; people: those of each work where they could be told; odd: entries that are none, or hold more than
    one."""

    works: dict[str, Work]
    people: dict[str, People]
    odd: list[str]


def works(found: Sequence[str]) -> Listed:
    """The works of a list of references."""
    listed = Listed({}, {}, [])
    for entry in found:
        work, who = _work(entry), _people(entry)
        if work is not None:
            if work.key in listed.works and who not in (None, listed.people.get(work.key)):
                work = work._replace(key=f"{work.key} ({len(listed.works) + 1})")
            listed.works.setdefault(work.key, work)
            if who is not None:
                listed.people.setdefault(work.key, who)
        if work is None or len(entry) > LONGEST:
            listed.odd.append(entry)
    return listed


def _label(line: Line) -> str | None:
    found = LABEL.match(line.text)
    return (found[1] or found[2]) if found else None


def _work(entry: str) -> Work | None:
    label = LABEL.match(entry)
    text = entry[label.end() :].strip() if label else entry
    doi = DOI.search(text.replace("/ ", "/"))
    key = (label[1] or label[2]) if label else _by_author(text)
    return Work(key, title_of(text), doi[0].rstrip(".,;)").lower() if doi else "") if key else None


def title_of(entry: str) -> str:
    """The title in an entry without its label, as far as the usual styles let it be told; empty where they do not."""
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


def _by_author(entry: str) -> str:
    """`marlow 2021` of an entry of that author's; empty where it has no year."""
    who = _people(entry)
    return f"{who.surnames[0].split()[-1].lower()} {who.year}" if who else ""


def _people(entry: str) -> People | None:
    """The authors of an entry and its year; None where it has no year, or nobody stands in front."""
    label = LABEL.match(entry)
    text = entry[label.end() :].strip() if label else entry
    end = WEB.search(text)
    years = [found[1] + found[2] for found in YEAR.finditer(text[: end.start() if end else len(text)])]
    years = years or [found[1] + found[2] for found in YEAR.finditer(text)]
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


ITEM = re.compile(r"(?:[^\w\s(\[\"“‘'<>=+$€£%@#&/\\\[-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s(?=\S)")
LETTERED = re.compile(r"\[([^\[\]]{1,100})\]")
NUMBERS = re.compile(r"(\d{1,3})(?:\s?[-–]\s?(\d{1,3}))?")
FRONT_WORDS = 25  # a text in front of the first heading that is shorter is an author, an address or a date


class Reading(NamedTuple):
    """What is known of a PDF before its sentences are read. raised: works are cited by raised numbers;
    named: works by author and year."""

    file: str
    works: Mapping[str, Work]
    float_keys: Mapping[str, str]
    words: Counter[str]
    raised: bool
    named: WorkIndex


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
    named = WorkIndex(found_works.people.items())
    reading = Reading(path.name, known, keys_by_name(found_floats), words, _cites_raised(text, words, known), named)
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
        found.append(Sentence(sentence, place, float_keys(sentence, reading.float_keys), cited))
    return Paragraph(tuple(found), above)


def _without_bullet(text: str) -> str:
    """The text of an item of a list without its bullet or number."""
    found = ITEM.match(text)
    return text[found.end() :] if found else text


def _cited(sentence: str, raised: Sequence[str], known: Mapping[str, Work], named: WorkIndex) -> tuple[str, ...]:
    """The keys of the works that a sentence cites, in order."""
    keys: list[str] = []
    for mark in citations.find_marks(sentence):
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
    return not any(_cited(block.text, [], known, WorkIndex(())) for block in text if block.kind is Kind.PARAGRAPH)


def _where_referred_to(found: Mapping[str, Float], paragraphs: Sequence[Paragraph]) -> dict[str, Float]:
    """Floats below the headings where they are first referred to, unless they are so where they stand as well: on paper
    they drift into later sections.

    One that nothing refers to, and that stands in a section without floats of its own, belongs to the outermost section
    of the one of its kind before it.
    """
    mentions: dict[str, list[tuple[str, ...]]] = {}
    for paragraph in paragraphs:
        for sentence in paragraph.sentences:
            for key in sentence.float_keys:
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
