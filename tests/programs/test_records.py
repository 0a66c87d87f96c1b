"""Reading the official files: what is accepted, what is refused, and what the message says."""

import json
from pathlib import Path
from typing import Any

import pytest

from aisr.base import jsonl
from aisr.base.jsonl import BadLine, read, scan
from aisr.programs.track1 import Track1Record
from aisr.programs.track2 import Citation, Track2Record
from support.corpora import ENTITY, SCOPE, Row, S, citation_row, claim_row, write


def problems(path: Path, model: type[Any] = Track1Record) -> list[str]:
    """What is wrong with the lines of a file, without the path in front."""
    problems = [line.problem for line in scan(path, model, "track1") if line.problem]
    parts = [problem.partition(f"{path}:") for problem in problems]
    assert {before for before, _, _ in parts} <= {""}
    return [problem for _, _, problem in parts]


def test_records_of_the_guidelines_are_read(tmp_path: Path) -> None:
    bundle = [
        {"type": "text", "text": "result paragraph text ..."},
        {"type": "table", "table_caption": ["Table 3: ..."], "img_path": "images/xxx.jpg"},
        {"type": "image", "image_caption": "Figure 1: ...", "img_path": "images/yyy.jpg"},
    ]
    row = claim_row([S], [SCOPE, ENTITY], evidence_bundle=bundle)
    [record] = read(write(tmp_path / "a.jsonl", [row]), Track1Record, "a")
    assert record.gold == [[S], [SCOPE, ENTITY]]
    assert [item.caption for item in record.evidence_bundle] == ["", "Table 3: ...", "Figure 1: ..."]
    assert record.img_paths == ["images/xxx.jpg", "images/yyy.jpg"]
    [cited] = read(write(tmp_path / "b.jsonl", [citation_row("Overstate", ["P3", "P2"])]), Track2Record, "b")
    assert cited.gold == Citation("Overstate", ["P3", "P2"])
    assert list(cited.paragraphs) == ["P1", "P2", "P3", "P4"]


def test_records_are_numbered_as_the_official_preparation_does_and_blank_lines_count(tmp_path: Path) -> None:
    marked = b"\xef\xbb\xbf" + json.dumps(claim_row([S])).encode() + b"\r"  # as an editor of Windows saves it
    path = write(tmp_path / "train.jsonl", [marked, "", claim_row([S], id="b"), "  \t", claim_row([S]), "\r", "{}"])
    lines = list(scan(path, Track1Record, "track1"))
    ids = {line.number: line.record and line.record.id for line in lines}
    assert ids == {1: "track1-000001", 3: "b", 5: "track1-000003", 7: None}
    assert [line.numbered for line in lines[:3]] == [True, False, True]


def test_a_line_without_an_end_is_one_bad_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 4096)
    long = json.dumps(claim_row([S], text="w " * 3000))
    file = write(tmp_path / "a.jsonl", [claim_row([S]), long, "", " " * 9000, claim_row([S])])
    rows = list(scan(file, Track1Record, "track1"))
    assert [line.problem and line.problem.partition(": ")[2] for line in rows] == [
        None, *["longer than 64 MiB; expected one record"] * 2, None
    ]  # fmt: skip
    assert [line.number for line in rows] == [1, 2, 4, 5]
    assert rows[-1].record is not None
    assert rows[-1].record.id == "track1-000004"


def test_signs_that_some_take_for_ends_of_lines_stay_and_half_a_character_is_refused(tmp_path: Path) -> None:
    odd = "one\u2028two\u2029three\u0085four"
    file = write(tmp_path / "a.jsonl", [citation_row(text=odd), citation_row(text="two")])
    assert [record.claim_text for record in read(file, Track2Record, "track2")] == [odd, "two"]
    row = json.dumps(citation_row(text="XX")).replace('"XX"', '"\\ud800"')
    assert problems(write(tmp_path / "a.jsonl", [row]), Track2Record)[0].startswith("1: not a JSON object")


def test_bad_claims_are_named_by_line_and_field_and_the_rest_is_read(tmp_path: Path) -> None:
    bad: dict[str, Any] = {
        "sentence_label[1].types[0]: unknown label 'Unsuported Entity'; one of: Supported, Unsu": claim_row(
            [S], ["Unsuported Entity"]
        ),
        "not a JSON object (": '{"claim_text": ',
        "not a JSON object ('utf-8' codec can't decode byte 0xff": b'{"claim_text": "\xff"}',
        "not a JSON object": "[" * 100_000,  # nested without end
        "id: 'train-1' stands in line 1 already; ids must be unique": claim_row([S], id="train-1"),
        "sentence_label: some sentences have types and some have none": claim_row([S], None),
    }
    path = write(tmp_path / "train.jsonl", [claim_row([S], id="train-1"), *bad.values(), claim_row([S])])
    for number, (words, problem) in enumerate(zip(bad, problems(path), strict=True), start=2):
        assert problem.startswith(f"{number}: {words}")
        assert len(problem) < 400
    with pytest.raises(BadLine, match=r"train\.jsonl:2: .*`aisr check` lists every bad line"):
        list(read(path, Track1Record, "track1"))
    assert [line.number for line in scan(path, Track1Record, "track1") if line.record] == [1, len(bad) + 2]


def test_bad_citations_are_named_by_line_and_field(tmp_path: Path) -> None:
    def paper(paragraphs: list[dict[str, str]]) -> Row:
        return citation_row(None, cited_paper_full_text=paragraphs)

    text = "cited_paper_full_text"
    bad = {
        "label: unknown label 'Suported'; one of: Supported, Overstate, ": citation_row(label="Suported"),
        f"evidence_para_ids: 'P9' is no paragraph of {text}": citation_row(evidence_para_ids=["P9"]),
        f"{text}: paragraph id 'P1' stands there more than once": paper([{"P1": "a"}, {"P1": "c"}]),
        f"{text}: no paragraph in there; expected at": paper([{}, {}]),
        f"{text}: paragraph id 'PPP": paper([{"P" * 1001: "a"}]),
        f"{text}: paragraph id 'P1\\n": paper([{"P1\n[P2] a": "a"}]),
    }
    found = problems(write(tmp_path / "train.jsonl", bad.values()), Track2Record)
    for number, (words, problem) in enumerate(zip(bad, found, strict=True), start=1):
        assert problem.startswith(f"{number}: {words}")
