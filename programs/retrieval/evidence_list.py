"""Which paragraphs to name as evidence: what the model named and what the retriever ranks best, fused by rank."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from aisr.programs.labels import EVIDENCE_K, CitationLabel

Fill = Literal["none", "named", "three"]


class EvidencePolicy(BaseModel):
    """How many paragraphs go with a label, and whose.

    named_weight: 1 puts what the model named before what the retriever ranks, 0 heeds the retriever alone; between
    them, reciprocal ranks are added (Cormack et al. 2009). fill: for each label, `none`, only what was `named`, or up
    to `three`. Labels that are not listed are filled up: Joint@3 asks for one hit among three, so a short list only
    loses; where the gold list is empty it asks for an empty one (guidelines, section 2, "match-empty").
    """

    model_config = ConfigDict(extra="forbid")
    named_weight: float = Field(default=1.0, ge=0, le=1)
    fill: dict[str, Fill] = {str(CitationLabel.IRRELEVANT): "none"}


DEFAULT = EvidencePolicy()


def complete(
    label: str, named: Sequence[Sequence[str]], ranking: Sequence[str], policy: EvidencePolicy = DEFAULT
) -> list[str]:
    """The evidence list to submit, up to three ids, best first.

    named: the ids that each model named, best first; ranking: the retriever's, best first.
    """
    fill = policy.fill.get(label, "three")
    if fill == "none":
        return []
    score: dict[str, float] = {}
    for ids in named:
        for rank, key in enumerate(dict.fromkeys(ids)):
            score[key] = score.get(key, 0.0) + policy.named_weight / len(named) / (1 + rank)
    if fill == "three":
        for rank, key in enumerate(ranking):
            score[key] = score.get(key, 0.0) + (1 - policy.named_weight) / (1 + rank)
    return sorted(score, key=lambda key: -score[key])[:EVIDENCE_K]  # of equals, what was named, and the better rank
