"""Which paragraphs to name as evidence, by two heads: what the LM named, and what the ranker puts first.

They err in different places, so that of three ids two from the one and one from the other hold a gold one more often
than three from either.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict

from aisr.programs.labels import EVIDENCE_K, CitationLabel

DEPTH = 10  # paragraphs from the ranker's best down that may be named
OF_THE_LM = 2  # of the three ids


class EvidencePolicy(BaseModel):
    """Which labels name no evidence. All others name three: Joint@3 asks for one hit among three, so a short list only
    loses; where the gold list is empty it asks for an empty one (guidelines, section 2, "match-empty")."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    none: tuple[str, ...] = (str(CitationLabel.IRRELEVANT),)


DEFAULT = EvidencePolicy()


def read_off(gold: Iterable[tuple[str, bool]]) -> EvidencePolicy:
    """The policy that labelled records show: a label names nothing where most of its records have no gold evidence.
    What none of them tells stays as it is by default.

    gold: the label of each record, and whether it has gold evidence.
    """
    seen, without = Counter[str](), Counter[str]()
    for label, has_some in gold:
        seen[label] += 1
        without[label] += not has_some
    labels = [label for label in DEFAULT.none if label not in seen]
    return EvidencePolicy(none=tuple(sorted({*labels, *(key for key in seen if 2 * without[key] > seen[key])})))


def described(policy: EvidencePolicy) -> str:
    """A policy in words."""
    silent = " and ".join(policy.none)
    three = f"the LM's first {OF_THE_LM} ids and the ranker's best of what is left"
    return f"none with {silent}; with other labels {three}" if silent else three


def complete(label: str, named: Sequence[str], ranking: Sequence[str], policy: EvidencePolicy = DEFAULT) -> list[str]:
    """The evidence list to submit, up to three ids, best first.

    named: the ids that the LM named, best first; ranking: the ranker's, best first.
    """
    if label in policy.none:
        return []
    own = list(dict.fromkeys(named))
    sure = own[:OF_THE_LM]
    return list(dict.fromkeys([*sure, *ranking[:DEPTH], *own]))[:EVIDENCE_K]
