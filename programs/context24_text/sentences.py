"""The sentences of a paper as candidates: ranked for a claim, with their neighbours, and recognized in passages that
were copied out of it.

They are ranked by BM25, or by readable features of sentences on method: whether they match the claim,
stand in a section on method, name who was studied and what was measured, and do not state the result again. The weights
are written by hand until they are fitted to the gold passages of train.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict

from aisr.programs.program import Fitted
from aisr.programs.retrieval import bm25, heading, order, split_sentences, stemmed, without_content
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

    def rank(self, claim: str) -> list[int]:
        """Places of sentences, best first by BM25; idle ones only where all are."""
        best = [int(place) for place in order(bm25(claim, self.sentences))]
        return [place for place in best if place not in self.idle] or best

    def with_neighbours(self, places: Iterable[int]) -> list[int]:
        """Sentences and the one on either side of each, of the same paragraph, in document order."""
        return sorted(
            {
                near
                for place in places
                for near in range(max(place - 1, 0), min(place + 2, len(self.sentences)))
                if self.owner[near] == self.owner[place]
            }
        )

    def text(self, places: Iterable[int]) -> str:
        """The sentences at these places as one text."""
        return " ".join(self.sentences[place] for place in places)


@lru_cache(maxsize=PAPERS)
def paper(paragraphs: tuple[str, ...]) -> Paper:
    """A paper in sentences. What was parted within a number ("β = – 0 .", "12") is one sentence."""
    split, owner = split_sentences(paragraphs)
    sentences, owners = _joined(split, [int(place) for place in owner])
    idle = {int(key) for key in without_content({str(place): text for place, text in enumerate(paragraphs)})}
    places = frozenset(place for place, own in enumerate(owners) if own in idle)
    return Paper(paragraphs, sentences, owners, places)


def _joined(sentences: Sequence[str], owners: Sequence[int]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Sentences of which none ends within a number, and the paragraph of each."""
    texts: list[str] = []
    kept: list[int] = []
    for text, owner in zip(sentences, owners, strict=True):
        if texts and kept[-1] == owner and WITHIN.search(texts[-1]) and text[:1].isdigit():
            texts[-1] += f" {text}"
        else:
            texts.append(text)
            kept.append(owner)
    return tuple(texts), tuple(kept)


def without_page(text: str) -> str:
    """A passage without the page number behind it, "(p. 5)"."""
    return PAGE.sub("", text.rstrip())


@lru_cache(maxsize=PAPERS)
def locate(source: Paper, passages: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """For each passage the places of the sentences that it holds: word for word but for what parsing changes, a part of
    a sentence that is longer, or most words of one that was misread."""
    places = []
    stems = stemmed(source.sentences)
    texts = [letters(sentence) for sentence in source.sentences]
    for passage, own in zip(passages, stemmed(passages), strict=True):
        sought, held = letters(passage), set(own)
        places.append(tuple(k for k in range(len(texts)) if _holds(sought, held, texts[k], stems[k])))
    return tuple(places)


def _holds(sought: str, held: set[str], text: str, stems: Sequence[str]) -> bool:
    """Whether a passage, by its letters and stems, holds a sentence."""
    if len(text) >= SHORTEST and (text in sought or (len(sought) >= SHORTEST and sought in text)):
        return True
    return len(set(stems)) >= FEWEST and len(set(stems) & held) >= MOST_SHARED * len(set(stems))


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
BY_HAND = {
    "claim": 1.0, "section": 1.0, "participants": 0.6, "measures": 0.6, "procedure": 0.6, "particulars": 0.3,
    "result": -0.8,
}  # fmt: skip
FEWEST_GOLD = 5  # gold sentences that weights are fitted to


class MethodWeights(Fitted):
    """What ranks the sentences of a paper for a claim."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    weights: dict[str, float]  # of each feature, in units of its spread, or of a 0 or 1

    def summary(self) -> str:
        """It in a few words."""
        return "weights of the features of sentences on method"

    def page(self) -> str:
        """They as a person reads them, as Markdown."""
        rows = [f"| {name} | {self.weights.get(name, 0):.2f} |" for name in NAMES]
        return "What ranks sentences, fitted to the gold passages of train:\n\n" + "\n".join(
            ["| feature | weight |", "|---|---|", *rows]
        )

    def rank(self, claim: str, source: Paper) -> list[int]:
        """Places of sentences, best first; idle ones only where all are."""
        scores = features(claim, source) @ np.array([self.weights.get(name, 0.0) for name in NAMES])
        best = [int(place) for place in order(scores)]
        return [place for place in best if place not in source.idle] or best


def features(claim: str, source: Paper) -> NDArray[np.float64]:
    """The features of all sentences, shape (sentences, NAMES)."""
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
    """The heading that each paragraph stands under; "" for none."""
    under, last = [], ""
    for text in source.paragraphs:
        last = text if heading(text) else last
        under.append(last)
    return under


def fit_weights(claims: Sequence[tuple[str, Paper, tuple[str, ...]]]) -> MethodWeights | None:
    """Weights by which gold sentences come before others of their paper; None where too few are located. claims:
    each with its paper and gold passages."""
    rows, gold = [], []
    for claim, source, passages in claims:
        held = {place for places in locate(source, passages) for place in places}
        candidates = [place for place in range(len(source.sentences)) if place not in source.idle]
        rows.append(features(claim, source)[candidates])
        gold += [place in held for place in candidates]
    if sum(gold) < FEWEST_GOLD or all(gold):
        return None
    from sklearn.linear_model import LogisticRegression  # over a second; most commands have no use for it

    fitted = LogisticRegression(class_weight="balanced").fit(np.concatenate(rows), gold)
    return MethodWeights(weights={name: round(float(w), 4) for name, w in zip(NAMES, fitted.coef_[0], strict=True)})
