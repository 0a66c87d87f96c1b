"""Cited papers: which file is which work, what is read of it, and what is refused."""

import os
from pathlib import Path

import pytest

from aisr import UserError
from aisr_papers import cited_papers
from aisr_papers.cited_papers import CitedPapers, read_jats
from aisr_papers.draft import Work

WORKS = {
    "smith2020": Work("smith2020", "Parsing with Deep Fluff: A Start", "10.1234/fluff.2020.17"),
    "jones2021": Work("jones2021", "Retrieval at Scale in Très Large Barns"),
    "7": Work("7", "", "10.1234/ABC(7)"),
}

JATS = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.2 20190208//EN" "JATS.dtd">
<article xmlns:mml="http://www.w3.org/1998/Math/MathML"><front><article-meta>
<article-id pub-id-type="pmid">10.1234/no</article-id><article-id pub-id-type="doi">10.1234/Fluff.2020.17</article-id>
<title-group><article-title>Parsing with <italic>Deep</italic> Fluff</article-title></title-group>
<abstract><p>In short.</p></abstract></article-meta></front>
<body><sec><label>1</label><title>Results</title>
<p>Fluff is soft <xref ref-type="bibr">[3]</xref>, as seen.<xref ref-type="bibr">4</xref>
<sup><xref ref-type="fn">a</xref></sup> It weighs 3 × 10<sup>−5</sup> g in H<sub>2</sub>O &amp;
<inline-formula><mml:math><mml:mi>x</mml:mi><mml:mo>=</mml:mo><mml:mn>1</mml:mn>
</mml:math></inline-formula>.<disp-formula><tex-math>\\documentclass{x}</tex-math></disp-formula>
<list><list-item><p>One.</p></list-item><list-item><p>Two.</p></list-item></list></p>
<table-wrap><label>Table 1.</label><caption><title>Softness.</title><p>By kind.</p></caption><table>
<thead><tr><th>Kind</th><th colspan="2">Soft</th></tr></thead>
<tbody><tr><td rowspan="2">First <break/>kind</td><td>9.5</td><td/></tr><tr><td>8.1</td><td>7.0</td></tr>
<tr><td>Old<table><tr><td colspan="50">and new</td></tr></table></td><td>1</td><td>2</td></tr>
<tr><td colspan="99999999999">x</td></tr></tbody></table></table-wrap>
<fig><label>Figure 1</label><caption><p>A fig.</p></caption><graphic/></fig></sec></body>
<back><ack><p>Thanks.</p></ack><ref-list>
<title>References</title><ref><mixed-citation>Someone. Else.</mixed-citation></ref>
</ref-list></back></article>"""

PARAGRAPHS = [
    "Abstract",
    "In short.",
    "1 Results",
    "Fluff is soft [3], as seen. It weighs 3 × 10^-5 g in H2O & x=1. [formula]",
    "One.",
    "Two.",
    "Table 1: Softness. By kind.\nKind\tSoft\tSoft\nFirst kind\t9.5\t\nFirst kind\t8.1\t7.0\nOldand new\t1\t2\nx",
    "Figure 1: A fig.",
    "Thanks.",
]


def folder(at: Path, **files: str | bytes) -> Path:
    """A folder of files; `__` in a name stands for a dot."""
    for name, content in files.items():
        path = at / name.replace("__", ".")
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return at


def unread(papers: CitedPapers) -> dict[str, str]:
    return {one.place.file: one.reason for one in papers.unread}


def test_jats_gives_headings_paragraphs_and_rows(tmp_path: Path) -> None:
    cited = cited_papers.read(folder(tmp_path, any__xml=JATS), WORKS)
    assert list(cited.papers) == ["smith2020"]
    assert dict(cited.papers["smith2020"]) == {f"P{k}": text for k, text in enumerate(PARAGRAPHS, start=1)}
    assert cited.unread == ()


def test_text_and_markdown_by_paragraphs(tmp_path: Path) -> None:
    text = (
        "\ufeff# Retrieval at scale, in tres large barns\n\nOne para-\ngraph.\n\n| a | b |\n| 1 | 2 |\n\n"
        "## References\n\nSomeone.\n\n## Appendix\n\nMore."
    )
    cited = cited_papers.read(folder(tmp_path, x__md=text.replace("\n", "\r\n")), WORKS)
    assert list(cited.papers["jones2021"].values()) == [
        "Retrieval at scale, in tres large barns", "One para- graph.", "| a | b |\n| 1 | 2 |", "Appendix", "More.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "key"),
    [
        ("SMITH2020.txt", "Anything.", "smith2020"),
        ("10.1234_fluff.2020.17.txt", "Anything.", "smith2020"),
        ("Parsing with deep fluff.md", "Anything.", "smith2020"),
        ("paper3.txt", "Parsing with Deep Fluff \u2013 a start\n\nText.", "smith2020"),
        ("paper4.txt", "Some title\n\nhttps://doi.org/10.1234/FLUFF.2020.17.\n\nText.", "smith2020"),
        ("jones2021.txt", "Parsing with Deep Fluff: A Start", "jones2021"),
    ],
)
def test_a_file_is_found_by_key_doi_or_title(tmp_path: Path, name: str, content: str, key: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    cited = cited_papers.read(tmp_path, WORKS)
    assert (list(cited.papers), cited.unread) == ([key], ())


def test_what_is_there_twice_or_belongs_to_nothing_is_listed(tmp_path: Path) -> None:
    files = {
        "smith2020__txt": "One.",
        "other__txt": "Parsing with deep fluff: a start\n\nThe same by its title.",
        "jones2021__md": "One.",
        "JONES2021__txt": "The same again.",
        "notes__txt": "A list of things to buy",
        "readme__docx": "PK",
    }
    cited = cited_papers.read(folder(tmp_path, **files), WORKS)
    assert set(cited.papers) == {"smith2020", "jones2021"}
    assert unread(cited) == {
        "jones2021.md": "left aside: jones2021 is read from JONES2021.txt",
        "notes.txt": "no work of the bibliography by name, DOI or title (A list of things to buy); name it by its key",
        "other.txt": "left aside: smith2020 is read from smith2020.txt",
        "readme.docx": "expected a PDF, JATS XML (.xml), text (.txt) or Markdown (.md)",
    }


def test_of_two_files_that_say_themselves_that_they_are_a_work_none_is_read(tmp_path: Path) -> None:
    title = "Parsing with deep fluff: a start"
    cited = cited_papers.read(folder(tmp_path, draft__txt=f"{title}\n\nOne.", final__md=f"{title}\n\nTwo."), WORKS)
    why = "ambiguous: another file is smith2020 as well by its DOI or title"
    assert (cited.papers, unread(cited)) == ({}, {"draft.txt": why, "final.md": why})


LAUGHS = "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10}">' for level in range(1, 9))
HOSTILE: dict[str, tuple[bytes, str]] = {
    "an entity bomb": (
        f'<!DOCTYPE article [<!ENTITY l0 "ha">{LAUGHS}]><article><body><p>&l8;</p></body></article>'.encode(),
        "declares entities of its own, which are not expanded",
    ),
    "deep nesting": (b"<article>" + b"<sec>" * 100_000, "nested or long beyond what a paper is"),
    "a wrong encoding": ("<article><p>é</p></article>".encode("latin-1"), "not XML .not well-formed"),
    "no article": (b"<html><p>x</p></html>", "XML, but no JATS article .its root is <html>"),
    "a file that is too large": (b" " * (31 * 2**20), "larger than 30 MiB"),
    "cells that stand in many columns": (
        b"<article><body><table-wrap><tr>"
        + b'<td colspan="50">x</td>' * 2_100
        + b"</tr></table-wrap></body></article>",
        "tables whose cells span more than 100,000 others",
    ),
    "an empty article": (b"<article><body><sec/></body></article>", "a JATS article without text"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_and_broken_xml_is_refused_in_a_line(tmp_path: Path, name: str) -> None:
    content, reason = HOSTILE[name]
    file = tmp_path / "smith2020.xml"
    file.write_bytes(content)
    with pytest.raises(UserError, match=reason) as error:
        read_jats(file)
    assert "\n" not in str(error.value)
    cited = cited_papers.read(tmp_path, WORKS)
    assert (cited.papers, list(unread(cited))) == ({}, ["smith2020.xml"])


def test_nothing_out_of_the_folder_is_read_and_nothing_that_never_ends(tmp_path: Path) -> None:
    """An LM and the page get what is read."""
    (tmp_path / "secret.txt").write_text("Parsing with Deep Fluff: A Start\n\nThe secret.")
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "within.txt").write_text("Retrieval at Scale in Très Large Barns\n\nIt is fast.", "utf-8")
    os.mkfifo(papers / "pipe.txt")
    (papers / "smith2020.txt").symlink_to(tmp_path / "secret.txt")
    (papers / "endless.xml").symlink_to("/dev/zero")
    (papers / "circle.md").symlink_to(papers / "circle.md")
    (papers / "jones2021.txt").symlink_to(papers / "within.txt")
    cited = cited_papers.read(papers, WORKS)
    assert list(cited.papers) == ["jones2021"]
    why = unread(cited)
    outside = "a link that leads out of the folder; put the file itself there"
    assert (why["smith2020.txt"], why["endless.xml"]) == (outside, outside)
    assert why["pipe.txt"].startswith("no file")
    assert "circle.md" in why
