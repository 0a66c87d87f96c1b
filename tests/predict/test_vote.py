"""Several predictions files as one: labels by the mean of their probabilities, evidence of the surest, and refusals."""

from pathlib import Path
from typing import Any

import pytest

from aisr.predict.predict import claim
from aisr.programs.track1.record import CLAIM_LABELS
from aisr.programs.track2.record import CITATION_LABELS
from support.commands import Aisr
from support.corpora import read_rows, write
from support.paths import SAMPLE

Row = dict[str, Any]


def likely(labels: tuple[str, ...], chosen: str, chance: float) -> dict[str, float]:
    rest = (1 - chance) / (len(labels) - 1)
    return {label: chance if label == chosen else rest for label in labels}


def cited(key: str, label: str, chance: float | None, *ids: str) -> Row:
    row = None if chance is None else likely(CITATION_LABELS, label, chance)
    return {"id": key, "label": label, "evidence_para_ids": list(ids), "probabilities": [row]}


NONE = dict.fromkeys(CITATION_LABELS, 0.0)


def file(path: Path, rows: list[Row], task: Any = "track2", data: str = "digest") -> Path:
    claim(path, {"task": task, "program": path.name, "input": data})
    return write(path, rows)


def test_the_mean_decides_and_evidence_is_that_of_the_surest(aisr: Aisr, tmp_path: Path) -> None:
    failed = {"id": "z", "failed": "no"}
    rows = [cited("x", "Supported", 0.6, "P1"), cited("y", "Overstate", 0.5, "P2"), failed]
    one = file(tmp_path / "a.jsonl", rows)
    two = file(tmp_path / "b.jsonl", [failed, cited("y", "Overstate", 0.7, "P3"), cited("x", "Irrelevant", 0.9)])
    rows = [cited("x", "Supported", 0.7, "P9"), {"id": "y", "failed": "no"}, cited("z", "Irrelevant", None)]
    three = file(tmp_path / "c.jsonl", rows)
    done = aisr("vote", tmp_path / "out.jsonl", one, two)
    assert done.code == 1
    assert "1 failed in all of them" in done.out
    first, second, third = read_rows(tmp_path / "out.jsonl")
    assert (first["label"], first["evidence_para_ids"]) == ("Irrelevant", [])
    assert first["probabilities"][0]["Irrelevant"] == pytest.approx((0.9 + 0.4 / 3) / 2, abs=1e-4)
    assert (second["label"], second["evidence_para_ids"]) == ("Overstate", ["P3"])
    assert third == failed

    weighed = ["--weight", 3, "--weight", 1, "--weight", 3]
    assert aisr("vote", tmp_path / "weighed.jsonl", one, two, three, *weighed).code == 0
    first, second, third = read_rows(tmp_path / "weighed.jsonl")
    assert (first["label"], first["evidence_para_ids"]) == ("Supported", ["P9"])
    assert (second["label"], third["label"]) == ("Overstate", "Irrelevant")  # by those that did not fail
    assert aisr("vote", tmp_path / "again.jsonl", tmp_path / "weighed.jsonl", three).code == 0


def test_what_is_voted_is_submitted_and_scored(aisr: Aisr, tmp_path: Path) -> None:
    """A label that label weights have lifted over the likeliest stays where all files say it."""
    gold = SAMPLE / "track1" / "test.jsonl"
    row = likely(CLAIM_LABELS, "Supported", 0.6)
    counts = {one["id"]: len(one["sentence_label"]) for one in read_rows(gold)}
    rows = [
        {"id": key, "labels": ["Contradiction"] * count, "probabilities": [row] * count}
        for key, count in counts.items()
    ]
    files = [file(tmp_path / f"{name}.jsonl", rows, "track1") for name in "ab"]
    out = tmp_path / "out.jsonl"
    assert aisr("vote", out, *files).code == 0
    assert [row["labels"] for row in read_rows(out)] == [row["labels"] for row in rows]
    packed = ["--data", SAMPLE / "track1" / "test-inputs.jsonl", "--predictions", out, "--out", tmp_path / "p.zip"]
    assert aisr("submit", "--task", "track1", *packed).code == 0
    assert aisr("score", gold, out, "--task", "track1").code == 0


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([cited("y", "Supported", 0.6)], {}, "only one of them has"),
        ([cited("x", "Supported", 0.6)], {"task": "track1"}, "its task is track1, and track2"),
        ([cited("x", "Supported", 0.6)], {"data": "other"}, "its input is other, and digest"),
        ([cited("x", "Supported", None)], {}, "no label probabilities"),
        ([{**cited("x", "Supported", 0.6), "probabilities": [NONE]}], {}, "expected one for each of"),
        ([{**cited("x", "Supported", 0.6), "label": "True"}], {}, "no prediction of track2"),
        ([cited("x", "Supported", 0.6)], {"data": "y" * 100_000}, "its input is yyy"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_files_that_do_not_go_together_are_refused(
    rows: list[Row], options: dict[str, Any], message: str, aisr: Aisr, tmp_path: Path
) -> None:
    one = file(tmp_path / "a.jsonl", [cited("x", "Supported", 0.6)])
    two = file(tmp_path / "b.jsonl", rows, **options)
    done = aisr("vote", tmp_path / "out.jsonl", one, two)
    assert done.code == 2
    assert message in done.err
    assert len(done.err) < 1_000
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("weights", [("0", "1"), ("-1", "1"), ("inf", "1"), ("nan", "1"), ("1e308", "1e308")])
def test_weights_that_give_no_mean_are_refused(weights: tuple[str, str], aisr: Aisr, tmp_path: Path) -> None:
    files = [file(tmp_path / f"{name}.jsonl", [cited("x", "Supported", 0.6)]) for name in "ab"]
    done = aisr("vote", tmp_path / "out.jsonl", *files, *(f"--weight={weight}" for weight in weights))
    assert (done.code, "--weight" in done.err, (tmp_path / "out.jsonl").exists()) == (2, True, False)


def test_a_field_of_another_task_decides_nothing(aisr: Aisr, tmp_path: Path) -> None:
    def row(label: str) -> Row:
        return {**cited("x", label, None), "probabilities": [NONE | {label: 0.55, "Supported": 0.45}]}

    one = file(tmp_path / "a.jsonl", [{**row("Overstate"), "labels": ["Supported"]}])
    two = file(tmp_path / "b.jsonl", [row("Irrelevant")])
    assert aisr("vote", tmp_path / "out.jsonl", one, two).code == 0
    (voted,) = read_rows(tmp_path / "out.jsonl")
    assert voted["label"] == "Supported"


def test_records_of_other_sentences_leave_no_file(aisr: Aisr, tmp_path: Path) -> None:
    row = likely(CLAIM_LABELS, "Supported", 0.6)
    rows = [{"id": "x", "labels": ["Supported"] * count, "probabilities": [row] * count} for count in (1, 2)]
    files = [file(tmp_path / f"{len(one['labels'])}.jsonl", [one], "track1") for one in rows]
    done = aisr("vote", tmp_path / "out.jsonl", *files)
    assert (done.code, (tmp_path / "out.jsonl").exists()) == (2, False)
    assert "x: not as many labels in each file" in done.err
