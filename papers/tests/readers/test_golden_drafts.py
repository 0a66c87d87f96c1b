"""Papers become drafts: each sentence at its place, floats with their cells, references and citations, and a list of
what was not read. What is read of each paper of `golden/readers/` stands beside it. The PDFs are written by hand."""

from pathlib import Path

import pytest

from aisr_papers.open import read_draft
from paper_support.drafts import as_text
from paper_support.golden import READ_PAPERS


@pytest.mark.parametrize("paper", READ_PAPERS, ids=lambda paper: paper.parent.name)
def test_what_is_read_of_a_paper(paper: Path) -> None:
    golden = paper.with_name("draft.txt").read_text("utf-8")
    assert as_text(read_draft(paper)) == golden, "`make golden` writes it anew"
