"""Drafts of a few sentences and tables, made in memory."""

from pathlib import Path

from aisr_papers.draft import Draft, Float, Paragraph, Place, Sentence, Work
from aisr_papers.passages import float_keys, keys_by_name

SITES = """
Detector | Bog | Bog | Heath | Heath
 | F1 | Recall | F1 | Recall
Wren | 61.0 | 70.5 | 72.4 | 79.1
Lark | 58.5 | 66.3 | 66.1 | 74.8
Finch | 49.2 | 60.7 | 51.3 | 58.9
"""
COSTS = """
Detector | Minutes | Memory (MB)
Wren | 6.3 | 420
Lark | 12.6 | 610
Finch | 0.4 | 35
"""


def table(
    rows: str, caption: str = "Scores.", number: int = 1, bold: frozenset[tuple[int, int]] = frozenset()
) -> Float:
    """A table whose cells are parted by bars."""
    cells = "\n".join("\t".join(cell.strip() for cell in row.split("|")) for row in rows.strip("\n").split("\n"))
    name = f"Table {number}"
    return Float(f"tab:{number}", name, "table", caption, Place("main.tex", 90 + number), cells, bold=bold)


def draft(*texts: str, tables: tuple[Float, ...] = (), work_keys: tuple[str, ...] = ()) -> Draft:
    """A paragraph of sentences, which refer to floats by name, and cite all the works."""
    floats = {one.key: one for one in tables}
    keys = keys_by_name(floats)
    assert len(keys) == len(floats)
    sentences = tuple(
        Sentence(text, Place("main.tex", line), float_keys(text, keys), work_keys)
        for line, text in enumerate(texts, start=1)
    )
    works = {key: Work(key) for key in work_keys}
    return Draft(Path(), "Wrens", (Paragraph(sentences, ("Results",)),), floats, works)


def as_text(draft: Draft) -> str:
    """All that is read of a paper: headings and sentences with their places and links, floats with their cells, works,
    and what was not read."""
    lines = [f"title: {draft.title}"]
    above: tuple[str, ...] | None = None
    for paragraph in draft.paragraphs:
        lines += [""] if paragraph.headings == above else ["", f"== {' > '.join(paragraph.headings)}".rstrip()]
        above = paragraph.headings
        for one in paragraph.sentences:
            links = ", ".join((*one.float_keys, *one.work_keys))
            lines.append(f"{one.place}  {one.text}" + (f"  -> {links}" if links else "") + "  HIDDEN" * one.hidden)
    for each in draft.floats.values():
        lines += ["", f"-- {each.name} [{each.key}], {each.place}: {each.caption}"]
        lines += [f"   | {row}" for row in each.rows.replace("\t", " | ").splitlines()]
        lines += [f"   notes: {each.notes}"] if each.notes else []
        lines += [f"   bold: {row}, {column}" for row, column in sorted(each.bold)]
        lines += [f"   picture: {picture.path(draft.folder)}" for picture in each.pictures]
    lines += ["", *(f"work {one.key}: {one.title}; {one.doi}".rstrip("; ") for one in draft.works.values())]
    lines += ["", *(f"not read: {one.place}: {one.reason}" for one in draft.unread)]
    return "\n".join(lines).replace("\n\n\n", "\n\n").strip() + "\n"
