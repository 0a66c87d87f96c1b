"""The official scores of both tracks, as the official evaluator has them, and what stands for them in optimizers."""

from random import Random
from typing import Any

import pytest

from aisr.metrics.scores import Surrogate, Tally, f1_scores
from aisr.programs.track1 import CLAIM_LABELS, TRACK1
from aisr.programs.track2 import TRACK2, Citation
from support.corpora import CONTRA, ENTITY, Row, S, draw_claims, read_rows
from support.paths import TESTS

Corpus = dict[str, Any]
GOLDEN = TESTS / "golden" / "official-score-vectors.jsonl"
VECTORS = read_rows(GOLDEN)


def golden_tally(corpus: Corpus) -> Tally:
    """The tally of a golden corpus; its predictions stand in the order of the gold records."""
    predicted = {row["id"]: row for row in corpus["pred"]}
    gold = corpus["gold"]
    rows = [predicted[row["id"]] for row in gold]
    if corpus["track"] == 2:
        return TRACK2.score(list(map(cited, gold)), list(map(cited, rows)))
    types = [[sentence["types"] for sentence in row["sentence_label"]] for row in gold]
    return TRACK1.score(types, [row["labels"] for row in rows])


def cited(row: Row) -> Citation:
    return Citation(row["label"], row["evidence_para_ids"])


def test_agrees_with_the_official_evaluator() -> None:
    assert (len(VECTORS), {corpus["track"] for corpus in VECTORS}) == (150, {1, 2})
    for k, corpus in enumerate(VECTORS):
        result, expected = golden_tally(corpus).corpus_score(), corpus["expected"]
        f1 = {label: part.f1 for label, part in result.per_label.items()}
        assert f1 == pytest.approx(expected["per_label_f1"], abs=1e-12), k
        numbers = {**result.parts, "score": result.score}
        assert numbers == pytest.approx({name: expected[name] for name in numbers}, abs=1e-12), k


def test_a_failed_record_earns_nothing_and_misses_its_labels() -> None:
    result = TRACK1.score([[[S], [ENTITY]], [[S]]], [None, [S]]).corpus_score()
    assert (result.per_label[S].recall, result.per_label[ENTITY].recall, result.parts["pem"]) == (0.5, 0, 0.5)
    assert result.per_label[S].precision == 1
    assert TRACK2.score([Citation("Supported", [])], [None]).corpus_score().score == 0


@pytest.mark.parametrize(
    ("gold", "predicted", "words"),
    [
        ([[[S]]], [], "0 predictions for 1 gold records"),
        ([[[S]]], [[S, S]], "record 1: 2 labels for 1 sentences"),
        ([[[S]], [[S]]], [[S], ["Suported"]], "record 2: unknown label 'Suported'; one of: Supported, "),
        ([[["Suported"]]], [None], "record 1: unknown label 'Suported'; one of: Supported, "),
    ],
)
def test_what_the_evaluator_refuses_is_an_error(gold: list[Any], predicted: list[Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TRACK1.score(gold, predicted)


# --- The surrogate of one record: it moves as the ranking score does


@pytest.mark.parametrize(("label", "others_wrong"), [(S, False), (CONTRA, True)])
def test_setting_one_sentence_right_adds_as_much_surrogate_as_score(label: str, others_wrong: bool) -> None:
    """Where that completes the paragraph, and where another sentence of it stays wrong. Of the predictions, each label
    is said as often as it occurs, two in five of them in the wrong place."""
    rng = Random(3)
    gold = draw_claims(rng, 600)
    places = [[sentences[k][0] for sentences in gold] for k in range(5)]
    rng.shuffle(places[0])
    rng.shuffle(places[1])
    before = [list(labels) for labels in zip(*places, strict=True)]
    row = next(
        k
        for k in range(600)
        if [before[k][0]] != gold[k][0] == [label] and ([before[k][1]] != gold[k][1]) == others_wrong
    )
    after = [*before[:row], [label, *before[row][1:]], *before[row + 1 :]]
    old, new = TRACK1.score(gold, before), TRACK1.score(gold, after)
    surrogate = Surrogate(t=f1_scores(old.counts.sum(axis=0)), n=old.linearised.n)
    gain = surrogate.of(new.counts, new.exact).mean() - surrogate.of(old.counts, old.exact).mean()
    assert gain == pytest.approx(new.corpus_score().score - old.corpus_score().score, rel=0.01)


def test_mean_surrogate_ranks_candidates_as_the_ranking_score_does() -> None:
    """Sixty candidates on the same 400 records, each with strengths of its own; a plain mean ranks them worse."""
    from scipy.stats import spearmanr

    rng = Random(0)
    gold = draw_claims(rng, 400)

    def candidate(spread: float) -> Tally:
        """Right at a rate of its own for each label; what it misses it mostly calls Supported."""
        right = {label: 0.5 + rng.uniform(-spread, spread) for label in CLAIM_LABELS}
        right[S] = 0.9 + rng.uniform(-spread, spread) / 4
        others = [S, S, *CLAIM_LABELS]
        predicted = [[t[0] if rng.random() < right[t[0]] else rng.choice(others) for t in row] for row in gold]
        return TRACK1.score(gold, predicted)

    baseline, candidates = candidate(0), [candidate(0.25) for _ in range(60)]
    official = [tally.corpus_score().score for tally in candidates]
    accuracy = [tally.counts[:, 0].sum() for tally in candidates]
    agreement = spearmanr([tally.surrogate(baseline).mean() for tally in candidates], official).statistic
    assert agreement > 0.98
    assert agreement > spearmanr(accuracy, official).statistic
