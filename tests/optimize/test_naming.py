"""Which paragraphs are named as evidence."""

import pytest

from aisr.programs.ranker import EvidencePolicy


def test_labels_most_of_whose_records_have_no_gold_evidence_name_none() -> None:
    gold = (
        [("Topical Match", False)] * 3 + [("Topical Match", True)] + [("Supported", True)] * 3 + [("Supported", False)]
    )
    policy = EvidencePolicy.from_gold(gold)
    assert policy.none == ("Irrelevant", "Topical Match")  # of the first, train tells nothing
    assert policy.choose("Topical Match", ["P1"], ["P2"]) == []
    assert len(policy.choose("Supported", ["P1"], ["P2", "P3"])) == 3
    assert EvidencePolicy.from_gold([("Irrelevant", True), ("Supported", True)]).none == ()


@pytest.mark.parametrize(
    ("named", "wanted"),
    [(["P9", "P8", "P7"], ["P9", "P8", "P1"]), (["P1"], ["P1", "P2", "P3"]), ([], ["P1", "P2", "P3"])],
)
def test_two_ids_are_the_lms_and_the_third_is_the_rankers_best_of_the_rest(named: list[str], wanted: list[str]) -> None:
    assert EvidencePolicy().choose("Supported", named, ["P1", "P2", "P3"]) == wanted
