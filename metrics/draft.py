"""The ranking score of drafts: the mean of macro-F1 over the four labels and of exact match, as those of both tracks
are. Of a record with one sentence, exact match is accuracy; of one with several, all of them must be right."""

from collections.abc import Sequence

from aisr.metrics.scores import Tally, tally_statements
from aisr.programs.draft.record import DRAFT_LABELS


def tally_draft(gold: Sequence[Sequence[Sequence[str]]], predicted: Sequence[Sequence[str] | None]) -> Tally:
    """For each record: the gold label of each sentence, as a list of one, and one predicted label a sentence; None for
    a record that failed. Raises ValueError where numbers differ or a label is unknown."""
    return tally_statements(gold, predicted, DRAFT_LABELS)
