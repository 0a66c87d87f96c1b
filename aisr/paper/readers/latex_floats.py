"""Figures and tables while they are read: what stands in them, and what becomes of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from aisr.paper.draft import Float, Picture, Place
from aisr.paper.passages import Piece, flatten, split_bold

MAX_CELLS = 20_000


class Reference(NamedTuple):
    r"""A \ref or the like, whose words are known when all labels are."""

    command: str
    labels: tuple[str, ...]
    place: Place


class Citation(NamedTuple):
    r"""A \cite or the like, whose words are known when the bibliography is."""

    command: str
    keys: tuple[str, ...]
    place: Place
    before: tuple["Item", ...] = ()
    after: tuple["Item", ...] = ()
    close: bool = False


Item = Piece | Reference | Citation


@dataclass
class Cell:
    items: list[Item] = field(default_factory=list)
    columns: int = 1
    rows: int = 1
    bold: bool = False


@dataclass
class Table:
    """The cells of a tabular, as they come. depth: tabulars that are open within it; head: how many rows its head has,
    where that is repeated on each page."""

    rows: list[list[Cell]] = field(default_factory=lambda: [[Cell()]])
    depth: int = 0
    cells: int = 1
    head: int | None = None

    @property
    def cell(self) -> Cell:
        return self.rows[-1][-1]

    def add_cell(self) -> None:
        self.cells += 1
        if self.cells <= MAX_CELLS:
            self.rows[-1].append(Cell())

    def end_part(self, stays: bool) -> None:
        """End a head or a foot of a table that goes over pages; the first head stays."""
        if stays and self.head is None:
            self.head = len(self.rows)
        elif self.head is not None:
            del self.rows[self.head :]
        self.rows.append([Cell()])

    def add_row(self) -> None:
        self.cells += 1
        if self.cells <= MAX_CELLS:
            self.rows.append([Cell()])


@dataclass
class Parts:
    """What stands in a figure or table that is being read. number: as it is printed, empty before its caption."""

    kind: Literal["figure", "table"]
    environment: str
    place: Place
    headings: tuple[str, ...]
    below: list[Item]
    number: str = ""
    captions: list[list[Item]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[Item] = field(default_factory=list)
    within: list["Parts"] = field(default_factory=list)
    code_places: list[Place] = field(default_factory=list)
    before_caption: tuple[int, ...] = (0, 0, 0, 0)  # of each kind of content, how much stands above the caption

    @property
    def name(self) -> str:
        return f"{self.kind.capitalize()} {self.number or f'without a number ({self.place})'}"

    @property
    def content(self) -> tuple[list[Any], ...]:
        return self.pictures, self.tables, self.within, self.code_places

    def take(self, other: "Parts") -> None:
        """Make the content of another one its own."""
        other.part_at((0, 0, 0, 0), self)
        self.labels += other.labels
        self.notes += other.notes

    def part_at(self, places: Sequence[int], second: "Parts") -> None:
        """Leave of each kind of content what stands before a place, and give the rest to a second float."""
        for mine, others, place in zip(self.content, second.content, places, strict=True):
            others += mine[place:]
            del mine[place:]


def words(pieces: Iterable[Piece]) -> str:
    """The pieces in one line."""
    return flatten(pieces).text


def finished(parts: Parts, key: str, caption: str, rows: str, notes: str) -> Float:
    """The float that the parts make."""
    pictures, coded = tuple(parts.pictures), tuple(parts.code_places)
    said, bold = split_bold(rows)
    made = Float(key, parts.name, parts.kind, caption, parts.place, said, pictures, parts.headings, notes, coded, bold)
    return made._replace(
        caption_place=_begin(item for one in parts.captions for item in one), notes_place=_begin(parts.notes)
    )


def _begin(items: Iterable[Item]) -> Place | None:
    """Where some text begins."""
    return next((one.place for one in items if not isinstance(one, Piece) or one.text.strip()), None)


def key_of(parts: Parts, taken: Mapping[str, object]) -> str:
    """A float's label, or its name where it has none or another has it already."""
    return next((label for label in parts.labels if label not in taken), parts.name)
