"""Context24, figures: the hand-written papers made as long and as dirty as real ones.

Real papers say most of what they say of a figure beside the sentence that cites it, cite each figure again where they
tell of samples, statistics and limits, and use the words of their subject everywhere. Without that, sentences and word
vectors find on the sample what they do not find in papers (`docs/measurements.md`). All of it is drawn from one seed a
paper, so that it is the same on every run.
"""

from __future__ import annotations

import random
import re
from collections import Counter

PARAGRAPHS = 22  # that are added to a paper of a dozen
SENTENCES = (5, 8)
CITING = 0.1  # share of added sentences that cite figures and tables
WORD = re.compile(r"\b[a-z]{6,}\b")
BRACKETS = re.compile(r" (?:\(|\[)(?:see )?((?:Extended Data )?(?:Figs?|fig|Figures?|Tables?)\.? [^()\[\]]{1,30}?)(?:\)|\])\.")
END = re.compile(r"(?<=[a-z)]\.) (?=[A-Z])")
PIECE = 700  # characters of a paragraph, from which on the next sentence begins another
LABEL = re.compile(r"(SUPP )?(FIG|TAB) (S?)([0-9S]+)([A-Z]?)")
COMMON = frozenset("against before between either neither nobody nothing others rather should through though whether without".split())

OWN_SENTENCE = (
    "{cited} has the numbers.", "The data are in {cited}.", "See {cited} for all of them.", "This is plotted in {cited}.",
    "{cited} gives the distribution.", "All samples are drawn in {cited}.",
)  # fmt: skip
IDLE = (
    "The {a} was checked again by a second person, who knew nothing of the {b}.",
    "We had no reason to expect that {a} and {b} would differ, and report both for completeness.",
    "It has been argued that {a} depends on the {b} and on the way in which {c} is defined.",
    "Earlier work on {a} used other definitions of {b}, which makes numbers hard to compare.",
    "Where the {a} could not be determined, the {b} was left out and counted as missing.",
    "A pilot with fewer samples had suggested a weaker link of {a} with {b} and none with {c}.",
    "In the following, {a} always means {b} after correction, unless we say otherwise.",
    "None of the conclusions on {a} changes if {b} is analysed on a logarithmic scale.",
    "Taken together, the {a}, the {b} and the {c} point the same way, though none would do by itself.",
    "Whether the same holds for {a} elsewhere, where {b} is scarce, remains to be seen.",
    "Software for {a} and scripts for {b} are available from the authors, as are the raw {c} files.",
    "Reviews of {a} list a dozen explanations for {b}, among which {c} is named most often.",
    "The order in which {a} and {b} were measured was drawn by lot each day.",
    "Two of the authors disagreed on the role of {a}; the text on {b} says what both could sign.",
    "A model without {a} fits {b} nearly as well, so that {c} should not be read as a cause.",
    "Costs of {a} are small beside those of {b}, and were not recorded.",
)
CITED = (
    "Sample sizes for {cited} were fixed beforehand from the variance of {a} and {b} in a pilot.",
    "Error bars in {cited} are standard errors over independent repeats; points are single {a} or {b}.",
    "For {cited} a two-sided rank test was used, since the {a} was far from normal, and corrected for {b}.",
    "Examples in {cited} were chosen at random among those with complete {a} and {b}.",
    "The settings for {a} were the same throughout {cited}, and {b} was not adjusted.",
    "Outliers in {cited} were kept; without them {a} and {b} would be a little closer.",
    "As {cited} was made from one batch, {a} may be less typical of {b} than it seems.",
    "A reader who compares {cited} should bear in mind that {a} was defined by {b} there.",
    "The scale of {cited} was chosen for print, and {a} that fall outside of it are listed with {b}.",
    "We come back to {cited} in the discussion of {a}, where {b} and {c} are weighed.",
    "Raw values behind {cited} are deposited together with those of {a} and {b}.",
    "Colours in {cited} have no meaning beyond the {a} and the {b} that they set apart.",
)


def lengthened(paragraphs: list[str], labels: list[str], seed: str) -> list[str]:
    """The paragraphs of a paper with others among them that say little, citations apart from what they are cited for,
    and its line ends lost."""
    rng = random.Random(seed)
    words = vocabulary(paragraphs)
    told = [_apart(text, rng) for text in paragraphs]
    left = labels * 8
    rng.shuffle(left)
    added = [_paragraph(words, left, rng) for _ in range(PARAGRAPHS)]
    for text in added:
        told.insert(rng.randint(3, len(told)), text)
    return _cut(" ".join(told))


def vocabulary(paragraphs: list[str]) -> list[str]:
    """The words of a paper's subject, as often as it has them."""
    counts = Counter(word for text in paragraphs for word in WORD.findall(text))
    return [word for word, count in counts.items() if word not in COMMON for _ in range(count)]


def _cut(line: str) -> list[str]:
    """A paper that lost its line ends, cut between sentences, as full texts are that were parsed into one line."""
    pieces: list[list[str]] = [[]]
    for sentence in END.split(line):
        if pieces[-1] and sum(map(len, pieces[-1])) > PIECE:
            pieces.append([])
        pieces[-1].append(sentence)
    return [" ".join(piece) for piece in pieces]


def _apart(text: str, rng: random.Random) -> str:
    """Citations in brackets at the end of sentences as sentences of their own behind them."""

    def moved(found: re.Match[str]) -> str:
        cited = found[1][:1].upper() + found[1][1:]
        return f". {rng.choice(OWN_SENTENCE).format(cited=cited)}"

    return BRACKETS.sub(moved, text)


def _paragraph(words: list[str], labels: list[str], rng: random.Random) -> str:
    found = []
    for _ in range(rng.randint(*SENTENCES)):
        a, b, c = rng.sample(words, 3)
        cites = labels and rng.random() < CITING
        pattern = rng.choice(CITED if cites else IDLE)
        found.append(pattern.format(a=a, b=b, c=c, cited=_cited(labels, rng) if cites else ""))
    return " ".join(found)


def _cited(labels: list[str], rng: random.Random) -> str:
    """One to three labels as a text cites them."""
    count = min(rng.choice((1, 1, 2, 3)), len(labels))
    return " and ".join(dict.fromkeys(_spelled(labels.pop()) for _ in range(count)))


def _spelled(label: str) -> str:
    found = LABEL.fullmatch(label)
    if found is None:
        return label
    kind = "Fig." if found[2] == "FIG" else "Table"
    return f"{'Supplementary ' if found[1] else ''}{kind} {found[3]}{found[4].replace('S', '—figure supplement ')}{found[5]}"
