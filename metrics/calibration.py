"""Whether a probability means what it says."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

BINS = 10


class Bin(NamedTuple):
    """Judgements that were about equally sure: how sure on average, the share of them that was right, their number."""

    confidence: float
    accuracy: float
    judgements: int


def reliability(confidence: Sequence[float], right: Sequence[bool], bins: int = BINS) -> list[Bin]:
    """Judgements by how sure they were, in bins of equal width over 0-1, the empty ones left out (Guo et al. 2017,
    section 2). Raises ValueError for none."""
    if not len(confidence):
        raise ValueError("no judgements: nothing to compare confidence with")
    sure, hit = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    place = np.minimum((sure * bins).astype(np.int64), bins - 1)
    size = np.bincount(place, minlength=bins)
    sums = zip(np.bincount(place, sure, bins), np.bincount(place, hit, bins), size, strict=True)
    return [Bin(float(total / count), float(hits / count), int(count)) for total, hits, count in sums if count]


def calibration_error(confidence: Sequence[float], right: Sequence[bool], bins: int = BINS) -> float:
    """The expected calibration error in 0-1: the mean distance between how sure a judgement was and how often such
    judgements were right. Raises ValueError for none."""
    found = reliability(confidence, right, bins)
    gaps = sum(abs(one.confidence - one.accuracy) * one.judgements for one in found)
    return gaps / sum(one.judgements for one in found)


def selective_accuracy(confidence: Sequence[float], right: Sequence[bool], share: float) -> float:
    """The accuracy of the surest `share` (0-1] of judgements, rounded up to whole ones; of equally sure ones as many as
    are needed count at their mean. Raises ValueError for none."""
    if not len(confidence):
        raise ValueError("no judgements: nothing to be accurate about")
    sure, hit = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    wanted = max(int(np.ceil(share * len(sure) - 1e-9)), 1)
    least = np.sort(sure)[-wanted]
    above, level = sure > least, sure == least
    return float((hit[above].sum() + (wanted - above.sum()) * hit[level].mean()) / wanted)
