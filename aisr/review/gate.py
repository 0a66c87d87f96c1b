"""`--fail-on`: which verdicts make the command fail."""

from collections.abc import Sequence

from aisr.programs.errors import UserError
from aisr.programs.labels import IN_DRAFTS
from aisr.review.recomputed import LABELS
from aisr.review.verdicts import EXACT, HIDDEN, Review, Verdict


def chosen(wanted: Sequence[str], known: Sequence[str]) -> set[str]:
    """The labels of --fail-on, whatever their case; `arithmetic` and `quote` are all labels of that
    kind, and a label of the first look stands for that of the second as well. Raises UserError for what is none."""
    found = [label for kind in EXACT for label in LABELS[kind].meanings]
    labels = {label.lower(): {label} for label in [*known, *found, HIDDEN]}
    labels |= {kind: set(LABELS[kind].meanings) for kind in EXACT}
    for first, second in IN_DRAFTS.items():
        if second in known:  # the second look's word for what the first one doubts
            labels.setdefault(first.lower(), set()).add(str(second))
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
