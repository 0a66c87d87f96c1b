"""`--fail-on`: which verdicts make the command fail."""

from collections.abc import Sequence

from aisr.programs.errors import UserError
from aisr.review.recomputed import LABELS
from aisr.review.verdicts import EXACT, HIDDEN, Review, Verdict


def chosen(wanted: Sequence[str], known: Sequence[str]) -> set[str]:
    """The labels of --fail-on, whatever their case; `arithmetic` and `quote` are all labels of that kind. Raises
    UserError for what is none."""
    found = [label for kind in EXACT for label in LABELS[kind].meanings]
    labels = {label.lower(): {label} for label in [*known, *found, HIDDEN]}
    labels |= {kind: set(LABELS[kind].meanings) for kind in EXACT}
    unknown = [label for label in wanted if label.lower() not in labels]
    if unknown:
        raise UserError(
            f"--fail-on {unknown[0]!r}: no such label; one of: {', '.join([*known, HIDDEN, *EXACT, *found])}"
        )
    return {label for one in wanted for label in labels[one.lower()]}


def failing(review: Review, labels: set[str], above: float) -> list[Verdict]:
    """The verdicts with one of the labels whose confidence is at least `above`, in 0-1. One without a known confidence
    counts: a gate that cannot tell does not open. One that a reader dismissed does not."""
    return [
        one
        for one in review.verdicts
        if one.label in labels and not one.dismissed and (one.confidence is None or one.confidence >= above)
    ]
