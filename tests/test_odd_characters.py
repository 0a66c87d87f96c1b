"""What looks like an end of a line and is none, half of a pair of surrogates, and words of megabytes, at every door
where text of strangers comes in: read, or refused in one line, and always to be written again."""

import json
from pathlib import Path

import pytest

from aisr.base.jsonl import BadLine, read
from aisr.programs.averitec.record import excerpts, pages
from aisr.programs.context24_text.convert import full_texts, organisers_json
from aisr.programs.track2 import Track2Record
from support.corpora import citation, write

NO_ENDS = "one\u2028two\u2029three\u0085four"
HALF = '"\\ud800"'


def test_records_keep_signs_that_some_take_for_ends_of_lines_and_no_half_a_character(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", [citation(text=NO_ENDS), citation(text="two")])
    assert [record.claim_text for record in read(file, Track2Record, "track2")] == [NO_ENDS, "two"]
    row = json.dumps(citation(text="XX")).replace('"XX"', HALF)
    with pytest.raises(BadLine, match=r"a.jsonl:1: not JSON"):
        list(read(write(tmp_path / "a.jsonl", [row]), Track2Record, "track2"))


def test_full_texts_are_whole_characters_in_their_own_lines(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(f'{{"k": "First {NO_ENDS}.\\nSecond.", "l": {HALF}, {HALF}: "x"}}', "utf-8")
    assert full_texts(tmp_path / "a.json") == {"k": ["First one two three four.", "Second."], "l": ["?"], "?": ["x"]}
    (tmp_path / "b.json").write_text(f'[{{"a": [1, {HALF}]}}]', encoding="utf-8")
    assert organisers_json(tmp_path / "b.json") == [{"a": [1, "?"]}]
    (tmp_path / "c.json").write_text(json.dumps({"k": "x" * 2_000_000}), encoding="utf-8")
    assert {len(word) for word in full_texts(tmp_path / "c.json")["k"][0].split()} == {500}


def test_pages_are_whole_characters(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(f'{{"url": {HALF}, "url2text": [{HALF}, "{NO_ENDS}."]}}\n', encoding="utf-8")
    pieces = excerpts("one", pages(tmp_path / "a.jsonl"), 3)
    assert [(one.url, one.text) for one in pieces] == [("?", "? one two three four.")]
