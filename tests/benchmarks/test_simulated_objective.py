"""The study of objectives: the simulated worlds are the published ones, and the table says what was measured."""

import numpy as np
import pytest

from aisr.metrics.scores import Tally
from benchmarks.objective import (
    SHOWN,
    Plan,
    main,
)
from benchmarks.simulation import WORLDS, Candidate, World, draw_corpus, judge

TRAIN_DEV, TEST_SHAPED, CITATIONS = WORLDS
TINY = Plan(sizes=(200, 400), seeds=1, pools=1, draws=1, candidates=10, train=200, truth=300)


def always_supported(world: World, records: int) -> Tally:
    """The tally of a program that says Supported and names some evidence, whatever the record."""
    rng = np.random.default_rng(0)
    labels = len(world.labels)
    bias = np.array([99] + [0] * (labels - 1), dtype=np.float32)
    return judge(world, draw_corpus(world, records, rng), Candidate(bias, np.zeros_like(bias), 1.0, 0.0), rng)


@pytest.mark.parametrize(("world", "published"), [(TRAIN_DEV, 43.2), (TEST_SHAPED, 17.3)])
def test_everything_supported_scores_what_was_published(world: World, published: float) -> None:
    assert 100 * always_supported(world, 20_000).report().score == pytest.approx(published, abs=1)


def test_main_prints_the_same_table_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    main([], TINY)
    first = capsys.readouterr().out
    main([], TINY)
    assert capsys.readouterr().out == first
    rows = [line for line in first.splitlines() if line.startswith("| track")]
    assert len(rows) == len(WORLDS) * len(SHOWN)
    assert len({line.count("|") for line in rows}) == 1
    assert "at 200 / 400 records" in first
    assert "| surrogate | 0." in first
    assert any(word in first for word in ("| met |", "| missed |"))
