"""What a record rests on, as keys by which two records are known to rest on the same: texts, tables, captions.

A record that is judged by the evidence of another one is no new record: its label can be guessed from the other's.
"""

from collections.abc import Iterable
from posixpath import normpath

from aisr.base.files import digest_text
from aisr.programs.text import alike, alike_words, rows_of


def claim_key(claim: str) -> str:
    """Return what two records share that have the same claim, but for blanks, capitals and what is not seen."""
    return "claim:" + "".join(alike(claim).split())


PHRASE = 8  # words; a text or caption of fewer ("Results on the test set.") may well stand in two papers
CELLS = 6  # different cells, two of them numbers; of smaller tables two may be equal by chance


def evidence_keys(texts: Iterable[str], captions: Iterable[str] = ()) -> set[str]:
    """Return the keys of texts and captions that are more than a phrase, but for case, blanks, punctuation and what is
    not seen, and of the cells of tables given as text, in whatever markup and order."""
    keys = set()
    for text in texts:
        before, rows = rows_of(alike(text))
        cells = {" ".join(alike_words(part)) for row in rows for part in row.split("|")} - {""}
        if len(cells) >= CELLS and sum(any(map(str.isdigit, cell)) for cell in cells) > 1:
            keys.add(f"table:{digest_text(chr(10).join(sorted(cells)))}")
        keys |= _long("evidence text", text)
        keys |= _long("caption", before) if rows else set()
    for caption in captions:
        keys |= _long("caption", caption)
    return keys


def paper_keys(paragraphs: Iterable[str]) -> set[str]:
    """Return the key of a paper: its words, however they are parted into paragraphs; none where there are none."""
    letters = "".join(alike_words("\n".join(paragraphs)))
    return {f"paper:{digest_text(letters)}"} if letters else set()


def picture_keys(paths: Iterable[str]) -> set[str]:
    """Return the keys of pictures: their paths, however these are spelled (`./images//a.jpg`)."""
    return {f"picture:{normpath(alike(path).replace(chr(92), '/'))}" for path in paths}


def _long(kind: str, text: str) -> set[str]:
    words = alike_words(text)
    return {f"{kind}:{digest_text(''.join(words))}"} if len(words) >= PHRASE else set()
