"""Whether a probability means what it says."""

from collections.abc import Sequence

import numpy as np

BINS = 10


def calibration_error(confidence: Sequence[float], right: Sequence[bool], bins: int = BINS) -> float:
    """The expected calibration error in 0-1: the mean distance between how sure a judgement was and how often such
    judgements were right, over bins of equal width (Guo et al. 2017, section 2). Raises ValueError for none."""
    if not len(confidence):
        raise ValueError("no judgements: nothing to compare confidence with")
    sure, hit = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    place = np.minimum((sure * bins).astype(np.int64), bins - 1)
    size = np.bincount(place, minlength=bins)
    gap = np.abs(np.bincount(place, sure, bins) - np.bincount(place, hit, bins))
    return float(gap.sum() / size.sum())
