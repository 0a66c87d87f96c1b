"""Lines as headings, paragraphs, captions, footnotes and formulas; paragraphs joined over columns and pages, and filed
under their sections."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from aisr_papers.readers.pdf_lines import INDENT, Line, Type, is_beside, is_full_left

# --- Headings: lines that carry the next number, and known ones.

LONGEST_HEADING = 120  # characters
MOST_LINES = 3  # of a heading
APART = 1.35  # of the usual leading: lines further apart belong to two blocks
SAME_SIZE = 0.6  # points
SPACED = 1.15  # of the usual leading: above and below a heading is at least so much
AHEAD = 2  # a heading may be missing before the next number
NUMBERED = re.compile(
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.|[A-Z](?:\.\d{1,2}){0,2}\.?)\s(?=[^\W\d_a-z])"
)
KNOWN = re.compile(
    r"(?:abstract|introduction|related work|background|methods?|materials and methods|experiments|results|"
    r"results and discussion|discussion|limitations?|ethics statement|conclusions?|acknowledge?ments?|references|"
    r"bibliography|literature cited|works cited|appendix|appendices|supplementary material)[:.]?",
    re.IGNORECASE,
)
WORD = re.compile(r"[^\W\d_]{4,}")
ROMAN = {"I": 1, "V": 5, "X": 10}


def split_number(text: str) -> tuple[str, str]:
    """Return the number of a heading, empty where it has none, and the rest."""
    match = NUMBERED.match(text)
    return (match["number"], text[match.end() :].strip()) if match else ("", text.strip())


def find_headings(lines: Sequence[Line], body: Type) -> dict[Line, int]:
    """Return the lines of headings with a number, with their depth, from 1; further lines of one heading have 0."""
    result: dict[Line, int] = {}
    numbering = Numbering()
    for place, line in enumerate(lines):
        if line in result or not _is_candidate(lines, place, body):
            continue
        depth = numbering.depth_of(split_number(line.text)[0], line.bold or line.size > body.size + SAME_SIZE)
        if depth:
            result[line] = depth
            for before, other in pairwise(lines[place : place + MOST_LINES]):
                if _is_plain(line, body) or not _is_alike(before, other) or not is_near(before, other, body):
                    break
                result[other] = 0
    return result


def is_near(before: Line, line: Line, body: Type) -> bool:
    """Return whether a line stands below another as in one paragraph."""
    leading = body.leading * max(line.size, before.size) / body.size
    return is_beside(before, line) and line.baseline - before.baseline < APART * leading


def _is_alike(before: Line, line: Line) -> bool:
    return before.font == line.font and abs(before.size - line.size) < SAME_SIZE and not NUMBERED.match(line.text)


def _is_plain(line: Line, body: Type) -> bool:
    return line.font == body.font and abs(line.size - body.size) < SAME_SIZE


def _is_apart(before: Line, line: Line, body: Type) -> bool:
    """Return whether more space is between two lines than within a paragraph."""
    return not is_beside(before, line) or line.baseline - before.baseline > SPACED * body.leading


def _is_candidate(lines: Sequence[Line], place: int, body: Type) -> bool:
    """Return whether a numbered line may be a heading: it looks otherwise than the text, or stands apart from it."""
    line = lines[place]
    name = split_number(line.text)[1]
    if not NUMBERED.match(line.text) or len(line.text) > LONGEST_HEADING or not WORD.search(name):
        return False
    if line.size < body.size - SAME_SIZE or line.text.endswith((",", ";")):
        return False
    before = lines[place - 1] if place else None
    after = lines[place + 1] if place + 1 < len(lines) else None
    above = before is None or _is_apart(before, line, body)
    below = after is None or _is_apart(line, after, body)
    if not _is_plain(line, body) or line.bold or name.isupper():
        return above or below or before is None or before.font != line.font
    is_centered = abs(sum(line.box[::2]) - sum(line.column)) < line.size
    return above and below and not line.text.endswith(".") and (is_full_left(line) or is_centered)


class Numbering:
    """The numbers of headings as they go up, in Arabic, Roman and letters."""

    def __init__(self) -> None:
        self.last: dict[str, list[int]] = {}

    def depth_of(self, number: str, is_sure: bool) -> int:
        """Return the depth of a heading with a number that is the next one, or that is surely one; 0 for any other."""
        for style, parts in _read_number(number):
            last = self.last.get(style, [])
            parents = parts[:-1]
            before = last[len(parents)] if len(last) > len(parents) else 0
            is_first_word = number == "A" and not self.last
            if parents == last[: len(parents)] and before < parts[-1] <= before + AHEAD and not is_first_word:
                self.last[style] = parts
                if style == "I":  # below each of these, letters begin anew
                    self.last.pop("A", None)
                return len(parts) + (style == "A" and "I" in self.last)
        # "A" alone may be the first word of a title.
        return len(number.strip(".").split(".")) if is_sure and len(number) > 1 else 0


def _read_number(number: str) -> list[tuple[str, list[int]]]:
    """Return a number as it may be meant: Arabic "1", Roman "I" or letters "A", and its parts."""
    first, *rest = [part for part in number.split(".") if part] or [""]
    more = [int(part) for part in rest]
    if first.isdecimal():
        return [("1", [int(first), *more])]
    readings = []
    if len(first) == 1:
        readings.append(("A", [ord(first) - ord("A") + 1, *more]))
    if first and not first.strip("IVX"):
        values = [ROMAN[sign] for sign in first]
        signed = [-one if one < after else one for one, after in pairwise([*values, 0])]
        readings.insert(0, ("I", [sum(signed), *more]))
    return readings


# --- Blocks.

FAR_IN = 1.8  # of the size: so far in stand displayed formulas
LONE = 0.35  # of the column: a first line that leaves so much free is the last as well
LINES_BEFORE = 30  # of a paragraph, that say how wide it is set
RUN_IN = 8  # words, of a heading that its paragraph goes on behind
REFERENCES = re.compile(r"(?:references|bibliography|literature cited|works cited)[:.]?", re.IGNORECASE)
OPERATOR = re.compile(r"[=<>≤≥≈∝∈∑∏∫√+−±×→∥]")
EQUATION_NUMBER = re.compile(r"\((?:[A-Z]\.?)?\d{1,3}[a-z]?\)$")
TERMINAL = re.compile(r"[.!?:][\"”’')\]]*$")
BULLET = re.compile(r"[^\w\s(\[\"“‘'$€£<>=+%@#&/\\-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]")


class Kind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    CAPTION = "caption"
    NOTE = "footnote"
    FORMULA = "formula"


class Block(NamedTuple):
    """Lines that belong together."""

    kind: Kind
    lines: tuple[Line, ...]
    depth: int = 0  # of a heading: from 1, as its number has it; 0 where it has none
    formulas: tuple[int, ...] = ()  # behind how many of its lines a displayed formula stood

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)


def build_blocks(lines: Sequence[Line], body: Type, headings: Mapping[Line, int]) -> list[Block]:
    """Return the blocks in order; a paragraph that goes on in another column, on another page or behind a formula, a
    figure or a footnote is one. headings: of `find_headings`."""
    groups: list[list[Line]] = []
    for line in lines:
        if groups and _goes_on(groups[-1], line, body, headings):
            groups[-1].append(line)
        else:
            groups.append([line])
    blocks = []
    for group in groups:
        depth = headings.get(group[0])
        kind = _kind(group, body) if depth is None else Kind.HEADING
        blocks.append(Block(kind, tuple(group), depth or 0))
    return _join(blocks, body)


def run_in_words(block: Block) -> int:
    """Return how many words of a paragraph are its heading: bold ones that end in a full stop, before some that are
    not."""
    atoms = block.lines[0].atoms
    bold = next((place for place, atom in enumerate(atoms) if not atom.bold), 0)
    if 0 < bold <= RUN_IN and atoms[bold - 1].text.endswith((".", ":")) and not _bullet(block.lines[0]):
        return bold
    return 0


def _full_right(line: Line) -> bool:
    return line.column[1] - line.box.right < 1.5 * line.size


def _indented(line: Line) -> bool:
    return line.box.left - line.column[0] > INDENT * line.size


def _bullet(line: Line) -> bool:
    """Return whether a line begins an item of a list."""
    first = line.atoms[0].text
    return len(line.atoms) > 1 and bool(BULLET.fullmatch(first)) and (_indented(line) or not first[-1].isalnum())


def _goes_on(group: Sequence[Line], line: Line, body: Type, headings: Mapping[Line, int]) -> bool:
    """Return whether a line belongs to the block of the lines before it."""
    before = group[-1]
    if before in headings or line in headings:
        return before in headings and headings.get(line) == 0
    if not is_beside(before, line) or abs(line.size - before.size) > SAME_SIZE:
        return is_beside(before, line) and _formula_like(before) and _formula_like(line) and is_near(before, line, body)
    in_caption = group[0].caption is not None
    if not is_near(before, line, body):
        return False
    if before.bold != line.bold and (_short(before) or _short(line)) and not in_caption:
        return False
    if _formula_like(before) != _formula_like(line) and (_is_formula([before]) or _is_formula([line])):
        return False
    if _bullet(line) or begins_caption(before, line, body):
        return _bullet(line) and in_caption
    if _ended(group, line):
        return False
    if _bullet(group[0]):
        return line.box.left > group[0].box.left + INDENT * line.size
    return not (INDENT * line.size < line.box.left - line.column[0] < 3 * line.size and is_full_left(before))


def _ended(group: Sequence[Line], line: Line) -> bool:
    """Return whether the first word of a line would have had room in the line before, which therefore ends its
    paragraph."""
    last = group[-1]
    if group[0].caption or line.size > group[0].size + SAME_SIZE or line.bold:
        return False
    if _formula_like(last) and _formula_like(line):
        return False
    if len(group) == 1:  # one line alone says little of how wide its text is set
        return last.column[1] - last.box.right > LONE * (last.column[1] - last.column[0])
    first = line.atoms[0].box
    room = max(one.box.right for one in group[-LINES_BEFORE:]) - last.box.right
    return room > first.right - first.left + 2 * line.size


def begins_caption(before: Line | None, line: Line, body: Type) -> bool:
    """Return whether a line begins a caption, rather than going on with "as shown in" of the line before."""
    if line.caption is None:
        return False
    if before is None or not is_beside(before, line) or not is_near(before, line, body) or before.caption:
        return True
    return bool(TERMINAL.search(before.text)) or not _full_right(before) or before.font != line.font


def _short(line: Line) -> bool:
    return len(line.text) <= LONGEST_HEADING and not _full_right(line)


def _kind(lines: Sequence[Line], body: Type) -> Kind:
    text = " ".join(line.text for line in lines)
    if lines[0].caption:
        return Kind.CAPTION
    if _is_heading(lines, text, body):
        return Kind.HEADING
    if _is_formula(lines):
        return Kind.FORMULA
    if lines[0].size < body.size - SAME_SIZE and (lines[0].atoms[0].marks or lines[0].atoms[0].text[:1] in "*†‡∗"):
        return Kind.NOTE
    return Kind.PARAGRAPH


def _is_heading(lines: Sequence[Line], text: str, body: Type) -> bool:
    if len(lines) > MOST_LINES or len(text) > LONGEST_HEADING or not WORD.search(text):
        return False
    if KNOWN.fullmatch(split_number(text)[1]):
        return True
    set_off = lines[0].size > body.size + SAME_SIZE or all(line.bold for line in lines)
    return set_off and lines[0].size > body.size - SAME_SIZE and not text.endswith((".", ",", ";"))


def _formula_like(line: Line) -> bool:
    """Return whether a line stands far in and holds few words."""
    words = len(WORD.findall(line.text))
    atoms = line.atoms
    if len(atoms) > 1 and EQUATION_NUMBER.fullmatch(atoms[0].text):  # numbered on the left
        atoms = atoms[1:]
    return atoms[0].box.left - line.column[0] > FAR_IN * line.size and words <= 0.4 * len(atoms)


def _is_formula(lines: Sequence[Line]) -> bool:
    if not all(_formula_like(line) for line in lines):
        return False
    return any(OPERATOR.search(line.text) or EQUATION_NUMBER.search(line.text) for line in lines)


def _join(blocks: Sequence[Block], body: Type) -> list[Block]:
    """Return blocks with what goes on elsewhere joined to its beginning."""
    joined: list[Block] = []
    last = -1  # the place of the paragraph that may go on
    formula = False
    for block in blocks:
        if block.kind is Kind.FORMULA and last >= 0:
            joined[last] = joined[last]._replace(formulas=(*joined[last].formulas, len(joined[last].lines)))
            formula = True
            continue
        if block.kind is Kind.PARAGRAPH and last >= 0 and _continues(joined[last], block, formula, body):
            joined[last] = joined[last]._replace(lines=(*joined[last].lines, *block.lines))
        else:
            joined.append(block)
            if block.kind is Kind.PARAGRAPH:
                last = len(joined) - 1
            elif block.kind is Kind.HEADING:
                last = -1
        formula = False
    return joined


def _continues(before: Block, block: Block, behind_formula: bool, body: Type) -> bool:
    """Return whether a paragraph is but the rest of one that a column, a page, a float or a formula broke off."""
    last, first = before.lines[-1], block.lines[0]
    if _bullet(first) or abs(last.size - first.size) > SAME_SIZE or run_in_words(block):
        return False
    text, begins = last.text, first.text.lstrip("\"“‘'([")[:1]
    if _bullet(before.lines[0]) and is_full_left(first):
        return behind_formula or not (TERMINAL.search(text) or text.endswith(";"))
    if _indented(first):
        return begins.islower() and not TERMINAL.search(text) and _bullet(before.lines[0])
    if not TERMINAL.search(text):
        return behind_formula or begins.islower() or (not is_beside(last, first) and _full_right(last))
    if behind_formula:
        return body.indents or begins.islower()
    return body.indents and not is_beside(last, first) and _full_right(last)


# --- The text of a block in one line: words that were broken at the end of a line whole again.


def count_words(lines: Iterable[Line]) -> Counter[str]:
    """Return how often each word stands in the lines, but for those that are broken off: for how a broken one is
    written."""
    words: Counter[str] = Counter()
    for line in lines:
        texts = [atom.text for atom in line.atoms]
        whole = texts[:-1] if texts and texts[-1].endswith("-") else texts
        words.update(text.strip(".,;:()[]\"“”'’!?").lower() for text in whole)
    return words


class TextWord(NamedTuple):
    """A word of a text in one line."""

    text: str  # with the blank before it
    page: int
    marks: tuple[str, ...] = ()  # raised numbers behind it


def text_of(block: Block, counts: Counter[str]) -> str:
    """Return the text of a block in one line."""
    return "".join(word.text for word in words_of(block, counts))


def words_of(block: Block, counts: Counter[str], skip: int = 0) -> list[TextWord]:
    """Return the words of a block, those that were broken at the end of a line whole again. counts: of `count_words`;
    skip: words left out in front."""
    words: list[TextWord] = []
    for number, line in enumerate((*block.lines, None)):
        atoms = line.atoms[skip if number == 0 else 0 :] if line else ()
        if number in block.formulas:
            stop = "" if atoms and atoms[0].text[:1].islower() else "."
            words.append(TextWord(f" [formula]{stop}", words[-1].page if words else block.lines[0].page))
        for place, atom in enumerate(atoms):
            goes_on = place == 0 and bool(words) and words[-1].text.endswith("-")
            if goes_on and not _keeps_hyphen("".join(word.text for word in words[-5:]), atom.text, counts):
                words[-1] = words[-1]._replace(text=words[-1].text[:-1])
            blank = " " if words and not goes_on else ""
            words.append(TextWord(f"{blank}{atom.text}", block.lines[number].page, atom.marks))
    return words


def _keeps_hyphen(text: str, rest: str, counts: Counter[str]) -> bool:
    """Return whether the hyphen that a text ends in stays before the rest of the word."""
    begin = text.rsplit(" ", 1)[-1].lstrip("(\"“‘['")
    end = rest.rstrip(".,;:()[]\"“”'’!?")
    without_hyphen, with_hyphen = counts[(begin[:-1] + end).lower()], counts[(begin + end).lower()]
    is_word = end[:1].isalpha() and begin[-2:-1].isalpha() and "-" not in begin[:-1]
    # A name begins behind a hyphen that is meant ("Smith-Jones"); small capitals go on small ("Night-jar").
    return not is_word or with_hyphen > without_hyphen or end[:1].isupper()


# --- How a PDF's blocks are divided: title, sections, list of references.

ABSTRACT = re.compile(r"abstract\s?[—–:.-]+\s?", re.IGNORECASE)
FILE_NAME = re.compile(r"\.(?:dvi|tex|docx?|pdf)$", re.IGNORECASE)  # what some programs write as a title
DEEPEST = 6  # the rank of a heading that its paragraph goes on behind; none is deeper


def read_front(blocks: Sequence[Block], metadata_title: str, words: Counter[str]) -> tuple[str, int]:
    """Return the title, and how many blocks stand before the first section."""
    first = [place for place, block in enumerate(blocks) if block.lines[0].page == 1]
    start = next((place for place in first if _begins_text(blocks[place])), None)
    headings = [place for place in first if blocks[place].kind is Kind.HEADING and not _begins_text(blocks[place])]
    size = max((blocks[place].lines[0].size for place in headings), default=0)
    largest = [place for place in headings if blocks[place].lines[0].size > size - SAME_SIZE]
    if largest and largest[-1] - largest[0] == len(largest) - 1 and not blocks[largest[0]].depth:
        title = " ".join(text_of(blocks[place], words) for place in largest)
        return title, largest[-1] + 1 if start is None or start < largest[-1] else start
    # As large as a section: this is a part of a longer work.
    return "" if FILE_NAME.search(metadata_title) else metadata_title.strip(), start or 0


def _begins_text(block: Block) -> bool:
    """Return whether the first section begins here, or the abstract."""
    if block.kind is Kind.HEADING:
        return bool(block.depth or KNOWN.fullmatch(split_number(block.text)[1]))
    return block.kind is Kind.PARAGRAPH and ABSTRACT.match(block.text) is not None


def take_references(blocks: Sequence[Block]) -> tuple[list[Block], list[Line]]:
    """Return the blocks without the list of references, and its lines."""
    headings = (place for place, block in enumerate(blocks) if block.kind is Kind.HEADING)
    begin = next((place for place in headings if REFERENCES.fullmatch(split_number(blocks[place].text)[1])), None)
    if begin is None:
        return list(blocks), []
    size = blocks[begin].lines[0].size - 0.3
    end = begin + 1
    while end < len(blocks) and not (blocks[end].kind is Kind.HEADING and blocks[end].lines[0].size >= size):
        end += 1
    entries = [block for block in blocks[begin + 1 : end] if block.kind not in (Kind.CAPTION, Kind.HEADING)]
    captions = [block for block in blocks[begin + 1 : end] if block.kind is Kind.CAPTION]
    return [*blocks[:begin], *captions, *blocks[end:]], [line for block in entries for line in block.lines]


class Headings:
    """The headings that stand above what comes next."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._open: list[tuple[int, str]] = []
        self._ranks: dict[float, int] = {}  # of sizes
        sizes: set[float] = set()
        for block in blocks:
            if block.kind is Kind.HEADING:
                sizes.add(block.lines[0].size)
                if block.depth:
                    self._ranks.setdefault(block.lines[0].size, block.depth)
        for place, size in enumerate(sorted(sizes, reverse=True), start=1):
            self._ranks.setdefault(size, place)

    def add(self, block: Block, words: Counter[str]) -> None:
        name = split_number(text_of(block, words))[1]
        self.put(name, block.depth or (1 if KNOWN.fullmatch(name) else self._ranks[block.lines[0].size]))

    def put(self, text: str, rank: int) -> None:
        rank = min(rank, DEEPEST)
        self._open = [one for one in self._open if one[0] < rank] + [(rank, text)]

    def now(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._open)
