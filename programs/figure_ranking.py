"""Ranks the figures and tables of a paper for a claim, by what their captions and the text that cites them say.

The caption of an element and the windows of 100 words that cite it are its document, and documents are ranked, as
CSIRO-LT did at Context24 (2024).

Citations are read in the spellings of papers: `Fig. 2, A and B`, `Figs. 1-3`, `Figures 2A–C and 3`, `Fig. 1 (a,b)`,
`Supplementary Fig. S1`, `Extended Data Table 2`, `Table IV`, `Figure 1—figure supplement 2`. A citation ends where what
follows need not belong to it: "Fig. 2, a decrease" cites no panel.

Captions mark panels in one of four ways: `(A) … (B and C) … (D–F) …` before what they are about, or behind it as in
`growth (a), light (b)`; and by a letter that begins a sentence, `a) …`, `A, …`, `A. …`, `a | …`. One way goes through a
caption; a letter of another in between is a part of the text, such as the (B) of "as in (B)".
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from aisr.metrics.context24_figures import Figure, Place, place_of
from aisr.programs.retrieval import PAPERS_KEPT, Matcher, order
from aisr.programs.text import words

# --- What a text cites

DASH = r"\s{0,2}(?:[-‐-―−]{1,2}|to\b|through\b)\s{0,2}"
AND = r"\s{0,2}(?:,\s?)?(?:and\b|or\b|&)\s{0,2}"
COMMA = r"\s{0,2}(?:[,;]\s?|[/+])"
# What may follow a citation, or go on with it: before anything else a letter or a number begins that.
CLOSED = r"(?=\s{0,2}(?:\Z|[,;:)\]/&‐-―−-]|\.(?!\s?[a-z])|(?:and|or|to|through)\b))"
NUMERALS = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV", "XVI"]
ROMAN = rf"(?:{'|'.join(reversed(NUMERALS))})\b"
NUMBER = r"(?:[Ss]\s?)?\d{1,3}(?:S\d{1,3})?(?![\d%])"
ATTACHED = r"[A-Za-z]{1,4}(?![A-Za-z0-9])"  # panels right behind a number
PANEL = r"(?:[A-Z]{1,3}|[a-z])(?![A-Za-z0-9’'])"
SEVERAL = r"[A-Za-z](?:\s?(?:[,&–—-]|and|to)\s?[A-Za-z]){0,9}"
SUPPLEMENT = r"(?:\s?[-–—]{1,3}\s?|,?\s)(?i:fig(?:ure|\.)? supplement)s? ?"
NUMBERED = rf"{NUMBER}(?:{ATTACHED}|\s?\({SEVERAL}\)|[ ]{PANEL}{CLOSED})?"
GOES_ON = "|".join(
    (
        rf"{DASH}(?:\([A-Za-z]\)|{PANEL})",
        rf"(?:{COMMA}|{AND})(?:\([A-Za-z]\)|{PANEL}{CLOSED})",
        rf"(?<=[A-Za-z)]){AND}[A-Z](?![A-Za-z0-9’'])",  # "Fig. 2A and B show"
        rf"{SUPPLEMENT}{NUMBERED}",
        rf"{AND}{NUMBERED}",
        rf"(?(many){DASH}|[-‐-―−]{{1,2}}){NUMBER}(?:{ATTACHED})?",  # not "Fig. 6 – 8 hours later"
        rf"{COMMA}{NUMBER}(?:{ATTACHED}|(?(many)|{CLOSED}))",  # not "Fig. 2, 3 samples"
    )
)
CITATION = re.compile(
    r"\b(?P<supplement>(?i:(?:supp(?:l(?:ement(?:ary|al)?)?)?\.?|supporting|extended data|additional|appendix|si)"
    r"(?: (?:information|materials?|data|appendix|file(?: \d{1,2})?))?)[,:]?\s)?"
    r"(?:(?P<figure>(?i:fig(?:ure)?))|(?i:tab(?:le)?))(?P<many>[sS])?\b\.?\s{0,2}"
    rf"(?:(?P<romans>(?(figure)(?!)){ROMAN}(?:(?:{COMMA}|{AND}){ROMAN})*+)|(?P<numbers>{NUMBERED}(?:{GOES_ON})*+))"
    r"(?P<behind>(?i:\)? (?:in|of) (?:the )?(?:supplement|supporting information|si\b|appendix)))?"
)
CITED_PART = re.compile(
    rf"(?P<supplement>{SUPPLEMENT})|(?P<dash>{DASH})|{AND}|(?P<s>[Ss]\s?)?(?P<digits>\d{{1,3}}(?:S\d{{1,3}})?)"
    r"|(?P<letters>[A-Za-z]{1,4})"
)
LONGEST_RANGE = 30  # figures that a range may span: no paper says Figs. 1-400


class Cited(NamedTuple):
    """A figure or table that is cited."""

    kind: str  # "FIG" or "TAB"
    number: str  # without the S of a supplementary one
    supplement: bool
    panels: tuple[str, ...] = ()  # in capitals; none where it is cited as a whole


def citations(text: str) -> list[Cited]:
    """Return what a text cites, in order; what it cites twice stands there twice."""
    cited: list[Cited] = []
    for match in CITATION.finditer(text):
        kind = "FIG" if match["figure"] else "TAB"
        supplement = bool(match["supplement"] or match["behind"])
        if match["romans"]:
            numerals = re.findall(ROMAN, match["romans"])
            cited += [Cited(kind, str(NUMERALS.index(numeral) + 1), supplement) for numeral in numerals]
        else:
            cited += _numbered(match["numbers"], Cited(kind, "", supplement), bool(match["many"]))
    return cited


def _numbered(text: str, unnumbered: Cited, many: bool) -> list[Cited]:
    """Return what a text such as `2A–C and 3` cites. many: whether a plural stands before it."""
    cited: list[Cited] = []
    dashed = False
    of_figure = ""  # before the number of a figure's own supplement
    for token in CITED_PART.finditer(text):
        if token["supplement"]:
            figure = cited.pop()
            of_figure = f"{figure.number}S"
        elif token["letters"]:
            last = cited[-1]
            cited[-1] = last._replace(panels=_with_panels(last.panels, token["letters"], dashed))
        elif token["digits"]:
            number = token["digits"].lstrip("0") or "0"
            if dashed and number == cited[-1].number:
                continue  # 2A-2C
            supplement = unnumbered.supplement or bool(token["s"])
            one = unnumbered._replace(number=of_figure + number, supplement=supplement)
            cited += _range(cited.pop(), one, many) if dashed else [one]
        dashed = bool(token["dash"])
    return cited


def _range(first: Cited, last: Cited, many: bool) -> list[Cited]:
    """Return all figures from the first to the last, or a figure of such a number: Figure 2-1."""
    if "S" in first.number + last.number:
        return [first]
    numbers = range(int(first.number) + 1, int(last.number) + 1)
    if 0 < len(numbers) <= LONGEST_RANGE and (many or not first.panels):
        others = [first._replace(number=str(number), panels=()) for number in numbers]
        return [first, *others]
    if first.panels:
        return [first]
    return [first._replace(number=f"{first.number}-{last.number}")]


def spelled_out(panels: str) -> tuple[str, ...]:
    """Return the panels of `a, b`, `a-c`, `A and B`."""
    letters: tuple[str, ...] = ()
    dashed = False
    for token in CITED_PART.finditer(panels):
        if token["letters"]:
            letters = _with_panels(letters, token["letters"], dashed)
        dashed = bool(token["dash"])
    return letters


def _with_panels(panels: tuple[str, ...], letters: str, dashed: bool) -> tuple[str, ...]:
    """Return panels with those that follow: `AB` is two, while `Aii`, which counts on within a panel, is one. dashed:
    all panels up to the last one follow."""
    more = list(letters.upper())
    if dashed and panels and panels[-1] < more[0]:
        more = _from_to(panels[-1], more[0])
    elif sorted(set(more)) != more:
        more = more[:1]
    return tuple(dict.fromkeys([*panels, *more]))


def _from_to(first: str, last: str) -> list[str]:
    return [chr(sign) for sign in range(ord(first), ord(last) + 1)]


# --- What a caption says of each panel

BEGIN = r"(?:(?<=[.;:!?)])\s|\A)\s*"  # of a sentence, or of the caption
WAYS = (
    re.compile(rf"\((?P<panels>{SEVERAL})\)"),
    re.compile(rf"{BEGIN}(?P<panels>{SEVERAL})\)"),
    re.compile(rf"{BEGIN}(?P<panels>[A-Z](?:\s?(?:[,&–—-]|and|to)\s?[A-Z]){{0,9}})(?:[,:.|]|\s\|)\s(?=[A-Z(\d])"),
    re.compile(rf"{BEGIN}(?P<panels>[a-z](?:\s?(?:[,&–—-]|and|to)\s?[a-z]){{0,9}})(?:[,:.|]|\s\|)\s(?=[A-Z(\d])"),
)
MARKUP = re.compile(r"\*\*|__|(?<=\()[_*](?=[A-Za-z][_*]\))|(?<=\([_*][A-Za-z])[_*](?=\))")
BEFORE = re.compile(r"[.;:!?)]\s*\Z")
BEHIND = re.compile(r"\s*(?:[,.;]|and\b|\Z)")
SKIPPED = 2  # letters that a caption may leave out between two panels: one that was misread, an I
CAPTIONS_KEPT = 4096  # captions whose parts are kept


class CaptionParts(NamedTuple):
    """A caption in parts."""

    head: str  # before the first panel
    panels: Mapping[str, str]  # the text on each panel, by its letter, a capital


class _Mark(NamedTuple):
    begin: int
    end: int
    panels: tuple[str, ...]


@lru_cache(maxsize=CAPTIONS_KEPT)
def parts(caption: str) -> CaptionParts:
    """Return the parts of a caption; one without panels is all head."""
    text = " ".join(MARKUP.sub("", caption).split())
    for way in WAYS:
        found = [_Mark(*match.span(), spelled_out(match["panels"])) for match in way.finditer(text)]
        marks = _in_order(text, found)
        panels: set[str] = set()
        for mark in marks:
            panels.update(mark.panels)
        if len(panels) > 1:
            trail = way is WAYS[0] and _trails(text, marks)
            return _divided(text, marks, trail)
    return CaptionParts(text, {})


def _in_order(text: str, marks: Sequence[_Mark]) -> list[_Mark]:
    """Return the marks that begin a part: A first, then what comes next in the alphabet; and where a sentence begins
    with one, panels that had their turn before."""
    kept: list[_Mark] = []
    last = 0
    for mark in marks:
        first = ord(mark.panels[0])
        if not kept:
            is_part = first == ord("A")
        elif first > last:
            is_part = first <= last + 1 + SKIPPED
        else:
            is_part = not mark.begin or BEFORE.search(text, 0, mark.begin) is not None
        if is_part:
            kept.append(mark)
            last = max(last, *map(ord, mark.panels))
    return kept


def _trails(text: str, marks: Sequence[_Mark]) -> bool:
    """Return whether marks stand behind what they are about, whatever follows the last."""
    if BEFORE.search(text, 0, marks[0].begin):
        return False
    return all(BEHIND.match(text, mark.end) for mark in marks[:-1])


def _divided(text: str, marks: Sequence[_Mark], trail: bool) -> CaptionParts:
    """Return the parts between marks that stand before what they are about, or, where they trail, behind it."""
    begins = [0, *(mark.end for mark in marks)]
    ends = [*(mark.begin for mark in marks), len(text)]
    between = [text[begin:end].strip() for begin, end in zip(begins, ends, strict=True)]
    head = between.pop().strip(" .,;") if trail else between.pop(0)
    panels: dict[str, str] = {}
    for mark, part in zip(marks, between, strict=True):
        about = part.strip(" ,;:|")
        for panel in mark.panels:
            panels[panel] = f"{panels.get(panel, '')} {about}".strip()
    return CaptionParts(head, panels)


# --- Ranking

WINDOW = 100  # words, whatever ends there

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
    """Return a paper. captions: of all elements by their labels, "" for none; a panel without one has its figure's."""
    texts = {label: " ".join(caption.split()) for label, caption in captions.items()}
    figures = {place_of(label): text for label, text in texts.items()}
    known = {}
    for label, text in texts.items():
        place = place_of(label)
        if place is None or not place.panel:
            known[label] = Caption(text, "", text)
            continue
        whole = text or figures.get(place._replace(panel=""), "")
        head, panels = parts(whole)
        own_parts = dict.fromkeys(panels.get(letter, "") for letter in panel_letters(place.panel))
        own_part = " ".join(filter(None, own_parts))
        known[label] = Caption(whole, own_part, f"{head} {own_part}".strip())
    return Paper(tuple(paragraphs), known)


def rank_elements(claim: str, paper: Paper, match: Matcher) -> list[str]:
    """Return the labels of all elements, best first; those without any text come last, in the order of the record."""
    texts = list(documents(paper).values())
    has_text = [text != "" for text in texts]
    scores = np.where(has_text, match(claim, texts), -np.inf)
    return [paper.labels[place] for place in order(scores)]


def documents(paper: Paper) -> dict[str, str]:
    """Return the text on each element, by its label: its caption, and the windows about it (see `places_about`)."""
    each = words(" ".join(paper.paragraphs))
    windows = tuple(" ".join(each[begin : begin + WINDOW]) for begin in range(0, len(each), WINDOW))
    cited = cited_by(windows, paper.labels)
    texts = {}
    for label, caption in paper.captions.items():
        around = [windows[place] for place in places_about(label, cited, paper.labels)]
        texts[label] = " ".join([caption.text, *around]).strip()
    return texts


@lru_cache(maxsize=2 * PAPERS_KEPT)
def cited_by(texts: tuple[str, ...], labels: Labels) -> tuple[Labels, ...]:
    """Return the elements that each text cites, in order: a panel also cites its figure, a whole figure its panels."""
    known = _places(labels)
    result: list[Labels] = []
    for text in texts:
        cited: dict[str, None] = {}
        for one in citations(text):
            of_figure = known.get(Figure(one.kind, one.number, one.supplement), {})
            cited.update(dict.fromkeys(_meant(one, of_figure)))
        result.append(tuple(cited))
    return tuple(result)


def panel_letters(panel: str) -> list[str]:
    """Return the letters that a panel goes by in a text: A of `A`, of `A-1` and of `AI`; A, B and C of `A-C`."""
    first, _, last = panel.partition("-")
    if len(last) == 1 and first[0] < last:
        return _from_to(first[0], last)
    return [first[0]]


def places_about(label: str, cited: Sequence[Labels], labels: Labels) -> list[int]:
    """Return the places of the texts that cite an element; where none does, of those that cite its figure or another
    panel of it. cited: the elements that each text cites; labels: all elements."""
    about = [place for place, named in enumerate(cited) if label in named]
    own = place_of(label)
    if about or own is None:
        return about
    siblings: set[str] = set()
    for other in labels:
        place = place_of(other)
        if place and place.figure == own.figure:
            siblings.add(other)
    return [place for place, named in enumerate(cited) if siblings.intersection(named)]


@lru_cache(maxsize=PAPERS_KEPT)
def _places(labels: Labels) -> dict[Figure, dict[str, Place]]:
    """Return the labels of each figure and table, with what they name. `S1` and `supplementary 1` are one figure."""
    figures: dict[Figure, dict[str, Place]] = {}
    for label in labels:
        place = place_of(label)
        if place is None:
            continue
        kind, number, supplement = place.figure
        bare = number.removeprefix("S")
        figure = Figure(kind, bare, supplement or bare != number)
        figures.setdefault(figure, {})[label] = place
    return figures


def _meant(cited: Cited, of_figure: Mapping[str, Place]) -> list[str]:
    """Return the labels that a citation means: those that it names, then those that follow from it."""
    whole = [label for label, place in of_figure.items() if not place.panel]
    panels = {label: panel_letters(place.panel) for label, place in of_figure.items() if place.panel}
    if not cited.panels:
        return [*whole, *panels]
    named: list[str] = []
    for panel in cited.panels:
        named += [label for label, letters in panels.items() if panel in letters]
    return [*dict.fromkeys(named), *whole]
