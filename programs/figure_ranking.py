"""Ranks the figures and tables of a paper for a claim, by what their captions and the text that cites them say.

The caption of an element and the windows of 100 words that cite it are its document, and documents are ranked, as
CSIRO-LT did at Context24 (2024).

Citations are read in the spellings of papers: `Fig. 2, A and B`, `Figs. 1-3`, `Figures 2A–C and 3`, `Fig. 1 (a,b)`,
`Supplementary Fig. S1`, `Extended Data Table 2`, `Table IV`, `Figure 1—figure supplement 2`. A citation is read sign by
sign from its first number on, and ends where what follows need not belong to it: "Fig. 2, a decrease" cites no panel.

Captions mark panels in one of four ways: `(A) … (B and C) … (D–F) …` before what they are about, or behind it as in
`growth (a), light (b)`; and by a letter that begins a sentence, `a) …`, `A, …`, `A. …`, `a | …`. One way goes through a
caption; a letter of another in between is a part of the text, such as the (B) of "as in (B)".
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from aisr.metrics.context24_figures import Figure, Place, place_of
from aisr.programs.retrieval import PAPERS_KEPT, Matcher, order
from aisr.programs.text import words

# --- What a text cites

CITATION_HEAD = re.compile(
    r"\b(?:(?P<supplement>(?:supp(?:l(?:ement(?:ary|al)?)?)?\.?|supporting|extended data|additional|appendix|si)"
    r"(?: (?:information|materials?|data|appendix|file(?: \d{1,2})?))?)[,:]?\s)?"
    r"(?:(?P<figure>fig(?:ure)?)|tab(?:le)?)(?P<many>s?)\b\.?\s{0,2}",
    re.IGNORECASE,
)
FIGURE_NUMBER = re.compile(
    r"(?P<s>[Ss]\s?)?(?P<digits>\d{1,3}(?:S\d{1,3})?)(?![\d%])(?:(?P<own>[A-Za-z]{1,4})(?![A-Za-z0-9]))?"
)
ROMAN = re.compile(r"[IVX]{1,6}\b")
NUMERALS = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV", "XVI"]
ROMANS = {numeral: number for number, numeral in enumerate(NUMERALS, start=1)}
SUPPLEMENT = re.compile(
    r"(?:\s?[-–—]{1,3}\s?|,?\s)(?:figure|fig\.?) supplement(?:s (?P<first>\d{1,3}) ?(?:and|&|,|[-–—]) ?)? ?"
    r"(?P<number>\d{1,3})(?:(?P<own>[A-Za-z]{1,4})(?![A-Za-z0-9]))?",
    re.IGNORECASE,
)
OF_SUPPLEMENT = re.compile(r"\)? (?:in|of) (?:the )?(?:supplement|supporting information|si\b|appendix)", re.IGNORECASE)
BRACKETS = re.compile(r"\s?\((?P<panels>[A-Za-z](?:\s?(?:[,&–-]|and|to)\s?[A-Za-z]){0,9})\)")
PANEL_LETTERS = re.compile(r"(?P<letters>[A-Z]{1,3}|[a-z])(?![A-Za-z0-9’'])")
BRACKETED_LETTER = re.compile(r"\((?P<letters>[A-Za-z])\)")
NEXT_CITATION = re.compile(r"\s{0,2}(?:(?P<comma>,\s?+(?!and\b|or\b|&)|;\s?)|(?:,\s?)?(?:and\b|or\b|&)\s{0,2}|[/+])")
RANGE = re.compile(r"\s{0,2}(?:[-‐-―−]{1,2}|to\b|through\b)\s{0,2}")
CLOSED = re.compile(r"\s{0,2}(?:\Z|[,;:)\]/&‐-―−-]|\.(?!\s?[a-z])|(?:and|or|to|through)\b)")
LONGEST_RANGE = 30  # figures that a range may span: no paper says Figs. 1-400


class Cited(NamedTuple):
    """A figure or table that is cited: kind ("FIG" or "TAB"), number without the S of a supplementary one, and the
    panels, in capitals; none where it is cited as a whole."""

    kind: str
    number: str
    supplement: bool
    panels: tuple[str, ...] = ()


def citations(text: str) -> list[Cited]:
    """What a text cites, in order; what it cites twice stands there twice."""
    return [cited for head in CITATION_HEAD.finditer(text) for cited in _Reader(text, head).read()]


class _Reader:
    """What one head (`Figs.`, `Supplementary Table`) goes on to cite."""

    def __init__(self, text: str, head: re.Match[str]) -> None:
        self.text = text
        self.at = head.end()
        self.kind = "FIG" if head["figure"] else "TAB"
        self.supplement = bool(head["supplement"])
        self.many = bool(head["many"])
        self.roman = False
        self.cited: list[Cited] = []

    def read(self) -> list[Cited]:
        """Numbers with their panels, one after the other."""
        if not self._number():
            return []
        while self._range() or self._next():
            pass
        if self._match(OF_SUPPLEMENT):
            return [one._replace(supplement=True) for one in self.cited]
        return self.cited

    def _number(self, sure: bool = True) -> bool:
        """A number, and the panels that stand right behind it. sure: whether one must stand here; elsewhere a number
        may be the beginning of what comes after ("Fig. 2, 3 samples")."""
        roman = self._match(ROMAN) if self.kind == "TAB" and sure else None
        if roman and roman[0] in ROMANS:
            self._add(str(ROMANS[roman[0]]), False, ())
            self.at, self.roman = roman.end(), True
            return True
        number = self._match(FIGURE_NUMBER)
        if number is None or not (sure or self.many or number["own"] or CLOSED.match(self.text, number.end())):
            return False
        self.at = number.end()
        digits, own = number["digits"].upper(), number["own"]
        if supplement := self._match(SUPPLEMENT):
            if supplement["first"]:
                self._add(f"{digits}S{supplement['first']}", False, ())
            digits, own, self.at = f"{digits}S{supplement['number']}", supplement["own"], supplement.end()
        self._add(digits, bool(number["s"]), _letters(own or ""))
        if not own:
            self._panels_behind()
        return True

    def _panels_behind(self) -> None:
        """Panels that stand apart from their number: in brackets, or behind a blank."""
        if brackets := self._match(BRACKETS):
            self.at = brackets.end()
            self._widen(spelled_out(brackets["panels"]))
        elif self.text[self.at : self.at + 1] == " ":
            apart = PANEL_LETTERS.match(self.text, self.at + 1)
            if apart and CLOSED.match(self.text, apart.end()):
                self.at = apart.end()
                self._widen(_letters(apart["letters"]))

    def _range(self) -> bool:
        """`-C`, `–2C`, `-3` behind what was just read."""
        dash = self._match(RANGE)
        last = self.cited[-1]
        if dash is None:
            return False
        if last.panels and (to := _panel(self.text, dash.end())):
            self.at = to.end()
            self._widen(_between(last.panels[-1], to["letters"]))
            return True
        to = FIGURE_NUMBER.match(self.text, dash.end())
        if to is None or "S" in last.number + to["digits"].upper():
            return False
        if dash[0].strip() != dash[0] and not self.many:
            return False  # "Fig. 6 – 8 hours later"
        first, end = int(last.number), int(to["digits"])
        if last.panels and to["own"] and first == end:
            self._widen(_between(last.panels[-1], to["own"]))
        elif first < end <= first + LONGEST_RANGE and (self.many or not last.panels):
            for number in range(first + 1, end):
                self._add(str(number), last.supplement, ())
            self._add(str(end), last.supplement, _letters(to["own"] or ""))
        elif not last.panels and not to["own"]:
            self.cited[-1] = last._replace(number=f"{first}-{end}")  # Figure 2-1: a number of its own
        else:
            return False
        self.at = to.end()
        return True

    def _next(self) -> bool:
        """Another panel or another number, behind a comma or an "and"."""
        apart = self._match(NEXT_CITATION)
        if apart is None:
            return False
        before, self.at = self.at, apart.end()
        letters = None if self.roman else _panel(self.text, self.at)
        if letters and self._belongs(letters, bool(apart["comma"])):
            self.at = letters.end()
            self._widen(_letters(letters["letters"]))
            return True
        of_supplement = "S" in self.cited[-1].number  # "Figure 1—figure supplement 1 and 2" is about no Figure 2
        if not of_supplement and self._number(sure=not apart["comma"]):
            return True
        self.at = before
        return False

    def _belongs(self, letters: re.Match[str], comma: bool) -> bool:
        """Whether letters behind a comma or an "and" are panels: what follows closes the citation or goes on with it,
        or they come behind a panel in the alphabet ("Fig. 2A and B show")."""
        if letters[0][0] == "(" or CLOSED.match(self.text, letters.end()):
            return True
        panels = self.cited[-1].panels
        upper = letters["letters"].isupper()
        return not comma and upper and bool(panels) and letters["letters"] > panels[-1]

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        return pattern.match(self.text, self.at)

    def _add(self, number: str, s: bool, panels: tuple[str, ...]) -> None:
        self.cited.append(Cited(self.kind, number.lstrip("0") or "0", self.supplement or s, panels))

    def _widen(self, panels: tuple[str, ...]) -> None:
        last = self.cited[-1]
        self.cited[-1] = last._replace(panels=tuple(dict.fromkeys((*last.panels, *panels))))


def _panel(text: str, at: int) -> re.Match[str] | None:
    return BRACKETED_LETTER.match(text, at) or PANEL_LETTERS.match(text, at)


def _letters(glued: str) -> tuple[str, ...]:
    """The panels of letters without a blank: AB is two, while Aii, which counts on within a panel, is one."""
    letters = glued.upper()
    rising = all(one < other for one, other in pairwise(letters))
    return tuple(letters if rising else letters[:1])


def _between(first: str, last: str) -> tuple[str, ...]:
    """All panels up to the last one, that of the first on; the last alone where they do not rise."""
    begin, end = ord(first), ord(last[0].upper())
    return tuple(map(chr, range(begin, end + 1))) if begin < end else (last[0].upper(),)


def spelled_out(panels: str) -> tuple[str, ...]:
    """The panels of `a, b`, `a-c`, `A and B`."""
    letters: list[str] = []
    dashed = False
    for word in re.findall(r"\w+|[-–—]", panels):
        if word in ("-", "–", "—", "to"):
            dashed = True
        elif len(word) == 1 and word.isalpha():
            letters += _between(letters[-1], word) if dashed and letters else (word.upper(),)
            dashed = False
    return tuple(dict.fromkeys(letters))


# --- What a caption says of each panel

SEVERAL = r"[A-Za-z](?:\s?(?:[,&–—-]|and|to)\s?[A-Za-z]){0,9}"
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
    """The parts of a caption; one without panels is all head."""
    text = " ".join(MARKUP.sub("", caption).split())
    for way in WAYS:
        marks = _in_order(text, [_Mark(*mark.span(), spelled_out(mark["panels"])) for mark in way.finditer(text)])
        if len({panel for mark in marks for panel in mark.panels}) > 1:
            return _behind(text, marks) if way is WAYS[0] and _trails(text, marks) else _before(text, marks)
    return CaptionParts(text, {})


def _in_order(text: str, marks: Sequence[_Mark]) -> list[_Mark]:
    """The marks that begin a part: A first, then what comes next in the alphabet; and where a sentence begins with one,
    panels that had their turn before."""
    kept: list[_Mark] = []
    last = ord("A") - 1
    for mark in marks:
        first = ord(mark.panels[0])
        begins = not mark.begin or BEFORE.search(text, 0, mark.begin) is not None
        if last < first <= last + 1 + SKIPPED * bool(kept) or (kept and begins and first <= last):
            kept.append(mark)
            last = max(last, *map(ord, mark.panels))
    return kept


def _trails(text: str, marks: Sequence[_Mark]) -> bool:
    """Whether marks stand behind what they are about, whatever follows the last."""
    return not BEFORE.search(text, 0, marks[0].begin) and all(BEHIND.match(text, mark.end) for mark in marks[:-1])


def _before(text: str, marks: Sequence[_Mark]) -> CaptionParts:
    ends = [*(mark.begin for mark in marks[1:]), len(text)]
    pieces = [(mark.panels, text[mark.end : end]) for mark, end in zip(marks, ends, strict=True)]
    return CaptionParts(text[: marks[0].begin].strip(), _joined(pieces))


def _behind(text: str, marks: Sequence[_Mark]) -> CaptionParts:
    begins = [0, *(mark.end for mark in marks[:-1])]
    pieces = [(mark.panels, text[begin : mark.begin]) for mark, begin in zip(marks, begins, strict=True)]
    return CaptionParts(text[marks[-1].end :].strip(" .,;"), _joined(pieces))


def _joined(pieces: Sequence[tuple[tuple[str, ...], str]]) -> dict[str, str]:
    by_panel: dict[str, list[str]] = {}
    for panels, text in pieces:
        for panel in panels:
            by_panel.setdefault(panel, []).append(text.strip(" ,;:|"))
    return {panel: " ".join(filter(None, texts)) for panel, texts in by_panel.items()}


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
            own_part = " ".join(
                dict.fromkeys(panels[letter] for letter in panel_letters(place.panel) if panels.get(letter))
            )
        known[label] = Caption(whole, own_part, " ".join(filter(None, (head, own_part))))
    return Paper(tuple(paragraphs), known)


def rank_elements(claim: str, paper: Paper, match: Matcher) -> list[str]:
    """Return the labels of all elements of a paper, best first; those without any text come last, in the order of the
    record. Raises what the matcher raises."""
    texts = list(documents(paper).values())
    scores = np.where([bool(text.strip()) for text in texts], match(claim, texts), -np.inf)
    return [paper.labels[place] for place in order(scores)]


def documents(paper: Paper) -> dict[str, str]:
    """Return the text on each element, by its label: its caption, and the windows that cite it. A panel that is never
    cited has the windows that cite its figure's other panels."""
    each = [word for text in paper.paragraphs for word in words(text)]
    windows = tuple(" ".join(each[begin : begin + WINDOW]) for begin in range(0, len(each), WINDOW))
    cited = cited_by(windows, paper.labels)

    def citing(labels: set[str]) -> list[str]:
        return [text for text, named in zip(windows, cited, strict=True) if labels.intersection(named)]

    return {
        label: " ".join(filter(None, (caption.text, *(citing({label}) or citing(siblings(label, paper.labels))))))
        for label, caption in paper.captions.items()
    }


@lru_cache(maxsize=2 * PAPERS_KEPT)
def cited_by(texts: tuple[str, ...], labels: Labels) -> tuple[Labels, ...]:
    """Return the elements that each text cites, in order of mention: a panel that is named with the figure that it
    belongs to, or a whole figure with all of its panels."""
    known = _places(labels)

    def cites(text: str) -> Labels:
        cited: dict[str, None] = {}
        for one in citations(text):
            of_figure = known.get(Figure(one.kind, one.number, one.supplement), {})
            cited.update(dict.fromkeys(_meant(one, of_figure)))
        return tuple(cited)

    return tuple(map(cites, texts))


def panel_letters(panel: str) -> list[str]:
    """Return the letters that a panel goes by in a text: A of `A`, of `A-1` and of `AI`; A, B and C of `A-C`."""
    first, _, last = panel.partition("-")
    if len(last) == 1 and first[:1] < last:
        return [chr(sign) for sign in range(ord(first[0]), ord(last) + 1)]
    return [first[0]]


def siblings(label: str, labels: Sequence[str]) -> set[str]:
    """Return the figure of a label and its panels, among some labels."""
    place = place_of(label)
    return {other for other in labels if place and (at := place_of(other)) and at.figure == place.figure}


@lru_cache(maxsize=PAPERS_KEPT)
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
    named = [label for panel in cited.panels for label in panels if panel in panel_letters(of_figure[label].panel)]
    return [*dict.fromkeys(named), *whole]
