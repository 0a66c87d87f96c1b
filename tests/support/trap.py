"""Pickles: one that shows whether anybody unpickled it, and how to tell one."""

from pathlib import Path
from typing import Any


class Trap:
    """Unpickling it leaves a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


def is_pickle(file: Path) -> bool:
    """By its name, or by how it begins (protocols 2 to 5)."""
    named = file.suffix in (".pkl", ".pickle", ".joblib")
    return named or file.read_bytes().startswith((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"))
