"""Which paragraphs to name as evidence, by two heads: what the model named, and what the ranker thinks of them.

They err in different places, so that of three ids two from the one and one from the other hold a gold one more often
than three from either.
"""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from aisr.programs.labels import EVIDENCE_K, CitationLabel

Fill = Literal["none", "named", "three"]
Gain = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]
DEPTH = 10  # paragraphs from the ranker's best down that may be named
NOTHING: Mapping[str, Fill] = MappingProxyType({str(CitationLabel.IRRELEVANT): "none"})


class Heads(BaseModel):
    """How three ids are chosen: first the model's best `named`, then of what is left the ranker's best `ranked`, then
    by the sum of both heads what is left to name.

    given: what an id gains by having been named first, second, and third or later (the mean over several models);
    odds: what it gains by a unit of the logarithm of the ranker's probability.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    named: int = Field(ge=0, le=EVIDENCE_K)
    ranked: int = Field(ge=0, le=EVIDENCE_K)
    given: tuple[Gain, Gain, Gain] = (3.0, 2.0, 0.0)
    odds: Gain = 0.9


TWO_AND_ONE = Heads(named=2, ranked=1)


class EvidencePolicy(BaseModel):
    """How many paragraphs go with a label, and whose.

    fill: for each label, `none`, only what was `named`, or up to `three`. Labels that are not listed are filled up:
    Joint@3 asks for one hit among three, so a short list only loses; where the gold list is empty it asks for an empty
    one (guidelines, section 2, "match-empty"). heads: how the three are chosen; None in programs that were saved before
    there were two heads, which add reciprocal ranks (Cormack et al. 2009): a `named_weight` of 1 puts what the model
    named before what the retriever ranks, 0 heeds the retriever alone.
    """

    model_config = ConfigDict(extra="forbid")
    named_weight: float = Field(default=1.0, ge=0, le=1)
    fill: dict[str, Fill] = Field(default_factory=lambda: dict(NOTHING))
    heads: Heads | None = None


BY_RANKS = EvidencePolicy()  # of programs that were saved before there were two heads
DEFAULT = EvidencePolicy(heads=TWO_AND_ONE)


def told(policy: EvidencePolicy) -> dict[str, str]:
    """A policy in words: what is said of each part."""
    counts = {f"with {label}": fill for label, fill in policy.fill.items()}
    heads = policy.heads
    if heads is None:
        return counts | {"weight of what the model named": f"{policy.named_weight:g}"}
    sure = f"the model's best {heads.named} and the ranker's best {heads.ranked} of what is left"
    given = " / ".join(f"{gain:g}" for gain in heads.given)
    rest = f"the rest by {given} for being named first / second / later and {heads.odds:g} × the ranker's log-odds"
    return counts | {"of the three": f"{sure}, {rest}"}


def complete(
    label: str,
    named: Sequence[Sequence[str]],
    ranking: Sequence[str],
    policy: EvidencePolicy = DEFAULT,
    odds: Sequence[float] = (),
) -> list[str]:
    """The evidence list to submit, up to three ids, best first.

    named: the ids that each model named, best first; ranking: the ranker's, best first; odds: the logarithm of the
    probability that it gives to each of them, or to the first of them; none where only its order is known.
    """
    fill = policy.fill.get(label, "three")
    if fill == "none":
        return []
    if policy.heads is None:
        return _by_ranks(named, ranking if fill == "three" else [], policy.named_weight)
    given = merged(named)
    return by_heads(given, ranking, policy.heads, odds) if fill == "three" else list(given)[:EVIDENCE_K]


def by_heads(
    given: Mapping[str, Sequence[int]], ranking: Sequence[str], heads: Heads, odds: Sequence[float]
) -> list[str]:
    """Up to three ids. given: the named ids, best first, with the places that models gave them, from 0, and -1 from
    one that did not name it."""
    worth = dict(zip(ranking[:DEPTH], [*odds] or by_places(len(ranking)), strict=False))
    chosen = list(given)[: heads.named]
    chosen += [key for key in worth if key not in chosen][: min(heads.ranked, EVIDENCE_K - len(chosen))]
    unlikely = min(worth.values(), default=0.0)

    def total(key: str) -> float:
        places = given.get(key, ())
        gained = [0.0 if place < 0 else heads.given[min(place, len(heads.given) - 1)] for place in places]
        return sum(gained) / max(len(gained), 1) + heads.odds * worth.get(key, unlikely)

    rest = sorted((key for key in dict.fromkeys([*given, *worth]) if key not in chosen), key=total, reverse=True)
    return [*chosen, *rest][:EVIDENCE_K]


def merged(named: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """The ids that models named with the place that each model gave them, from 0 (-1: none); best first by the sum of
    their reciprocal places."""
    own = [list(dict.fromkeys(ids)) for ids in named]
    everything = dict.fromkeys(key for ids in own for key in ids)
    places = {key: [ids.index(key) if key in ids else -1 for ids in own] for key in everything}
    return dict(sorted(places.items(), key=lambda pair: -_reciprocal(pair[1])))


def by_places(count: int) -> list[float]:
    """The logarithm of a probability for each place of a ranking whose scores are no odds: 1, a half, a third and so
    on, of their sum."""
    whole = math.log(sum(1 / (1 + place) for place in range(count))) if count else 0.0
    return [-math.log1p(place) - whole for place in range(count)]


def log_odds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of the probability that a fitted ranker gives to each paragraph of a paper, from its scores."""
    raised = scores - scores.max(initial=-np.inf)
    return np.asarray(raised - np.log(np.exp(raised).sum()))


def _by_ranks(named: Sequence[Sequence[str]], ranking: Sequence[str], weight: float) -> list[str]:
    score: dict[str, float] = {}
    for ids in named:
        for rank, key in enumerate(dict.fromkeys(ids)):
            score[key] = score.get(key, 0.0) + weight / len(named) / (1 + rank)
    for rank, key in enumerate(ranking):
        score[key] = score.get(key, 0.0) + (1 - weight) / (1 + rank)
    return sorted(score, key=lambda key: -score[key])[:EVIDENCE_K]  # of equals, what was named, and the better rank


def _reciprocal(places: Sequence[int]) -> float:
    return sum(1 / (1 + place) for place in places if place >= 0)
