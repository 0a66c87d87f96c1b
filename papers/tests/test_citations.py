"""Tables, figures and works as running text refers to them, claims about works, and quotes of them."""

import pytest

from aisr_papers.passages import float_names
from paper_support.golden import CITED, cited


def test_works_are_linked_claims_parted_quotes_looked_up_and_cited_papers_read() -> None:
    assert cited() == (CITED / "cited.txt").read_text("utf-8"), "`make golden` writes it anew"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Fig. 2(a) and (b)", "Figure 2a, Figure 2b"),
        ("Figs. 2a-c, 3", "Figure 2a, Figure 2b, Figure 2c, Figure 3"),
        ("In Table 3, 12 systems", "Table 3"),
    ],
)
def test_names_in_running_text(text: str, names: str) -> None:
    assert ", ".join(float_names(text)) == names
