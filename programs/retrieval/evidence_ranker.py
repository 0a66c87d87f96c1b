"""A ranker of paragraphs that was fitted on labelled evidence: a weighted sum of features that a person can read."""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from aisr.programs.errors import UserError
from aisr.programs.retrieval.embeddings import Embed, built_in
from aisr.programs.retrieval.evidence_features import COMPARING, FEATURES, measure
from aisr.programs.retrieval.rare_words import by_stem
from aisr.programs.retrieval.retrievers import Matcher, Scores


class EvidenceRanker(BaseModel):
    """The weight of each feature: what one `spread` more of it (its standard deviation over train) adds to a
    paragraph's score, the logarithm of its odds to be the evidence. Features that are not listed weigh nothing.
    common: the words that many papers of train have (see `rare_words.tenths`).

    Names stand in for positions, so that a file says what it means; an unknown name is refused.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    weights: dict[str, float]
    spread: dict[str, float]
    common: dict[Annotated[str, Field(pattern="^([2-9]|10)$")], str] = {}

    @model_validator(mode="after")
    def _known(self) -> Self:
        unknown = [name for name in self.weights if name not in FEATURES]
        if unknown:
            raise UserError(f"evidence ranker: no feature is called {unknown[0]!r}")
        lost = [name for name in self.weights if not self.spread.get(name, 0.0) > 0]
        if lost:
            raise UserError(f"evidence ranker: the spread of {lost[0]!r} is missing; expected a number above 0")
        return self

    @property
    def sums(self) -> Scores:
        """What one unit of each feature adds to a score, shape (FEATURES,)."""
        return np.array([self.weights.get(name, 0.0) / self.spread.get(name, 1.0) for name in FEATURES])

    @cached_property
    def tenths(self) -> dict[str, int]:
        """In how many tenths of train's papers a common stem stands."""
        return by_stem(self.common)

    def matcher(self, embed: Embed = built_in) -> Matcher:
        """What scores paragraphs by it. embed: what asks for the word vectors of paragraphs."""
        sums, tenths = self.sums, self.tenths

        def match(claim: str, texts: Sequence[str]) -> Scores:
            return np.asarray(measure(claim, texts, embed, tenths) @ sums)

        return match

    def of_sentences(self) -> Matcher:
        """What scores the sentences of a paragraph: by the features alone that compare a text with the claim."""
        return self.model_copy(
            update={"weights": {name: weight for name, weight in self.weights.items() if name in COMPARING}}
        ).matcher()

    def by_weight(self) -> list[tuple[str, float]]:
        """The features and their weights, the heaviest first."""
        return sorted(self.weights.items(), key=lambda pair: -abs(pair[1]))
