"""The study of objectives: the simulated worlds are the published ones, and the table says what was measured."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from aisr.metrics.f1 import FN, FP, TP
from aisr.metrics.tally import Tally
from aisr.programs.labels import CITATION_LABELS, CLAIM_LABELS
from benchmarks.objective import (
    OBJECTIVES,
    SHOWN,
    Plan,
    Results,
    Sample,
    accuracy,
    accuracy_and_exact,
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


def test_test_shaped_paragraphs_are_longer_and_mostly_hold_an_error() -> None:
    corpus = draw_corpus(TEST_SHAPED, 20_000, np.random.default_rng(1))
    lengths = np.bincount(corpus.record)
    assert lengths.mean() == pytest.approx(8.7, abs=0.15)
    assert lengths.max() == 31
    assert (np.bincount(corpus.record, corpus.first > 0) > 0).mean() == pytest.approx(0.82, abs=0.01)


def test_tallies_of_track2_have_the_published_label_mix() -> None:
    tally = always_supported(CITATIONS, 20_000)
    gold = tally.counts[:, TP] + tally.counts[:, FN]
    assert (gold.sum(axis=1) == 1).all()
    mix = dict(zip(CITATION_LABELS, gold.mean(axis=0), strict=True))
    published = {"Supported": 1029, "Overstate": 375, "Topical Match": 376, "Irrelevant": 382}
    assert mix == pytest.approx({label: count / 2162 for label, count in published.items()}, abs=0.015)
    assert tally.exact.mean() == pytest.approx(mix["Supported"])  # it always finds the evidence


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


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_pool_spreads_over_realistic_scores_and_holds_close_pairs(world: World) -> None:
    rng = np.random.default_rng(3)
    corpus = draw_corpus(world, 4000, rng)
    scores = np.sort(
        [100 * judge(world, corpus, candidate, rng).report().score for candidate in draw_pool(world, 60, rng)]
    )
    assert 10 < scores[0] < 35
    assert 45 < scores[-1] < 80
    assert np.median(np.diff(scores)) < 1


def test_the_false_alarms_of_a_paragraph_keep_company() -> None:
    rng = np.random.default_rng(4)
    corpus = draw_corpus(TRAIN_DEV, 8000, rng)
    hasty = Candidate(np.array([2, 0, 0, 0, 0], dtype=np.float32), np.zeros(5, dtype=np.float32), 0.0, 0.0)
    tally = judge(TRAIN_DEV, corpus, hasty, rng)
    clean = np.bincount(corpus.record, corpus.first > 0) == 0
    lengths = np.bincount(corpus.record)[clean]
    share = tally.counts[clean, TP].sum() / lengths.sum()
    assert tally.exact[clean].mean() > (share**lengths).mean() + 0.02


def test_accuracy_is_a_mean_over_records() -> None:
    counts = np.zeros((2, 3, 5), dtype=np.int64)
    counts[0, TP, 0], counts[1, TP, 0], counts[1, FN, 1], counts[1, FP, 0] = 2, 3, 1, 1
    tally = Tally(CLAIM_LABELS, counts, np.array([True, False]), "pem")
    sample = Sample([tally], [tally], 0)
    assert accuracy(sample) == pytest.approx([(1 + 0.75) / 2])
    assert accuracy_and_exact(sample) == pytest.approx([(0.875 + 0.5) / 2])


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


def test_every_world_size_and_objective_is_measured(results: Results) -> None:
    assert set(results) == {(w.name, size, name) for w in WORLDS for size in QUICK.sizes for name in OBJECTIVES}
    for found in results.values():
        assert np.isfinite([*found.mean, *found.spread]).all()
        assert 0 <= found.mean.better <= 1
        assert found.mean.regret >= 0


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


def test_main_full_prints_every_size_and_objective(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--full"], TINY)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| track")]
    assert len(rows) == len(WORLDS) * 2 * len(OBJECTIVES)
