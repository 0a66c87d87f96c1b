"""Pictures of records: found, checked, shown to a model, and as they stand in demos.

The pictures of an evidence bundle: found under one folder, checked, and shown to a model.

`img_path` comes from outside. It names a file below the image root and nothing else: no path that climbs out, no link
that leads out, no file that is not a picture, none too large to be one of a paper. What fails any of this never leaves
the disk.

The form in which a picture stands inside text: DSPy puts content parts between two marks, and makes of them parts of
the message again when it is sent.

Demos keep pictures in that form (`Exhibits`), and demos come out of files. A part of somebody else's making would be
sent as it is: a picture's address, for the provider to fetch; a file; a sound.
"""

import base64
import hashlib
import io
import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import dspy
import pydantic
from dspy.adapters.types.base_type import CUSTOM_TYPE_END_IDENTIFIER, CUSTOM_TYPE_START_IDENTIFIER
from PIL import Image, ImageOps

from aisr.programs.errors import UserError

MOST_BYTES = 20 * 2**20
MOST_PIXELS = 50_000_000  # read from the header, before anything is decoded
SHOWN_PIXELS = 1024 * 768  # more resolution did not help the winners, and providers bill by it
JPEG_QUALITY = 85
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")


class BadPicture(UserError):
    """A picture that is not there, not one, too large, or outside the image root."""


class Picture(NamedTuple):
    """A checked picture. file: its absolute path; line: the line of the evidence text that it goes with."""

    file: str
    line: int


class Gallery:
    """The pictures below one folder. `problems` has what could not be shown: record id and path -> reason.

    text: the rows of text in a picture, given its file (see `aisr.programs.vision.ocr`); drawn: of drawings that were
    made to pictures, the file with these by the path of the drawing.
    """

    def __init__(
        self, root: Path, text: Callable[[str], list[str]], drawn: Mapping[str, Path] = MappingProxyType({})
    ) -> None:
        self.root = root.resolve()
        self.text = text
        self.drawn = drawn
        self.problems: dict[tuple[str, str], str] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> "Gallery":
        return self  # what it found wrong belongs in one place

    def file(self, record: str, img_path: str) -> str | None:
        """The absolute path of a picture that can be shown; None, and an entry in `problems`, for any other."""
        try:
            path = find(self.root, img_path, self.drawn)
            decode(str(path))
        except BadPicture as error:
            self.problems[record, img_path] = str(error)
            return None
        return str(path)

    def digest(self, img_path: str) -> str | None:
        """The SHA-256 of a picture's file; None where there is none that could be shown by its place and size."""
        try:
            path = find(self.root, img_path, self.drawn)
        except BadPicture:
            return None
        return digest(str(path)) if path.stat().st_size <= MOST_BYTES else None


def find(root: Path, img_path: str, drawn: Mapping[str, Path] = MappingProxyType({})) -> Path:
    """The file below `root` that a path of a record names, or what was drawn of it. Raises `BadPicture`."""
    if img_path in drawn:
        return drawn[img_path]
    try:
        path = (root / img_path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:  # not there; a NUL in it; links in a circle
        raise BadPicture(f"not found under {root}") from error
    if not path.is_relative_to(root):
        raise BadPicture("leads out of the image root")
    if not path.is_file():
        raise BadPicture("not a file")
    return path


def decode(file: str) -> Image.Image:
    """A picture in RGB, upright; of an animated one the first frame. Raises `BadPicture`."""
    try:
        with open(file, "rb") as opened:
            content = opened.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise BadPicture(f"larger than {MOST_BYTES >> 20} MiB")
        picture = Image.open(io.BytesIO(content), formats=FORMATS)
        if picture.width * picture.height > MOST_PIXELS:
            raise BadPicture(f"{picture.width} x {picture.height} pixels; at most {MOST_PIXELS:,} are read")
        return _flat(ImageOps.exif_transpose(picture))
    except BadPicture:
        raise
    except Exception as error:  # whatever a decoder makes of a broken or hostile file
        raise BadPicture(f"no readable picture ({type(error).__name__})") from error


@lru_cache(maxsize=64)  # the records of a paper share its pictures
def jpeg(file: str) -> bytes:
    """A picture as JPEG of at most `SHOWN_PIXELS`. Raises `BadPicture`."""
    picture = decode(file)
    scale = (SHOWN_PIXELS / (picture.width * picture.height)) ** 0.5
    if scale < 1:
        picture = picture.resize((max(int(picture.width * scale), 1), max(int(picture.height * scale), 1)))
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=JPEG_QUALITY)
    return out.getvalue()


def digest(file: str) -> str:
    """The SHA-256 of a picture's file."""
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


class Exhibits(dspy.Type):
    """Evidence as a model with eyes gets it: each line of text, and the pictures that go with it behind it.

    It holds paths; a picture is read when the prompt is rendered, so that examples, traces and demos stay small.
    Written as text, it is its text.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")
    text: str
    pictures: tuple[Picture, ...]

    def format(self) -> list[dict[str, Any]]:
        """Content parts of OpenAI's chat format."""
        parts: list[dict[str, Any]] = []
        for number, line in enumerate(self.text.split("\n")):
            parts.append({"type": "text", "text": line + "\n"})
            for picture in self.pictures:
                if picture.line == number:
                    encoded = base64.b64encode(jpeg(picture.file)).decode()
                    parts.append({"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{encoded}"}})
        return parts

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Exhibits({self.text[:60]!r}…, {len(self.pictures)} pictures)"


def _flat(picture: Image.Image) -> Image.Image:
    """In RGB; what was transparent is white, as on the page."""
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        page = Image.new("RGBA", picture.size, "white")
        return Image.alpha_composite(page, picture).convert("RGB")
    return picture.convert("RGB")


BEGIN, END = CUSTOM_TYPE_START_IDENTIFIER, CUSTOM_TYPE_END_IDENTIFIER
PICTURE = re.compile(r"data:image/jpeg;base64,[A-Za-z0-9+/]++={0,2}")


def is_harmless(value: Any) -> bool:
    """Whether a value of a demo, at any depth, has no content parts but those that `Exhibits` writes."""
    if isinstance(value, str):
        return BEGIN not in value or _only_ours(value)
    if isinstance(value, dict):
        return all(is_harmless(key) and is_harmless(inner) for key, inner in value.items())
    return not isinstance(value, list | tuple) or all(map(is_harmless, value))


def _only_ours(text: str) -> bool:
    rest = ""
    while BEGIN in text:
        before, _, text = text.partition(BEGIN)
        parts, end, text = text.partition(END)
        if not end or not _is_ours(parts):
            return False
        rest += before
    return END not in rest + text


def _is_ours(written: str) -> bool:
    try:
        parts = json.loads(written)
    except (ValueError, RecursionError):
        return False
    return isinstance(parts, list) and bool(parts) and all(map(_is_text_or_picture, parts))


def _is_text_or_picture(part: Any) -> bool:
    match part:
        case {"type": "text", "text": str(), **more}:
            return not more
        case {"type": "image_url", "image_url": {"url": str(url), **inner}, **more}:
            return not more and not inner and bool(PICTURE.fullmatch(url))
    return False
