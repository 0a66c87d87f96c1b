"""From predictions to the zip: what is refused, what is filled in, and what the server gets."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aisr.inference.submission import Checked, check
from aisr.tasks.task import Task
from aisr.tasks.track1 import TRACK1
from aisr.tasks.track2 import TRACK2
from support.corpora import CAUSAL, ENTITY, S, citation, claim, write

CLAIMS = [claim(None, None, id="a"), claim(None, id="b"), claim(None, None, None, id="c")]
CITATIONS = [citation(None, id="a"), citation(None, id="b")]
GOOD_CLAIMS = [
    {"id": "a", "labels": [S, CAUSAL]},
    {"id": "b", "labels": [ENTITY]},
    {"id": "c", "labels": [S, S, S]},
]
GOOD_CITATIONS = [
    {"id": "a", "label": "Supported", "evidence_para_ids": ["P2", "P1"]},
    {"id": "b", "label": "Irrelevant", "evidence_para_ids": []},
]


def checked(folder: Path, predictions: list[Any], task: Task = TRACK1, fill_failed: bool = False) -> Checked:
    """What `check` says of predictions, without the path in front of its messages."""
    data = write(folder / "inputs.jsonl", CLAIMS if task is TRACK1 else CITATIONS)
    said = write(folder / "predictions.jsonl", predictions)
    found = check(task, data, said, fill_failed)
    return Checked(found.lines, [p.replace(f"{said}:", "line ") for p in found.problems], found.filled)


@pytest.mark.parametrize(("task", "good"), [(TRACK1, GOOD_CLAIMS), (TRACK2, GOOD_CITATIONS)], ids=["track1", "track2"])
def test_good_predictions_become_lines_in_the_order_of_the_inputs(task: Task, good: list[Any], tmp_path: Path) -> None:
    extra = [{**row, "confidence": 0.5} for row in reversed(good)]
    assert checked(tmp_path, ["", *extra], task) == Checked(good, [], [])


@pytest.mark.parametrize(
    ("third", "problems"),
    [
        (None, ["c: no prediction"]),
        ({"id": "d", "labels": [S]}, ["c: no prediction", "d: not among the test inputs"]),
        (
            {"id": "a", "labels": [S, S]},
            ["line 3: id: 'a' stands in line 1 already; ids must be unique", "c: no prediction"],
        ),
        ({"labels": [S, S, S]}, ["line 3: id: missing; every prediction names its record", "c: no prediction"]),
        ({"id": "c", "labels": [S, S]}, ["c: 2 labels for 3 sentences; one label a sentence"]),
        (
            {"id": "c", "failed": "timeout"},
            ["c: failed (timeout); predict again, or --on-failure fallback fills it in"],
        ),
        ({"id": "c", "labels": None}, ["line 3: labels: Input should be a valid list", "c: no prediction"]),
        ({"id": "c"}, ["line 3: labels: Field required", "c: no prediction"]),
    ],
)
def test_each_problem_of_a_track_1_prediction_is_listed(third: Any, problems: list[str], tmp_path: Path) -> None:
    given = GOOD_CLAIMS[:2] + ([third] if third else [])
    assert checked(tmp_path, given).problems == problems


def test_an_unknown_label_is_listed_with_the_ones_there_are(tmp_path: Path) -> None:
    first, second = checked(tmp_path, [*GOOD_CLAIMS[:2], {"id": "c", "labels": [S, S, "Supportd"]}]).problems
    assert first.startswith("line 3: labels[2]: unknown label 'Supportd'; one of: Supported, Unsupported Causal")
    assert second == "c: no prediction"


@pytest.mark.parametrize("line", ['{"id": "c"', "[]", '"c"', "null", "NaN"])
def test_a_line_that_is_no_record_is_listed(line: str, tmp_path: Path) -> None:
    first, second = checked(tmp_path, [*GOOD_CLAIMS[:2], line]).problems
    assert first.startswith("line 3: ")
    assert second == "c: no prediction"


def test_a_paragraph_of_another_paper_is_listed(tmp_path: Path) -> None:
    foreign = {"id": "b", "label": "Overstate", "evidence_para_ids": ["P1", "P77"]}
    found = checked(tmp_path, [GOOD_CITATIONS[0], foreign], TRACK2)
    assert found.problems == ["b: evidence_para_ids: 'P77' is no paragraph of the cited paper"]


def test_every_problem_is_listed_at_once(tmp_path: Path) -> None:
    found = checked(
        tmp_path, [{"id": "a", "labels": [S]}, {"id": "b", "failed": "timeout"}, {"id": "x", "labels": [S]}]
    )
    assert [problem.split(":")[0] for problem in found.problems] == ["a", "b", "c", "x"]


def test_failed_records_are_filled_in_and_named_when_asked_for(tmp_path: Path) -> None:
    found = checked(tmp_path, [*GOOD_CLAIMS[:2], {"id": "c", "failed": "timeout"}], fill_failed=True)
    assert found == Checked([*GOOD_CLAIMS[:2], {"id": "c", "labels": [S, S, S]}], [], ["c"])


def test_a_filled_citation_names_the_best_ranked_paragraphs(tmp_path: Path) -> None:
    found = checked(tmp_path, [{"id": "a", "failed": "timeout"}, GOOD_CITATIONS[1]], TRACK2, fill_failed=True)
    assert found.filled == ["a"]
    assert found.lines[0]["label"] == "Supported"
    assert found.lines[0]["evidence_para_ids"][0] == "P2"  # the claim is about pears, and so is P2
    assert len(set(found.lines[0]["evidence_para_ids"])) == 3


def test_filling_in_does_not_hide_a_missing_record(tmp_path: Path) -> None:
    found = checked(tmp_path, GOOD_CLAIMS[:2], fill_failed=True)
    assert (found.problems, found.filled) == (["c: no prediction"], [])


def test_predictions_with_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    first, *rest = GOOD_CLAIMS
    assert checked(tmp_path, [b"\xef\xbb\xbf" + json.dumps(first).encode(), *rest]).problems == []


def test_a_line_nested_without_end_is_listed(tmp_path: Path) -> None:
    assert "line 4: not JSON" in checked(tmp_path, [*GOOD_CLAIMS, "[" * 100_000]).problems[0]


@pytest.mark.parametrize(
    ("task", "lines", "name"),
    [(TRACK1, GOOD_CLAIMS, "track1_pred.jsonl"), (TRACK2, GOOD_CITATIONS, "track2_pred.jsonl")],
)
def test_the_zip_is_flat_and_holds_the_official_file(task: Task, lines: list[Any], name: str, tmp_path: Path) -> None:
    out = tmp_path / "new folder" / "submission.zip"
    task.submission.write(lines, out)
    with zipfile.ZipFile(out) as file:
        assert file.namelist() == [name]
        assert [json.loads(line) for line in file.read(name).decode().splitlines()] == lines
        assert file.testzip() is None
    assert list(out.parent.iterdir()) == [out]


def test_one_zip_holds_both_tracks_and_a_new_prediction_replaces_its_own(tmp_path: Path) -> None:
    out = tmp_path / "submission.zip"
    TRACK2.submission.write(GOOD_CITATIONS, out)
    TRACK1.submission.write(GOOD_CLAIMS, out)
    TRACK1.submission.write(GOOD_CLAIMS[:1], out)
    with zipfile.ZipFile(out) as file:
        assert file.namelist() == ["track1_pred.jsonl", "track2_pred.jsonl"]
        assert len(file.read("track1_pred.jsonl").splitlines()) == 1
        assert len(file.read("track2_pred.jsonl").splitlines()) == 2


def encrypted(content: bytearray) -> None:
    """As `zip -e` makes it: the first flag of the file's header and of the directory's entry."""
    content[content.find(b"PK\3\4") + 6] |= 1
    content[content.find(b"PK\1\2") + 8] |= 1


def packed_otherwise(content: bytearray) -> None:
    content[content.find(b"PK\3\4") + 8] = content[content.find(b"PK\1\2") + 10] = 99


def torn(content: bytearray) -> None:
    place = content.find(b"track2_pred.jsonl") + len("track2_pred.jsonl")
    content[place : place + 8] = b"\xff" * 8


@pytest.mark.parametrize("spoil", [encrypted, packed_otherwise, torn])
def test_a_zip_whose_content_cannot_be_kept_is_left_alone(spoil: Callable[[bytearray], None], tmp_path: Path) -> None:
    out = tmp_path / "submission.zip"
    TRACK2.submission.write(GOOD_CITATIONS, out)
    content = bytearray(out.read_bytes())
    spoil(content)
    out.write_bytes(content)
    with pytest.raises(ValueError, match=r"submission.zip is there already, and its track2_pred.jsonl .*another --out"):
        TRACK1.submission.write(GOOD_CLAIMS, out)
    assert out.read_bytes() == content
    assert list(tmp_path.iterdir()) == [out]


def test_what_does_not_belong_into_a_submission_is_left_out(tmp_path: Path) -> None:
    out = tmp_path / "submission.zip"
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("__MACOSX/._track1_pred.jsonl", "x")
        file.writestr("notes/track2_pred.jsonl", "x")
    TRACK1.submission.write(GOOD_CLAIMS, out)
    with zipfile.ZipFile(out) as file:
        assert file.namelist() == ["track1_pred.jsonl"]


def test_the_same_predictions_give_the_same_bytes(tmp_path: Path) -> None:
    one, two = tmp_path / "one.zip", tmp_path / "two.zip"
    TRACK1.submission.write(GOOD_CLAIMS, one)
    TRACK2.submission.write(GOOD_CITATIONS, one)
    TRACK2.submission.write(GOOD_CITATIONS, two)
    TRACK1.submission.write(GOOD_CLAIMS, two)
    assert one.read_bytes() == two.read_bytes()
