"""A draft by the form of its file, and the papers that it cites."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from aisr.paper.draft import Draft, Work
from aisr.paper.readers.files import main_file
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from aisr.paper.cited import Cited

# Each is imported when a file of its form is opened: its packages take time to load, and need not be there.
READERS = {
    ".tex": "aisr.paper.readers.latex",
    ".md": "aisr.paper.readers.markdown",
    ".markdown": "aisr.paper.readers.markdown",
    ".pdf": "aisr.paper.readers.pdf",
}


def check_there(file: Path) -> None:
    """Raises UserError for what can be no paper by its name, or is not there; reads no more than that takes."""
    if file.is_dir():
        main_file(file)
    elif not file.is_file():
        raise UserError(f"{file}: no such file; expected the paper, such as main.tex, paper.md or paper.pdf")
    elif file.suffix.lower() not in READERS:
        raise UserError(f"{file}: neither LaTeX, Markdown nor PDF; its name should end in {', '.join(READERS)}")


def check_folder(papers: Path | None) -> None:
    """Raises UserError where --papers names no folder."""
    if papers is not None and not papers.is_dir():
        raise UserError(f"--papers {papers}: no such folder; expected the one with the cited papers")


def read(file: Path, root: Path | None = None) -> Draft:
    """The draft in a LaTeX main file or the folder of one, a Markdown file or a PDF. root: the folder that LaTeX and
    Markdown may put files in from; that of the paper where none is given. Raises UserError for what is none, for what
    cannot be read as a whole, and where a package is missing."""
    check_there(file)
    reader = _imported(READERS[".tex" if file.is_dir() else file.suffix.lower()])
    return cast(
        Draft, reader.read(file) if file.suffix.lower() == ".pdf" and file.is_file() else reader.read(file, root)
    )


def read_cited(folder: Path, works: Mapping[str, Work]) -> "Cited":
    """The papers in a folder that are works of a bibliography. Raises UserError where there is no such folder, or a
    package is missing."""
    check_folder(folder)
    found: Cited = _imported("aisr.paper.cited").read(folder, works)
    return found


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UserError(
            f"checking a paper needs the package {error.name}; `pip install 'aisr[paper]'` brings it"
        ) from error
