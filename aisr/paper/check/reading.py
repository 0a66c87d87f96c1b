"""A paper with its figures and the papers that it cites, as the checker reads them."""

import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aisr.paper.draft import Draft, add_captions
from aisr.paper.readers.figures import draw_figures
from aisr.paper.readers.files import read_cited_papers, read_draft
from aisr.programs.errors import UserError

# --- The folders that an agent may name files in: those of the server's start, and nothing that a link leads out to.


class Refused(UserError):
    """A call that the checker refuses, in its own words alone: no text of a paper, a model or a server is in them."""


def allowed(folders: Sequence[Path], named: str, *, folder: bool = False) -> Path:
    """The regular file, or folder, that a tool call names: below one of the folders, after links are followed; a
    relative path is below the first of them. Raises `Refused` otherwise, and says the same of what lies outside and of
    what is not there, so that nobody can find out by asking."""
    try:
        path = (folders[0] / named).resolve(strict=True)
        mode = path.stat().st_mode
    except (OSError, ValueError, RuntimeError):
        path, mode = Path(), 0
    right = stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode)
    if not right or not any(path.is_relative_to(one) for one in folders):
        raise Refused(
            f"path: no such {'folder' if folder else 'file'} below the folders of this session: {_names(folders)}"
        )
    return path


def opened(folders: Sequence[Path]) -> list[Path]:
    """The folders by their real paths. Raises UserError for one that is none."""
    if not folders:
        raise UserError("give --folder DIR, at least once: agents name files below these alone")
    for one in folders:
        if not one.is_dir():
            raise UserError(f"--folder {one}: no such folder")
    return [one.resolve() for one in folders]


def _names(folders: Sequence[Path]) -> str:
    return ", ".join(map(str, folders))


def read_paper(
    paper: Path, root: Path | None, papers: Path | None, figures: Path | None
) -> tuple[Draft, Mapping[str, Mapping[str, str]]]:
    """The draft, with captions and notes of tables behind its text, and the cited papers by key: paragraph id -> text.

    root: the folder that files may be put in from, if not the paper's; papers: the folder of the cited papers; figures:
    where figures are drawn to (None: they are not). What could not be read of the cited papers is among what the draft
    lacks. Raises UserError for a paper that cannot be read.
    """
    draft = read_draft(paper, root)
    if figures is not None:
        draft = draw_figures(draft, paper, figures)
    draft = add_captions(draft)
    if papers is None:
        return draft, {}
    found = read_cited_papers(papers, draft.works)
    below = [one._replace(place=one.place._replace(file=f"{papers.name}/{one.place.file}")) for one in found.unread]
    return replace(draft, unread=(*draft.unread, *below)), found.papers
