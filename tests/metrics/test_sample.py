"""The sample data set: it is in the official formats, leaks nothing, and is not solved by counting words."""

from itertools import combinations
from typing import Any

import pytest
from PIL import Image

from aisr.programs.records import read
from aisr.programs.task import Task
from aisr.programs.track1.task import TRACK1
from aisr.programs.track2.task import TRACK2
from support.corpora import read_rows
from support.paths import SAMPLE
from support.tracks import BOTH

SPLITS = ("train", "dev", "test")
WITHHELD = {"types", "label", "evidence_para_ids", "evidence_texts"}

both_tracks = pytest.mark.parametrize("task", BOTH.values(), ids=list(BOTH))


def records(task: Task, name: str) -> list[Any]:
    return list(read(SAMPLE / task.name / f"{name}.jsonl", task.record, task.name))


def rows(track: str, name: str) -> list[dict[str, Any]]:
    return read_rows(SAMPLE / track / f"{name}.jsonl")


def without_labels(value: Any) -> Any:
    """A JSON value without the fields that a participant may not see."""
    if isinstance(value, dict):
        return {key: without_labels(part) for key, part in value.items() if key not in WITHHELD}
    return [without_labels(part) for part in value] if isinstance(value, list) else value


@both_tracks
@pytest.mark.parametrize(("name", "size"), [("train", 120), ("dev", 100), ("test", 100), ("test-inputs", 100)])
def test_every_file_passes_the_reader_and_has_its_size(task: Task, name: str, size: int) -> None:
    result = records(task, name)
    assert len(result) == size
    assert {record.gold is None for record in result} == {name == "test-inputs"}


@pytest.mark.parametrize("track", BOTH)
def test_the_test_inputs_are_the_test_records_without_their_labels(track: str) -> None:
    inputs, test = rows(track, "test-inputs"), rows(track, "test")
    assert inputs == [without_labels(row) for row in test]
    assert inputs != test
    assert [row["id"] for row in inputs] == [f"{track}-sample-test-{k:06d}" for k in range(1, 101)]


def test_every_picture_is_there_and_opens_and_none_is_left_over() -> None:
    paths = {
        item.img_path
        for name in SPLITS
        for record in records(TRACK1, name)
        for item in record.evidence_bundle
        if item.type != "text"
    }
    for path in paths:
        with Image.open(SAMPLE / path) as picture:
            picture.load()
            assert min(picture.size) > 50
    assert {f"images/{file.name}" for file in (SAMPLE / "images").iterdir()} == paths


@both_tracks
def test_no_picture_paper_or_claim_stands_on_two_sides(task: Task) -> None:
    keys = [set().union(*map(task.shared_keys, records(task, name))) for name in SPLITS]
    assert all(one.isdisjoint(other) for one, other in combinations(keys, 2))


def test_the_evidence_texts_are_the_paragraphs_that_they_name() -> None:
    for name in SPLITS:
        for record in records(TRACK2, name):
            assert record.evidence_texts == {key: record.paragraphs[key] for key in record.evidence_para_ids}
            assert (record.label == "Irrelevant") <= (not record.evidence_para_ids)
