"""Cited papers that are refused. What is read of others stands in `golden/cited/`."""

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
}


def unread(papers: CitedPapers) -> dict[str, str]:
    return {one.place.file: one.reason for one in papers.unread}


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
