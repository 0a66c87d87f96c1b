"""The decision layer beside DSPy's ReAnchor on the same records: `python -m aisr.optimize.studies.reanchor` (half a
minute, no LM).

Both are given the probabilities that a simulated model states of a corpus (`aisr.optimize.studies.layer`); what each
gains is measured on a large one. ReAnchor fits weights for a mean over records: once for how many labels are right, and
once for the credit, the ranking score linearised at the model as it is, which is the best that such a mean can be told.
"""

import sys

import numpy as np
from numpy.typing import NDArray

from aisr.base.text import percent
from aisr.commands.display import table
from aisr.compat.reanchor import reanchored
from aisr.metrics.credit import PRIOR_F1
from aisr.metrics.judgements import Gold
from aisr.optimize.studies.layer import LARGE, LEANINGS, PRIOR, Drawn, draw, fitted_layer, gain, label_facet

SIZES = (100, 200)
CORPORA = 3
NAMES = [f"label {k}" for k in range(len(PRIOR))]


def main() -> int:
    """Run the study."""
    facet = label_facet()
    rows = []
    for leaning in LEANINGS:
        large = draw(LARGE, leaning, np.random.default_rng(1))
        for size in SIZES:
            gains = []
            for seed in range(CORPORA):
                drawn = draw(size, leaning, np.random.default_rng(seed))
                kept, _, true = fitted_layer(facet, drawn, large)
                worths = right(drawn.gold), credit(drawn.opinions.argmax(axis=1), drawn.gold)
                anchored = [_anchored(drawn, worth, large) for worth in worths]
                gains.append([true if kept else 0.0, *anchored])
            means, worst = np.mean(gains, axis=0), np.min(gains, axis=0)
            shown = [f"{percent(mean)} ({percent(low)})" for mean, low in zip(means, worst, strict=True)]
            rows.append([f"{leaning:g}", str(size), *shown])
    names = ["leaning", "records", "decision layer", "ReAnchor, accuracy", "ReAnchor, credit"]
    table(f"true gain in points of ranking score, mean (worst) of {CORPORA} corpora", names, rows)
    return 0


def right(gold: Gold) -> NDArray[np.float64]:
    """What each label is worth where right ones are counted (judgements, labels)."""
    return gold.allowed.astype(np.float64)


def credit(said: NDArray[np.int64], gold: Gold) -> NDArray[np.float64]:
    """What each label is worth by the ranking score's gradient at the model as it is (judgements, labels): half of it
    is macro-F1, half the share of judgements that are right. As in `aisr.metrics.credit`, false alarms of a label that
    is never right cost something, and a label that does not occur is worth nothing."""
    labels = gold.allowed.shape[1]
    hits = np.bincount(said[gold.allowed[np.arange(len(said)), said]], minlength=labels)
    both = np.bincount(gold.first, minlength=labels) + np.bincount(said, minlength=labels)
    t = (2 * hits / np.maximum(both, 1) + PRIOR_F1) / 2
    share = np.divide(len(said), both * labels, out=np.zeros(labels), where=both > 0)
    worth = np.tile(-t * share, (len(said), 1)) + gold.allowed * (2 * share)
    return np.asarray(0.5 * worth + 0.5 * right(gold))


def _anchored(drawn: Drawn, worth: NDArray[np.float64], large: Drawn) -> float:
    weights = np.log(reanchored(NAMES, np.exp(drawn.opinions).tolist(), worth.tolist()))
    return gain((large.opinions + weights).argmax(axis=1), large)


if __name__ == "__main__":
    sys.exit(main())
