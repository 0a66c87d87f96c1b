"""Which file of a folder is the paper, which files it may name, and how."""

import unicodedata
from pathlib import Path

import pytest

from aisr import UserError
from aisr_papers.open import read_draft
from aisr_papers.readers import markdown
from aisr_papers.readers.latex import read

WHOLE = "\\documentclass{article}\\begin{document}%s\\end{document}"
FIGURE = r"Text. \begin{figure}%s\caption{One.}\end{figure}"


@pytest.mark.parametrize(
    ("name", "source", "count"),
    [
        ("main.tex", r"\includegraphics{{a b}.png}", 1),
        ("main.tex", r'\includegraphics{"a b.png"}', 1),
        ("main.tex", "\\includegraphics{ü.png}", 1),
        ("main.tex", "\\includegraphics{u\u0308}", 1),
        ("main.tex", r"\plotone{a b}", 1),
        ("main.tex", r"\plottwo{a b}{fig[1]}", 2),
        ("paper.md", "%C3%BC.png", 1),
        ("paper.md", "e\u0301.png", 1),
        ("paper.md", "a%20b.png", 1),
        ("paper.md", "<a b.png>", 1),
        ("paper.md", "fig[1].png", 1),
    ],
)
def test_pictures_with_odd_names_are_found(tmp_path: Path, name: str, source: str, count: int) -> None:
    for file in ("fig[1].png", "a b.png", "é.png", unicodedata.normalize("NFD", "ü.png")):
        (tmp_path / file).write_bytes(b"")
    text = WHOLE % (FIGURE % source) if name == "main.tex" else f"Text.\n\n![Figure 1: One.]({source})\n"
    (tmp_path / name).write_text(text, "utf-8")
    draft = read_draft(tmp_path / name)
    assert (draft.unread, len(draft.floats["Figure 1"].pictures)) == ((), count)


def test_which_file_is_the_paper(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        read(tmp_path / "none.tex")
    with pytest.raises(UserError, match="found none"):
        read(tmp_path)
    (tmp_path / "a.tex").write_text(WHOLE % "From a.")
    (tmp_path / "part.tex").write_text("A part without a class.")
    assert read(tmp_path).paragraphs[0].sentences[0].text == "From a."
    assert read(tmp_path / "part.tex").paragraphs[0].sentences[0].text == "A part without a class."
    (tmp_path / "only.tex").write_text("\\input{a}")  # a main file without a document of its own
    assert read(tmp_path / "only.tex").paragraphs == read(tmp_path).paragraphs
    (tmp_path / "b.tex").write_text(WHOLE % "")
    with pytest.raises(UserError, match=r"found a\.tex, b\.tex; name the file itself"):
        read(tmp_path)
    with pytest.raises(UserError, match="no words in this paper"):
        read(tmp_path / "b.tex")


def test_a_root_lets_files_beside_the_folder_be_read_and_nothing_outside(tmp_path: Path) -> None:
    study = tmp_path / "study"
    (study / "paper").mkdir(parents=True)
    (study / "results").mkdir()
    (study / "results" / "t.tex").write_text("Results.", "utf-8")
    (tmp_path / "secret.tex").write_text("Secret.", "utf-8")
    (study / "results" / "link.tex").symlink_to(tmp_path / "secret.tex")
    body = r"Words. \input{../../secret}\input{../results/link}\input{../results/t}"
    (study / "paper" / "main.tex").write_text(body, "utf-8")
    draft = read(study / "paper" / "main.tex", study)
    assert [(one.text, str(one.place)) for each in draft.paragraphs for one in each.sentences] == [
        ("Words.", "paper/main.tex:1"),
        ("Results.", "results/t.tex:1"),
    ]
    assert [one.reason for one in draft.unread] == [
        f"'../../secret': leads out of --root {study}",
        f"'../results/link': leads out of --root {study}",
    ]


def test_markdown_that_cannot_be_read_or_in_part(tmp_path: Path) -> None:
    file = tmp_path / "paper.md"
    file.write_text("# Only a title\n")
    with pytest.raises(UserError, match="no words"):
        read_draft(file)
    file.write_text("word " * (markdown.MAX_CHARACTERS // 5 + 1))
    with pytest.raises(UserError, match="more than 1,048,576 characters"):
        read_draft(file)
    file.write_text(f"One.\n\n{'x ' * markdown.LONGEST_BLOCK}\n\nTwo.")
    draft = read_draft(file)
    assert [one.text for each in draft.paragraphs for one in each.sentences] == ["One.", "Two."]
    assert str(draft.unread[0].place) == "paper.md:3"
