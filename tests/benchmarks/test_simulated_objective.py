"""The study of objectives: the simulated worlds are the published ones, and the table says what was measured."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from aisr.metrics.f1 import FN, FP, TP
from aisr.metrics.tally import Tally
from aisr.programs.labels import CLAIM_LABELS
from benchmarks.objective import (
    OBJECTIVES,
    SHOWN,
    Plan,
    Results,
    Sample,
    agreement,
    main,
    study,
)
from benchmarks.simulation import WORLDS, Candidate, World, draw_corpus, draw_pool, judge, part

TRAIN_DEV, TEST_SHAPED, CITATIONS = WORLDS
QUICK = Plan(sizes=(100, 200, 400), seeds=2, pools=3, draws=2, candidates=40, train=400, truth=1500)
TINY = Plan(sizes=(200, 400), seeds=1, pools=1, draws=1, candidates=10, train=200, truth=300)


@pytest.fixture(scope="module")
def results() -> Results:
    return study(QUICK)


def always_supported(world: World, records: int) -> Tally:
    """What a program earns that says Supported and names some evidence, whatever it is shown."""
    rng = np.random.default_rng(0)
    labels = len(world.labels)
    bias = np.array([99] + [0] * (labels - 1), dtype=np.float32)
    return judge(world, draw_corpus(world, records, rng), Candidate(bias, np.zeros_like(bias), 1.0, 0.0), rng)


@pytest.mark.parametrize(("world", "published"), [(TRAIN_DEV, 43.2), (TEST_SHAPED, 17.3)])
def test_everything_supported_scores_what_was_published(world: World, published: float) -> None:
    assert 100 * always_supported(world, 20_000).report().score == pytest.approx(published, abs=1)


def test_track1_train_dev_has_the_published_label_mix() -> None:
    corpus = draw_corpus(TRAIN_DEV, 20_000, np.random.default_rng(1))
    assert len(corpus.record) / 20_000 == pytest.approx(17547 / 3333, rel=0.02)
    assert (corpus.first == 0).mean() == pytest.approx(0.937, abs=0.003)
    errors = np.bincount(corpus.record, corpus.first > 0)
    assert (errors > 0).mean() == pytest.approx(0.33, abs=0.01)
    assert errors.max() == 1
    assert (corpus.gold[corpus.first > 0].sum(axis=1) > 1).mean() == pytest.approx(527 / 1105, abs=0.03)
    said = corpus.gold.sum(axis=0)
    assert sorted(CLAIM_LABELS[1:], key=lambda label: -said[CLAIM_LABELS.index(label)]) == [
        "Unsupported Entity",
        "Scope Overgeneralization",
        "Unsupported Causal Mechanistic",
        "Contradiction",
    ]


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_tally_counts_each_sentence_once_and_exact_asks_for_all(world: World) -> None:
    rng = np.random.default_rng(2)
    corpus = draw_corpus(world, 500, rng)
    tally = judge(world, corpus, draw_pool(world, 2, rng)[0], rng)
    assert len(tally) == 500
    assert (tally.counts[:, FP].sum(axis=1) == tally.counts[:, FN].sum(axis=1)).all()
    assert (tally.counts[:, TP].sum(axis=1) + tally.counts[:, FN].sum(axis=1) == np.bincount(corpus.record)).all()
    right = tally.counts[:, FN].sum(axis=1) == 0
    assert (right == tally.exact).all() if world.paragraphs else (right | ~tally.exact).all()


def test_agreement_in_points_and_probabilities() -> None:
    true = np.array([0.30, 0.34, 0.39, 0.60])
    chosen = agreement(np.array([0.1, 0.3, 0.2, 0.2]), np.array([0.1, 0.2, 0.4, 0.3]), true)
    assert chosen.same == pytest.approx(spearmanr([0.1, 0.3, 0.2, 0.2], [0.1, 0.2, 0.4, 0.3]).statistic)
    assert chosen.better == pytest.approx(2 / 3)  # of the pairs 30-34, 34-39 and 30-39, the second is wrong
    assert chosen.regret == pytest.approx(26)
    assert chosen.extra == pytest.approx(5)


def test_the_corpus_score_agrees_with_itself(results: Results) -> None:
    for (_, _, objective), found in results.items():
        if objective == "corpus score":
            assert found.mean.same == pytest.approx(1)
            assert found.mean.extra == 0


def test_credit_follows_the_ranking_score_where_accuracy_does_not(results: Results) -> None:
    for size in QUICK.sizes:
        plain, credit = (results[TEST_SHAPED.name, size, name].mean for name in ("accuracy", "credit"))
        assert credit.same > plain.same + 0.1
        assert credit.truth > plain.truth
        assert credit.better > plain.better


def test_the_train_sample_is_not_the_evaluated_one() -> None:
    """The credit's weights change with train alone, its records with the sample alone."""
    rng = np.random.default_rng(5)
    corpus = draw_corpus(TRAIN_DEV, 900, rng)
    tallies = [judge(TRAIN_DEV, corpus, candidate, rng) for candidate in draw_pool(TRAIN_DEV, 4, rng)]
    train, other, tested = ([part(tally, start, 300) for tally in tallies] for start in (0, 300, 600))
    for name in ("credit", "credit, re-linearised", "credit, own slope"):
        objective = OBJECTIVES[name]
        assert (objective(Sample(tested, train, 0)) != objective(Sample(tested, other, 0))).any()
    for name in ("accuracy", "accuracy + exact", "corpus score"):
        objective = OBJECTIVES[name]
        assert (objective(Sample(tested, train, 0)) == objective(Sample(tested, other, 0))).all()


def test_main_prints_the_same_table_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    main([], TINY)
    first = capsys.readouterr().out
    main([], TINY)
    assert capsys.readouterr().out == first
    rows = [line for line in first.splitlines() if line.startswith("| track")]
    assert len(rows) == len(WORLDS) * len(SHOWN)
    assert len({line.count("|") for line in rows}) == 1
    assert "at 200 / 400 records" in first
    assert "| credit | 0." in first
    assert any(word in first for word in ("| met |", "| missed |"))
