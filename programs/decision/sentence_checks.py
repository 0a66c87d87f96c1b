"""What to look for in a sentence before it is labelled, as a typed step: the four ways to be unfaithful, one list each.

Of 43 true errors that one team read again, 17 needed only the first list, 11 the second, 7 the third.
"""

import re
from collections.abc import Callable, Mapping
from itertools import islice

from pydantic import BaseModel, ConfigDict, Field

from aisr.programs.decision import cues
from aisr.programs.labels import ClaimLabel

MOST = 3


class SentenceCheck(BaseModel):
    """What in one sentence goes beyond the evidence, in its own words; empty lists where nothing does."""

    model_config = ConfigDict(extra="forbid")
    absent_names: list[str] = Field(
        max_length=MOST, description="datasets, metrics, models or baselines that the evidence does not contain"
    )
    wide_quantifiers: list[str] = Field(
        max_length=MOST, description='words such as "all" or "consistently" that reach further than what was tested'
    )
    unshown_causes: list[str] = Field(
        max_length=MOST, description="clauses that give a cause which nothing in the evidence shows"
    )
    conflicting_values: list[str] = Field(
        max_length=MOST, description="numbers, directions or rankings that conflict with the evidence"
    )


# For a backend that decodes under a schema: short lists of short strings, since a small model fills all that it may.
SHORT = {
    "type": "object",
    "properties": {
        name: {"type": "array", "maxItems": 1, "items": {"type": "string", "maxLength": 40}}
        for name in SentenceCheck.model_fields
    },
    "required": list(SentenceCheck.model_fields),
    "additionalProperties": False,
}


def by_rule(sentence: str, evidence: str, label: str) -> dict[str, list[str]]:
    """A check that goes with a gold label, for a labelled demo: what the rules of `aisr.programs.decision.cues` find of
    that kind.

    A label says which list is filled; what stands in it can only be guessed, so nothing is listed where no rule finds
    anything.
    """
    check: dict[str, list[str]] = {name: [] for name in SentenceCheck.model_fields}
    if label in FINDERS:
        name, find = FINDERS[label]
        check[name] = find(sentence, evidence)[:MOST]
    return check


def _clauses(sentence: str, evidence: str) -> list[str]:
    """From each of the first causal words to the next comma."""
    return [
        re.split(r"[,;]", sentence[found.start() :], maxsplit=1)[0].rstrip(".")
        for found in islice(cues.CAUSE.finditer(sentence), MOST)
    ]


FINDERS: Mapping[str, tuple[str, Callable[[str, str], list[str]]]] = {
    ClaimLabel.ENTITY: ("absent_names", cues.names_beyond),
    ClaimLabel.SCOPE: ("wide_quantifiers", lambda sentence, evidence: cues.QUANTIFIER.findall(sentence)),
    ClaimLabel.CAUSAL: ("unshown_causes", _clauses),
    ClaimLabel.CONTRADICTION: ("conflicting_values", cues.numbers_beyond),
}
