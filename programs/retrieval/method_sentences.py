"""Sentences that say how a claim was found out, ranked by readable features: whether they match the claim, stand in a
section on method, name who was studied and what was measured, and do not state the result again.

The weights are written by hand until they are learnt from the gold passages of train.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict
from sklearn.linear_model import LogisticRegression

from aisr.programs.retrieval.bm25 import bm25
from aisr.programs.retrieval.content import heading
from aisr.programs.retrieval.paper_sentences import Paper, known_again
from aisr.programs.retrieval.retrievers import order

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
TELLING = {name: re.compile(rf"\b(?:{pattern})", re.IGNORECASE) for name, pattern in PATTERNS.items()}
ON_METHOD = re.compile(r"method|material|participant|procedure|measure|design|sample|data|analys|experiment", re.I)
NAMES = ("claim", "section", *PATTERNS)
BY_HAND = {
    "claim": 1.0, "section": 1.0, "participants": 0.6, "measures": 0.6, "procedure": 0.6, "particulars": 0.3,
    "result": -0.8,
}  # fmt: skip
FEWEST = 5  # gold sentences that weights are learnt from


class MethodWeights(BaseModel):
    """weights: of each feature, in units of its spread or of its being there."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    weights: dict[str, float]

    def summary(self) -> str:
        """It in a few words."""
        return "weights of what tells sentences on method"

    def page(self) -> str:
        """They as a person reads them, as Markdown."""
        rows = [f"| {name} | {self.weights.get(name, 0):.2f} |" for name in NAMES]
        return "What ranks sentences, learnt from the gold passages of train:\n\n" + "\n".join(
            ["| feature | weight |", "|---|---|", *rows]
        )

    def ranked(self, claim: str, source: Paper) -> list[int]:
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
            *(float(bool(pattern.search(text))) for pattern in TELLING.values()),
        ]
        for place, (value, text) in enumerate(zip(match, source.sentences, strict=True))
    ]
    return np.array(rows)


def headings(source: Paper) -> list[str]:
    """The heading that each paragraph stands under; "" for none."""
    found, last = [], ""
    for text in source.paragraphs:
        last = text if heading(text) else last
        found.append(last)
    return found


def learn(claims: Sequence[tuple[str, Paper, tuple[str, ...]]]) -> MethodWeights | None:
    """Weights by which gold sentences come before others of their paper; None where too few are known again. claims:
    each with its paper and gold passages."""
    rows, gold = [], []
    for claim, source, passages in claims:
        held = {place for places in known_again(source, passages) for place in places}
        telling = [place for place in range(len(source.sentences)) if place not in source.idle]
        rows.append(features(claim, source)[telling])
        gold += [place in held for place in telling]
    if sum(gold) < FEWEST or all(gold):
        return None
    fitted = LogisticRegression(class_weight="balanced").fit(np.concatenate(rows), gold)
    return MethodWeights(weights={name: round(float(w), 4) for name, w in zip(NAMES, fitted.coef_[0], strict=True)})
