"""Evidence: what a record is judged by, item by item. Prompts, pages and verdicts are made of the same items."""

import base64
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Self

import dspy
import pydantic

from aisr.base.errors import UserError
from aisr.programs.pictures import BadPicture, ImageFolder, jpeg, read_text
from aisr.programs.records import EvidenceItem
from aisr.programs.text import ROW, clean, item as as_item, letters, rows_of

PictureMode = Literal["caption", "ocr", "image"]
PICTURE_MODE_HELP = (
    "What is shown of a picture: its `caption`, or besides the text read from it (`ocr`) or its pixels (`image`)."
)
KINDS = {"text": "text", "table": "table", "image": "figure"}
LABEL = re.compile(r"(?:text|table|figure)\s*\d+", re.IGNORECASE)
NO_CAPTION = "(no caption)"
UNREADABLE = "(the picture could not be read)"
# Behind the line of a picture, where that itself is not shown. Labels of demos rest on pictures: without a word about
# them, numbers that stand nowhere would look Supported.
LEFT_OUT = " (the annotators saw the picture; it is left out here)"


class Picture(NamedTuple):
    """A checked picture. file: its absolute path; line: the line of the evidence text that it goes with."""

    file: str
    line: int


class Item(NamedTuple):
    """One item of evidence: a text, or a table or figure with its caption."""

    key: str  # what a prompt calls it, such as "table 1"
    text: str  # in one line
    rows: tuple[str, ...] = ()  # of a table in text form, ` | ` between cells
    picture: str | None = None  # the path that the record gives, unchecked
    read: tuple[str, ...] = ()  # the text in the picture, row by row
    file: str | None = None  # of a picture that a model is shown: its absolute path, checked

    def lines(self, left_out: str = "") -> list[str]:
        """Return its lines in a prompt. left_out: stands behind the first in the place of a picture."""
        first = f"[{self.key}] {self.text}"
        if self.file:
            first += left_out
        read = [f"  {row}" for row in self.read]
        rows = [f"{ROW[1:]}{row}" for row in self.rows]
        return [first, *read, *rows]


class Evidence(NamedTuple):
    """All items that a record is judged by."""

    items: tuple[Item, ...] = ()

    @property
    def text(self) -> str:
        """The items as a prompt or a demo has them, a line each, with `LEFT_OUT` in the place of each picture."""
        return self._text(LEFT_OUT)

    @property
    def words(self) -> str:
        """The items without a word about pictures."""
        return self._text("")

    @property
    def pictures(self) -> list[Picture]:
        """The pictures that a model is shown."""
        pictures: list[Picture] = []
        line = 0
        for one in self.items:
            if one.file:
                pictures.append(Picture(one.file, line))
            line += len(one.lines())
        return pictures

    def _text(self, left_out: str) -> str:
        lines: list[str] = []
        for one in self.items:
            lines += one.lines(left_out)
        return "\n".join(lines) or "(no evidence was given)"


NO_EVIDENCE = Evidence()


class ShownEvidence(pydantic.BaseModel, extra="forbid", frozen=True):
    """One piece of evidence beside an answer: an item of a bundle, or a paragraph of a cited paper."""

    key: str  # "table 1", or the id of a paragraph
    text: str
    rows: tuple[str, ...] = ()  # of its table, or read from its picture
    picture: str | None = None  # the path that the record gives, unchecked
    shown: bool = True  # whether the LM could read it
    gold: bool = False  # whether it is gold evidence
    chosen: int = 0  # its place in the predicted evidence, from 1; 0 where it was not named

    @property
    def lines(self) -> tuple[str, ...]:
        """Its text, then its rows."""
        return self.text, *self.rows

    @classmethod
    def of_item(cls, one: Item) -> Self:
        """Return an item as it was shown."""
        return cls(key=one.key, text=one.text, rows=(*one.read, *one.rows), picture=one.picture)

    @classmethod
    def of_paragraph(cls, key: str, text: str, **marks: Any) -> Self:
        """Return a paragraph with the rows of the table in it. marks: `shown`, `gold`, `chosen`."""
        before, rows = rows_of(text)
        return cls(key=key, text=as_item(before), rows=tuple(map(as_item, rows)), **marks)


class PicturedText(dspy.Type):
    """Evidence as a model that takes pictures gets it: each line of text, and the pictures that go with it behind it.

    It holds paths; a picture is read when the prompt is rendered, so that examples, traces and demos stay small.
    Written as text, as in demos, it is its text, in which `LEFT_OUT` stands in the place of each picture.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")
    text: str
    pictures: tuple[Picture, ...]

    def check(self) -> None:
        """Raise `BadPicture` where one cannot be sent: DSPy would send the text alone then, in silence."""
        for picture in self.pictures:
            jpeg(picture.file)

    def format(self) -> list[dict[str, Any]]:
        """Return content parts of OpenAI's chat format."""
        parts: list[dict[str, Any]] = []
        for number, line in enumerate(self.text.split("\n")):
            shown = [picture for picture in self.pictures if picture.line == number]
            text = line.removesuffix(LEFT_OUT) if shown else line
            parts.append({"type": "text", "text": f"{text}\n"})
            for picture in shown:
                encoded = base64.b64encode(jpeg(picture.file)).decode()
                parts.append({"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{encoded}"}})
        return parts

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"PicturedText({self.text[:60]!r}…, {len(self.pictures)} pictures)"


# --- Of a bundle


def read_evidence(
    bundle: Sequence[EvidenceItem],
    picture_mode: PictureMode = "caption",
    image_folder: ImageFolder | None = None,
    record: str = "",
) -> Evidence:
    """Return the items of a bundle, numbered by kind.

    picture_mode: `caption` takes of a picture its captions alone; `ocr` reads the text in it; `image` names its file,
    for a model to see. A picture that cannot be used says so in its text and stands in the folder's `problems`, under
    the id of the record. A table whose title repeats a caption says whose cells they are. Raises UserError where
    pictures are wanted (`ocr`, `image`) and there is no folder of them."""
    numbers: Counter[str] = Counter()
    captions: dict[str, str] = {}  # of captions in the text: what a table says in their place
    items: list[Item] = []
    for one in bundle:
        kind = KINDS[one.type]
        numbers[kind] += 1
        read = _item(one, f"{kind} {numbers[kind]}", captions)
        if picture_mode != "caption" and one.img_path:
            if image_folder is None:
                what = f"picture_mode {picture_mode!r}"
                raise UserError(f"{what} needs to know where the pictures are; give --image-root")
            read = _with_picture(read, one.img_path, picture_mode, image_folder, record)
        items.append(read)
    return Evidence(tuple(items))


def _item(one: EvidenceItem, key: str, captions: dict[str, str]) -> Item:
    """Return an item without its picture. captions: see `read_evidence`; gets that of the item."""
    text, rows = rows_of(clean(one.text))
    caption = clean(one.caption)
    title = letters(text)
    if rows and title in captions:
        text = captions[title]
    in_letters = letters(caption)
    if in_letters:
        captions.setdefault(in_letters, f"(the cells of {key})")
        if letters(text) == in_letters:
            text = ""
    words = as_item(f"{text} {caption}", LABEL.fullmatch)
    shown_rows = tuple(as_item(row, LABEL.fullmatch) for row in rows)
    return Item(key, words or NO_CAPTION, shown_rows, one.img_path)


def _with_picture(read: Item, path: str, mode: PictureMode, image_folder: ImageFolder, record: str) -> Item:
    """Return an item with what is taken of its picture."""
    try:
        file = image_folder.check(path)
        if mode == "image":
            return read._replace(file=file)
        rows = [as_item(clean(row), LABEL.fullmatch) for row in read_text(file)]
        return read._replace(read=tuple(rows))
    except BadPicture as error:
        image_folder.problems[record, path] = str(error)
        return read._replace(text=f"{read.text} {UNREADABLE}")
