"""Ranks the figures and tables of a paper for a claim, by what their captions and the text that cites them say.

The ways are those of CSIRO-LT at Context24 (2024). By elements: the chunks of text that cite an element are its
document, and documents are ranked. By chunks: chunks are ranked, and elements by the sum of the inverse ranks of those
that cite them. `element/100` is the first by chunks of 100 words; `fusion` the four rankings that both ways give by 100
words and by sentences, fused by rank.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from aisr.metrics.context24_figures import Figure, Place, place_of
from aisr.programs.context24_figures.citations import Cited, citations, parts
from aisr.programs.retrieval import RANK_CONSTANT, Matcher, order
from aisr.programs.text import sentences, words

Strategy = Literal["element/100", "fusion"]
DEFAULT: Strategy = "element/100"
WINDOW = 100  # words of a chunk, whatever ends there
SENTENCE = 0  # in the place of a number of words
PAPERS = 256  # whose chunks and citations are kept: a paper has several claims

Labels = tuple[str, ...]


class Caption(NamedTuple):
    """What captions say of an element."""

    whole: str  # the caption that it stands under; for a panel without one that of its figure
    own_part: str  # what that says of a panel alone; "" where it tells no panels apart
    text: str  # the caption; of a panel the part on all panels and its own


class Paper(NamedTuple):
    """The text of a paper, and its figures and tables."""

    paragraphs: tuple[str, ...]  # in document order
    captions: Mapping[str, Caption]  # of the elements, by label, in the order of the record

    @property
    def labels(self) -> Labels:
        """The labels of the elements."""
        return tuple(self.captions)


def paper_of(paragraphs: Sequence[str], captions: Mapping[str, str]) -> Paper:
    """Return a paper. captions: that of each element by its label, "" where it has none. A panel without a caption of
    its own has that of its figure."""
    figures = {place: captions[label] for label in captions if (place := place_of(label))}
    known = {}
    for label, caption in captions.items():
        place = place_of(label)
        of_figure = figures.get(place._replace(panel=""), "") if place else ""
        whole = " ".join((caption or of_figure).split())
        head, own_part = whole, ""
        if place and place.panel:
            head, panels = parts(whole)
            own_part = " ".join(dict.fromkeys(panels[letter] for letter in letters(place.panel) if panels.get(letter)))
        known[label] = Caption(whole, own_part, " ".join(filter(None, (head, own_part))))
    return Paper(tuple(paragraphs), known)


def rank_elements(claim: str, paper: Paper, strategy: Strategy, match: Matcher) -> list[str]:
    """Return the labels of all elements of a paper, best first; those without any text come last, in the order of the
    record. Raises what the matcher raises."""
    if strategy == DEFAULT:
        return _by_elements(claim, paper, WINDOW, match)
    # Reciprocal rank fusion (Cormack et al. 2009); equals stand in the order of the first.
    rankings = [way(claim, paper, size, match) for way in (_by_elements, _by_chunks) for size in (WINDOW, SENTENCE)]
    total = dict.fromkeys(rankings[0], 0.0)
    for ranking in rankings:
        for place, label in enumerate(ranking, start=1):
            total[label] += 1 / (RANK_CONSTANT + place)
    return sorted(total, key=lambda label: -total[label])


def _by_elements(claim: str, paper: Paper, size: int, match: Matcher) -> list[str]:
    texts = list(documents(paper, size).values())
    scores = np.where([bool(text.strip()) for text in texts], match(claim, texts), -np.inf)
    return [paper.labels[place] for place in order(scores)]


def documents(paper: Paper, size: int = WINDOW) -> dict[str, str]:
    """Return the text on each element, by its label: its caption, and the chunks that cite it. A panel that is never
    cited has the chunks that cite its figure's other panels. size: as in `chunks`."""
    texts = chunks(paper.paragraphs, size)
    cited = cited_by(texts, paper.labels)

    def citing(labels: set[str]) -> list[str]:
        return [text for text, named in zip(texts, cited, strict=True) if labels.intersection(named)]

    return {
        label: " ".join(filter(None, (caption.text, *(citing({label}) or citing(siblings(label, paper.labels))))))
        for label, caption in paper.captions.items()
    }


@lru_cache(maxsize=2 * PAPERS)
def chunks(paragraphs: tuple[str, ...], size: int) -> tuple[str, ...]:
    """Return the chunks of a paper in document order, none of them empty. size: their words, or `SENTENCE`."""
    if size == SENTENCE:
        return tuple(sentence for text in paragraphs for sentence in sentences(" ".join(words(text))))
    each = [word for text in paragraphs for word in words(text)]
    return tuple(" ".join(each[begin : begin + size]) for begin in range(0, len(each), size))


@lru_cache(maxsize=2 * PAPERS)
def cited_by(chunks: tuple[str, ...], labels: Labels) -> tuple[Labels, ...]:
    """Return the elements that each chunk cites, in order of mention: a panel that is named with the figure that it
    belongs to, or a whole figure with all of its panels."""
    known = _places(labels)

    def cites(chunk: str) -> Labels:
        cited: dict[str, None] = {}
        for one in citations(chunk):
            of_figure = known.get(Figure(one.kind, one.number, one.supplement), {})
            cited.update(dict.fromkeys(_meant(one, of_figure)))
        return tuple(cited)

    return tuple(map(cites, chunks))


def letters(panel: str) -> list[str]:
    """Return the letters that a panel goes by in a text: A of `A`, of `A-1` and of `AI`; A, B and C of `A-C`."""
    first, _, last = panel.partition("-")
    if len(last) == 1 and first[:1] < last:
        return [chr(sign) for sign in range(ord(first[0]), ord(last) + 1)]
    return [first[0]]


def _by_chunks(claim: str, paper: Paper, size: int, match: Matcher) -> list[str]:
    texts = chunks(paper.paragraphs, size)
    captions = _caption_chunks(paper)
    cited = [*cited_by(texts, paper.labels), *captions.values()]
    texts = (*texts, *captions)
    total: dict[str, float] = {}
    for place, chunk in enumerate(order(match(claim, texts)) if texts else (), start=1):
        for label in cited[chunk]:
            total[label] = total.get(label, 0.0) + 1 / place
    best = sorted(total, key=lambda label: -total[label])
    return list(dict.fromkeys((*best, *paper.labels)))


def _caption_chunks(paper: Paper) -> dict[str, Labels]:
    """Return captions as chunks, each with the elements that it is about: those that share it, and the figure of a
    panel."""
    about: dict[str, Labels] = {}
    for label, caption in paper.captions.items():
        about[caption.text] = (*about.get(caption.text, ()), label)
    about.pop("", None)
    figures = {place.figure: label for label in paper.labels if (place := place_of(label)) and not place.panel}
    for text, labels in about.items():
        above = [figures.get(place.figure, label) for label in labels if (place := place_of(label))]
        about[text] = tuple(dict.fromkeys((*labels, *above)))
    return about


def siblings(label: str, labels: Sequence[str]) -> set[str]:
    """Return the figure of a label and its panels, among some labels."""
    place = place_of(label)
    return {other for other in labels if place and (at := place_of(other)) and at.figure == place.figure}


@lru_cache(maxsize=PAPERS)
def _places(labels: Labels) -> dict[Figure, dict[str, Place]]:
    """Return the labels of each figure and table, with what they name. It goes by the name that citations give it,
    where the S of a supplementary one and the word mean the same."""
    figures: dict[Figure, dict[str, Place]] = {}
    for label in labels:
        if place := place_of(label):
            kind, number, supplement = place.figure
            bare = number.removeprefix("S")
            figures.setdefault(Figure(kind, bare, supplement or bare != number), {})[label] = place
    return figures


def _meant(cited: Cited, of_figure: Mapping[str, Place]) -> list[str]:
    """Return the labels that a citation means: those that it names, then those that follow from it."""
    whole = [label for label, place in of_figure.items() if not place.panel]
    panels = [label for label, place in of_figure.items() if place.panel]
    if not cited.panels:
        return [*whole, *panels]
    named = [label for panel in cited.panels for label in panels if panel in letters(of_figure[label].panel)]
    return [*dict.fromkeys(named), *whole]
