"""The label sets of all tasks, with their definitions in our words: those of NLPCC 2026 Task 10 in the order of its
guidelines (section 1), AVeriTeC's, and those of a draft that is held against itself."""

from enum import StrEnum
from typing import Literal


class ClaimLabel(StrEnum):
    """Track 1: one label a sentence."""

    SUPPORTED = "Supported"
    CAUSAL = "Unsupported Causal Mechanistic"
    ENTITY = "Unsupported Entity"
    SCOPE = "Scope Overgeneralization"
    CONTRADICTION = "Contradiction"


class CitationLabel(StrEnum):
    """Track 2: one label a claim."""

    SUPPORTED = "Supported"
    OVERSTATE = "Overstate"
    TOPICAL = "Topical Match"
    IRRELEVANT = "Irrelevant"


class Verdict(StrEnum):
    """AVeriTeC: one label a claim, spelt as its files spell them."""

    SUPPORTED = "Supported"
    REFUTED = "Refuted"
    NOT_ENOUGH = "Not Enough Evidence"
    CONFLICTING = "Conflicting Evidence/Cherrypicking"


class DraftLabel(StrEnum):
    """A draft held against itself: one label a sentence."""

    SUPPORTED = "Supported"
    CONTRADICTED = "Contradicted"
    BEYOND = "Beyond the evidence"
    NOT_FOUND = "Not found"


CLAIM_LABELS = tuple(str(label) for label in ClaimLabel)
CITATION_LABELS = tuple(str(label) for label in CitationLabel)
VERDICTS = tuple(str(label) for label in Verdict)
DRAFT_LABELS = tuple(str(label) for label in DraftLabel)

EVIDENCE_K = 3  # Track 2: "a ranked list of up to k = 3 evidence paragraph IDs" (guidelines, section 1)

# `Literal` and not the enums stands in the signatures: DSPy then shows a model the label text, never a Python name.
ClaimLiteral = Literal[
    "Supported",
    "Unsupported Causal Mechanistic",
    "Unsupported Entity",
    "Scope Overgeneralization",
    "Contradiction",
]
CitationLiteral = Literal["Supported", "Overstate", "Topical Match", "Irrelevant"]
VerdictLiteral = Literal["Supported", "Refuted", "Not Enough Evidence", "Conflicting Evidence/Cherrypicking"]
DraftLiteral = Literal["Supported", "Contradicted", "Beyond the evidence", "Not found"]

# One line a label. They stand in the output field's description, where no optimizer rewrites them.
CLAIM_DEFINITIONS: dict[str, str] = {
    ClaimLabel.SUPPORTED: "the evidence adequately supports the sentence",
    ClaimLabel.CAUSAL: "adds a cause or mechanism that the evidence does not show",
    ClaimLabel.ENTITY: "names a dataset, metric, model, baseline or similar that the evidence does not contain",
    ClaimLabel.SCOPE: "extends a finding beyond the scope that the evidence covers",
    ClaimLabel.CONTRADICTION: "directly conflicts with the evidence",
}
CITATION_DEFINITIONS: dict[str, str] = {
    CitationLabel.SUPPORTED: "the paper gives evidence that directly supports the claim",
    CitationLabel.OVERSTATE: "the claim says more, or more strongly, than the paper supports",
    CitationLabel.TOPICAL: "same topic, but the paper lacks the evidence that the claim needs",
    CitationLabel.IRRELEVANT: "the paper has no meaningful support relation to the claim",
}
VERDICT_DEFINITIONS: dict[str, str] = {
    Verdict.SUPPORTED: "the evidence shows that the claim is true",
    Verdict.REFUTED: "the evidence shows that the claim is false",
    Verdict.NOT_ENOUGH: "the evidence neither supports nor refutes the claim",
    Verdict.CONFLICTING: "some evidence supports and some refutes it, or it is true but leaves out what matters",
}
DRAFT_DEFINITIONS: dict[str, str] = {
    DraftLabel.SUPPORTED: "what is shown of the paper bears it out, or it states no finding",
    DraftLabel.CONTRADICTED: "a table, figure or passage that is shown states another value, direction or rank for the "
    "same thing",
    DraftLabel.BEYOND: "adds a cause, or states a finding for more than was tested",
    DraftLabel.NOT_FOUND: "nothing that is shown states or denies it",
}

# What a first look doubts, as a second one, at the whole paper, would name it.
IN_DRAFTS: dict[ClaimLabel, DraftLabel] = {
    ClaimLabel.CAUSAL: DraftLabel.BEYOND,
    ClaimLabel.ENTITY: DraftLabel.NOT_FOUND,
    ClaimLabel.SCOPE: DraftLabel.BEYOND,
    ClaimLabel.CONTRADICTION: DraftLabel.CONTRADICTED,
}


def definitions(of: dict[str, str]) -> str:
    """The definitions on one line, as a field description takes them."""
    return "; ".join(f"{label} = {meaning}" for label, meaning in of.items())
