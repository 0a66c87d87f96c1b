"""The figures of a paper, seen: drawn from their files, and else taken from the paper as it was set.

A figure that LaTeX draws by code, or whose file cannot be drawn, stands in the PDF that was made of the paper. Where
that lies beside its main file, the figure of the same number and caption is taken from there.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from aisr.paper.draft import Draft, Float
from aisr.paper.drawing import NOT_DRAWN, draw
from aisr.paper.files import main_file
from aisr.programs.errors import UserError

WORD = re.compile(r"\w{3,}")
ALIKE = 0.6  # of the words of the shorter caption: both are of one figure


def with_figures(draft: Draft, paper: Path, folder: Path) -> Draft:
    """The draft with its figures as pictures of points, kept in a folder. paper: what it was read from."""
    seen = draw(draft, folder)
    unseen = [key for key, one in seen.floats.items() if one.kind == "figure" and not any(_pictures(seen, one))]
    if not unseen or paper.suffix.lower() == ".pdf":
        return seen
    made = main_file(paper).with_suffix(".pdf").resolve()
    if not made.is_file() or not made.is_relative_to(draft.folder):
        return seen
    try:
        found = _set(made)
    except UserError:
        return seen
    taken = {key: found[one.name] for key in unseen for one in [seen.floats[key]] if _is_same(one, found)}
    moved = {
        key: seen.floats[key]._replace(
            pictures=tuple(picture._replace(file=made) for picture in one.pictures), coded=()
        )
        for key, one in taken.items()
    }
    places = {place for key in moved for one in _whole(seen, seen.floats[key]) for place in one.coded}
    floats = {seen.floats[key].place for key in moved}
    unread = tuple(
        one for one in seen.unread if one.place not in places and not (one.place in floats and NOT_DRAWN in one.why)
    )
    more = draw(replace(seen, floats={**seen.floats, **moved}, unread=unread), folder)
    return replace(more, drawn={**seen.drawn, **more.drawn})


def _set(made: Path) -> dict[str, Float]:
    """The figures of a PDF by their names."""
    from aisr.paper import pdf

    return {one.name: one for one in pdf.read(made).floats.values() if one.kind == "figure" and one.pictures}


def _is_same(one: Float, found: dict[str, Float]) -> bool:
    if one.name not in found:
        return False
    mine, other = (set(WORD.findall(said.casefold())) for said in (one.caption, found[one.name].caption))
    return len(mine & other) >= ALIKE * min(len(mine), len(other)) > 0


def _whole(draft: Draft, one: Float) -> Iterator[Float]:
    """A figure and its parts."""
    yield from (other for other in draft.floats.values() if other.name[:-1] == one.name or other.name == one.name)


def _pictures(draft: Draft, one: Float) -> Iterator[object]:
    """The pictures of a figure, of its parts, and of the whole that it is a part of."""
    whole = one.name[:-1] if one.name[-1:].isalpha() else one.name
    for other in draft.floats.values():
        if other.name in (whole, one.name) or (other.name[:-1] == whole and other.name[-1:].isalpha()):
            yield from other.pictures
