"""Opens a paper by the suffix of its file, and the folder of the papers that it cites."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisr.base.errors import UserError
from aisr.paper.draft import Draft, Work
from aisr.paper.readers.files import find_main_file

if TYPE_CHECKING:
    from aisr.paper.cited_papers import CitedPapers

# Each is imported when a file of its form is opened: its packages take time to load, and may be missing.
READERS = {
    ".tex": "aisr.paper.readers.latex",
    ".md": "aisr.paper.readers.markdown",
    ".markdown": "aisr.paper.readers.markdown",
    ".pdf": "aisr.paper.readers.pdf",
}


def check_paper(file: Path) -> None:
    """Raises UserError where there is no file, or one that is no paper by its name; reads nothing else."""
    if file.is_dir():
        find_main_file(file)
    elif not file.is_file():
        raise UserError(f"{file}: no such file; expected the paper, such as main.tex, paper.md or paper.pdf")
    elif file.suffix.lower() not in READERS:
        raise UserError(f"{file}: neither LaTeX, Markdown nor PDF; its name should end in {', '.join(READERS)}")


def check_papers_folder(papers: Path | None) -> None:
    """Raises UserError where --papers names no folder."""
    if papers is not None and not papers.is_dir():
        raise UserError(f"--papers {papers}: no such folder; expected the one with the cited papers")


def read_draft(file: Path, root: Path | None = None) -> Draft:
    """The draft in a LaTeX main file or the folder of one, a Markdown file or a PDF. root: the folder that LaTeX and
    Markdown may put files in from, by default that of the paper. Raises UserError for what is no paper, for what cannot
    be read as a whole, and where a package is missing."""
    check_paper(file)
    suffix = ".tex" if file.is_dir() else file.suffix.lower()
    reader = _import(READERS[suffix])
    draft: Draft = reader.read(file) if suffix == ".pdf" else reader.read(file, root)
    return draft


def read_cited_papers(folder: Path, works: Mapping[str, Work]) -> "CitedPapers":
    """The papers in a folder that are works of a bibliography. Raises UserError where there is no such folder, or a
    package is missing."""
    check_papers_folder(folder)
    papers: CitedPapers = _import("aisr.paper.cited_papers").read(folder, works)
    return papers


def _import(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UserError(
            f"checking a paper needs the package {error.name}; `pip install 'aisr[paper]'` brings it"
        ) from error
