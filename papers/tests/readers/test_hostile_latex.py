"""Papers from strangers: nothing outside of the folder is read, nothing grows without bound, and what was left out is
listed."""

import os
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase

import pytest

from aisr import UserError
from aisr_papers.cited_papers import read_jats
from aisr_papers.draft import Draft
from aisr_papers.readers import files, latex, latex_stream

BEGIN, END = "\\documentclass{article}\\begin{document}Words.\n", "\n\\end{document}"


def read(folder: Path, body: str) -> Draft:
    (folder / "main.tex").write_text(BEGIN + body + END, encoding="utf-8")
    return latex.read(folder / "main.tex")


def text_of(draft: Draft) -> str:
    return " ".join(one.text for each in draft.paragraphs for one in each.sentences)


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    (tmp_path / "secret.tex").write_text("A secret.")
    (tmp_path / "secret.png").write_bytes(b"a secret")
    (tmp_path / "secret.bib").write_text("@book{k, title={A secret}}")
    folder = tmp_path / "paper"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    "command",
    [
        r"\input{../secret}",
        r"\input{%s/secret.tex}",
        r"\import{../}{secret}",
        r"\graphicspath{{../}}\begin{figure}\includegraphics{secret}\caption{C.}\end{figure}",
        r"\bibliography{../secret}\cite{k}",
        r"\input{link}",
    ],
)
def test_nothing_outside_of_the_folder_is_read(paper: Path, command: str) -> None:
    (paper / "link.tex").symlink_to(paper.parent / "secret.tex")
    draft = read(paper, command.replace("%s", str(paper.parent)))
    assert "secret" not in text_of(draft)
    assert all(not one.pictures for one in draft.floats.values())
    assert all(one.title == "" for one in draft.works.values())
    assert any("leads out" in one.reason or "no such file" in one.reason for one in draft.unread)


def test_circles_devices_and_folders_end_and_are_listed(paper: Path) -> None:
    (paper / "a.tex").symlink_to(paper / "b.tex")
    (paper / "b.tex").symlink_to(paper / "a.tex")
    (paper / "c.tex").write_text(r"In c. \input{d}")
    (paper / "d.tex").write_text(r"In d. \input{c}")
    (paper / "folder.tex").mkdir()
    os.mkfifo(paper / "pipe.tex")
    draft = read(paper, r"\input{a} \input{c} \input{folder}\input{pipe}")
    assert text_of(draft) == "Words. In c. In d."
    assert [one.reason for one in draft.unread] == [
        "'a': no such file",
        "c.tex: a file that puts itself in",
        "'folder': no such file",
        "'pipe': no such file",
    ]


def test_large_and_many_files_are_refused(paper: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 1000)
    monkeypatch.setattr(files, "MAX_TOTAL", 2000)
    (paper / "large.tex").write_text("Large. " * 1000)
    for name in "abc":
        (paper / f"{name}.tex").write_text(f"Part {name}. " + " " * 800)
    draft = read(paper, r"\input{large}\input{a}\input{b}\input{c}")
    assert text_of(draft) == "Words. Part a. Part b."
    assert [one.reason.split(" (")[0] for one in draft.unread] == [
        "large.tex: beyond the limits",
        "c.tex: beyond the limits",
    ]
    with pytest.raises(UserError, match=r"no words could be read of this paper: main\.tex: beyond the limits"):
        read(paper, "x" * 2000)


DOUBLING = "".join(f"\\def\\{a}x{{\\{b}x\\{b}x}}" for a, b in pairwise(ascii_lowercase))


@pytest.mark.parametrize(
    "bomb",
    [
        DOUBLING + r"\def\zx{bomb }\ax",
        r"\def\a{x \a}\a",
        r"\newcommand{\q}[1]{#1#1#1#1#1#1#1#1#1}" + r"\q{" * 60 + "x" + "}" * 60,
        r"\newenvironment{e}{\begin{e}}{\end{e}}\begin{e}",
    ],
)
def test_macro_bombs_end_and_are_listed(paper: Path, monkeypatch: pytest.MonkeyPatch, bomb: str) -> None:
    monkeypatch.setattr(latex_stream, "MAX_EXPANDED", 5_000)
    draft = read(paper, bomb + "\n\nAfter.")
    assert len(text_of(draft)) < 30_000
    assert draft.paragraphs[-1].sentences[-1].text == "After."
    assert "what it stands for is left out" in draft.unread[-1].reason


def test_control_characters_and_other_encodings(paper: Path) -> None:
    (paper / "latin.tex").write_bytes("Le caf\xe9\x00\x1b[31m.".encode("latin-1"))
    draft = read(paper, r"\input{latin} Null\0.".replace("\\0", "\0"))
    assert text_of(draft) == "Words. Le café[31m. Null."
    assert {one.reason for one in draft.unread} == {
        "not UTF-8; the file is read as Latin-1",
        "2 control characters are left out",
        "1 control characters are left out",
    }


ENDLESS = [
    r"\newenvironment{q}{}{\end{q}}\begin{q}Lark.\end{q}",
    r"\newenvironment{q}{\begin{q}}{}\begin{q}Lark.\end{q}",
    r"\newenvironment{q}{\begin{r}}{\end{r}}\newenvironment{r}{\begin{q}}{\end{q}}\begin{q}Lark.\end{q}",
    r"\newenvironment{document}{}{\end{document}}Lark.",
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("body", ENDLESS)
def test_an_environment_that_names_itself_ends_and_is_listed(paper: Path, body: str) -> None:
    draft = read(paper, body + " Wren.")
    assert "Lark." in text_of(draft)
    assert "Wren." in text_of(draft)
    assert all("deeper than 60 macros" in one.reason or "without" in one.reason for one in draft.unread)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "line",
    [r"\url[", r"\url{a{b}", r"\verb|", r"\lstinline[", "\\documentclass{x}", r"\captionof{table}{x}",
     r"\lstnewenvironment{q}", r"\multirow{-99}{*}{x}\\", r"\begin{tabular}{*{99}{*{99}{*{99}{r@{.}}}}}"],
)  # fmt: skip
def test_long_files_of_one_command_take_as_long_as_they_are(paper: Path, line: str) -> None:
    read(paper, 10_000 * line)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(("columns", "deep"), [(60, 6), (4, 12)])
def test_tables_within_tables_of_a_cited_paper_are_repeated_within_bounds(
    tmp_path: Path, columns: int, deep: int
) -> None:
    open_, close = f'<table-wrap><tr><td colspan="{columns}">', "</td></tr></table-wrap>"
    (tmp_path / "a.xml").write_text(f"<article><body>{open_ * deep}61.0{close * deep}</body></article>")
    text = " ".join(read_jats(tmp_path / "a.xml").paragraphs)
    assert "61.0" in text
    assert len(text) < 100_000
