"""Tables, figures and works as running text refers to them, claims about works, and quotes of them."""

from aisr_papers.passages import float_names
from paper_support.golden import CITED, cited


def test_works_are_linked_claims_parted_quotes_looked_up_and_cited_papers_read() -> None:
    assert cited() == (CITED / "cited.txt").read_text("utf-8"), "`make golden` writes it anew"


def test_parts_of_figures_are_named_one_by_one() -> None:
    names = float_names("Fig. 2(a) and (b) beside Figs. 3a-c, 4")
    assert ", ".join(names) == "Figure 2a, Figure 2b, Figure 3a, Figure 3b, Figure 3c, Figure 4"
