"""One cited paper: a PDF, JATS XML, text or Markdown, as paragraphs with headings, and what it says of itself."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from aisr.paper.cited_jats import article
from aisr.paper.draft import Draft, Unread
from aisr.paper.pdf import read as read_pdf
from aisr.paper.pdf_blocks import REFERENCES
from aisr.paper.pdf_process import LIMITS, Limits
from aisr.paper.pdf_works import DOI
from aisr.programs.errors import UserError

MOST_BYTES = 8 * 2**20
SUFFIXES = {".xml": "JATS", ".nxml": "JATS", ".pdf": "PDF", ".md": "text", ".markdown": "text", ".txt": "text"}
BLANK = re.compile(r"\n[ \t]*+\n")
HASHES = re.compile(r"#{1,6}\s+")
FIRST = 3_000  # characters that a paper says its own DOI in


class Source(NamedTuple):
    """What a file holds. titles: all that it may be called; doi: its own, or empty; notes: what of it was not read."""

    paragraphs: tuple[str, ...]
    titles: tuple[str, ...]
    doi: str
    notes: tuple[Unread, ...] = ()


def source(file: Path, limits: Limits = LIMITS) -> Source:
    """A paper by its suffix. Raises UserError where it cannot be read."""
    kind = SUFFIXES.get(file.suffix.lower())
    if kind is None:
        raise UserError(f"{file}: expected a PDF, JATS XML (.xml), text (.txt) or Markdown (.md)")
    if kind == "JATS":
        found = article(file)
        return Source(found.paragraphs, (found.title,), found.doi)
    if kind == "PDF":
        draft = read_pdf(file, limits)
        return Source(tuple(_of_draft(draft)), (draft.title,), _doi(_first_page(draft)), draft.unread)
    paragraphs = _of_text(file)
    return Source(tuple(paragraphs), (paragraphs[0].splitlines()[0],), _doi("\n".join(paragraphs)))


def _of_draft(draft: Draft) -> Iterator[str]:
    """Headings and paragraphs as they stand, and then tables and figures; nothing that is hidden."""
    above: tuple[str, ...] = ()
    for paragraph in draft.paragraphs:
        text = " ".join(sentence.text for sentence in paragraph.sentences if not sentence.hidden)
        if not text:
            continue
        same = 0
        while above[same : same + 1] == paragraph.headings[same : same + 1] != ():
            same += 1
        yield from paragraph.headings[same:]
        above = paragraph.headings
        yield text
    for one in draft.floats.values():
        yield "\n".join([f"{one.name}: {one.caption}", *one.rows.split("\n")])


def _first_page(draft: Draft) -> str:
    return " ".join(
        sentence.text for paragraph in draft.paragraphs for sentence in paragraph.sentences if sentence.place.page == 1
    )


def _doi(text: str) -> str:
    found = DOI.search(text[:FIRST])
    return found[0].rstrip(".,;)").lower() if found else ""


def _of_text(file: Path) -> list[str]:
    """The paragraphs of a text, which blank lines part, without a list of references."""
    with file.open("rb") as opened:
        content = opened.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UserError(f"{file}: larger than {MOST_BYTES >> 20} MiB; expected the text of one paper")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: not UTF-8 ({error.reason}); save it as UTF-8") from error
    if "\0" in text:
        raise UserError(f"{file}: not text, there are zero bytes in it")
    found: list[str] = []
    listed = False
    for block in (block.strip() for block in BLANK.split(text)):
        hashes = HASHES.match(block)
        said = block[hashes.end() :] if hashes else block
        if REFERENCES.fullmatch(said):
            listed = True
        elif hashes:
            listed = False
        if said and not listed:
            found.append(said if "\t" in said or said.count("|") > 1 else " ".join(said.split()))
    if not found:
        raise UserError(f"{file}: no text in it; expected the text of one paper")
    return found
