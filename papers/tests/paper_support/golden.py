"""The golden prompts of the task draft (see `support.golden_prompts`), and what is read of papers; run, it writes both
anew."""

from aisr_papers.cited_claims import find_misquotes, split_claims
from aisr_papers.draft_task import DRAFT
from aisr_papers.open import read_draft, read_paper
from aisr_papers.recompute.recompute import recompute
from paper_support.drafts import as_text, draft
from paper_support.paths import PAPERS
from support.golden_prompts import Case, write_anew

FOLDER = PAPERS / "tests" / "golden" / "draft"
CASE = Case(DRAFT, "knn", compiled={"verbalized_confidence": True})
READ = PAPERS / "tests" / "golden" / "readers"
RECOMPUTED = PAPERS / "tests" / "golden" / "recomputed.txt"
CITED = PAPERS / "tests" / "golden" / "cited"
READ_PAPERS = sorted([*READ.glob("*/main.tex"), *READ.glob("*/paper.*")])


def cited() -> str:
    """The paper of `cited/` with the claims about each work that its sentences cite and its wrong quotes, and what is
    read of the cited papers."""
    paper, papers = read_paper(CITED / "paper.md", papers=CITED / "papers")
    lines = []
    for _, one in paper.placed_sentences():
        lines.append(" -> ".join([one.text, *filter(None, [", ".join((*one.float_keys, *one.work_keys))])]))
        lines += [f"    claim [{key}] {claim}" for key, claim in split_claims(one.text, one.work_keys)]
    for quote in find_misquotes(paper, papers):
        lines.append(f"not in [{quote.work}]: “{quote.quote}”; nearest: {quote.true} {quote.source}".rstrip())
    for key, paragraphs in papers.items():
        lines += ["", f"-- {key}", *(f"{name} {text}" for name, text in paragraphs.items())]
    return "\n".join([*lines, "", *(f"not read: {one.place}: {one.reason}" for one in paper.unread)]) + "\n"


def recomputed(text: str) -> str:
    """The sentences of papers, a line each, and below each what is recomputed of it. text: the same, or the sentences
    alone; blank lines part papers."""
    papers = []
    for block in text.strip().split("\n\n"):
        sentences = [line for line in block.split("\n") if not line.startswith(" ")]
        lines = [[sentence] for sentence in sentences]
        for (_, place), fact in recompute(draft(*sentences)):
            lines[place].append(f"    {fact.outcome}, {fact.label}: {fact.statement}: {fact.computed}")
        papers.append("\n".join("\n".join(one) for one in lines))
    return "\n\n".join(papers) + "\n"


if __name__ == "__main__":
    write_anew(CASE, FOLDER)
    for paper in READ_PAPERS:
        paper.with_name("draft.txt").write_text(as_text(read_draft(paper)), "utf-8")
    RECOMPUTED.write_text(recomputed(RECOMPUTED.read_text("utf-8")), "utf-8")
    (CITED / "cited.txt").write_text(cited(), "utf-8")
