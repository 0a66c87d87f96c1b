"""Splits: nothing that records share stands on two sides, and labels keep their proportions."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aisr.optimize import split as splits
from aisr.optimize.leakage import leak
from aisr.optimize.split import Parts, Split, split, split_folds, stratum, survey
from aisr.programs.task import Task
from aisr.programs.track1.record import Track1Record
from aisr.programs.track1.task import TRACK1
from aisr.programs.track2.task import TRACK2
from support.corpora import CONTRA, S, citation, claim, write
from support.paths import SAMPLE

ANY = Parts(1, 1, 1)


def split_file(task: Task, file: Path, out: Path, parts: Parts, seed: int) -> dict[str, int]:
    records = survey(task, file)
    return splits.write_split(split(task, records.strata, records.keys, parts, seed), records, file, out)


def sides(made: Split) -> list[list[int]]:
    return [made.train, made.dev, made.test]


def claims(count: int, shares: int = 1) -> list[Track1Record]:
    """Records of which `shares` in a row show the same picture; every fourth holds a contradiction."""
    rows = [
        claim([CONTRA if k % 4 == 0 else S], text=f"Claim {k}.", pictures=[f"images/{k // shares}.jpg"], id=f"r{k}")
        for k in range(count)
    ]
    return [Track1Record.model_validate(row) for row in rows]


def split_records(records: list[Track1Record], keys: list[set[str]], parts: Parts) -> Split:
    return split(TRACK1, [stratum(TRACK1, record) for record in records], keys, parts, seed=0)


def test_sides_share_nothing_and_have_the_sizes_and_label_proportions_that_were_asked_for() -> None:
    records = claims(500, shares=3)
    keys = [TRACK1.shared_keys(record) for record in records]
    made = split_records(records, keys, Parts(3, 1, 1))
    assert sorted(k for side in sides(made) for k in side) == list(range(500))
    assert [len(side) for side in sides(made)] == pytest.approx([300, 100, 100], abs=10)
    for side in sides(made):
        assert leak(keys, side).any_kind == 0
        assert sum(records[k].gold == [[CONTRA]] for k in side) / len(side) == pytest.approx(0.25, abs=0.05)
    with pytest.raises(ValueError, match=r"12 records of track1 form 4 groups .* 5 are needed for parts 3:1:1"):
        split_records(records[:12], keys[:12], Parts(3, 1, 1))


@pytest.mark.parametrize("text", ["3:1", "3:0:1", "a:b:c", "21:1:1"])
def test_anything_else_than_three_small_numbers_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected three whole numbers from 1 to 20"):
        Parts.parse(text)
    assert Parts.parse("20:1:3") == Parts(20, 1, 3)


def test_a_resampled_side_has_the_lengths_and_errors_of_the_shape() -> None:
    """Of one and two sentences, half each; a quarter with an error; nothing of three, which the file does not have."""
    sentences, errors = [1, 2, 3, 3] * 100, [k % 10 < 2 for k in range(400)]
    shape = splits.shape_of([1, 2], 0.25)
    kept = splits.resample(sentences, errors, shape, seed=3)
    assert kept == sorted(set(kept)) == splits.resample(sentences, errors, shape, seed=3)
    assert kept != splits.resample(sentences, errors, shape, seed=4)
    assert 100 <= len(kept) <= 200
    for length in (1, 2):
        assert sum(sentences[row] == length for row in kept) / len(kept) == pytest.approx(0.5, abs=0.05)
        share = [errors[row] for row in kept if sentences[row] == length]
        assert sum(share) / len(share) == pytest.approx(0.25, abs=0.05)
    assert {errors[row] for row in splits.resample(sentences, errors, splits.shape_of([1], 0), seed=3)} == {False}
    assert {errors[row] for row in splits.resample(sentences, errors, splits.shape_of([1], 1), seed=3)} == {True}
    assert [splits.bin_of(count) for count in (1, 2, 7, 8, 9, 99)] == [1, 2, 6, 8, 8, 32]
    for lengths, share_of, message in (([], 0.5, "has no records"), ([1], 1.1, "0 to 1"), ([1], -0.1, "0 to 1")):
        with pytest.raises(ValueError, match=message):
            splits.shape_of(lengths, share_of)
    with pytest.raises(ValueError, match="no paragraph with an error"):
        splits.resample([1], [False], shape, seed=0)
    with pytest.raises(ValueError, match="no paragraph is as long"):
        splits.resample([9], [False], splits.shape_of([1], 0), seed=0)


def odd_lines(count: int) -> list[bytes]:
    """Valid records as no serialiser writes them: spaces, escapes, unknown fields, digits that a float would lose."""
    return [
        b'{ "claim_text":"Claim %d \\u00e9 \xc3\xa9","extra" : 1.10000000000000000000,  "evidence_bundle":[],'
        b'"sentence_label":[{"types":["Supported"],"sentence":"A."}]}  ' % k
        for k in range(count)
    ]


def test_a_file_is_split_line_by_line_byte_for_byte(tmp_path: Path) -> None:
    lines = odd_lines(30)
    file = write(tmp_path / "all.jsonl", [*lines[:10], b"", *lines[10:], b"  "])
    counts = split_file(TRACK1, file, tmp_path / "out", Parts(3, 1, 1), seed=0)
    written = {name: (tmp_path / "out" / f"{name}.jsonl").read_bytes().splitlines() for name in counts}
    assert {name: len(rows) for name, rows in written.items()} == counts
    assert sorted(line for rows in written.values() for line in rows) == sorted(lines)
    for rows in written.values():
        assert rows == [line for line in lines if line in rows]  # the order of the file is kept
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"train.jsonl", "dev.jsonl", "test.jsonl"}


def test_a_split_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    file = write(tmp_path / "all.jsonl", odd_lines(10))
    there = write(tmp_path / "dev.jsonl", ["mine"])
    with pytest.raises(ValueError, match=r"dev\.jsonl is there already; choose another --out"):
        split_file(TRACK1, file, tmp_path, ANY, seed=0)
    assert there.read_text() == "mine\n"
    assert {path.name for path in tmp_path.iterdir()} == {"all.jsonl", "dev.jsonl"}


def test_records_without_labels_cannot_be_split(tmp_path: Path) -> None:
    file = write(tmp_path / "inputs.jsonl", [citation(None, text=f"{k}", id=f"t{k}") for k in range(6)])
    with pytest.raises(ValueError, match="t0 has no labels; only labelled records can be split"):
        split_file(TRACK2, file, tmp_path / "out", ANY, seed=0)
    assert not (tmp_path / "out").exists()


def test_folds_cover_every_record_once_as_dev_and_share_nothing() -> None:
    keys = [{f"paper:{k // 3}"} for k in range(30)]
    made = split_folds(["Supported"] * 30, keys, 5, seed=1)
    assert sorted(row for fold in made for row in fold.dev) == list(range(30))
    assert all(leak(keys, fold.train).any_kind == 0 for fold in made)
    assert all(sorted([*fold.train, *fold.dev]) == list(range(30)) and fold.test == [] for fold in made)
    assert made == split_folds(["Supported"] * 30, keys, 5, seed=1) != split_folds(["Supported"] * 30, keys, 5, seed=2)
    assert len(split_folds(["Supported"] * 30, keys, 10, seed=1)) == 10
    rare = ["Supported"] * 28 + ["Contradiction"] * 2  # too few for every fold: scikit-learn would warn of them
    assert len(split_folds(rare, keys, 5, seed=1)) == 5
    with pytest.raises(ValueError, match="10 groups; --folds 11"):
        split_folds(["Supported"] * 30, keys, 11, seed=1)


def test_folds_can_have_the_shape_of_a_test_file(aisr: Callable[..., Any], tmp_path: Path) -> None:
    train = SAMPLE / "track1" / "train.jsonl"
    words = ["split", train, "--task", "track1", "--folds", 3, "--out", tmp_path]
    finished = aisr(*words, "--shape-like", SAMPLE / "track1" / "test-inputs.jsonl", "--error-share", 0.5)
    assert (finished.code, finished.err) == (0, "")
    assert re.search(r"dev\.jsonl: \d+ records.*; \d+ of \d+ left out, to look like", finished.out)
    whole = set(train.read_bytes().splitlines())
    for k in (1, 2, 3):
        sides = {path.name: path.read_bytes().splitlines() for path in (tmp_path / f"fold-{k}").iterdir()}
        assert set(sides) == {"train.jsonl", "dev.jsonl"}
        dev = [Track1Record.model_validate({"id": "x", **json.loads(line)}) for line in sides["dev.jsonl"]]
        errors = sum(stratum(TRACK1, record) != S for record in dev)
        assert errors / len(dev) == pytest.approx(0.5, abs=0.1)
        assert whole > set(sides["train.jsonl"]) | set(sides["dev.jsonl"])
