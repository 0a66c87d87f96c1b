"""A paper as its elements are looked for: its text, its figures and tables, and what is said of each of them."""

from collections.abc import Sequence
from typing import NamedTuple

from programs.records.context24_figures import Element, place_of
from programs.retrieval.elements.chunks import chunks
from programs.retrieval.elements.citing import texts_of


class Paper(NamedTuple):
    """Paragraphs in document order; labels and captions of the elements, in the order of the record."""

    paragraphs: tuple[str, ...]
    labels: tuple[str, ...]
    captions: tuple[str, ...]


def paper_of(paragraphs: Sequence[str], elements: Sequence[Element]) -> Paper:
    """A paper. A panel without a caption of its own has that of its figure."""
    own = {place: element.caption for element in elements if (place := place_of(element.label)) is not None}

    def caption(element: Element) -> str:
        place = place_of(element.label)
        of_figure = own.get(place._replace(panel=""), "") if place else ""
        return " ".join((element.caption or of_figure).split())

    labels = tuple(element.label for element in elements)
    return Paper(tuple(paragraphs), labels, tuple(map(caption, elements)))


def documents(paper: Paper, size: str, reader: str, captions: bool) -> list[str]:
    """What there is to say of each element: its caption, if that is wanted, and the chunks that cite it."""
    said = texts_of(chunks(paper.paragraphs, size), paper.labels, reader)
    first = paper.captions if captions else [""] * len(paper.labels)
    return [" ".join(filter(None, (caption, said[label]))) for caption, label in zip(first, paper.labels, strict=True)]
