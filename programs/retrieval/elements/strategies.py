"""The ways to rank a paper's figures and tables for a claim, by their names: one interface.

They are those of CSIRO-LT at Context24 (2024). A strategy is written as words between strokes, in any order,
`chunk/512/mentions`: how it goes about it, and what it differs in from the default, `element/100/read/parts`.

* `element`: an element is a document, made of the chunks that cite it; the documents are ranked.
* `chunk`: chunks are ranked, and elements by the chunks that cite them: by the sum of their inverse ranks, or with
  `mentions` in the order in which the ranked chunks mention them.
* `hierarchical`: the rankings of `chunk` at all sizes of chunks, fused by rank.
* `fusion`, `round-robin`, `top-k`: the rankings of `RUNS`, fused by rank; merged in turn, one element at a time, or a
  top portion at a time that grows.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from aisr.programs.errors import UserError
from aisr.programs.records.context24_figures import place_of
from aisr.programs.retrieval.elements.chunks import SIZES, chunks
from aisr.programs.retrieval.elements.citing import READ, READERS, cited_by
from aisr.programs.retrieval.elements.paper import CAPTIONS, PARTS, PLAIN, Paper, documents
from aisr.programs.retrieval.retrievers import RANK_CONSTANT, Matcher, order

Match = Callable[
    [str], Matcher
]  # the matcher of a way of `aisr.programs.retrieval.retrievers`; "" for the program's own
ELEMENT, CHUNK, HIERARCHICAL, FUSION, ROUND_ROBIN, TOP_K = (
    "element", "chunk", "hierarchical", "fusion", "round-robin", "top-k",
)  # fmt: skip
RANKS, MENTIONS = "ranks", "mentions"
DEFAULT = "element/100/read/parts"
EMBEDDING = frozenset({"dense", "hybrid"})  # ways of `RUNS` that take an embedding model
PORTION = 3  # elements of the first top portion that is merged; the next has twice as many
# What the merges bring together: strategies with the way to match, good ones of different kinds, the best first.
RUNS = (
    ("element/100", "dense"),
    ("element/sentence", "hybrid"),
    ("element/100/plain", "bm25"),
    ("hierarchical", "hybrid"),
    ("chunk/512", "bm25"),
)


class Strategy(NamedTuple):
    """A strategy in parts. size: of chunks; reader: of citations; captions: what they are taken for, one of `CAPTIONS`,
    in documents, or, where chunks are ranked, as a chunk each; merge: how ranked chunks rank elements."""

    kind: str = ELEMENT
    size: str = "100"
    reader: str = READ
    captions: str = PARTS
    merge: str = RANKS

    @property
    def by_document(self) -> bool:
        """Whether it ranks elements as documents, so that these can be made by an LM, and scored by a fitted ranker."""
        return self.kind == ELEMENT


def parsed(spec: str) -> Strategy:
    """The strategy of its name. Raises UserError for a word that no strategy has, or two that exclude each other."""
    parts = {
        "kind": (ELEMENT, CHUNK, HIERARCHICAL, FUSION, ROUND_ROBIN, TOP_K),
        "size": SIZES,
        "reader": tuple(READERS),
        "captions": CAPTIONS,
        "merge": (RANKS, MENTIONS),
    }
    given: dict[str, str] = {}
    for word in spec.split("/"):
        part = next((name for name, words in parts.items() if word in words), None)
        if part is None:
            every = ", ".join(word for words in parts.values() for word in words)
            raise UserError(f"strategy {spec!r}: {word!r} is none of its words, which are {every}")
        if part in given:
            raise UserError(f"strategy {spec!r}: {given[part]} and {word} exclude each other")
        given[part] = word
    used = {
        ELEMENT: {"kind", "size", "reader", "captions"},
        CHUNK: set(parts),
        HIERARCHICAL: {"kind", "reader", "captions"},
    }
    kind = given.get("kind", ELEMENT)
    idle = [word for part, word in given.items() if part not in used.get(kind, {"kind", "captions"})]
    if idle:
        raise UserError(f"strategy {spec!r}: {idle[0]} means nothing to {kind}")
    return Strategy(
        kind,
        given.get("size", "100"),
        given.get("reader", READ),
        given.get("captions", PARTS),
        given.get("merge", RANKS),
    )


def written(spec: str) -> str:
    """A strategy with the word for its captions, as programs save it. Raises UserError as `parsed`."""
    said = parsed(spec).captions
    return spec if said in spec.split("/") else f"{spec}/{said}"


def ranked(claim: str, paper: Paper, strategy: Strategy, match: Match) -> list[str]:
    """The labels of all elements of a paper, best first; what nothing is known of comes last, in the order of the
    record. Raises what the matcher raises."""
    if strategy.kind == ELEMENT:
        texts = documents(paper, strategy.size, strategy.reader, strategy.captions)
        return by_document(claim, dict(zip(paper.labels, texts, strict=True)), match(""))
    if strategy.kind == CHUNK:
        return _by_chunks(claim, paper, strategy, match(""))
    if strategy.kind == HIERARCHICAL:
        sizes = [strategy._replace(kind=CHUNK, size=size) for size in SIZES]
        return by_rank([_by_chunks(claim, paper, one, match("")) for one in sizes])
    runs = [ranked(claim, paper, _run(spec, strategy), _always(match(way))) for spec, way in RUNS]
    if strategy.kind == FUSION:
        return by_rank(runs)
    return in_turn(runs, 1 if strategy.kind == ROUND_ROBIN else PORTION)


def _run(spec: str, merge: Strategy) -> Strategy:
    """A run of a merge, which takes captions as that does, unless it has none."""
    plan = parsed(spec)
    return plan if plan.captions == PLAIN else plan._replace(captions=merge.captions)


def by_document(claim: str, texts: Mapping[str, str], match: Matcher) -> list[str]:
    """The labels of documents, best first; those without a text last."""
    labels = list(texts)
    known = np.array([bool(text.strip()) for text in texts.values()])
    scores = np.where(known, match(claim, list(texts.values())), -np.inf)
    return [labels[place] for place in order(scores)]


def by_rank(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Rankings of the same labels as one, by reciprocal rank fusion (Cormack et al. 2009); equals in the order of the
    first."""
    total = dict.fromkeys(rankings[0], 0.0)
    for ranking in rankings:
        for place, label in enumerate(ranking, start=1):
            total[label] += 1 / (RANK_CONSTANT + place)
    return sorted(total, key=lambda label: -total[label])


def in_turn(rankings: Sequence[Sequence[str]], portion: int) -> list[str]:
    """Rankings of the same labels as one: what is new in the first `portion` of each, then in the first twice as many,
    and so on."""
    merged: dict[str, None] = {}
    top = 0
    while len(merged) < len(rankings[0]):
        top += portion
        for ranking in rankings:
            merged.update(dict.fromkeys(ranking[:top]))
    return list(merged)


def _by_chunks(claim: str, paper: Paper, strategy: Strategy, match: Matcher) -> list[str]:
    texts = chunks(paper.paragraphs, strategy.size)
    cited = [*cited_by(texts, paper.labels, strategy.reader)]
    told = _captions(paper, strategy.captions)
    texts, cited = (*texts, *told), [*cited, *told.values()]
    places = order(match(claim, texts)) if texts else ()
    total: dict[str, float] = {}
    for place, chunk in enumerate(places, start=1):
        for label in cited[chunk]:
            total[label] = total.get(label, 0.0) + 1 / place
    if strategy.merge == RANKS:
        total = dict(sorted(total.items(), key=lambda found: -found[1]))
    return list(dict.fromkeys((*total, *paper.labels)))


def _captions(paper: Paper, captions: str) -> dict[str, tuple[str, ...]]:
    """Captions as chunks, each with the elements that it cites: a figure and all panels that share it, or a panel and
    its figure behind it."""
    if captions == PLAIN:
        return {}
    told: dict[str, tuple[str, ...]] = {}
    for label, text in zip(paper.labels, paper.parts if captions == PARTS else paper.captions, strict=True):
        told[text] = (*told.get(text, ()), label)
    told.pop("", None)
    if captions == PARTS:
        figures = {place.figure: label for label in paper.labels if (place := place_of(label)) and not place.panel}
        for text, labels in told.items():
            above = [figures.get(place.figure, label) for label in labels if (place := place_of(label))]
            told[text] = tuple(dict.fromkeys((*labels, *above)))
    return told


def _always(matcher: Matcher) -> Match:
    return lambda _: matcher
