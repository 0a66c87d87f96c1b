"""Opens a paper by the suffix of its file, and the folder of the papers that it cites."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from aisr import UserError
from aisr.text import INVISIBLE
from aisr_papers.draft import Draft, Paragraph
from aisr_papers.readers.files import find_main_file

# Each is imported when a file of its form is opened: its packages take time to load, and may be missing.
READERS = {
    ".tex": "aisr_papers.readers.latex",
    ".md": "aisr_papers.readers.markdown",
    ".markdown": "aisr_papers.readers.markdown",
    ".docx": "aisr_papers.readers.word",
    ".pdf": "aisr_papers.readers.pdf",
}


def check_paper(file: Path) -> None:
    """Raises UserError where there is no file, or one that is no paper by its name; reads nothing else."""
    if file.is_dir():
        find_main_file(file)
    elif not file.is_file():
        raise UserError(
            f"{file}: no such file; expected the paper, such as main.tex, paper.md, paper.docx or paper.pdf"
        )
    elif file.suffix.lower() not in READERS:
        raise UserError(f"{file}: neither LaTeX, Markdown, Word nor PDF; its name should end in {', '.join(READERS)}")


def check_papers_folder(papers: Path | None) -> None:
    """Raises UserError where --papers names no folder."""
    if papers is not None and not papers.is_dir():
        raise UserError(f"--papers {papers}: no such folder; expected the one with the cited papers")


def read_draft(file: Path, root: Path | None = None) -> Draft:
    """The draft in a LaTeX main file or the folder of one, a Markdown file, a Word file or a PDF. root: the folder that
    LaTeX and Markdown may put files in from, by default that of the paper. Raises UserError for what is no paper, and
    for what cannot be read as a whole."""
    check_paper(file)
    suffix = ".tex" if file.is_dir() else file.suffix.lower()
    reader = import_module(READERS[suffix])
    return _visible(reader.read(file) if suffix == ".pdf" else reader.read(file, root))


def _visible(draft: Draft) -> Draft:
    """The draft without characters that nobody sees: a soft hyphen or a zero-width space within a number would make
    another number of it."""

    def visible(text: str) -> str:
        return text if text.isascii() else INVISIBLE.sub("", text)

    def visible_paragraph(one: Paragraph) -> Paragraph:
        sentences = tuple(each._replace(text=visible(each.text)) for each in one.sentences)
        return one._replace(sentences=sentences, headings=tuple(map(visible, one.headings)))

    floats = {
        key: one._replace(
            caption=visible(one.caption),
            rows=visible(one.rows),
            notes=visible(one.notes),
            headings=tuple(map(visible, one.headings)),
        )
        for key, one in draft.floats.items()
    }
    paragraphs = tuple(map(visible_paragraph, draft.paragraphs))
    return replace(draft, title=visible(draft.title), paragraphs=paragraphs, floats=floats)
