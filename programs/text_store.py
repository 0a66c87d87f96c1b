"""A cache of texts in one SQLite file, which are read as text alone.

A cache that pickles its values runs the code of anybody who can write to its file. Here a value that is no text counts
as missing.
"""

import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from aisr.base.errors import UserError

ValueT = TypeVar("ValueT")
FILE = "kept.db"
WAITING = 60.0  # seconds, for another process that writes


class TextTable:
    """Texts by their keys, shared by the threads of this process and by others. Its methods raise `sqlite3.Error`.

    Raises UserError where the folder cannot hold any.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._rows = sqlite3.connect(folder / FILE, WAITING, check_same_thread=False, isolation_level=None)
            with suppress(sqlite3.OperationalError):  # another process is doing the same: it is a property of the file
                self._rows.execute("PRAGMA journal_mode=WAL")
            self._rows.execute("PRAGMA synchronous=NORMAL")  # what is written outlives this process, not a power cut
            self._rows.execute("PRAGMA trusted_schema=OFF")
            self._rows.execute("CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, text TEXT)")
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"{folder}: {error}; expected a folder to keep things in, remove it or make room"
            ) from error

    def get(self, key: str) -> str | None:
        """The text of a key; None where there is none."""
        rows = self._run("SELECT text FROM kept WHERE key = ?", key)
        return rows[0][0] if rows and isinstance(rows[0][0], str) else None

    def set(self, key: str, text: str) -> None:
        """Keep a text in the place of any other."""
        self._run("INSERT OR REPLACE INTO kept VALUES (?, ?)", key, text)

    def delete(self, key: str) -> None:
        """Keep nothing."""
        self._run("DELETE FROM kept WHERE key = ?", key)

    def close(self) -> None:
        """Give the file back."""
        with self._lock:
            self._rows.close()

    def _run(self, statement: str, *values: str) -> list[Any]:
        with self._lock:
            return self._rows.execute(statement, values).fetchall()


class TextStore:
    """Values of some form by their keys, as JSON. Raises UserError where the folder cannot hold any."""

    def __init__(self, folder: Path, form: TypeAdapter[Any]) -> None:
        self._table = TextTable(folder)
        self._form = form

    def once(self, key: str, compute: Callable[[], ValueT]) -> ValueT:
        """The value of a key; where there is none of the form, `compute` makes it and it is kept, if it can be
        written."""
        with suppress(ValidationError, sqlite3.Error):
            if (text := self._table.get(key)) is not None:
                kept: ValueT = self._form.validate_json(text)
                return kept
        value = compute()
        with suppress(sqlite3.Error):
            self._table.set(key, json.dumps(self._form.dump_python(value)))
        return value

    def __enter__(self) -> "TextStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._table.close()
