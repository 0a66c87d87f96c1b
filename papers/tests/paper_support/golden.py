"""The golden prompts of the task draft (see `support.golden_prompts`), and what is read of papers; run, it writes both
anew and prints the difference of the prompts."""

from aisr_papers.draft_task import DRAFT
from aisr_papers.open import read_draft
from paper_support.drafts import as_text
from paper_support.paths import PAPERS
from support.golden_prompts import Case, write_anew

FOLDER = PAPERS / "tests" / "golden" / "draft"
CASE = Case(DRAFT, "knn", compiled={"verbalized_confidence": True})
READ = PAPERS / "tests" / "golden" / "readers"
READ_PAPERS = sorted([*READ.glob("*/main.tex"), *READ.glob("*/paper.*")])

if __name__ == "__main__":
    print(write_anew(CASE, FOLDER), end="")
    for paper in READ_PAPERS:
        paper.with_name("draft.txt").write_text(as_text(read_draft(paper)), "utf-8")
