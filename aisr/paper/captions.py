"""Captions and notes of tables as sentences of the paper, each at its place, so that they can be judged like others."""

from dataclasses import replace

from aisr.paper.draft import Draft, Float, Paragraph, Sentence
from aisr.programs.text.sentences import sentences

CAPTIONS = "Captions of tables"  # the heading that they stand below
MOST_TABLES = 60


def statements(caption: str, notes: str) -> list[str]:
    """The sentences of a table's caption and of its notes, which are statements like any others."""
    return [*sentences(caption), *sentences(notes)]


def with_captions(draft: Draft) -> Draft:
    """The draft with a paragraph for each table behind the others: the sentences of its caption and of its notes. One
    that has them already stays as it is."""
    if any(one.of is not None for one in draft.paragraphs):
        return draft
    tables = [one for one in draft.floats.values() if one.kind == "table" and one.rows][:MOST_TABLES]
    return replace(draft, paragraphs=(*draft.paragraphs, *map(_paragraph, tables)))


def _paragraph(one: Float) -> Paragraph:
    caption = [Sentence(text, one.caption_at or one.place) for text in sentences(one.caption)]
    notes = [Sentence(text, one.notes_at or one.place) for text in sentences(one.notes)]
    found = [*caption, *notes] or [Sentence(one.name, one.place)]
    if found[0].text != one.name:
        found[0] = found[0]._replace(text=f"{one.name}: {found[0].text}")
    return Paragraph(tuple(found), (CAPTIONS,), one.key)
