"""Planted edits break what their label says they break, and nothing made leaves train."""

import json
from random import Random
from typing import Any

import pytest

from aisr.programs.labels import ClaimLabel
from aisr.programs.reading.lines import read
from aisr.programs.records.track1 import Track1Record
from aisr.programs.records.track2 import Track2Record
from aisr.programs.vision import evidence_bundle
from aisr.tasks.planted_edits import CLAIM_EDITS, plant_citations, plant_claims
from support.paths import SAMPLE
from support.tracks import BOTH

KNOWN = "[table 1] Accuracy of Oriole-2 and Kestrel-S on MarlQA: 71.5 and 64.0."
SENTENCE = "Oriole-2 has a higher accuracy on MarlQA, 71.5."


def train(task: str) -> list[Any]:
    return list(read(SAMPLE / task / "train.jsonl", BOTH[task].record, task))


def test_a_cause_and_a_scope_are_added_behind_the_sentence() -> None:
    for label in (ClaimLabel.CAUSAL, ClaimLabel.SCOPE):
        edited = CLAIM_EDITS[label](SENTENCE, KNOWN, Random(0), [])
        assert edited is not None
        assert edited.startswith(SENTENCE[:-1] + ", ")
        assert edited.endswith(".")


def test_an_entity_comes_from_outside_the_evidence() -> None:
    edited = CLAIM_EDITS[ClaimLabel.ENTITY](SENTENCE, KNOWN, Random(0), ["MarlQA", "Vesper-9", "Oriole-2"])
    assert edited is not None
    assert "Vesper-9" in edited
    assert CLAIM_EDITS[ClaimLabel.ENTITY](SENTENCE, KNOWN, Random(0), ["MarlQA"]) is None


@pytest.mark.parametrize("seed", range(8))
def test_a_contradiction_turns_a_direction_or_changes_a_number(seed: int) -> None:
    edited = CLAIM_EDITS[ClaimLabel.CONTRADICTION](SENTENCE, KNOWN, Random(seed), [])
    assert edited is not None
    assert ("lower" in edited) != ("71.5" not in edited)


def test_a_sentence_that_an_edit_does_not_fit_is_left_alone() -> None:
    assert CLAIM_EDITS[ClaimLabel.CONTRADICTION]("We describe the setup.", KNOWN, Random(0), []) is None
    assert CLAIM_EDITS[ClaimLabel.CAUSAL]("Figure 3.", KNOWN, Random(0), []) is None


@pytest.mark.parametrize("task", BOTH)
def test_made_records_are_valid_new_and_the_same_for_the_same_seed(task: str) -> None:
    records = train(task)
    plant = BOTH[task].labelled.plant
    made = plant(records, 40, 1, 3)
    assert len(made) == 40
    assert [record.id for record in made] == [record.id for record in plant(records, 40, 1, 3)]
    assert len({record.id for record in made}) == 40
    assert not {record.id for record in made} & {record.id for record in records}
    for record in made:
        assert type(record).model_validate(json.loads(record.model_dump_json())) == record


def test_each_label_of_track_1_is_made_about_as_often_as_the_others() -> None:
    made = plant_claims(train("track1"), 40, 1, seed=0)
    planted = [types[0] for record in made if isinstance(record, Track1Record) for types in record.gold or []]
    counts = [planted.count(str(label)) for label in CLAIM_EDITS]
    assert sum(counts) == 40
    assert min(counts) >= 8


def test_density_puts_several_edits_into_long_paragraphs_only() -> None:
    made = plant_claims(train("track1"), 40, 3, seed=0)
    for record in made:
        assert isinstance(record, Track1Record)
        wrong = sum(types != ["Supported"] for types in record.gold or [])
        assert 1 <= wrong <= max(1, len(record.sentences) // 3)
    assert any(sum(types != ["Supported"] for types in record.gold or []) == 2 for record in made)


def test_a_made_irrelevant_claim_cites_another_paper_without_evidence() -> None:
    records = {record.id: record for record in train("track2")}
    made = [record for record in plant_citations(list(records.values()), 20, 1, seed=0) if "+irrelevant" in record.id]
    assert made
    for record in made:
        source = records[record.id.partition("+")[0]]
        assert isinstance(record, Track2Record)
        assert isinstance(source, Track2Record)
        assert record.paragraphs != source.paragraphs
        assert record.evidence_para_ids == []


def test_a_named_thing_that_was_swapped_in_is_nowhere_in_the_evidence() -> None:
    for record in plant_claims(train("track1"), 40, 1, seed=1):
        if isinstance(record, Track1Record) and "+entity" in record.id:
            (place,) = [k for k, types in enumerate(record.gold or []) if types == ["Unsupported Entity"]]
            known = evidence_bundle.render(record.evidence_bundle).text
            assert any(
                word.strip(".,;:()'") not in known for word in record.sentences[place].split() if word[0].isupper()
            )


def test_nothing_is_made_where_nothing_is_supported() -> None:
    assert plant_claims([], 5, 1, seed=0) == []
    assert plant_citations([], 5, 1, seed=0) == []
