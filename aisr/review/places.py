"""Where a verdict stands, as files for other programs name it."""

from pathlib import Path

from aisr.paper.draft import Place


def path(folder: Path, place: Place) -> str:
    """The file of a place as editors and CI find it: from the current folder where it is below that, else from the
    paper's folder. With slashes, and without the path of this machine."""
    file = (folder / place.file).resolve()
    here = Path.cwd()
    return (file.relative_to(here) if file.is_relative_to(here) else Path(place.file)).as_posix()
