"""How files and texts are known: the first 16 hex digits of their SHA-256."""

import hashlib
from pathlib import Path

LENGTH = 16


def of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:LENGTH]


def of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]
