"""Pictures of records: below one folder, checked, read, and as they stand in demos.

`img_path` comes from outside. It names a file below the image root and nothing else: no path that climbs out, no link
that leads out, no file that is not a picture, none too large for a paper. What fails any of this is never sent.

DSPy writes content parts into text between two marks, of which it makes parts of the message again when it is sent.
Demos come out of files: such a part in one would be sent as it is, such as a picture's address, for the provider to
fetch; a file; a sound. So demos hold text alone, and none is sent that holds a mark.

The text in a picture is read by RapidOCR, on the CPU, with PP-OCR models that its wheel carries. DSPy's cache keeps it
by the digest of the file, so that a picture is read once.
"""

import base64
import hashlib
import io
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import dspy
import numpy as np
from dspy.adapters.types.base_type import CUSTOM_TYPE_END_IDENTIFIER, CUSTOM_TYPE_START_IDENTIFIER
from PIL import Image, ImageOps

from aisr.base.errors import UserError
from aisr.base.progress import counted
from aisr.programs.text import CELL

MOST_PICTURE_BYTES = 20 * 2**20
MOST_PIXELS = 50_000_000  # read from the header, before anything is decoded
MOST_SIDE = 20_000  # pixels; a decoder keeps some bytes a row beside the pixels
LARGE = 4_000_000  # pixels; of larger pictures one is decoded at a time
ROWS = 256  # of a picture that are laid on white at a time
SHOWN_PIXELS = 1024 * 768  # more resolution did not help the winners, and providers bill by it
JPEG_QUALITY = 85
SMALL_SIDE, SMALL_QUALITY = 480, 60  # pixels, and WebP's measure, of a copy on a page
WorkedT = TypeVar("WorkedT")
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")


class BadPicture(UserError):
    """A picture that is not there, not one, too large, or outside the image root."""


class ImageFolder:
    """The pictures below one folder. `problems` has the reason for each that cannot be used, by record id and path.
    drawn: for drawings that were converted to pictures, the picture's file by the path of the drawing."""

    def __init__(self, root: Path, drawn: Mapping[str, Path] = MappingProxyType({})) -> None:
        self.root = root.resolve()
        self.drawn = drawn
        self.problems: dict[tuple[str, str], str] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> "ImageFolder":
        return self  # its problems belong in one place

    def find(self, img_path: str) -> Path:
        """Return the file that a path of a record names, or what was drawn of it. Raises `BadPicture`."""
        if img_path in self.drawn:
            return self.drawn[img_path]
        try:
            path = (self.root / img_path).resolve(strict=True)
        except (OSError, ValueError, RuntimeError) as error:  # not there; a NUL in it; links in a circle
            raise BadPicture(f"not found under {self.root}") from error
        if not path.is_relative_to(self.root):
            raise BadPicture("leads out of the image root")
        if not path.is_file():
            raise BadPicture("not a file")
        return path

    def check(self, img_path: str) -> str:
        """Return the absolute path of a picture. Raises `BadPicture` for one that cannot be used."""
        path = self.find(img_path)
        state = path.stat()
        reason = _reason_against(str(path), state.st_mtime_ns, state.st_size)
        if reason:
            raise BadPicture(reason)
        return str(path)

    def file(self, record: str, img_path: str) -> str | None:
        """Return the absolute path of a picture; None, and an entry in `problems`, for one that cannot be used."""
        try:
            return self.check(img_path)
        except BadPicture as error:
            self.problems[record, img_path] = str(error)
            return None

    def digest(self, img_path: str) -> str | None:
        """Return the SHA-256 of a picture's file; None for a path or a size that is refused."""
        try:
            path = self.find(img_path)
        except BadPicture:
            return None
        if path.stat().st_size > MOST_PICTURE_BYTES:
            return None
        return digest(str(path))


@lru_cache(maxsize=2**14)  # several records show one picture
def _reason_against(file: str, modified: int, size: int) -> str:
    """Return why a picture cannot be used; empty where it can. modified, size: of the file, to notice a change."""

    def load(picture: Image.Image) -> None:
        picture.draft("RGB", (picture.width // 8, picture.height // 8))  # a JPEG is read whole, and made small
        picture.load()

    try:
        _apply(load, file)
    except BadPicture as error:
        return str(error)
    return ""


def decode(file: str, most: int = MOST_PIXELS) -> Image.Image:
    """Return a picture (or its first frame) in RGB, upright, of `most` pixels at most. Raises `BadPicture`."""

    def flatten(picture: Image.Image) -> Image.Image:
        ImageOps.exif_transpose(picture, in_place=True)
        flat = _flat(picture)
        scale = (most / (flat.width * flat.height)) ** 0.5
        if scale >= 1:
            return flat
        return flat.resize((max(int(flat.width * scale), 1), max(int(flat.height * scale), 1)))

    return _apply(flatten, file)


_large = ThreadPoolExecutor(1)  # C's allocator keeps what a thread freed for that thread: eight threads held 7 GB


def _apply(work: Callable[[Image.Image], WorkedT], file: str) -> WorkedT:
    """Return what `work` makes of a picture that is not decoded yet, and whose header is within the bounds. Large ones
    have their turn in one thread. Raises `BadPicture`, also in place of what `work` raises."""
    try:
        with open(file, "rb") as opened:
            content = opened.read(MOST_PICTURE_BYTES + 1)
        if len(content) > MOST_PICTURE_BYTES:
            raise BadPicture(f"larger than {MOST_PICTURE_BYTES >> 20} MiB")
        picture = Image.open(io.BytesIO(content), formats=FORMATS)
        pixels = picture.width * picture.height
        if pixels > MOST_PIXELS:
            raise BadPicture(f"{picture.width} x {picture.height} pixels; at most {MOST_PIXELS:,} are read")
        if max(picture.size) > MOST_SIDE:
            raise BadPicture(f"{picture.width} x {picture.height} pixels; at most {MOST_SIDE:,} a side are read")
        if pixels > LARGE:
            return _large.submit(work, picture).result()
        return work(picture)
    except BadPicture:
        raise
    except Exception as error:  # whatever a decoder makes of a broken or hostile file
        raise BadPicture(f"no readable picture ({type(error).__name__})") from error


@lru_cache(maxsize=64)  # the records of a paper share its pictures
def jpeg(file: str) -> bytes:
    """Return a picture as JPEG of at most `SHOWN_PIXELS`. Raises `BadPicture`."""
    out = io.BytesIO()
    decode(file, SHOWN_PIXELS).save(out, "JPEG", quality=JPEG_QUALITY)
    return out.getvalue()


def small_copies(image_folder: ImageFolder, paths: Iterable[str]) -> dict[str, str]:
    """Return small WebP copies of pictures for a page, as addresses that hold them, by the paths that records give;
    without those that lie outside of the folder, are too large or are no pictures, and without any metadata."""
    ordered = sorted(paths)
    addresses = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # Pillow works beside Python's lock
        copies = pool.map(lambda path: _small_copy(image_folder, path), ordered)
        counting = counted(copies, "making small copies of pictures", len(ordered))
        for path, copy in zip(ordered, counting, strict=True):
            if copy:
                addresses[path] = f"data:image/webp;base64,{base64.b64encode(copy).decode()}"
    return addresses


def _small_copy(image_folder: ImageFolder, path: str) -> bytes | None:
    try:
        small = decode(str(image_folder.find(path)))
    except BadPicture:
        return None
    small.thumbnail((SMALL_SIDE, SMALL_SIDE))
    out = io.BytesIO()
    small.save(out, "WEBP", quality=SMALL_QUALITY, method=2)  # half the time of the default, and 4 % more bytes
    return out.getvalue()


def digest(file: str) -> str:
    """Return the SHA-256 of a picture's file."""
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _flat(picture: Image.Image) -> Image.Image:
    """Return a picture in RGB; what was transparent is white, as on the page."""
    if picture.mode not in ("RGBA", "LA", "PA") and "transparency" not in picture.info:
        return picture.convert("RGB")
    flat = Image.new("RGB", picture.size)
    for top in range(0, picture.height, ROWS):  # at once it takes five pictures' memory
        part = picture.crop((0, top, picture.width, min(top + ROWS, picture.height))).convert("RGBA")
        flat.paste(Image.alpha_composite(Image.new("RGBA", part.size, "white"), part).convert("RGB"), (0, top))
    return flat


def is_text_alone(value: Any) -> bool:
    """Return whether a value of a demo holds, at any depth, none of the marks of DSPy's content parts."""
    text = json.dumps(value, default=str)
    return CUSTOM_TYPE_START_IDENTIFIER not in text and CUSTOM_TYPE_END_IDENTIFIER not in text


# --- Reading the text in pictures

LEAST_SCORE = 0.5  # of 1: text that the reader is less sure of is left out
TALL = 1.5  # times as high as wide: a piece that the reader turns
LONE = 3  # less high than so many times its width: a tall piece that may be one sign, upright
SURE = 0.9  # of 1: such a reading of a lone sign is taken
SLANTED = 0.3  # of the height that the upper edge of a piece falls or rises, as of names below an axis
WIDTH = 160  # pixels, of 48 high lines, that short ones are read at; the reader's own 320 takes half as long again
SAME_LINE = 0.5  # of the lesser height that two pieces of a line share
READING = 3  # counts the ways that pictures were read: what is kept of an earlier one is read again
_reading = threading.Lock()  # one picture at a time: each keeps all cores busy


class Piece(NamedTuple):
    """A piece of text and where it stands, in pixels from the upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    score: float  # how sure the reader is of it, of 1
    slanted: bool = False

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def is_tall(self) -> bool:
        """Whether the reader takes it for text that is turned."""
        return not self.slanted and self.height >= TALL * self.width

    @property
    def is_lone(self) -> bool:
        """Whether a tall piece may be one sign, which stands upright."""
        return self.height < LONE * self.width


def read_text(file: str) -> list[str]:
    """Return the rows of text in a picture, from top to bottom, their cells from left to right with ` | ` between them.
    Raises `BadPicture`, and UserError where RapidOCR is not installed."""
    try:
        key = {"ocr": f"rapidocr {version('rapidocr')}, {READING}", "picture": digest(file)}
    except PackageNotFoundError as error:
        raise UserError("reading text in pictures needs RapidOCR; `pip install 'aisr[ocr]'` brings it") from error
    rows: list[str] | None = dspy.cache.get(key)
    if rows is None:
        rows = in_rows(_read_pieces(file))
        dspy.cache.put(key, rows)
    return rows


def in_rows(pieces: list[Piece]) -> list[str]:
    """Return the pieces as rows: what overlaps with the middle of a row's height stands in that row."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: piece.middle):
        if rows and piece.middle <= median(other.bottom for other in rows[-1]):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    texts = []
    for row in rows:
        row.sort(key=lambda piece: piece.left)
        texts.append(CELL.join(piece.text for piece in row))
    return texts


def _read_pieces(file: str) -> list[Piece]:
    with _reading:
        pixels = np.asarray(decode(file))[:, :, ::-1]  # the reader wants blue first
        try:
            pieces = _read_pixels(pixels)
        except Exception as error:  # of a shape that the reader cannot stand, such as a line of 20,000 x 3 pixels
            raise BadPicture(f"its text cannot be read ({type(error).__name__})") from error
    return [piece for piece in pieces if piece.score >= LEAST_SCORE and piece.text]


def _read_pixels(pixels: np.ndarray) -> list[Piece]:
    """Return all pieces of text; those that overlap in a line as one, if that is read as surely."""
    from rapidocr.utils.process_img import get_rotate_crop_image

    boxes = _reader()(pixels, use_det=True, use_rec=False).boxes
    if boxes is None:
        return []
    boxes = sorted(boxes, key=lambda box: float(box[:, 0].min()))
    places = [_place(box) for box in boxes]
    crops = [_crop(pixels, place) for place in places]
    for number, place in enumerate(places):
        if place.slanted:
            crops[number] = get_rotate_crop_image(pixels, boxes[number])
    pieces: list[Piece] = []
    for piece in _read_crops(places, crops):
        for beside in reversed(pieces):
            if _overlap(beside, piece):
                joined = _read_joined(pixels, beside, piece)
                if joined.score >= min(beside.score, piece.score):
                    pieces.remove(beside)
                    piece = joined
                break
        pieces.append(piece)
    return pieces


def _place(box: np.ndarray) -> Piece:
    """Return a piece that is not read yet, by its corners."""
    (left, top), (right, bottom) = box.min(axis=0), box.max(axis=0)
    slanted = abs(box[0, 1] - box[1, 1]) > SLANTED * (bottom - top)
    return Piece("", float(left), float(top), float(right), float(bottom), 0.0, bool(slanted))


def _crop(pixels: np.ndarray, piece: Piece) -> np.ndarray:
    return pixels[int(piece.top) : int(piece.bottom) + 1, int(piece.left) : int(piece.right) + 1]


def _overlap(one: Piece, other: Piece) -> bool:
    """Return whether two pieces stand in a line and share pixels, of which both would read a sign."""
    if one.slanted or other.slanted or one.is_tall != other.is_tall:
        return False
    across = min(one.right, other.right) - max(one.left, other.left)
    down = min(one.bottom, other.bottom) - max(one.top, other.top)
    if one.is_tall:
        return down > 0 and across > SAME_LINE * min(one.width, other.width)
    return across > 0 and down > SAME_LINE * min(one.height, other.height)


def _read_joined(pixels: np.ndarray, one: Piece, other: Piece) -> Piece:
    """Return two pieces of a line read as one."""
    top, bottom = min(one.top, other.top), max(one.bottom, other.bottom)
    joined = Piece("", min(one.left, other.left), top, max(one.right, other.right), bottom, 0.0)
    return _read_crops([joined], [_crop(pixels, joined)])[0]


def _read_crops(places: Sequence[Piece], crops: Sequence[np.ndarray]) -> list[Piece]:
    """Return pieces with the surest of their readings: tall ones are read turned, either way; what may be one sign is
    read as it stands, and turned only where that is not sure. crops: the pixels of each."""
    pieces = list(places)

    def read(turned: Sequence[tuple[int, int]]) -> None:  # numbers of crops, each with its quarter turns
        if not turned:
            return
        lines = [np.ascontiguousarray(np.rot90(crops[number], turns)) for number, turns in turned]
        result = _reader().recognize_txt(lines)  # together: a line that is read alone takes twice the time
        for (number, _), text, score in zip(turned, result.txts, result.scores, strict=True):
            if score > pieces[number].score:
                pieces[number] = pieces[number]._replace(text=text.strip(), score=float(score))

    read([(number, 0) for number, one in enumerate(places) if not one.is_tall or one.is_lone])
    unsure = [number for number, one in enumerate(pieces) if one.is_tall and one.score < SURE]
    read([(number, turns) for number in unsure for turns in (-1, 1)])
    return pieces


@lru_cache(maxsize=1)
def _reader() -> Any:
    """Return the reader, opened once a process."""
    from rapidocr import RapidOCR

    params = {
        "Global.log_level": "critical",
        "Global.use_cls": False,
        "Global.text_score": 0,
        "Rec.rec_img_shape": [3, 48, WIDTH],
    }
    return RapidOCR(params=params)
