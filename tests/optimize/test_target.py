"""A compile that aims at the set that it will be ranked on: weights of records, and what follows from them."""

from dataclasses import replace

import numpy as np
import pytest

from aisr.judging.evaluate import score_cases
from aisr.metrics.intervals import difference_interval, score_interval
from aisr.metrics.scores import Tally, value
from aisr.programs.track1 import TRACK1
from support.scripted import claim

LABELS = ("Supported", "Contradiction", "Unsupported Entity")


def test_a_record_of_weight_two_counts_as_if_it_stood_there_twice() -> None:
    """In score, parts, surrogate and smoothing; numbers of gold statements stay those of the records."""
    cases = [TRACK1.build({}).prepare(claim(LABELS[k % 3], "Supported", number=k)) for k in range(12)]
    answers = [["Supported", LABELS[k % 2]] for k in range(12)]
    weights = [2.0 if k % 3 == 0 else 1.0 for k in range(12)]
    rows = [k for k, weight in enumerate(weights) for _ in range(int(weight))]
    weighted = score_cases(TRACK1, [replace(case, weight=w) for case, w in zip(cases, weights, strict=True)], answers)
    repeated = score_cases(TRACK1, [cases[k] for k in rows], [answers[k] for k in rows])
    plain = score_cases(TRACK1, cases, answers)
    assert isinstance(weighted, Tally)
    assert isinstance(plain, Tally)
    assert value(weighted) == pytest.approx(value(repeated))
    assert value(weighted) != pytest.approx(value(plain))
    assert weighted.corpus_score().parts == pytest.approx(repeated.corpus_score().parts)
    assert weighted.rare_labels == plain.rare_labels
    assert weighted.surrogate(weighted)[rows] / np.take(weights, rows) == pytest.approx(repeated.surrogate(repeated))
    assert score_interval(weighted).value == pytest.approx(value(repeated))
    assert difference_interval(weighted, weighted).value == 0
