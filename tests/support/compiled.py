"""A compile of both tracks through a loopback server, made once a session, and copies of it for tests that write."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from support.loopback import Loopback
from support.paths import SAMPLE

KEY, TOKEN = "sk-planted-7f3a91", "planted-t0ken"  # neither may appear anywhere
FEW = ("--max-train", "8", "--max-dev", "6", "--max-test", "4")


class Compiled(NamedTuple):
    """An artifacts folder with a program `first` of each track, logged, registered as version 1 and champion."""

    root: Path
    server: Loopback

    @property
    def address(self) -> str:
        """The server's, with a token in it."""
        return self.server.url.replace("/v1", f"/{TOKEN}/v1")

    @property
    def lm(self) -> list[object]:
        """The options of a command that uses the programs."""
        return ["--lm", "openai/gpt-4o-mini", "--api-base", self.address, "--artifacts", self.root]

    def folder(self, track: str = "track1") -> Path:
        return self.root / track / "first"

    def copied(self, root: Path) -> "Compiled":
        """The same at another place, for a test that adds to it. Its MLflow store, which has absolute paths, is changed
        accordingly. The server is the same one, and so are its cached answers."""
        shutil.copytree(self.root, root)
        with closing(sqlite3.connect(root / ".mlflow" / "mlflow.db")) as store:
            tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                for _, column, kind, *_ in store.execute(f"PRAGMA table_info({table})").fetchall():
                    if "CHAR" in kind or "TEXT" in kind:
                        change = f"UPDATE {table} SET {column} = replace({column}, ?, ?)"
                        store.execute(change, (str(self.root), str(root)))
            store.commit()
        return self._replace(root=root)


def compile_words(track: str, name: str, optimizer: str, lm: list[object]) -> list[object]:
    """`aisr compile` on a few records of the sample."""
    at = ["--task", track, "--data", SAMPLE / track]
    plain = ("--candidates", "1", "--budget", "light")
    return ["compile", *at, "--optimizer", optimizer, "--name", name, *FEW, *plain, *lm]
