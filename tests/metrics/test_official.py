"""The official scores: 150 corpora that the official evaluator scored, and what must hold for every corpus."""

import subprocess
import sys
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from aisr.metrics.scores import Report
from aisr.metrics.tally import Tally
from aisr.metrics.track1 import tally_track1
from aisr.metrics.track2 import tally_track2
from aisr.programs.labels import CITATION_LABELS, CLAIM_LABELS
from aisr.programs.records.track2 import Citation
from support.corpora import CAUSAL, CONTRA, ENTITY, SCOPE, S, draw_citations, draw_claims, judge_claims, read_rows
from support.paths import TESTS

Corpus = dict[str, Any]
GOLDEN = TESTS / "golden" / "official-score-vectors.jsonl"
VECTORS = read_rows(GOLDEN)

claim_gold = st.lists(
    st.lists(st.lists(st.sampled_from(CLAIM_LABELS), min_size=1, max_size=2, unique=True), min_size=1, max_size=4),
    min_size=1,
    max_size=8,
)
judgements = st.builds(
    Citation, st.sampled_from(CITATION_LABELS), st.lists(st.sampled_from(["P1", "P2", "P3", "P4", "P5"]), max_size=5)
)
citation_pairs = st.lists(st.tuples(judgements, judgements), min_size=1, max_size=8)


def golden_tally(corpus: Corpus) -> Tally:
    """The tally of a golden corpus; its predictions stand in the order of the gold records."""
    gold, said = corpus["gold"], {row["id"]: row for row in corpus["pred"]}
    rows = [said[row["id"]] for row in gold]
    if corpus["track"] == 1:
        types = [[sentence["types"] for sentence in row["sentence_label"]] for row in gold]
        return tally_track1(types, [row["labels"] for row in rows])
    return tally_track2(*([Citation(row["label"], row["evidence_para_ids"]) for row in side] for side in (gold, rows)))


def claims_score(gold: list[list[list[str]]], said: list[Any]) -> Report:
    return tally_track1(gold, said).report()


def exact(found: Report) -> float:
    """Paragraph exact match, or Joint@3."""
    return found.parts["pem"] if "pem" in found.parts else found.parts["joint_at_3"]


def citations_score(gold: list[Citation], said: list[Any]) -> Report:
    return tally_track2(gold, said).report()


def test_there_are_150_golden_corpora_of_both_tracks() -> None:
    assert len(VECTORS) == 150
    assert {corpus["track"] for corpus in VECTORS} == {1, 2}


@pytest.mark.parametrize("corpus", VECTORS, ids=[f"{k}-track{c['track']}" for k, c in enumerate(VECTORS)])
def test_agrees_with_the_official_evaluator(corpus: Corpus) -> None:
    report, expected = golden_tally(corpus).report().as_dict(), corpus["expected"]
    exact = "pem" if corpus["track"] == 1 else "joint_at_3"
    for name in ("macro_f1", exact, "score"):
        assert report[name] == pytest.approx(expected[name], abs=1e-12)
    f1 = {label: part["f1"] for label, part in report["per_label"].items()}
    assert f1 == pytest.approx(expected["per_label_f1"], abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_macro_f1_agrees_with_scikit_learn(seed: int) -> None:
    rng = Random(seed)
    gold = [[[*types, CONTRA] if rng.random() < 0.1 else types for types in row] for row in draw_claims(rng, 30)]
    said = judge_claims(rng, gold, dict.fromkeys(CLAIM_LABELS, 0.6), said=0.5)
    pairs = [
        (t, label) for types, labels in zip(gold, said, strict=True) for t, label in zip(types, labels, strict=True)
    ]
    truth = [label if label in types else types[0] for types, label in pairs]
    second = f1_score(truth, [label for _, label in pairs], labels=CLAIM_LABELS, average="macro", zero_division=0)
    assert claims_score(gold, said).parts["macro_f1"] == pytest.approx(second, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_track_2_macro_f1_agrees_with_scikit_learn(seed: int) -> None:
    gold, said = draw_citations(Random(seed), 40), draw_citations(Random(seed + 100), 40)
    second = f1_score(
        [g.label for g in gold], [p.label for p in said], labels=CITATION_LABELS, average="macro", zero_division=0
    )
    assert citations_score(gold, said).parts["macro_f1"] == pytest.approx(second, abs=1e-12)


def test_a_hit_on_any_gold_label_counts_as_that_label() -> None:
    found = claims_score([[[SCOPE, ENTITY]]], [[ENTITY]])
    assert found.per_label[ENTITY].f1 == 1
    assert found.per_label[SCOPE].support == 0
    assert exact(found) == 1


def test_a_miss_counts_against_the_first_gold_label() -> None:
    found = claims_score([[[SCOPE, ENTITY]]], [[CAUSAL]])
    assert {label for label, part in found.per_label.items() if part.support} == {SCOPE}
    assert exact(found) == 0


def test_one_wrong_sentence_spoils_the_paragraph() -> None:
    assert claims_score([[[S], [S]], [[S], [S]]], [[S, S], [S, CONTRA]]).parts["pem"] == 0.5


def test_a_label_that_never_occurs_still_divides_the_macro_f1() -> None:
    assert claims_score([[[S]]], [[S]]).parts["macro_f1"] == pytest.approx(1 / 5)
    assert citations_score([Citation("Supported", [])], [Citation("Supported", [])]).parts["macro_f1"] == pytest.approx(
        1 / 4
    )


@pytest.mark.parametrize(
    ("label", "gold", "said", "joint"),
    [
        ("Supported", ["P2"], ["P9", "P8", "P2"], 1),
        ("Supported", ["P2"], ["P9", "P8", "P7", "P2"], 0),  # the fourth is cut off
        ("Supported", ["P2"], ["P9", "P9", "P9", "P2"], 1),  # repetitions go before the cut
        ("Supported", ["P2"], [], 0),
        ("Supported", [], [], 1),  # match-empty
        ("Supported", [], ["P1"], 0),
        ("Irrelevant", ["P2"], ["P2"], 0),  # right evidence, wrong label
        ("Irrelevant", [], [], 0),
    ],
)
def test_joint_at_3(label: str, gold: list[str], said: list[str], joint: int) -> None:
    assert citations_score([Citation("Supported", gold)], [Citation(label, said)]).parts["joint_at_3"] == joint


def test_a_failed_record_earns_nothing_and_misses_its_labels() -> None:
    found = claims_score([[[S], [ENTITY]], [[S]]], [None, [S]])
    assert (found.per_label[S].recall, found.per_label[ENTITY].recall, exact(found)) == (0.5, 0, 0.5)
    assert found.per_label[S].precision == 1
    assert citations_score([Citation("Supported", [])], [None]).score == 0


@pytest.mark.parametrize(
    ("gold", "said", "words"),
    [
        ([[[S]]], [], "0 predictions for 1 gold records"),
        ([[[S]]], [[S, S]], "record 1: 2 labels for 1 sentences"),
        ([[[S]], [[S]]], [[S], ["Suported"]], "record 2: unknown label 'Suported'; one of: Supported, "),
    ],
)
def test_what_the_evaluator_refuses_is_an_error(gold: list[Any], said: list[Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tally_track1(gold, said)


def test_an_unknown_citation_label_is_an_error() -> None:
    with pytest.raises(ValueError, match="record 1: unknown label 'Contradiction'; one of: Supported, Overstate"):
        tally_track2([Citation("Supported", [])], [Citation("Contradiction", [])])


def test_an_empty_corpus_has_no_score() -> None:
    with pytest.raises(ValueError, match="no records"):
        tally_track1([], []).report()


@settings(deadline=None, max_examples=60)
@given(gold=claim_gold, data=st.data())
def test_record_order_does_not_matter(gold: list[list[list[str]]], data: st.DataObject) -> None:
    said = [[data.draw(st.sampled_from(CLAIM_LABELS)) for _ in types] for types in gold]
    order = data.draw(st.permutations(range(len(gold))))
    shuffled = claims_score([gold[k] for k in order], [said[k] for k in order])
    assert shuffled == claims_score(gold, said)


@settings(deadline=None, max_examples=60)
@given(pairs=citation_pairs, data=st.data())
def test_record_order_does_not_matter_in_track_2(pairs: list[tuple[Citation, Citation]], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(pairs))
    assert citations_score(*map(list, zip(*shuffled, strict=True))) == citations_score(
        *map(list, zip(*pairs, strict=True))
    )


@settings(deadline=None, max_examples=60)
@given(pairs=citation_pairs, data=st.data())
def test_duplicate_evidence_ids_neither_help_nor_harm(
    pairs: list[tuple[Citation, Citation]], data: st.DataObject
) -> None:
    gold, said = map(list, zip(*pairs, strict=True))
    again = [
        Citation(p.label, [key for key in p.evidence_para_ids for _ in range(data.draw(st.integers(1, 3)))])
        for p in said
    ]
    assert citations_score(gold, again) == citations_score(gold, said)


@settings(deadline=None, max_examples=80)
@given(gold=claim_gold)
def test_a_perfect_prediction_scores_1_only_if_each_label_occurs(gold: list[list[list[str]]]) -> None:
    found = claims_score(gold, [[types[0] for types in sentences] for sentences in gold])
    occurring = {types[0] for sentences in gold for types in sentences}
    assert exact(found) == 1
    assert found.parts["macro_f1"] == pytest.approx(len(occurring) / 5)
    assert (found.score == 1) == (len(occurring) == 5)


@settings(deadline=None, max_examples=60)
@given(pairs=citation_pairs)
def test_every_part_of_a_score_lies_between_0_and_1(pairs: list[tuple[Citation, Citation]]) -> None:
    found = citations_score(*map(list, zip(*pairs, strict=True)))
    parts = [part[:3] for part in found.per_label.values()]
    assert all(
        0 <= value <= 1 for values in [*parts, (found.score, found.parts["macro_f1"], exact(found))] for value in values
    )
    assert found.score == pytest.approx((found.parts["macro_f1"] + exact(found)) / 2)


def test_the_scores_import_no_dspy() -> None:
    scores = (
        "aisr.metrics.track1",
        "aisr.metrics.track2",
        "aisr.metrics.confidence",
        "aisr.metrics.f1",
    )
    code = f"import sys, {', '.join(scores)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(scores) <= set(done.stdout.split())
    assert not {"dspy", "litellm", "mlflow", "optimize"} & set(done.stdout.split())
