"""The sample data set: it is in the official formats, leaks nothing, and is not solved by counting words."""

from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from PIL import Image
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from aisr.inference.retrieval_eval import DEPTHS, claims, measure
from aisr.programs.reading.lines import read
from aisr.programs.records.track1 import Track1Record
from aisr.programs.records.track2 import Citation
from aisr.programs.retrieval.evidence_list import complete
from aisr.programs.retrieval.passages import rank
from aisr.tasks.task import Task
from aisr.tasks.track1 import TRACK1
from aisr.tasks.track2 import TRACK2
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
    found = records(task, name)
    assert len(found) == size
    assert {record.gold is None for record in found} == {name == "test-inputs"}


@both_tracks
def test_the_readme_counts_the_labels_as_they_are(task: Task) -> None:
    readme = (SAMPLE / "README.md").read_text("utf-8")
    for name in SPLITS:
        golds = [record.gold for record in records(task, name)]
        sentences = [types for gold in golds for types in gold] if task is TRACK1 else [[gold.label] for gold in golds]
        counts = Counter(label for types in sentences for label in types)
        row = next(line for line in readme.splitlines() if line.startswith(f"| `{task.name}/{name}.jsonl`"))
        numbers = [int("".join(filter(str.isdigit, part))) for part in row.split("|")[3].split(",")]
        assert numbers == [counts[label] for label in task.labelled.labels]
        assert min(numbers) >= 10


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
    keys = [set().union(*map(task.shares, records(task, name))) for name in SPLITS]
    assert all(one.isdisjoint(other) for one, other in combinations(keys, 2))


def test_the_evidence_texts_are_the_paragraphs_that_they_name() -> None:
    for name in SPLITS:
        for record in records(TRACK2, name):
            assert record.evidence_texts == {key: record.paragraphs[key] for key in record.evidence_para_ids}
            assert (record.label == "Irrelevant") <= (not record.evidence_para_ids)


def test_the_hard_part_has_long_papers_in_which_bm25_misses_more_than_a_third() -> None:
    found = records(TRACK2, "hard")
    assert len(found) == len({record.claim_text for record in found}) >= 48
    for record in found:
        assert record.evidence_texts == {key: record.paragraphs[key] for key in record.evidence_para_ids}
        assert bool(record.evidence_para_ids) != (record.label == "Irrelevant")
        assert len(record.evidence_para_ids) <= 3
    sizes = {(len(record.paragraphs), sum(map(len, record.paragraphs.values()))) for record in found}
    assert sum(paragraphs >= 80 and letters >= 60_000 for paragraphs, letters in sizes) == 2
    searched = claims(TRACK2, SAMPLE / "track2" / "hard.jsonl", 1, None)
    hits = measure("bm25", lambda claim: rank(claim.claim, claim.paragraphs), searched, 0).hits
    assert hits[DEPTHS.index(3)] < 0.65 < hits[DEPTHS.index(20)]  # hard, not broken


def texts(record: Any) -> list[str]:
    """What a bag of words gets to see: each sentence (Track 1), the claim (Track 2)."""
    return record.sentences if isinstance(record, Track1Record) else [record.claim_text]


def as_answer(record: Any, labels: list[str]) -> Any:
    """Labels as an answer; to a claim, with the evidence that BM25 ranks best."""
    if isinstance(record, Track1Record):
        return labels
    return Citation(labels[0], complete(labels[0], [], rank(record.claim_text, record.paragraphs)))


@both_tracks
def test_a_bag_of_words_does_not_solve_it(task: Task) -> None:
    train = records(task, "train")
    words = TfidfVectorizer(sublinear_tf=True)
    model = LogisticRegression(C=10, class_weight="balanced", max_iter=1000)
    seen = words.fit_transform([text for record in train for text in texts(record)])
    model.fit(seen, [label for record in train for label in task.labelled.said(record.gold)])
    answers = [
        as_answer(record, [str(label) for label in model.predict(words.transform(texts(record)))])
        for record in records(task, "test")
    ]
    found = task.score([record.gold for record in records(task, "test")], answers).report()
    assert found.score < 0.45
    assert found.parts["macro_f1"] < 0.5
