"""The sentences of a paper as candidates: ranked for a claim, and recognized in passages that were copied out of it.

They are ranked by readable features of sentences on method: whether they match the claim, stand in a section on method,
name who was studied and what was measured, and do not state the result again. The weights are written by hand until
they are fitted to the gold passages of train.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict

from aisr.programs.program import Fitted
from aisr.programs.retrieval import bm25, heading, idle_places, order, split_sentences, stemmed
from aisr.programs.text import SHORTEST, letters

PAPERS = 64  # whose sentences are kept
FEWEST = 5  # stems of a sentence, from which on it is recognized by most of them
WITHIN = re.compile(r"(?:[=<>±~–−-]|\b(?:of|was|were|by|to))\s*\d*\s?\.$")  # the end of what is half a number
MOST_SHARED = 0.8  # of its stems
PAGE = re.compile(r"\s?[(\[](?:pp?\. ?|pages? |sect?(?:ion|\.) ?)[\d.]{1,8}(?:[-–]\d{1,4})?[)\]]$", re.IGNORECASE)


class Paper(NamedTuple):
    """A paper in sentences."""

    paragraphs: tuple[str, ...]
    sentences: tuple[str, ...]  # in document order
    owner: tuple[int, ...]  # the place of the paragraph that each stands in
    idle: frozenset[int]  # places of sentences in headings, bare captions, references and the like

    def rank(self, scores: NDArray[np.float64]) -> list[int]:
        """Return places of sentences by their scores, best first; idle ones only where all are."""
        best = [int(place) for place in order(scores)]
        return [place for place in best if place not in self.idle] or best

    def text(self, places: Iterable[int]) -> str:
        """Return the sentences at some places, in the order of the paper, as one text."""
        return " ".join(self.sentences[place] for place in sorted(set(places)))


@lru_cache(maxsize=PAPERS)
def paper_of(paragraphs: tuple[str, ...]) -> Paper:
    """Return a paper in sentences. What was parted within a number ("β = – 0 .", "12") is one sentence."""
    sentences: list[str] = []
    owner: list[int] = []
    for text, place in zip(*split_sentences(paragraphs), strict=True):
        if sentences and owner[-1] == place and WITHIN.search(sentences[-1]) and text[:1].isdigit():
            sentences[-1] += f" {text}"
        else:
            sentences.append(text)
            owner.append(int(place))
    idle = idle_places(paragraphs)
    return Paper(
        paragraphs, tuple(sentences), tuple(owner), frozenset(k for k, place in enumerate(owner) if place in idle)
    )


@lru_cache(maxsize=PAPERS)
def locate(source: Paper, passages: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """Return, for each passage, the places of the sentences that it holds: word for word but for what parsing changes,
    a part of a sentence that is longer, or most words of one that was misread. The page behind a passage, "(p. 5)", is
    no part of it."""
    passages = tuple(PAGE.sub("", passage.rstrip()) for passage in passages)
    stems = map(set, stemmed(source.sentences))
    sentences = [(letters(text), own) for text, own in zip(source.sentences, stems, strict=True)]
    places = []
    for passage, own in zip(passages, map(set, stemmed(passages)), strict=True):
        wanted = letters(passage), own
        places.append(tuple(place for place, sentence in enumerate(sentences) if _holds(*wanted, *sentence)))
    return tuple(places)


def _holds(passage: str, passage_stems: set[str], sentence: str, stems: set[str]) -> bool:
    """Whether a passage, by its letters and stems, holds a sentence."""
    if len(sentence) >= SHORTEST and (sentence in passage or (len(passage) >= SHORTEST and passage in sentence)):
        return True
    return len(stems) >= FEWEST and len(stems & passage_stems) >= MOST_SHARED * len(stems)


# --- Features of sentences on method, and their weights

PATTERNS = {
    "participants": r"participants?|subjects|patients|volunteers|respondents|students|children|adults|users|cells?|"
    r"mice|rats|strains?|lines|samples?|recruited|population|cohort|households|villages|dataset|corpus|n = \d",
    "measures": r"measured|assess\w*|recorded|rated|scored|counted|quantif\w+|estimated|calculated|computed|imaged|"
    r"coded|defined as|scale|questionnaire|survey|assays?|index|items|microscop\w+|tracked|logged|proportion of",
    "procedure": r"(?:was|were) \w+ed|randomly|assigned|condition|control group|before and after|trials?|sessions?|"
    r"regress\w+|model(?:s|led)?|test(?:s|ed)? (?:was|were|for)|compared with|using|by means of|we used|protocol",
    "particulars": r"\d",
    "result": r"we (?:found|show|find|conclude)|results? (?:show|suggest|indicate)|significant\w*|p [<=]|increased|"
    r"decreased|higher than|lower than|consistent with|suggest\w*|in conclusion",
}
FEATURES = {name: re.compile(rf"\b(?:{pattern})", re.IGNORECASE) for name, pattern in PATTERNS.items()}
ON_METHOD = re.compile(r"method|material|participant|procedure|measure|design|sample|data|analys|experiment", re.I)
NAMES = ("claim", "section", *PATTERNS)
FEWEST_GOLD = 5  # gold sentences that weights are fitted to


class MethodWeights(Fitted):
    """What ranks the sentences of a paper for a claim."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    weights: dict[str, float]  # of each feature, in units of its spread, or of a 0 or 1

    def page(self) -> str:
        """Return them as a Markdown table."""
        rows = [f"| {name} | {self.weights.get(name, 0):.2f} |" for name in NAMES]
        return "What ranks sentences, fitted to the gold passages of train:\n\n" + "\n".join(
            ["| feature | weight |", "|---|---|", *rows]
        )

    def rank(self, claim: str, source: Paper) -> list[int]:
        """Return places of sentences, best first; idle ones only where all are."""
        return source.rank(features(claim, source) @ np.array([self.weights.get(name, 0.0) for name in NAMES]))


BY_HAND = MethodWeights(
    weights={
        "claim": 1.0,
        "section": 1.0,
        "participants": 0.6,
        "measures": 0.6,
        "procedure": 0.6,
        "particulars": 0.3,
        "result": -0.8,
    }
)


def features(claim: str, source: Paper) -> NDArray[np.float64]:
    """Return the features of all sentences, shape (sentences, NAMES)."""
    match = bm25(claim, source.sentences)
    spread = float(match.std()) or 1.0
    under = headings(source)
    rows = [
        [
            min((value - float(match.mean())) / spread, 3.0),
            float(bool(ON_METHOD.search(under[source.owner[place]]))),
            *(float(bool(pattern.search(text))) for pattern in FEATURES.values()),
        ]
        for place, (value, text) in enumerate(zip(match, source.sentences, strict=True))
    ]
    return np.array(rows)


def headings(source: Paper) -> list[str]:
    """Return the heading that each paragraph stands under; "" for none."""
    under, last = [], ""
    for text in source.paragraphs:
        last = text if heading(text) else last
        under.append(last)
    return under


def fit_weights(claims: Iterable[tuple[str, Paper, tuple[str, ...]]]) -> MethodWeights | None:
    """Return weights by which gold sentences come before others of their paper; None where too few are located. claims:
    each with its paper and gold passages."""
    rows, gold = [], []
    for claim, source, passages in claims:
        located = {place for places in locate(source, passages) for place in places}
        candidates = [place for place in range(len(source.sentences)) if place not in source.idle]
        rows.append(features(claim, source)[candidates])
        gold += [place in located for place in candidates]
    if sum(gold) < FEWEST_GOLD or all(gold):
        return None
    from sklearn.linear_model import LogisticRegression  # over a second; most commands have no use for it

    fitted = LogisticRegression(class_weight="balanced").fit(np.concatenate(rows), gold)
    return MethodWeights(weights={name: round(float(w), 4) for name, w in zip(NAMES, fitted.coef_[0], strict=True)})
