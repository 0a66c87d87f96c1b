"""A paper as its elements are looked for: its text, its figures and tables, and what is said of each of them."""

from collections.abc import Sequence
from typing import NamedTuple

from aisr.programs.records.context24_figures import Element, place_of
from aisr.programs.retrieval.elements.captions import of_panel
from aisr.programs.retrieval.elements.chunks import chunks
from aisr.programs.retrieval.elements.citing import letters, texts_of

# What captions are taken for: of a panel its own part, of a panel all of its figure's, or nothing.
PARTS, WHOLE, PLAIN = CAPTIONS = "parts", "captions", "plain"


class Paper(NamedTuple):
    """Paragraphs in document order; labels and captions of the elements, in the order of the record. parts: the same,
    but of each panel what its caption says of it, behind what it says of all panels."""

    paragraphs: tuple[str, ...]
    labels: tuple[str, ...]
    captions: tuple[str, ...]
    parts: tuple[str, ...]


def paper_of(paragraphs: Sequence[str], elements: Sequence[Element]) -> Paper:
    """A paper. A panel without a caption of its own has that of its figure."""
    own = {place: element.caption for element in elements if (place := place_of(element.label)) is not None}

    def caption(element: Element) -> str:
        place = place_of(element.label)
        of_figure = own.get(place._replace(panel=""), "") if place else ""
        return " ".join((element.caption or of_figure).split())

    def part(element: Element) -> str:
        place = place_of(element.label)
        return of_panel(caption(element), letters(place.panel)) if place and place.panel else caption(element)

    labels = tuple(element.label for element in elements)
    return Paper(tuple(paragraphs), labels, tuple(map(caption, elements)), tuple(map(part, elements)))


def documents(paper: Paper, size: str, reader: str, captions: str) -> list[str]:
    """What there is to say of each element: its caption, as `captions` has it, one of `CAPTIONS`, and the chunks that
    cite it."""
    said = texts_of(chunks(paper.paragraphs, size), paper.labels, reader)
    first = {PARTS: paper.parts, WHOLE: paper.captions, PLAIN: [""] * len(paper.labels)}[captions]
    return [" ".join(filter(None, (caption, said[label]))) for caption, label in zip(first, paper.labels, strict=True)]
