"""`aisr corrections`: labelled records, and what is left out."""

from pathlib import Path
from typing import Any

import pytest

from aisr.corrections import corrections as files
from support.commands import Aisr, Finished
from support.corpora import Row, read_rows, write
from support.corrections import CITATION, CLAIM, dismissal, line


def made(aisr: Aisr, folder: Path, rows: list[Any], *more: object, task: str = "track1") -> Finished:
    file = write(folder / "page.jsonl", rows)
    return aisr("corrections", file, "--task", task, "--out", folder / "out", *more)


def records(folder: Path) -> list[Row]:
    return read_rows(folder / "out" / "corrections.jsonl")


def test_a_record_that_stands_elsewhere_is_missed(aisr: Aisr, tmp_path: Path) -> None:
    row = line("track1", {**CLAIM, "id": "a"}, "Contradiction", record=None)
    assert "there is no record 'a'" in made(aisr, tmp_path, [row]).out


def test_the_last_word_of_each_counts_and_a_difference_is_left_out(aisr: Aisr, tmp_path: Path) -> None:
    rows = [
        line("track1", CLAIM, "Contradiction", 0),
        line("track1", CLAIM, "Supported", 0, when="2026-01-05T21:50:00+00:00"),
        line("track1", CLAIM, "Supported", 0, who="Bo"),
        line("track1", CLAIM, "Supported", 1),
        line("track1", CLAIM, "Contradiction", 1, who="Bo"),
        line("track1", CLAIM, "Supported", 1, who="Cy"),
    ]
    done = made(aisr, tmp_path, rows)
    assert [one["sentence"] for one in records(tmp_path)[0]["sentence_label"]] == ["Sentence 0."]
    assert "main.tex:1, statement 1: Ada: Supported" in done.out.replace("\n", " ")
    before = records(tmp_path)
    refused = made(aisr, tmp_path, rows, "--majority")
    assert (refused.code, "there already" in refused.err, records(tmp_path) == before) == (2, True, True)
    assert made(aisr, tmp_path, rows).code == 0  # the same again
    for file in (tmp_path / "out").iterdir():
        file.unlink()
    assert made(aisr, tmp_path, rows, "--majority").code == 0
    assert len(records(tmp_path)[0]["sentence_label"]) == 2


ELSE = "page.jsonl:2: record 'main.tex:1' has another sentence or other evidence than were judged"
PICTURE, CLIMBING = (
    {**CLAIM, "evidence_bundle": [{"type": "image", "img_path": path}]} for path in ("a.png", "../a.png")
)
OTHER = {**CLAIM, "evidence_bundle": [{"type": "text", "text": "Something else."}]}


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (line("track1", CLAIM, "Right"), "page.jsonl:2: unknown label 'Right'; one of: Supported,"),
        (line("track1", CLAIM, "Supported", record_id="x"), "page.jsonl:2: it is about record 'x' and brings"),
        (line("track1", CLAIM, "Supported", sentence="Else."), ELSE),
        (line("track1", CLAIM, "Supported", statement=2), "page.jsonl:2: statement 2 of 2, counted from 0"),
        (line("track1", CLAIM, "Supported", record=OTHER), ELSE),
        (line("track1", {**CLAIM, "claim_text": "Another paragraph."}, "Supported"), "page.jsonl:1, "),
        (line("track1", PICTURE, "Supported", record=CLIMBING), "leads out of the image folder"),
    ],
)  # fmt: skip
def test_what_fits_no_record_is_listed_and_left_out(aisr: Aisr, tmp_path: Path, bad: Row, why: str) -> None:
    good = line("track1", {**CLAIM, "id": "good"}, "Supported")
    first = line("track1", CLAIM, "Supported") if why.endswith(", ") else good
    done = made(aisr, tmp_path, [first, bad, good])
    assert why in " ".join(done.out.split()), done.out
    assert [row["id"] for row in records(tmp_path)] == ["good"]


def test_evidence_is_of_the_record_and_at_most_three(aisr: Aisr, tmp_path: Path) -> None:
    ids = (["P9"], ["P1", "P2", "P3", "P4"])
    done = made(aisr, tmp_path, [line("track2", CITATION, "Overstate", evidence=one) for one in ids], task="track2")
    assert (done.code, (tmp_path / "out").exists()) == (2, False)
    assert "evidence 'P9' is not in record" in done.out
    assert "4 ids of evidence; at most 3" in done.out


def test_a_line_that_is_no_correction_costs_no_other(aisr: Aisr, tmp_path: Path) -> None:
    bad = [
        dismissal(who="A\x1b[2J"),
        "[" * 100_000,
        "[1]",
        line("track1", CLAIM, "Supported", record_id="x" * 1001),
        dismissal(label="Supported"),
        dismissal(when="2026-01-05T20:50:00"),
        dismissal(digest="../../x"),
    ]
    wanted = (
        "who: control characters", "not JSON", "a list; expected one JSON object", "record_id: ",
        "expected either a label, or why", "when: ", "digest: ",
    )  # fmt: skip
    for text, why in zip(bad, wanted, strict=True):
        alone = made(aisr, tmp_path, [text])
        assert (alone.code, alone.out, f"page.jsonl:1: {why}" in alone.err) == (2, "", True), alone.err
    assert "no corrections in there" in made(aisr, tmp_path, [""]).err
    newer = line("track1", CLAIM, "Supported", who="A\U0001ccd6 b")  # in no table of this Python
    done = made(aisr, tmp_path, [*bad, newer])
    assert done.code == 0, done.err
    output = " ".join(done.out.split())
    assert "7 × left out, as they are no corrections" in output
    for number, why in enumerate(wanted, start=1):
        assert f"page.jsonl:{number}: {why}" in output
    (by,) = read_rows(tmp_path / "out" / "corrections-provenance.jsonl")
    assert by["by"] == [{"who": "A\U0001ccd6 b", "when": "2026-01-05T20:50:00Z", "line": "page.jsonl:8"}]
    assert by["verdict"]["lm"] == "scripted"


def test_a_time_that_is_yet_to_come_has_not_the_last_word(aisr: Aisr, tmp_path: Path) -> None:
    rows = [
        line("track1", CLAIM, "Contradiction", who="Eve", when="9999-12-31T23:59:59-11:00"),
        line("track1", CLAIM, "Supported"),
    ]
    done = made(aisr, tmp_path, rows)
    assert "page.jsonl:1: said at 9999-12-31, which is yet to come" in done.out
    assert records(tmp_path)[0]["sentence_label"][0]["types"] == ["Supported"]


def test_a_line_without_end_is_not_read_to_it(aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST", 1000)
    assert "page.jsonl:1: longer than" in made(aisr, tmp_path, ["{" + " " * 2000]).err
    kept = made(aisr, tmp_path, ["{" + " " * 5000, line("track1", CLAIM, "Supported")])
    assert (kept.code, "page.jsonl:1: longer than" in kept.out) == (0, True)
    monkeypatch.setattr(files, "MOST", 1)
    assert "page.jsonl:2: more than 1 lines" in made(aisr, tmp_path, [dismissal(), dismissal()]).err
