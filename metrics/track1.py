"""The ranking score of Track 1, exactly as the official evaluator computes it.

Rules: guidelines, section 2 ("Metrics"). The rest was learnt from the evaluator's own answers, of which
`tests/golden/official-score-vectors.jsonl` holds 150: macro-F1 divides by all labels of the track, even where one never
occurs; an F1 with denominator 0 is 0; of several gold labels, a prediction among them counts as that label, a miss
counts against the first. A corpus is reduced to a `Tally` of counts a record.
"""

from collections.abc import Sequence

from aisr.metrics.scores import Tally, tally_statements
from aisr.programs.track1.record import CLAIM_LABELS


def tally_track1(gold: Sequence[Sequence[Sequence[str]]], predicted: Sequence[Sequence[str] | None]) -> Tally:
    """For each record: the gold labels of each sentence, and one predicted label a sentence; None for a record that
    failed. Raises ValueError where numbers differ or a label is unknown."""
    return tally_statements(gold, predicted, CLAIM_LABELS, "pem")
