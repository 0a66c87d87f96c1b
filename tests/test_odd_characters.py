"""What looks like an end of a line and is none, half of a pair of surrogates, and words of megabytes, at every door
where text of strangers comes in: read, or refused in one line, and always to be written again."""

import json
from pathlib import Path

import pytest

from aisr.base.errors import UserError
from aisr.paper import cited_papers as cited_works
from aisr.paper.check.session import Refused, citation_check, claim_check
from aisr.paper.open import read_draft
from aisr.programs.averitec.documents import build, pages, reduced
from aisr.programs.context24_text.convert import full_texts, organisers_json
from aisr.programs.records import BadLine, read
from aisr.programs.track2.record import Track2Record
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
    index = build(pages(tmp_path / "a.jsonl"), tmp_path / "i")
    for pieces in (reduced("one", pages(tmp_path / "a.jsonl"), 3), index.excerpts("one", 3)):
        assert [(one.url, one.text) for one in pieces] == [("?", "? one two three four.")]


PAPERS: dict[str, tuple[str, str]] = {
    "a.md": (f"# T\n\nThe {NO_ENDS} is 5.\n", "The one two three four is 5."),
    "b.md": ("# T\n\nThe &#xD800; is 5.\n", "The \ufffd is 5."),
    "a.tex": (rf"\begin{{document}}The {NO_ENDS} is 5.\end{{document}}", "The one two three four is 5."),
}


@pytest.mark.parametrize("name", PAPERS)
def test_papers_are_read_in_their_own_lines(tmp_path: Path, name: str) -> None:
    text, sentence = PAPERS[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert [one.text for part in read_draft(tmp_path / name).paragraphs for one in part.sentences] == [sentence]


def test_a_cited_text_is_read_in_its_own_paragraphs(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"Title of it\n\nText {NO_ENDS} here.\n", encoding="utf-8")
    source = cited_works.read_source(tmp_path / "a.txt")
    assert len(source.paragraphs) == 2
    (tmp_path / "b.txt").write_bytes(b"Title\n\n\xed\xa0\x80 is half\n")
    with pytest.raises(UserError, match=r"b\.txt"):
        cited_works.read_source(tmp_path / "b.txt")


def test_markdown_beyond_the_limits_says_which(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("word is.\n\n" * 300_000, encoding="utf-8")
    with pytest.raises(UserError, match=r"beyond the limits .2 MiB"):
        read_draft(tmp_path / "a.md")


def test_an_agent_is_told_of_half_a_character() -> None:
    with pytest.raises(Refused, match="half of a surrogate pair"):
        claim_check(["\ud800"], ["a"])
    with pytest.raises(Refused, match="half of a surrogate pair"):
        citation_check("a", ["\ud800"])
