"""Papers in LaTeX and Markdown become drafts: each sentence at its line, floats with their cells, references and
citations, and a list of what was not read. What is read of each paper of `golden/readers/` stands beside it."""

from pathlib import Path

import pytest

from aisr_papers.open import read_draft
from paper_support.drafts import as_text
from paper_support.golden import DRAFTS


@pytest.mark.parametrize("folder", DRAFTS, ids=lambda folder: folder.name)
def test_what_is_read_of_a_paper(folder: Path) -> None:
    (paper,) = (*folder.glob("main.tex"), *folder.glob("paper.md"))
    assert as_text(read_draft(paper)) == (folder / "draft.txt").read_text("utf-8"), "`make golden` writes it anew"
