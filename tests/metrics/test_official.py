"""The official scores: 150 corpora that the official evaluator scored, and what must hold for every corpus."""

from typing import Any

import pytest

from aisr.metrics.scores import Report, Tally
from aisr.metrics.track1 import tally_track1
from aisr.metrics.track2 import tally_track2
from aisr.programs.track2.record import Citation
from support.corpora import CAUSAL, ENTITY, SCOPE, S, read_rows
from support.paths import TESTS

Corpus = dict[str, Any]
GOLDEN = TESTS / "golden" / "official-score-vectors.jsonl"
VECTORS = read_rows(GOLDEN)


def golden_tally(corpus: Corpus) -> Tally:
    """The tally of a golden corpus; its predictions stand in the order of the gold records."""
    gold, predicted = corpus["gold"], {row["id"]: row for row in corpus["pred"]}
    rows = [predicted[row["id"]] for row in gold]
    if corpus["track"] == 1:
        types = [[sentence["types"] for sentence in row["sentence_label"]] for row in gold]
        return tally_track1(types, [row["labels"] for row in rows])
    return tally_track2(*([Citation(row["label"], row["evidence_para_ids"]) for row in side] for side in (gold, rows)))


def claims_score(gold: list[list[list[str]]], predicted: list[Any]) -> Report:
    return tally_track1(gold, predicted).report()


def exact(result: Report) -> float:
    """Paragraph exact match, or Joint@3."""
    return result.parts["pem"] if "pem" in result.parts else result.parts["joint_at_3"]


def citations_score(gold: list[Citation], predicted: list[Any]) -> Report:
    return tally_track2(gold, predicted).report()


def test_agrees_with_the_official_evaluator() -> None:
    assert (len(VECTORS), {corpus["track"] for corpus in VECTORS}) == (150, {1, 2})
    for k, corpus in enumerate(VECTORS):
        report, expected = golden_tally(corpus).report().as_dict(), corpus["expected"]
        names = ("macro_f1", "pem" if corpus["track"] == 1 else "joint_at_3", "score")
        assert [report[name] for name in names] == pytest.approx([expected[name] for name in names], abs=1e-12), k
        f1 = {label: part["f1"] for label, part in report["per_label"].items()}
        assert f1 == pytest.approx(expected["per_label_f1"], abs=1e-12), k


def test_a_hit_on_any_gold_label_counts_as_that_label_and_a_miss_against_the_first() -> None:
    hit, miss = (claims_score([[[SCOPE, ENTITY]]], [[label]]) for label in (ENTITY, CAUSAL))
    assert [label for label, part in hit.per_label.items() if part.support] == [ENTITY]
    assert [label for label, part in miss.per_label.items() if part.support] == [SCOPE]
    assert (hit.per_label[ENTITY].f1, exact(hit), exact(miss)) == (1, 1, 0)


def test_a_label_that_never_occurs_still_divides_the_macro_f1() -> None:
    assert claims_score([[[S]]], [[S]]).parts["macro_f1"] == pytest.approx(1 / 5)
    assert citations_score([Citation("Supported", [])], [Citation("Supported", [])]).parts["macro_f1"] == pytest.approx(
        1 / 4
    )


@pytest.mark.parametrize(
    ("label", "gold", "predicted", "joint"),
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
def test_joint_at_3(label: str, gold: list[str], predicted: list[str], joint: int) -> None:
    assert citations_score([Citation("Supported", gold)], [Citation(label, predicted)]).parts["joint_at_3"] == joint


def test_a_failed_record_earns_nothing_and_misses_its_labels() -> None:
    result = claims_score([[[S], [ENTITY]], [[S]]], [None, [S]])
    assert (result.per_label[S].recall, result.per_label[ENTITY].recall, exact(result)) == (0.5, 0, 0.5)
    assert result.per_label[S].precision == 1
    assert citations_score([Citation("Supported", [])], [None]).score == 0


@pytest.mark.parametrize(
    ("gold", "predicted", "words"),
    [
        ([[[S]]], [], "0 predictions for 1 gold records"),
        ([[[S]]], [[S, S]], "record 1: 2 labels for 1 sentences"),
        ([[[S]], [[S]]], [[S], ["Suported"]], "record 2: unknown label 'Suported'; one of: Supported, "),
    ],
)
def test_what_the_evaluator_refuses_is_an_error(gold: list[Any], predicted: list[Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tally_track1(gold, predicted)
    with pytest.raises(ValueError, match="record 1: unknown label 'Contradiction'; one of: Supported, Overstate"):
        tally_track2([Citation("Supported", [])], [Citation("Contradiction", [])])
    with pytest.raises(ValueError, match="no records"):
        tally_track1([], []).report()
