"""The ranking score of Track 1, exactly as the official evaluator computes it.

Rules: guidelines, section 2 ("Metrics"). What they leave out was learnt from the evaluator's own answers, of which
`tests/golden/official-score-vectors.jsonl` holds 150: macro-F1 divides by all labels of the track, even where one never
occurs; an F1 with denominator 0 is 0; of several gold labels, a prediction among them counts as that label, a miss
counts against the first. A corpus is reduced to a `Tally` of counts a record.
"""

from collections.abc import Sequence

from aisr.metrics.tally import Tally, known, nothing_counted
from aisr.programs.labels import CLAIM_LABELS


def tally_track1(gold: Sequence[Sequence[Sequence[str]]], predicted: Sequence[Sequence[str] | None]) -> Tally:
    """Track 1. For each record: the gold labels of each sentence, and one predicted label a sentence.

    None as a prediction is a record that failed: it earns nothing and its gold labels are missed.
    Raises ValueError where the numbers of records or sentences differ or a label is unknown.
    """
    counts, exact = nothing_counted(gold, predicted, CLAIM_LABELS)
    column = {label: k for k, label in enumerate(CLAIM_LABELS)}
    for row, (types, labels) in enumerate(zip(gold, predicted, strict=True)):
        if labels is not None and len(labels) != len(types):
            raise ValueError(f"record {row + 1}: {len(labels)} labels for {len(types)} sentences; one label a sentence")
        tp, fp, fn = counts[row]
        missed = 0
        for k, allowed in enumerate(types):
            label = labels[k] if labels is not None else None
            if label in allowed:
                tp[known(column, label, row)] += 1
                continue
            missed += 1
            fn[known(column, allowed[0], row)] += 1
            if label is not None:
                fp[known(column, label, row)] += 1
        exact[row] = missed == 0
    return Tally(CLAIM_LABELS, counts, exact, "pem")
