"""Files written whole or not at all, and read with errors that name them."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path
from typing import Any

from aisr.programs.errors import UserError
from aisr.programs.lines import RepeatedKey, loads

# --- What makes a run this run: written down when it begins, and held against it when it goes on.


def difference(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """The first thing in which two runs differ, with both values, as `lm: this then, that now`; None where they are the
    same run. What only one of them has is a difference."""
    for key in dict.fromkeys([*now, *earlier]):
        if earlier.get(key) != now.get(key):
            return f"{key}: {earlier.get(key)} then, {now.get(key)} now"
    return None


class BadArtifact(UserError):
    """A folder or file that is no artifact of ours, or not the one it says it is."""


def cache_folder(artifacts: Path) -> Path:
    """Where an artifacts folder keeps what can be had again: answers of LMs, what was read in pictures."""
    return artifacts.resolve() / ".cache"


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader, or a kill, never meets half of it. Raises `CannotWrite`."""
    whole = content.encode() if isinstance(content, str) else content
    with replacing(path) as file:
        file.write(whole)


def as_json(content: dict[str, Any]) -> str:
    """JSON as it stands in an artifact: readable, and the same for the same content."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises `BadArtifact` where there is none."""
    try:
        content = checked_json(path.read_bytes(), str(path))
    except OSError as error:
        raise BadArtifact(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(content, dict):
        raise BadArtifact(f"{path}: a {type(content).__name__}; expected a JSON object")
    return content


def checked_json(text: str | bytes, source: str) -> Any:
    """The value that a JSON text is of. Raises `BadArtifact`, naming `source` and, for a repeated key, its line."""
    try:
        return loads(text)
    except RepeatedKey as error:
        raise BadArtifact(f"{source}:{error.line}: {error}") from error
    except ValueError as error:
        raise BadArtifact(f"{source}: not JSON ({error})") from error


class CannotWrite(UserError):
    """The disk is full, the folder read-only, or the like. What was finished is kept."""


@contextmanager
def writing(path: Path, *beside: Path) -> Iterator[None]:
    """Say of a failure to write a file, or what belongs `beside` it, what it was and what helps. An error that names
    another file passes through."""
    try:
        yield
    except OSError as error:
        if not any(_is_about(error, one) for one in (path, *beside)):
            raise
        raise CannotWrite(
            f"{path}: cannot be written ({error.strerror or error}); what was finished before is kept. Make room or "
            "choose another folder, and run the same command again"
        ) from error


@contextmanager
def replacing(path: Path) -> Iterator[BufferedWriter]:
    """A file to write that takes the place of `path` when the block ends well, and is gone when it does not. Its folder
    is made if it is not there."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with unfinished.open("wb") as file:
                yield file
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


def _is_about(error: OSError, path: Path) -> bool:
    """Whether an error is about a file that is written: it names none, a folder above it, or one that is called after
    it."""
    named = error.filename
    return not isinstance(named, str) or path.is_relative_to(named) or path.name in Path(named).name
