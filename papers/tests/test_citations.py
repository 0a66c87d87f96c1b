"""Tables, figures and works as running text refers to them, claims about works, and quotes of them."""

from pathlib import Path

import pytest

from aisr_papers.citations import natbib_text, read_bibitem, read_bibtex
from aisr_papers.passages import float_names
from aisr_papers.readers.files import Files
from paper_support.golden import CITED, cited


def test_works_are_linked_claims_parted_quotes_looked_up_and_cited_papers_read() -> None:
    assert cited() == (CITED / "cited.txt").read_text("utf-8"), "`make golden` writes it anew"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Fig. 2(a) and (b)", "Figure 2a, Figure 2b"),
        ("Figs. 2a-c, 3", "Figure 2a, Figure 2b, Figure 2c, Figure 3"),
        ("In Table 3, 12 systems", "Table 3"),
        ("Tables 1-400", "Table 1, Table 400"),
        ("a stable 3, a table of 4, figures", ""),
    ],
)
def test_names_in_running_text(text: str, names: str) -> None:
    assert ", ".join(float_names(text)) == names


def test_odd_names_of_a_bibliography_can_be_printed(tmp_path: Path) -> None:
    works = read_bibtex("@misc{a, author={others and others}, year=2011}", "a.bib", Files(tmp_path))
    works["b"] = read_bibitem("b", "(2013)", "Nobody 2013.")
    assert natbib_text(["a"], works, "", "", True) == "others et al. (2011)"
    assert natbib_text(["b"], works, "", "", True) == "[@b]"
