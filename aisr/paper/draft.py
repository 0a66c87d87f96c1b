"""A paper as it is checked: what a reader of LaTeX, Markdown or PDF found in it, where it stands, which part of the
paper a paragraph belongs to, and what captions say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from aisr.programs.text import sentences


class Place(NamedTuple):
    """Where something stands: a file, named from the paper's folder, with a line of it or a page, from 1."""

    file: str
    line: int | None = None
    page: int | None = None

    def __str__(self) -> str:
        """As editors read it: `sections/results.tex:17`, and `paper.pdf, page 3` for pages."""
        if self.line is not None:
            return f"{self.file}:{self.line}"
        return f"{self.file}, page {self.page}" if self.page is not None else self.file


class Sentence(NamedTuple):
    """A sentence as its reader sees it.

    refers: keys of the floats that it refers to; cites: keys of the works that it cites, in order;
    hidden: the file holds it, but no reader would see it (white on white, tiny, off the page).
    """

    text: str
    place: Place
    refers: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    hidden: bool = False


class Paragraph(NamedTuple):
    """Sentences in order, below headings from the outermost to the innermost. of: the key of the table whose caption
    and notes they are; None for running text."""

    sentences: tuple[Sentence, ...]
    headings: tuple[str, ...] = ()
    of: str | None = None


class Picture(NamedTuple):
    """What a figure shows: a file of points, or a drawing (PDF, SVG, EPS). page: of a PDF, from 1; box: the part of it
    that is shown, left, top, right and bottom in points from the upper left corner; None for all of it; trim:
    of a PDF, what is cut off instead at the left, the bottom, the right and the top."""

    file: Path
    page: int = 1
    box: tuple[float, float, float, float] | None = None
    trim: tuple[float, float, float, float] | None = None

    def path(self, folder: Path) -> str:
        """As records name it: the file from the folder with `/`, and what of it is shown: `paper.pdf#page=3`."""
        part = f"&box={','.join(f'{side:.0f}' for side in self.box)}" if self.box else ""
        part += f"&trim={','.join(f'{side:.0f}' for side in self.trim)}" if self.trim else ""
        page = f"#page={self.page}{part}" if part or self.page > 1 else ""
        return self.file.relative_to(folder).as_posix() + page


class Float(NamedTuple):
    """A figure or table. key: its label, or its name where it has none ("Table 3"); name: as the text calls it;
    rows: the cells of a table, a row a line, with tabs between cells, or empty; pictures: in order; headings: those
    that it stands below; notes: what stands below the cells of a table; coded: where it is drawn by code; bold: the
    cells in bold, as row and column of `rows`, from 0; caption_at, notes_at: where these begin, if not at `place`."""

    key: str
    name: str
    kind: Literal["figure", "table"]
    caption: str
    place: Place
    rows: str = ""
    pictures: tuple[Picture, ...] = ()
    headings: tuple[str, ...] = ()
    notes: str = ""
    coded: tuple[Place, ...] = ()
    bold: frozenset[tuple[int, int]] = frozenset()
    caption_at: Place | None = None
    notes_at: Place | None = None


class Work(NamedTuple):
    """A work of the bibliography. key: BibTeX's, or the number in brackets; doi and title are empty where unknown."""

    key: str
    title: str = ""
    doi: str = ""


class Unread(NamedTuple):
    """What could not be read, and why."""

    place: Place
    why: str


@dataclass(frozen=True)
class Draft:
    """A whole paper. folder: what places and pictures are below; floats and works: by their keys; drawn: of drawings
    that were made to pictures of points, the file with these by the path that records name the drawing by."""

    folder: Path
    title: str
    paragraphs: tuple[Paragraph, ...]
    floats: Mapping[str, Float]
    works: Mapping[str, Work]
    unread: tuple[Unread, ...] = ()
    drawn: Mapping[str, Path] = field(default_factory=dict)


# --- What part of a paper a paragraph stands in, by its outermost heading: where results are reported, or summed up.

RESULTS = re.compile(
    r"\b(?:results?|experiments?|experimental|evaluations?|findings|analys[ie]s|ablations?|performance|comparisons?)\b",
    re.IGNORECASE,
)
SUMMARY = re.compile(
    r"(?:\W|\d)*(?:abstract|introduction|summary|conclusions?|concluding remarks|executive summary|highlights)\b",
    re.IGNORECASE,
)
DISCUSSION = re.compile(r"\b(?:discussion|conclusions?|outlook|limitations|implications|future work)\b", re.IGNORECASE)
Part = Literal["body", "discussion", "summary"]


def part_of(paragraph: Paragraph, has_headings: bool) -> Part:
    """Whether results are told again there, and found nowhere first ("summary": abstract, introduction, conclusion),
    are thought about ("discussion"), or may be reported ("body"). What stands below no heading in a paper that has some
    is taken for its abstract."""
    if not paragraph.headings:
        return "summary" if has_headings else "body"
    outermost = paragraph.headings[0]
    if RESULTS.search(outermost):
        return "body"
    if SUMMARY.match(outermost):
        return "summary"
    return "discussion" if DISCUSSION.search(outermost) else "body"


# --- Captions and notes of tables as sentences of the paper, each at its place, so that they can be judged like others.

CAPTIONS = "Captions of tables"  # the heading that they stand below
MOST_TABLES = 60


def statements(caption: str, notes: str) -> list[str]:
    """The sentences of a table's caption and of its notes, which are statements like any others."""
    return [*sentences(caption), *sentences(notes)]


def with_captions(draft: Draft) -> Draft:
    """The draft with a paragraph for each table behind the others: the sentences of its caption and of its notes. One
    that has them already stays as it is."""
    if any(one.of is not None for one in draft.paragraphs):
        return draft
    tables = [one for one in draft.floats.values() if one.kind == "table" and one.rows][:MOST_TABLES]
    return replace(draft, paragraphs=(*draft.paragraphs, *map(_paragraph, tables)))


def _paragraph(one: Float) -> Paragraph:
    caption = [Sentence(text, one.caption_at or one.place) for text in sentences(one.caption)]
    notes = [Sentence(text, one.notes_at or one.place) for text in sentences(one.notes)]
    found = [*caption, *notes] or [Sentence(one.name, one.place)]
    if found[0].text != one.name:
        found[0] = found[0]._replace(text=f"{one.name}: {found[0].text}")
    return Paragraph(tuple(found), (CAPTIONS,), one.key)
