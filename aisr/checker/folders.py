"""The folders that an agent may name files in: those of the server's start, and nothing that a link leads out to."""

import stat
from collections.abc import Sequence
from pathlib import Path

from aisr.programs.errors import UserError


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
