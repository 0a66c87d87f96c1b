"""What can be counted about a paragraph of a paper whatever the claim: where it stands, and what kind of text it is."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aisr.programs.retrieval.bm25 import bm25
from aisr.programs.retrieval.content import CAPTION
from aisr.programs.retrieval.embeddings import built_in, embedded

Values = NDArray[np.float64]
OPENING, METHODS = "opening paragraph, such as the abstract", "words for methods"

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
NAME = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z0-9])[\w-]{2,}")  # ACE2, GWAS, SARS-CoV-2: a capital, and one more or a digit
REFERENCE = re.compile(
    r"\(\s*\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\s*\)|\[\s*\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\s*\]|\bet al\b"
    r"|\([^()]{1,60}\b(?:19|20)\d\d[a-z]?\)"
)
FINDING = re.compile(
    r"\b(?:we|our|here|results?|show|find|found|demonstrat|suggest|indicat|reveal|identif|report|observ)\w*\b",
    re.IGNORECASE,
)
OWN = re.compile(
    r"\b(?:in (?:summary|conclusion|this study)|taken together|collectively|(?:our|these) (?:data|results|findings)"
    r"|here,? we|we (?:show|find|found|demonstrate|report|conclude|identif))",
    re.IGNORECASE,
)
HEDGE = re.compile(r"\b(?:may|might|could|suggest|likely|possibl|possibil|potential|appear|seem)\w*", re.IGNORECASE)
METHOD = re.compile(
    r"\b(?:was|were|using|used|performed|purchased|incubated|according|manufacturer|protocol|kit|buffer|min|ml|washed"
    r"|added|software|version|previously|obtained|collected|samples?|assays?|medium|cultured|measured|calculated)\b",
    re.IGNORECASE,
)
BACK_MATTER = re.compile(
    r"\b(?:fund(?:ing|ed)|grants?|conflicts? of interest|competing interests?|declare"
    r"|acknowledge\w*|contribut(?:ed|ions)"
    r"|supplementary (?:material|data|information)|available (?:on|upon|at|from)|https?|copyright|licen[cs]e"
    r"|correspondence|ethics|ethical|consent)\b",
    re.IGNORECASE,
)
PROSE = 300  # characters from which a paragraph can be the opening: titles, authors and keywords are shorter
TINY = 60


def standing(texts: tuple[str, ...]) -> dict[str, Values]:
    """The features that no claim changes, by name."""
    opening = _opening(texts)
    count = len(texts)
    length = np.array([len(text) for text in texts], dtype=np.float64)
    caption = np.array([bool(CAPTION.match(text)) for text in texts], dtype=np.float64)
    vectors = embedded(texts, built_in)
    prose = np.flatnonzero((length >= PROSE / 1.5) & (caption == 0))
    first = np.zeros(count)
    first[prose[:4]] = 1.0
    whole = prose if len(prose) else np.arange(count)
    title = bm25(texts[0], texts)
    return {
        "length": np.log1p(length),
        "under 60 characters": np.asarray(length < TINY, dtype=np.float64),
        "caption of a figure or table": caption,
        OPENING: opening,
        "among the first four paragraphs": first,
        "place in the paper, from 0 to 1": np.arange(count) / max(count - 1, 1),
        "last, second last half as much, and so on": 1 / np.arange(count, 0, -1.0),
        "likeness to the opening paragraph": vectors @ vectors[int(np.argmax(opening))],
        "likeness to the title": vectors @ vectors[0],
        "BM25 of the title's words": share(title, title.max(initial=0.0)),
        "likeness to the paper as a whole": towards(vectors, vectors[whole].mean(axis=0)),
        "references to other work": rate(REFERENCE, texts),
        "hedges": rate(HEDGE, texts),
        "words for findings": rate(FINDING, texts),
        "phrases for the paper's own findings": rate(OWN, texts),
        METHODS: rate(METHOD, texts),
        "numbers": rate(NUMBER, texts),
        "funding, interests, ethics, availability and the like": rate(BACK_MATTER, texts),
    }


def _opening(texts: Sequence[str]) -> Values:
    """1 for the first paragraph of prose, which in a paper is its abstract."""
    marks = np.zeros(len(texts))
    marks[next((place for place, text in enumerate(texts) if len(text) >= PROSE), 0)] = 1.0
    return marks


def towards(vectors: Values, direction: Values) -> Values:
    return np.asarray(vectors @ direction / max(float(np.linalg.norm(direction)), 1e-12))


def rate(sign: re.Pattern[str], texts: Sequence[str]) -> Values:
    """How often a sign stands in each text, per hundred words, on a log scale."""
    return np.array([np.log1p(100 * len(sign.findall(text)) / max(len(text.split()), 1)) for text in texts])


def share(values: Values, whole: float | Values) -> Values:
    return np.asarray(values / np.maximum(whole, 1e-9))
