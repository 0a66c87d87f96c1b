"""Files that are written whole or not at all and read with errors that name them; digests; numbers as text."""

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from aisr.base.errors import UserError

SAMPLE = Path(__file__).parents[1] / "sample"  # a link to data/sample; the wheel has a copy


class BadArtifact(UserError):
    """A folder or file that is no artifact of ours, or not the one it claims to be."""


class CannotWrite(UserError):
    """The disk is full, the folder read-only, or the like. Finished work is kept."""


def cache_folder(artifacts: Path) -> Path:
    """Return the folder below an artifacts folder for what can be had again, such as text read in pictures."""
    return artifacts.resolve() / ".cache"


# --- Reading


MOST_JSON_BYTES = 64 << 20  # of a JSON file


def read_file(path: Path, most: int | None = None) -> str:
    """Return the text of a file in a folder that may be a stranger's. most: bytes; default: `MOST_JSON_BYTES`.

    Raises `BadArtifact` where it is too large, not UTF-8, no file, or a link to one outside of its folder.
    """
    most = most or MOST_JSON_BYTES
    try:
        if path.resolve(strict=True).parent != path.parent.resolve() or not path.is_file():
            raise BadArtifact(f"{path}: expected a file; it is a link out of its folder, or no file")
        with path.open("rb") as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise BadArtifact(f"{path}: larger than {most >> 20} MiB; expected a file that `aisr` wrote")
        return content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BadArtifact(f"{path}: not readable as text ({error})") from error


def read_json(path: Path, most: int | None = None) -> dict[str, Any]:
    """Return the JSON object in a file, see `read_file`. Raises `BadArtifact` where there is none."""
    content = parse_json(read_file(path, most), str(path))
    if not isinstance(content, dict):
        raise BadArtifact(f"{path}: a {type(content).__name__}; expected a JSON object")
    return content


def parse_json(text: str | bytes, source: str) -> Any:
    """Return the value of a JSON text. Raises `BadArtifact`, naming `source`."""
    from pydantic_core import from_json  # the help of commands does without it

    try:
        return from_json(text)
    except ValueError as error:
        raise BadArtifact(f"{source}: not JSON ({error})") from error


def split_files(folder: Path, task: str) -> dict[str, Path]:
    """Return the files of train, dev and, where there is one, test in a folder that `aisr split` wrote; `sample` is the
    one that comes along for a task. Raises UserError where one of the first two is missing."""
    if str(folder) == "sample":
        folder = SAMPLE / task
    if not folder.is_dir():
        raise UserError(f"--data {folder}: no such folder; expected one with train.jsonl and dev.jsonl")
    files = {}
    for part in ("train", "dev", "test"):
        file = folder / f"{part}.jsonl"
        if file.is_file():
            files[part] = file
        elif part != "test":
            raise UserError(f"{file}: no such file; `aisr split` makes {file.name} of a file of labelled records")
    return files


def first_difference(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """Return the first key in which the identities of two runs differ, with both values, as `lm: this then, that now`;
    None where they are equal. A key that only one of them has is a difference."""
    for key in dict.fromkeys([*now, *earlier]):
        if earlier.get(key) != now.get(key):
            return f"{key}: {earlier.get(key)} then, {now.get(key)} now"
    return None


# --- Writing


def as_json(content: dict[str, Any]) -> str:
    """Return JSON as it stands in an artifact: indented, its keys in the order of `content`."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader, or a kill, never meets half of it. Raises `CannotWrite`."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(path: Path) -> Iterator[BufferedWriter]:
    """Yield a file to write that takes the place of `path` when the block ends well, and is gone when it does not. Its
    folder is made if needed."""
    # The name is random, and "x" below refuses one that exists: in a stranger's folder a link of a known name would
    # lead out of it.
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with unfinished.open("xb") as file:
                yield file
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


def try_writing(path: Path) -> None:
    """Raise `CannotWrite` where a file cannot be written. Called before money is spent on what it is to hold."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
            pass


@contextmanager
def writing(path: Path, *beside: Path) -> Iterator[None]:
    """Turn a failure to write a file, or what belongs `beside` it, into `CannotWrite`. An error that names another file
    passes through."""
    try:
        yield
    except OSError as error:
        if isinstance(error.filename, str) and not any(_is_about(error.filename, one) for one in (path, *beside)):
            raise
        raise CannotWrite(
            f"{path}: cannot be written ({error.strerror or error}); what was finished before is kept. Make room or "
            "choose another folder, and run the same command again"
        ) from error


def _is_about(filename: str, path: Path) -> bool:
    """Return whether a file name in an error is that of a path, of a folder above it, or of its unfinished file."""
    return path.is_relative_to(filename) or path.name in Path(filename).name


# --- Digests of files and texts: the first 16 hex digits of their SHA-256

DIGEST_LENGTH = 16


def digest_file(path: Path) -> str:
    """Return the digest of a file's contents, 16 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:DIGEST_LENGTH]


def digest_text(text: str) -> str:
    """Return the digest of a text, 16 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def digest_texts(texts: Sequence[str]) -> str:
    """Return the digest of texts in their order, 16 hex digits. Lone surrogates, which a PDF may hold, are allowed."""
    return digest_text(json.dumps(list(texts)))


# --- Numbers as text, wherever a person reads them

TOO_FEW = "(too few independent records for an interval)"
WHOLE_RANGES = ((0.0, 1.0), (-1.0, 1.0))  # of a score, of a difference


def percent(value: float) -> str:
    """Return a share in 0-1 as points of a hundred, with one place: "87.5"."""
    return f"{100 * value:.1f}"


def interval_ends(low: float, high: float) -> str:
    """Return the ends of a 95 % interval, as "[82.6, 92.2]"; in words where it is the whole range and says nothing."""
    return TOO_FEW if (low, high) in WHOLE_RANGES else f"[{percent(low)}, {percent(high)}]"


def with_interval(value: float, low: float, high: float) -> str:
    """Return a value with the ends of its interval."""
    return f"{percent(value)} {interval_ends(low, high)}"


def pluralize(count: int, noun: str) -> str:
    """Return a number of things in words: "1 flag", "2 flags"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
