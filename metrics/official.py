"""The ranking scores of both tracks, exactly as the official evaluator computes them.

Rules: guidelines, section 2 ("Metrics"). What they leave out was learnt from the evaluator's own answers, of which
`tests/golden/official-score-vectors.jsonl` holds 150:

* macro-F1 divides by all labels of the track, even where one never occurs; an F1 with denominator 0 is 0;
* Track 1, several gold labels: a prediction among them counts as that label, a miss counts against the first;
* Track 2: predicted evidence ids are deduplicated in order, then cut to the first three; where the gold list is empty,
  Joint@3 asks for the right label and an empty list ("match-empty").

A corpus is reduced to a `Tally` of counts a record.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metrics.tally import Tally
from programs.labels import CITATION_LABELS, CLAIM_LABELS, EVIDENCE_K
from programs.records import Citation


def tally_claims(gold: Sequence[Sequence[Sequence[str]]], predicted: Sequence[Sequence[str] | None]) -> Tally:
    """Track 1. For each record: the gold labels of each sentence, and one predicted label a sentence.

    None as a prediction is a record that failed: it earns nothing and its gold labels are missed.
    Raises ValueError where the numbers of records or sentences differ or a label is unknown.
    """
    counts, exact = _empty(gold, predicted, CLAIM_LABELS)
    column = {label: k for k, label in enumerate(CLAIM_LABELS)}
    for row, (types, labels) in enumerate(zip(gold, predicted, strict=True)):
        if labels is not None and len(labels) != len(types):
            raise ValueError(f"record {row + 1}: {len(labels)} labels for {len(types)} sentences; one label a sentence")
        tp, fp, fn = counts[row]
        missed = 0
        for k, allowed in enumerate(types):
            label = labels[k] if labels is not None else None
            if label in allowed:
                tp[_known(column, label, row)] += 1
                continue
            missed += 1
            fn[_known(column, allowed[0], row)] += 1
            if label is not None:
                fp[_known(column, label, row)] += 1
        exact[row] = missed == 0
    return Tally(CLAIM_LABELS, counts, exact, "pem")


def tally_citations(gold: Sequence[Citation], predicted: Sequence[Citation | None]) -> Tally:
    """Track 2. Gold and predicted judgement of each record; None is a record that failed (it earns nothing).

    Raises ValueError where the numbers of records differ or a label is unknown.
    """
    counts, exact = _empty(gold, predicted, CITATION_LABELS)
    column = {label: k for k, label in enumerate(CITATION_LABELS)}
    for row, (right, guess) in enumerate(zip(gold, predicted, strict=True)):
        tp, fp, fn = counts[row]
        wanted = _known(column, right.label, row)
        if guess is not None and guess.label == right.label:
            tp[wanted] += 1
            exact[row] = evidence_found(right.evidence_para_ids, guess.evidence_para_ids)
            continue
        fn[wanted] += 1
        if guess is not None:
            fp[_known(column, guess.label, row)] += 1
    return Tally(CITATION_LABELS, counts, exact, "joint_at_3")


def evidence_found(gold: Sequence[str], predicted: Sequence[str]) -> bool:
    """Whether the first three predicted ids hold a gold one; where gold has none, whether there are none."""
    if not gold:
        return not predicted
    return not set(gold).isdisjoint(list(dict.fromkeys(predicted))[:EVIDENCE_K])


def _empty(
    gold: Sequence[object], predicted: Sequence[object], labels: tuple[str, ...]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    if len(gold) != len(predicted):
        raise ValueError(f"{len(predicted)} predictions for {len(gold)} gold records; one prediction a record")
    return np.zeros((len(gold), 3, len(labels)), dtype=np.int64), np.zeros(len(gold), dtype=np.bool_)


def _known(column: dict[str, int], label: str | None, row: int) -> int:
    if label not in column:
        raise ValueError(f"record {row + 1}: unknown label {label!r}; one of: {', '.join(column)}")
    return column[label]
