"""The evidence bundle of a Track 1 record, as the text that a model reads."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from aisr.programs.errors import UserError
from aisr.programs.text.sanitize import ROW, clean, rows_of
from aisr.programs.text.sanitize import item as as_item
from aisr.programs.track1.record import EvidenceItem
from aisr.programs.vision.images import BadPicture, Gallery, Picture

Form = Literal["caption", "ocr", "image"]
FORM_HELP = (
    "What is shown of a picture: its `caption`, or besides the text read from it (`ocr`) or its pixels (`image`)."
)
KINDS = {"text": "text", "table": "table", "image": "figure"}
LABEL = re.compile(r"(?:text|table|figure)\s*\d+", re.IGNORECASE)
UNREADABLE = "(the picture could not be read)"


class Evidence(NamedTuple):
    """What a model gets of a bundle: text, a line an item, and the pictures that go with its lines."""

    text: str
    pictures: list[Picture]


def render(
    bundle: Sequence[EvidenceItem],
    form: Form = "caption",
    gallery: Gallery | None = None,
    record: str = "",
) -> Evidence:
    """One line an item, numbered by kind, `[table 1] caption` or `[text 1] paragraph`, with the rows of a table that is
    given as text on lines behind it; and the pictures to be shown.

    form: `caption` shows a picture by its captions alone; `ocr` puts the text in it behind them, a row a line; `image`
    names the pictures, for a model to see. A picture that cannot be shown says so in its line and
    stands in the gallery's `problems`, under the id of the record. Of a table whose
    title is a caption already shown, the line says whose cells they are.
    Raises UserError where pictures are wanted and no gallery is given.
    """
    if form != "caption" and gallery is None and any(item.img_path for item in bundle):
        raise UserError(f"evidence {form!r} needs to know where the pictures are; give --image-root")
    numbers: Counter[str] = Counter()
    lines: list[str] = []
    pictures: list[Picture] = []
    captions: dict[str, str] = {}  # what a table says in place of one that was shown
    for item in bundle:
        kind = KINDS[item.type]
        numbers[kind] += 1
        said, rows = rows_of(clean(item.text))
        caption = clean(item.caption)
        if rows and (key := _letters(said)) in captions:
            said = captions[key]
        if key := _letters(caption):
            captions.setdefault(key, f"(the cells of {kind} {numbers[kind]})")
            said = "" if _letters(said) == key else said
        words = as_item(f"{said} {caption}", LABEL.fullmatch)
        lines.append(f"[{kind} {numbers[kind]}] {words or '(no caption)'}")
        if gallery is not None and form != "caption" and item.img_path:
            _show(record, item, form, gallery, lines, pictures)
        lines += [f"{ROW[1:]}{as_item(row, LABEL.fullmatch)}" for row in rows]
    return Evidence("\n".join(lines) or "(no evidence was given)", pictures)


def _letters(text: str) -> str:
    """A text but for case, blanks and punctuation."""
    return "".join(sign for sign in text.lower() if sign.isalnum())


def _show(
    record: str, item: EvidenceItem, form: Form, gallery: Gallery, lines: list[str], pictures: list[Picture]
) -> None:
    """The picture of an item behind its line, in the form that is asked for."""
    file = gallery.file(record, item.img_path or "")
    if file is None:
        lines[-1] += f" {UNREADABLE}"
    elif form == "ocr":
        try:
            lines += [f"  {as_item(clean(row), LABEL.fullmatch)}" for row in gallery.text(file)]
        except BadPicture as error:
            gallery.problems[record, item.img_path or ""] = str(error)
            lines[-1] += f" {UNREADABLE}"
    else:
        pictures.append(Picture(file, len(lines) - 1))
