"""The ranking score of Track 2, exactly as the official evaluator computes it.

Rules: guidelines, section 2 ("Metrics"). What they leave out was learnt from the evaluator's own answers, of which
`tests/golden/official-score-vectors.jsonl` holds 150: macro-F1 divides by all labels of the track, even where one never
occurs; an F1 with denominator 0 is 0; predicted evidence ids are deduplicated in order, then cut to the first three;
where the gold list is empty, Joint@3 asks for the right label and an empty list ("match-empty"). A corpus is reduced to
a `Tally` of counts a record.
"""

from collections.abc import Sequence
from typing import Any

from aisr.metrics.scores import Tally, column_of, empty_counts

EVIDENCE_K = 3  # "a ranked list of up to k = 3 evidence paragraph IDs" (guidelines, section 1)


def tally_track2(gold: Sequence[Any], predicted: Sequence[Any], labels: tuple[str, ...]) -> Tally:
    """Return the counts of gold and predicted judgements, each with `label` and `evidence_para_ids`; None is a record
    that failed (it earns nothing). labels: all of the track.

    Raises ValueError where the numbers of records differ or a label is unknown.
    """
    counts, exact = empty_counts(gold, predicted, labels)
    column = {label: k for k, label in enumerate(labels)}
    for row, (right, guess) in enumerate(zip(gold, predicted, strict=True)):
        tp, fp, fn = counts[row]
        wanted = column_of(column, right.label, row)
        if guess is not None and guess.label == right.label:
            tp[wanted] += 1
            exact[row] = evidence_right(right.evidence_para_ids, guess.evidence_para_ids)
            continue
        fn[wanted] += 1
        if guess is not None:
            fp[column_of(column, guess.label, row)] += 1
    return Tally(labels, counts, exact, "joint_at_3")


def evidence_right(gold: Sequence[str], predicted: Sequence[str]) -> bool:
    """Whether the first three predicted ids hold a gold one; where gold has none, whether there are none."""
    if not gold:
        return not predicted
    return not set(gold).isdisjoint(list(dict.fromkeys(predicted))[:EVIDENCE_K])
