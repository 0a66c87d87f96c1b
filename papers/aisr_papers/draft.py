"""A paper as it is checked: sentences, floats and works with their places, which paragraphs sum up others, and captions
as statements."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from aisr.text import sentences


class Place(NamedTuple):
    """Where something stands: a file, named from the paper's folder, with a line of it or a page, from 1, or, of Word's
    files, which have neither, a paragraph below a heading."""

    file: str
    line: int | None = None
    page: int | None = None
    paragraph: str = ""  # `Results, paragraph 3`

    @property
    def within(self) -> str:
        """Where it is in a file without lines: `page 3`, `Results, paragraph 3`; empty for lines."""
        return self.paragraph or (f"page {self.page}" if self.page is not None and self.line is None else "")

    def __str__(self) -> str:
        """As editors read it: `sections/results.tex:17`, and `paper.pdf, page 3` for pages."""
        if self.line is not None:
            return f"{self.file}:{self.line}"
        return f"{self.file}, {self.within}" if self.within else self.file


class Sentence(NamedTuple):
    """A sentence as its reader sees it."""

    text: str
    place: Place
    float_keys: tuple[str, ...] = ()  # of the floats that it refers to
    work_keys: tuple[str, ...] = ()  # of the works that it cites, in order
    hidden: bool = False  # in the file, but invisible to a reader: white on white, tiny, off the page


class Paragraph(NamedTuple):
    """Sentences in order."""

    sentences: tuple[Sentence, ...]
    headings: tuple[str, ...] = ()  # from the outermost to the innermost
    caption_of: str | None = None  # key of the float whose caption and notes these are; None for running text


class Picture(NamedTuple):
    """A picture of a figure: a file of points, or a drawing (PDF, SVG, EPS)."""

    file: Path
    page: int = 1  # of a PDF, from 1
    # The part of it: left, top, right and bottom in points from the upper left corner; None for all of it.
    box: tuple[float, float, float, float] | None = None
    member: str = ""  # of a Word file: the picture's name within it

    def path(self, folder: Path) -> str:
        """As records name it: the file from the folder with `/`, and the part of it: `paper.pdf#page=3`,
        `paper.docx#word/media/image1.png`."""
        if self.member:
            return f"{self.file.relative_to(folder).as_posix()}#{self.member}"
        part = f"&box={','.join(f'{side:.0f}' for side in self.box)}" if self.box else ""
        page = f"#page={self.page}{part}" if part or self.page > 1 else ""
        return self.file.relative_to(folder).as_posix() + page


class Float(NamedTuple):
    """A figure or table."""

    key: str  # its label, or its name where it has none
    name: str  # as the text calls it: "Table 3"
    kind: Literal["figure", "table"]
    caption: str
    place: Place
    rows: str = ""  # the cells of a table: a row a line, tabs between cells
    pictures: tuple[Picture, ...] = ()
    headings: tuple[str, ...] = ()
    notes: str = ""  # below the cells of a table
    bold: frozenset[tuple[int, int]] = frozenset()  # cells in bold: row and column of `rows`, from 0
    caption_place: Place | None = None  # where caption and notes begin, if not at `place`
    notes_place: Place | None = None


class Work(NamedTuple):
    """A work of the bibliography. Title and DOI are empty where unknown."""

    key: str  # BibTeX's, or the number in brackets
    title: str = ""
    doi: str = ""


class Unread(NamedTuple):
    """What could not be read, and why."""

    place: Place
    reason: str


class Missing(NamedTuple):
    """A stretch of the source that the draft does not hold."""

    place: Place  # where it begins
    length: int  # words
    text: str  # its first words


class Coverage(NamedTuple):
    """How many of the words of a source stand in its draft."""

    words: int
    found: int
    missing: tuple[Missing, ...] = ()  # the longest stretches

    @property
    def share(self) -> float:
        """In 0-1."""
        return self.found / self.words


@dataclass(frozen=True)
class Draft:
    """A whole paper."""

    folder: Path  # places and pictures are below it
    title: str
    paragraphs: tuple[Paragraph, ...]
    floats: Mapping[str, Float]  # by key
    works: Mapping[str, Work]  # by key
    unread: tuple[Unread, ...] = ()
    drawings: Mapping[str, Path] = field(default_factory=dict)  # `Picture.path` of a drawing -> its PNG
    coverage: Coverage | None = None  # of LaTeX and Markdown of some length

    def placed_sentences(self) -> Iterator[tuple[tuple[int, int], Sentence]]:
        """Return all sentences, each with the positions of its paragraph and of itself in that."""
        for number, paragraph in enumerate(self.paragraphs):
            for place, sentence in enumerate(paragraph.sentences):
                yield (number, place), sentence

    def sentence(self, position: tuple[int, int]) -> Sentence:
        """Return the sentence of a paragraph, by the positions of both."""
        paragraph, place = position
        return self.paragraphs[paragraph].sentences[place]


# --- Sentences of papers: more than `sentences` of all tasks tells apart, whose cuts compiled programs were fitted to.

PAGE = re.compile(r"\b(?:pp?|chap)\.$")
IDEOGRAPHIC = re.compile(r"(?<=[。！？])(?![。！？”’」』）])")
# Behind a full stop, a name or a symbol that has no capital: "It is slow. celerite is not", "… sum. λ is …"
LOWER = re.compile(r"(?<=[\w)%][.!?]) (?=[^\W\d_])")
WORD_AT_END = re.compile(r"(?:(?<=[\s(])|^)(?:[a-z]{3,24}|[A-Z]{2,12}|\d{1,12}|\S{0,24}[)%])[.!?]$")
SHORTENED = re.compile(
    r"\b(?:etc|resp|approx|incl|excl|spec|temp|min|max|avg|std|dev|est|spp?|subsp|var|sec|figs?|tabs?|eqs?|refs?|vol|dept|"
    r"univ|proc|coeff?|param|diff|orig|obs|calc|conc|viz|pers|comm|misc|hrs|inc|ltd|wrt)\.$",
    re.IGNORECASE,
)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph of a paper, in order; their words are those of the text."""
    joined: list[str] = []
    for part in sentences(text):
        if joined and PAGE.search(joined[-1][-6:]):
            joined[-1] += f" {part}"
        else:
            joined.append(part)
    return [one.strip() for part in joined for each in _split_at_names(part) for one in IDEOGRAPHIC.split(each) if one]


def _split_at_names(text: str) -> Iterator[str]:
    begin = 0
    for end in LOWER.finditer(text):
        before = text[max(begin, end.start() - 30) : end.start()]
        if WORD_AT_END.search(before) and not SHORTENED.search(before) and not PAGE.search(before):
            yield text[begin : end.start()]
            begin = end.end()
    yield text[begin:]


# --- What part of a paper a paragraph stands in, by its outermost heading: where results are reported, or summed up.

RESULTS = re.compile(
    r"\b(?:results?|experiments?|experimental|evaluations?|findings|analys[ie]s|ablations?|performance|comparisons?)\b",
    re.IGNORECASE,
)
SUMMARY = re.compile(
    r"(?:\W|\d)*(?:abstract|introduction|summary|conclusions?|concluding remarks|executive summary|highlights)\b",
    re.IGNORECASE,
)


def sums_up(paragraph: Paragraph, has_headings: bool) -> bool:
    """Return whether a paragraph restates results: of abstract, introduction or conclusion. In a paper with headings,
    one below none belongs to the abstract."""
    if not paragraph.headings:
        return has_headings
    outermost = paragraph.headings[0]
    return RESULTS.search(outermost) is None and SUMMARY.match(outermost) is not None


# --- Captions, and notes of tables, as sentences of the paper, each at its place, so that they are judged like others.

CAPTIONS = "Captions of tables and figures"  # the heading that they stand below
MOST_TABLES = MOST_FIGURES = 60


def caption_sentences(caption: str, notes: str) -> list[str]:
    """Return the sentences of a caption and of the notes of a table, which are statements like any others."""
    return [*split_sentences(caption), *split_sentences(notes)]


def add_captions(draft: Draft) -> Draft:
    """Return the draft with a paragraph for each table and each figure with a caption behind the others: the sentences
    of caption and notes. A draft that has them stays as it is."""
    if any(paragraph.caption_of is not None for paragraph in draft.paragraphs):
        return draft
    tables = [one for one in draft.floats.values() if one.kind == "table" and one.rows][:MOST_TABLES]
    figures = [one for one in draft.floats.values() if one.kind == "figure" and one.caption][:MOST_FIGURES]
    return replace(draft, paragraphs=(*draft.paragraphs, *map(_caption_paragraph, [*tables, *figures])))


def _caption_paragraph(one: Float) -> Paragraph:
    caption = [Sentence(text, one.caption_place or one.place) for text in split_sentences(one.caption)]
    notes = [Sentence(text, one.notes_place or one.place) for text in split_sentences(one.notes)]
    first, *rest = [*caption, *notes] or [Sentence(one.name, one.place)]
    if first.text != one.name:
        first = first._replace(text=f"{one.name}: {first.text}")
    return Paragraph((first, *rest), (CAPTIONS,), one.key)
