"""The golden prompts of the task draft (see `support.golden_prompts`); run, it writes them anew and prints the
difference."""

from aisr_papers.draft_task import DRAFT
from paper_support.paths import PAPERS
from support.golden_prompts import Case, write_anew

FOLDER = PAPERS / "tests" / "golden" / "draft"
CASE = Case(DRAFT, "knn", compiled={"verbalized_confidence": True})

if __name__ == "__main__":
    print(write_anew(CASE, FOLDER), end="")
