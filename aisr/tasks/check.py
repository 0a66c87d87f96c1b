"""One record for a judge of a paper, and the sentences of the draft that it stands for."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

from aisr.base.digests import of_text
from aisr.paper.draft import Float
from aisr.programs.records.draft import DraftRecord
from aisr.programs.records.track1 import Track1Record
from aisr.programs.records.track2 import Track2Record
from aisr.programs.text.tokens import tokens

MOST_TABLE = 4_000  # tokens of a table that a question shows in full; few papers have one of half as many
LEFT_OUT = "(rows are left out here)"


class Check(NamedTuple):
    """paragraph: its position in the draft; sentences: their positions in the paragraph, one for each sentence that the
    record has to judge, a single one for a Track2Record; work: the key of the cited work for a Track2Record;
    paragraphs: of each sentence, where they are not of one."""

    record: Track1Record | Track2Record | DraftRecord
    paragraph: int
    sentences: tuple[int, ...]
    work: str | None = None
    paragraphs: tuple[int, ...] = ()

    @property
    def places(self) -> list[tuple[int, int]]:
        """Of each sentence the positions of its paragraph and of itself."""
        return list(zip(self.paragraphs or repeat(self.paragraph), self.sentences, strict=False))


def rows_within(rows: str, named: Sequence[int], most: int) -> str:
    """The rows of a table; of one of more than `most` tokens its head, then those that are named, from 0, and then the
    others, as far as there is room."""
    if tokens(rows) <= most:
        return rows
    lines = rows.split("\n")
    kept: set[int] = set()
    for place in dict.fromkeys([0, 1, *named, *range(2, len(lines))]):
        cost = tokens(lines[place]) + 1 if place < len(lines) else most + 1
        if cost > most:
            break
        kept.add(place)
        most -= cost
    return "\n".join([*(lines[place] for place in sorted(kept)), LEFT_OUT])


def items_of(folder: Path, one: Float, rows: str | None = None) -> Iterator[dict[str, Any]]:
    """A float as items of evidence, its pictures by their paths from the folder; each picture behind the first is an
    item of its own. rows: of its cells, where not all are shown."""
    said = " ".join(part for part in (one.caption, one.notes) if part)
    caption = f"{one.name}: {said}" if said else one.name
    paths = [picture.path(folder) for picture in one.pictures if picture.file.is_relative_to(folder)]
    kind = (
        {"type": "table", "table_caption": [caption]}
        if one.kind == "table"
        else {"type": "image", "image_caption": [caption]}
    )
    yield {**kind, "text": one.rows if rows is None else rows, "img_path": paths[0] if paths else None}
    for number, path in enumerate(paths[1:], start=2):
        shown = f"{one.name} ({number} of {len(paths)})"
        yield {"type": "image", "image_caption": [shown], "img_path": path}


def id_of(file: str, said: Sequence[str], taken: Counter[str]) -> str:
    """File and digest of what is said; a second record of the same content gets a number."""
    found = f"{file}:{of_text(chr(0).join(said))}"
    taken[found] += 1
    return found if taken[found] == 1 else f"{found}-{taken[found]}"
