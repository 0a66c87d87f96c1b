"""What looks like an end of a line and is none, half of a pair of surrogates, and long texts, at every door where text
of strangers comes in: read, or refused in one line."""

from pathlib import Path

import pytest

from aisr import UserError
from aisr_papers import cited_papers as cited_works
from aisr_papers.open import read_draft

NO_ENDS = "one\u2028two\u2029three\u0085four"
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
