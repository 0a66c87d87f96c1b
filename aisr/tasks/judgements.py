"""What a task adds whose answers are labels: one for each statement of a record.

The decision layer, its cues, the confusion matrix and F1 by label all rest on this. A task without it (a
ranking, a text) goes through everything else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy


@dataclass(frozen=True)
class Judgements:
    """Labels, and where they stand in records.

    neutral: the label of a statement that nothing is wrong with; definitions: a line a label;
    allowed: the gold labels of each statement of a record, the first of them first;
    statements and grounds: the text of each statement of an example, and the evidence that all are held against;
    evidence_right: whether evidence ids are right, where the label is; None for a task that names none. The records of
    a task that names some have one statement each;
    answer_right: the same where evidence does not depend on the label, of a whole answer: whether it would count if its
    label were right; f1_share: what macro-F1 counts in the ranking score beside exact match, in 0-1.
    """

    labels: tuple[str, ...]
    neutral: str
    definitions: Mapping[str, str]
    allowed: Callable[[Any], Sequence[Sequence[str]]]
    statements: Callable[[dspy.Example], list[str]]
    grounds: Callable[[dspy.Example], str]
    evidence_right: Callable[[Any, Sequence[str]], bool] | None = None
    answer_right: Callable[[Any, Any], bool] | None = None
    f1_share: float = 0.5

    def said(self, gold: Any) -> list[str]:
        """The first gold label of each statement of a record."""
        return [types[0] for types in self.allowed(gold)]

    def kinds(self, gold: Any) -> str:
        """The labels of a record as one word: what demos and subsets of dev are balanced by."""
        return " ".join(sorted(set(self.said(gold))))

    def fault(self, gold: Any) -> str:
        """The rarest thing about a record: its first label other than the neutral one, or that."""
        return next((label for label in self.said(gold) if label != self.neutral), self.neutral)


def wrong_number(wanted: int, answer: Sequence[str]) -> str | None:
    """What is wrong with the number of labels of a record with so many statements; None where it is right."""
    return None if len(answer) == wanted else f"{len(answer)} labels for {wanted} sentences; one label a sentence"


def wrong_labels(gold: Sequence[Sequence[str]], answer: Sequence[str], definitions: Mapping[str, str]) -> str:
    """One sentence for each wrong label, for an optimizer that reflects."""
    wrong = [
        f"Sentence {k}: said {label}; right is {' or '.join(types)} ({definitions[types[0]]})."
        for k, (types, label) in enumerate(zip(gold, answer, strict=True), start=1)
        if label not in types
    ]
    return " ".join(wrong) or "Every sentence is labelled right."
