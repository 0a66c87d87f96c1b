"""What the readers see of papers of your own, without any LM: `python -m aisr.optimize.studies.papers PAPER…`.

PAPER is a LaTeX main file, its folder, or a PDF. A LaTeX paper with the PDF of the same name beside it is a pair: its
tables are looked for in the PDF's tables of the same number, cell by cell.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from aisr.commands.display import note, table
from aisr.optimize.studies.paper import Share, plain
from aisr.paper.citations import marks
from aisr.paper.draft import Draft
from aisr.paper.figures import with_figures
from aisr.paper.files import main_file
from aisr.paper.open import read
from aisr.programs.errors import UserError
from aisr.programs.vision.images import BadPicture, decode


class Seen(NamedTuple):
    """What was found in a paper. seconds: for reading it, and for drawing its figures."""

    draft: Draft
    figures: Share
    tables: Share
    citations: Share
    seconds: tuple[float, float]


def main(papers: Sequence[str] | None = None) -> int:
    """Run the study on the papers that are named."""
    named = [Path(paper) for paper in (sys.argv[1:] if papers is None else papers)]
    if not named:
        raise SystemExit("expected papers: LaTeX main files, folders of these, or PDFs")
    rows = []
    for paper in named:
        try:
            rows += _rows(paper)
        except UserError as error:
            note(f"{paper}: {error}")
    headings = [
        "",
        "figures seen",
        "tables with rows",
        "citations linked",
        "numeric cells in its PDF",
        "read s",
        "drawn s",
    ]
    table("What is seen of papers", headings, rows)
    return 0


def _rows(paper: Path) -> list[list[str]]:
    first = measured(paper)
    made = paper if paper.suffix == ".pdf" else main_file(paper).with_suffix(".pdf")
    if made == paper or not made.is_file():
        return [_row(paper, first, "-")]
    second = measured(made)
    return [_row(paper, first, str(cells(first.draft, second.draft))), _row(made, second, "-")]


def _row(paper: Path, seen: Seen, found: str) -> list[str]:
    name = f"{paper.resolve().parent.name}/{paper.name}" if paper.suffix else paper.resolve().name
    seconds = [f"{one:.1f}" for one in seen.seconds]
    return [name, str(seen.figures), str(seen.tables), str(seen.citations), found, *seconds]


def measured(paper: Path) -> Seen:
    """What is found in a paper; its pictures go to a folder that is deleted."""
    start = time.perf_counter()
    draft = read(paper)
    read_in = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        draft = with_figures(draft, paper, Path(folder))
        drawn_in = time.perf_counter() - start
        seen = figures(draft)
    tables = [one for one in draft.floats.values() if one.kind == "table"]
    rows = Share(sum(bool(one.rows) for one in tables), len(tables))
    return Seen(draft, seen, rows, citations(draft), (read_in, drawn_in))


def figures(draft: Draft) -> Share:
    """The figures of which a picture can be shown, their own or one of their parts'."""
    shown: dict[str, bool] = {}
    for one in draft.floats.values():
        if one.kind == "figure":
            whole = one.name[:-1] if one.name[-1:].islower() else one.name
            paths = (draft.drawn.get(picture.path(draft.folder), picture.file) for picture in one.pictures)
            shown[whole] = shown.get(whole, False) or any(map(_opens, paths))
    return Share(sum(shown.values()), len(shown))


def _opens(file: Path) -> bool:
    try:
        decode(str(file))
    except BadPicture:
        return False
    return True


def citations(draft: Draft) -> Share:
    """Citations that a reader sees, by author and year, by key or by number, and those that are linked to a work that
    the bibliography has. Numbers count where works are numbered."""
    numbered = any(key.isdigit() for key in draft.works)
    asked = linked = 0
    for one in (one for each in draft.paragraphs for one in each.sentences if not one.hidden):
        cited = {work for mark in marks(one.text) for work in mark.works if numbered or not work.isdigit()}
        known = [key for key in one.cites if draft.works[key].title or draft.works[key].doi]
        asked += max(len(cited), len(one.cites))
        linked += len(known)
    return Share(linked, asked)


def cells(ours: Draft, theirs: Draft) -> Share:
    """The cells with a digit of one draft's tables that the other's tables of the same name have."""
    tables = {one.name: one.rows for one in theirs.floats.values() if one.kind == "table"}
    found = total = 0
    for one in ours.floats.values():
        if one.kind == "table":
            mine, other = _numbers(one.rows), _numbers(tables.get(one.name, ""))
            found += (mine & other).total()
            total += mine.total()
    return Share(found, total)


def _numbers(rows: str) -> Counter[str]:
    said = (plain(cell) for row in rows.split("\n") for cell in row.split("\t"))
    return Counter(one for one in said if any(map(str.isdigit, one)))


if __name__ == "__main__":
    sys.exit(main())
