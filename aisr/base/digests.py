"""How files and texts are known: the first 16 hex digits of their SHA-256."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

LENGTH = 16


class Running:
    """The digest of what was heard so far."""

    def __init__(self) -> None:
        self._sha = hashlib.sha256()

    def hear(self, content: bytes) -> None:
        self._sha.update(content)

    def __str__(self) -> str:
        return self._sha.hexdigest()[:LENGTH]


def of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:LENGTH]


def of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def of_texts(texts: Sequence[str]) -> str:
    """Of texts in their order. Halves of characters, which a PDF may hold, count like any other."""
    return of_text(json.dumps(list(texts)))
