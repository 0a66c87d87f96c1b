"""Which chunks of a paper cite which of its figures and tables, by either of two readers."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from aisr.programs.records.context24_figures import Figure, Place, place_of
from aisr.programs.retrieval.elements.citations import Cited, citations

READ, SPELLED = "read", "spelled"
HEADS = {"FIG": ("fig. ", "figure ", "fig ", "f. "), "TAB": ("tab. ", "table ", "tab ", "t. ")}
PAPERS = 512  # papers in chunks of some size, whose citations are kept

Labels = tuple[str, ...]


class _Known(NamedTuple):
    """What tells a figure from others in a text, where the S of a supplementary one and the word mean the same."""

    kind: str
    number: str
    supplement: bool


def read(chunk: str, labels: Labels) -> list[str]:
    """The elements that a chunk cites, in order of mention, by a reader that knows the spellings of papers: a panel
    that is named with the figure that it belongs to, or a whole figure with all of its panels."""
    known = places(labels)
    found: dict[str, None] = {}
    for cited in citations(chunk):
        of_figure = known.get(_Known(cited.kind, cited.number, cited.supplement), {})
        found.update(dict.fromkeys(_meant(cited, of_figure)))
    return list(found)


def spelled(chunk: str, labels: Labels) -> list[str]:
    """The elements that a chunk cites, in order of mention, as CSIRO-LT found them at Context24: an element's number
    behind `Fig. `, `Figure ` and the like, and a blank behind it. So `(Fig. 1A)` and `Fig. 1, A and B` are missed."""
    text = f"{chunk.lower()} "
    first = {}
    for label in labels:
        place = place_of(label)
        if place is not None:
            name = f"{place.figure.number}{place.panel}".lower()
            found = [at for head in HEADS[place.figure.kind] if (at := text.find(f"{head}{name} ")) >= 0]
            if found:
                first[label] = min(found)
    return sorted(first, key=lambda label: first[label])


READERS: Mapping[str, Callable[[str, Labels], list[str]]] = {READ: read, SPELLED: spelled}


@lru_cache(maxsize=PAPERS)
def cited_by(chunks: tuple[str, ...], labels: Labels, reader: str) -> tuple[tuple[str, ...], ...]:
    """The elements that each chunk cites, in order of mention. reader: one of `READERS`."""
    return tuple(tuple(READERS[reader](chunk, labels)) for chunk in chunks)


def texts_of(chunks: tuple[str, ...], labels: Labels, reader: str) -> dict[str, str]:
    """What the text says of each element: the chunks that cite it, one behind the other; "" where none does. With the
    tolerant reader a panel that is never cited has what is said of its figure's other panels."""
    cited = cited_by(chunks, labels, reader)
    said = {label: [chunk for chunk, named in zip(chunks, cited, strict=True) if label in named] for label in labels}
    if reader == READ:
        for label in labels:
            said[label] = said[label] or _of_siblings(label, chunks, cited, labels)
    return {label: " ".join(said[label]) for label in labels}


def _of_siblings(label: str, chunks: Sequence[str], cited: Sequence[Sequence[str]], labels: Labels) -> list[str]:
    place = place_of(label)
    if place is None:
        return []
    near = {other for other in labels if (at := place_of(other)) is not None and at.figure == place.figure}
    return [chunk for chunk, named in zip(chunks, cited, strict=True) if near.intersection(named)]


@lru_cache(maxsize=PAPERS)
def places(labels: Labels) -> dict[_Known, dict[str, Place]]:
    """The labels of each figure and table, with what they name."""
    found: dict[_Known, dict[str, Place]] = {}
    for label in labels:
        place = place_of(label)
        if place is not None:
            found.setdefault(_key(place.figure), {})[label] = place
    return found


def _key(figure: Figure) -> _Known:
    number = figure.number.removeprefix("S")
    return _Known(figure.kind, number, figure.supplement or number != figure.number)


def _meant(cited: Cited, of_figure: Mapping[str, Place]) -> list[str]:
    """The labels that a citation means, those that it names before those that follow from it."""
    whole = [label for label, place in of_figure.items() if not place.panel]
    panels = [label for label, place in of_figure.items() if place.panel]
    if not cited.panels:
        return [*whole, *panels]
    named = [label for panel in cited.panels for label in panels if panel in letters(of_figure[label].panel)]
    return [*dict.fromkeys(named), *whole]


def letters(panel: str) -> list[str]:
    """The letters that a panel goes by in a text: A of `A`, of `A-1` and of `AI`; A, B and C of `A-C`."""
    first, _, last = panel.partition("-")
    if len(last) == 1 and first[:1] < last:
        return [chr(sign) for sign in range(ord(first[0]), ord(last) + 1)]
    return [first[0]]
