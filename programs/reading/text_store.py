"""What was found once and is to be found again, in a folder: text, and read as text alone.

diskcache pickles what it stores, and whoever can write to its files could have the reader run whatever they like; its
`JSONDisk` still unpickles a row that says it is a pickle. Here all that is no text is not there.
"""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from diskcache import UNKNOWN, Cache, Disk, Timeout
from diskcache.core import MODE_RAW
from pydantic import TypeAdapter, ValidationError

from aisr.programs.errors import UserError

Found = TypeVar("Found")
OWN_FILE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{28}\.val")  # as diskcache named them


class NotText(Exception):
    """A row that holds something else, which may be code."""


class TextDisk(Disk):
    """What `diskcache.Cache(disk=...)` asks of a disk, for keys and values that are strings."""

    def store(self, value: Any, read: bool, key: Any = UNKNOWN) -> tuple[int, int, None, str]:
        """Raises TypeError for what is no text."""
        if not isinstance(value, str):
            raise TypeError(f"a row of a text store is text, not {type(value).__name__}")
        return 0, MODE_RAW, None, value

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """Raises `NotText`."""
        if mode != MODE_RAW or not isinstance(value, str):
            raise NotText("a row is not text")
        return value

    def get(self, key: Any, raw: bool) -> str:
        """A key that is no string, which would have to be unpickled, is none of ours."""
        return key if raw and isinstance(key, str) else ""

    def remove(self, file_path: str) -> None:
        """Rows of an earlier version may have a file; a name that somebody wrote there is not followed."""
        if OWN_FILE.fullmatch(file_path):
            super().remove(file_path)


class TextStore:
    """Values of some form by their keys, as JSON. Raises UserError where the folder cannot hold any."""

    def __init__(self, folder: Path, form: TypeAdapter[Any]) -> None:
        try:
            self._rows = Cache(str(folder), disk=TextDisk, eviction_policy="none")
        except (OSError, sqlite3.Error, TypeError, ValueError) as error:  # damaged or planted settings among them
            raise UserError(
                f"{folder}: {error}; expected a folder to keep things in, remove it or make room"
            ) from error
        self._form = form

    def once(self, key: str, find: Callable[[], Found]) -> Found:
        """What is kept under a key; else what is found now, and is kept. A row that is not of the form is not kept; one
        that cannot be written is found again next time."""
        with suppress(NotText, ValidationError, sqlite3.Error, Timeout):
            if (text := self._rows.get(key)) is not None:
                kept: Found = self._form.validate_json(text)
                return kept
        found = find()
        with suppress(sqlite3.Error, Timeout):
            self._rows.set(key, json.dumps(self._form.dump_python(found)))
        return found

    def __enter__(self) -> "TextStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._rows.close()
