"""What the study of papers counts."""

from pathlib import Path

import pytest
from PIL import Image

from aisr.optimize.studies import papers
from aisr.paper.draft import Draft, Float, Paragraph, Picture, Place, Sentence, Work

PLACE = Place("main.tex", 1)


def draft(folder: Path, *floats: Float, sentences: tuple[Sentence, ...] = (), works: tuple[Work, ...] = ()) -> Draft:
    return Draft(folder, "", (Paragraph(sentences),), {one.key: one for one in floats}, {one.key: one for one in works})


def table(name: str, rows: str) -> Float:
    return Float(name, name, "table", "", PLACE, rows)


def test_numeric_cells_count_in_the_table_of_the_same_number(tmp_path: Path) -> None:
    ours = draft(tmp_path, table("Table 1", "a\t1.5\t1.5\nb\t−2\t3 %"), table("Table 2", "7\t8"))
    theirs = draft(tmp_path, table("Table 1", "a\t1.5\nb\t-2\t9"), table("Table 3", "7\t8"))
    assert papers.cells(ours, theirs) == (2, 6)


def test_a_figure_is_seen_where_one_of_its_parts_opens(tmp_path: Path) -> None:
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"none")
    shown = [("Figure 1", ()), ("Figure 1a", ("a.png",)), ("Figure 2", ("b.png",)), ("Figure 3", ())]
    made = [
        Float(name, name, "figure", "", PLACE, pictures=tuple(Picture(tmp_path / file) for file in files))
        for name, files in shown
    ]
    assert papers.figures(draft(tmp_path, *made)) == (1, 3)


def test_a_citation_is_linked_to_a_work_that_is_known(tmp_path: Path) -> None:
    said = (
        Sentence("So it is (Obi, 2022; Holm, 2020).", PLACE, cites=("obi", "holm")),
        Sentence("Others (Nobody, 1999) say [71, 75].", PLACE),
        Sentence("Hidden (Nobody, 1999).", PLACE, hidden=True),
    )
    found = papers.citations(draft(tmp_path, sentences=said, works=(Work("obi", "Wind"), Work("holm"))))
    assert found == (1, 3)


def test_a_pair_is_measured_and_what_is_no_paper_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert papers.main(["data/sample/paper/main.tex", "nothing.tex"]) == 0
    out = capsys.readouterr().out
    assert "80 of 80" in out
    assert "nothing.tex: no such file" in " ".join(out.split())
