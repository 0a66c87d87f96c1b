"""Evidence by two heads: what is named without data, what is fitted, and that it is no part of the decision layer."""

import json
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from aisr.artifact.program_file import parse, program_text
from aisr.base.files import BadArtifact
from aisr.optimize.evidence.naming_fit import FITTED, USUAL, Naming, fit_naming, found_under
from aisr.programs.judges.ensemble import name_by, named_by
from aisr.programs.retrieval.evidence_list import BY_RANKS, DEFAULT, EvidencePolicy, Heads, complete, log_odds
from aisr.tasks.track1 import TRACK1
from aisr.tasks.track2 import TRACK2


def case(gold: Sequence[str], named: Sequence[str], ranking: Sequence[str], label: str = "Supported") -> Naming:
    def right(ids: Sequence[str]) -> bool:
        return bool(set(gold) & set(ids)) if gold else not ids

    return Naming(label, label, right, [named], ranking)


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        ([["P7", "P8", "P9"]], ["P7", "P8", "P1"]),
        ([["P7", "P1", "P9"]], ["P7", "P1", "P2"]),
        ([["P7"]], ["P7", "P1", "P2"]),
        ([[]], ["P1", "P2", "P3"]),
        ([["P7", "P8"], ["P8", "P9"]], ["P8", "P7", "P1"]),
    ],
)
def test_without_data_two_are_the_models_and_one_the_rankers(named: list[list[str]], wanted: list[str]) -> None:
    assert complete("Supported", named, ["P1", "P2", "P3"]) == wanted


def test_the_third_goes_to_the_ranker_where_it_is_sure_and_to_the_model_where_it_is_not() -> None:
    policy = EvidencePolicy(heads=Heads(named=1, ranked=1, given=(3, 2, 0), odds=1))
    ranking = ["P1", "P2", "P3"]
    assert complete("Supported", [["P7", "P8"]], ranking, policy, [-0.1, -4.5, -5.0]) == ["P7", "P1", "P8"]
    assert complete("Supported", [["P7", "P8"]], ranking, policy, [-0.8, -0.9, -5.0])[2] == "P2"


def test_odds_are_a_distribution() -> None:
    assert np.exp(log_odds(np.array([800.0, 1.0, -3.0]))).sum() == pytest.approx(1)


def test_a_model_that_names_anything_is_not_heeded() -> None:
    draw = Random(1)
    rows = [case(["P3"], draw.sample(["P5", "P6", "P7", "P8"], 3), ["P1", "P2", "P3", "P4"]) for _ in range(40)]
    fitted = fit_naming(rows, range(40), seed=0)
    assert fitted.report["way"] == "three ranked"
    assert fitted.found.all()
    assert not found_under(rows, DEFAULT).any()


def test_weights_are_fitted_on_what_the_first_of_each_head_miss() -> None:
    """Where both are wrong, the ranker's second is right: of those that the model names second only one in ten is."""
    rows = [case(["P2" if k % 10 else "P6"], ["P5", "P6"], ["P1", "P2", "P3"]) for k in range(60)]
    fitted = fit_naming(rows, range(60), seed=0)
    assert fitted.report["way"] in (FITTED, "one and two")
    assert fitted.report["hit"][FITTED] == pytest.approx(0.9)
    assert fitted.report["hit"][USUAL] == pytest.approx(0.1)


@pytest.mark.parametrize(("empty", "fill"), [(1, "three"), (2, "three"), (5, "none")])
def test_a_list_is_left_empty_where_that_is_surely_better(empty: int, fill: str) -> None:
    rows = [case(["P1"], ["P5"], ["P1", "P2", "P3"]) for _ in range(30)]
    rows += [case([], ["P5"], ["P1", "P2"], "Topical Match") for _ in range(empty)]
    assert fit_naming(rows, range(len(rows)), seed=0).policy.fill["Topical Match"] == fill


def test_whether_evidence_is_right_is_told_by_policies_that_did_not_see_the_group() -> None:
    rows = [case([], ["P1"], ["P1", "P2"], "Topical Match") for _ in range(20)]
    rows += [case(["P1"], ["P1"], ["P1", "P2"]) for _ in range(20)]
    alone = [0] * 20 + list(range(1, 21))  # nobody outside this group says that nothing is to be named
    assert not fit_naming(rows, alone, seed=0).found[:20].any()
    assert fit_naming(rows, range(40), seed=0).found[:20].all()


def test_too_few_groups_leave_two_and_one_and_say_so() -> None:
    fitted = fit_naming([case(["P1"], ["P5"], ["P1"])] * 40, [0, 1] * 20, seed=0)
    assert fitted.policy == DEFAULT
    assert "2 groups" in fitted.report["why"]
    assert fitted.found.all()


def test_a_program_from_before_names_as_it_did() -> None:
    old = json.loads(program_text(TRACK2, TRACK2.build({})))
    del old["naming"]
    assert named_by(parse(json.dumps(old), "program.json").program) == BY_RANKS
    rule = {"weights": {"LM": 1.0}, "offsets": [0.0] * 4}
    layer = {"labels": list(TRACK2.labelled.labels), "majority": "Supported", "says": rule, "means": rule}
    evidence = {"named_weight": 0.25, "fill": {"Overstate": "named"}}
    for kept, wanted in ((True, EvidencePolicy.model_validate(evidence)), (False, BY_RANKS)):
        old["decision"] = {**layer, "kept": kept, "evidence": evidence}
        assert named_by(parse(json.dumps(old), "program.json").program) == wanted


def test_how_evidence_is_named_is_saved_without_a_decision_layer() -> None:
    program = TRACK2.build({})
    name_by(program, EvidencePolicy(fill={"Topical Match": "none"}, heads=Heads(named=1, ranked=2)))
    assert program.decision is None
    assert named_by(parse(program_text(TRACK2, program), "program.json").program) == named_by(program)


def test_a_task_that_names_no_evidence_is_not_told_how_to() -> None:
    text = json.loads(program_text(TRACK1, TRACK1.build({})))
    assert "naming" not in text
    with pytest.raises(BadArtifact, match="track1 names no evidence"):
        parse(json.dumps(text | {"naming": DEFAULT.model_dump()}), "program.json")
