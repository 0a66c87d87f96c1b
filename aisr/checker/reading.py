"""A paper with its figures and the papers that it cites, as the checker reads them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from aisr.paper.draft import Draft, with_captions
from aisr.paper.drawing import with_figures
from aisr.paper.open import read, read_cited


def read_paper(
    paper: Path, root: Path | None, papers: Path | None, figures: Path | None
) -> tuple[Draft, Mapping[str, Mapping[str, str]]]:
    """The draft, with captions and notes of tables behind its text, and the cited papers by key: paragraph id -> text.

    root: the folder that files may be put in from, if not the paper's; papers: the folder of the cited papers; figures:
    where figures are drawn to (None: they are not). What could not be read of the cited papers is among what the draft
    lacks. Raises UserError for a paper that cannot be read.
    """
    draft = read(paper, root)
    if figures is not None:
        draft = with_figures(draft, paper, figures)
    draft = with_captions(draft)
    if papers is None:
        return draft, {}
    found = read_cited(papers, draft.works)
    below = [one._replace(place=one.place._replace(file=f"{papers.name}/{one.place.file}")) for one in found.unread]
    return replace(draft, unread=(*draft.unread, *below)), found.papers
