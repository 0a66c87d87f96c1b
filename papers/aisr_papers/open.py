"""Opens a paper by the suffix of its file, and the papers that it cites."""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from aisr import UserError
from aisr_papers.draft import Draft, add_captions
from aisr_papers.readers.figures import draw_pictures

# Each is imported when a file of its form is opened: its packages take time to load, and may be missing.
READERS = {
    ".tex": "aisr_papers.readers.latex",
    ".md": "aisr_papers.readers.markdown",
    ".markdown": "aisr_papers.readers.markdown",
    ".docx": "aisr_papers.readers.word",
    ".pdf": "aisr_papers.readers.pdf",
}


def read_paper(
    paper: Path, root: Path | None = None, papers: Path | None = None, figures: Path | None = None
) -> tuple[Draft, Mapping[str, Mapping[str, str]]]:
    """Return the draft, with captions and notes of tables behind its text, and the cited papers by key: paragraph id ->
    text.

    root: the folder that files may be put in from, if not the paper's; papers: the folder of the cited papers; figures:
    where figures are drawn to (None: they are not). What could not be read of the cited papers is among what the draft
    lacks. Raises UserError for a paper that cannot be read.
    """
    if papers is not None and not papers.is_dir():
        raise UserError(f"--papers {papers}: no such folder; expected the one with the cited papers")
    draft = read_draft(paper, root)
    if figures is not None:
        draft = draw_pictures(draft, figures)
    draft = add_captions(draft)
    if papers is None:
        return draft, {}
    from aisr_papers.cited_papers import read as read_cited_papers  # with PDFium, which takes time to load

    cited = read_cited_papers(papers, draft.works)
    below = [one._replace(place=one.place._replace(file=f"{papers.name}/{one.place.file}")) for one in cited.unread]
    return replace(draft, unread=(*draft.unread, *below)), cited.papers


def read_draft(file: Path, root: Path | None = None) -> Draft:
    """Return the draft in a LaTeX main file or the folder of one, a Markdown file, a Word file or a PDF. root: the
    folder that LaTeX and Markdown may put files in from, by default that of the paper. Raises UserError for what is no
    paper, and for what cannot be read as a whole."""
    suffix = ".tex" if file.is_dir() else file.suffix.lower()
    if not (file.is_file() or file.is_dir()):
        raise UserError(
            f"{file}: no such file; expected the paper, such as main.tex, paper.md, paper.docx or paper.pdf"
        )
    if suffix not in READERS:
        raise UserError(f"{file}: neither LaTeX, Markdown, Word nor PDF; its name should end in {', '.join(READERS)}")
    reader = import_module(READERS[suffix])
    draft: Draft = reader.read(file) if suffix == ".pdf" else reader.read(file, root)
    return draft
