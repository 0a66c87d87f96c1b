"""JSON from outside, of which nothing is passed over in silence: a key twice in one object is no JSON of ours.

Most parsers take the last of two equal keys, some the first; whoever checks a file and whoever uses it could see two
different ones.
"""

import re
from typing import Any

from pydantic_core import from_json

SIGN = re.compile(r'("(?:[^"\\]++|\\.)*+"?)(\s*+:)?+|[{}\[\]]', re.DOTALL)


class RepeatedKey(ValueError):
    """line: where the key stands again, from 1."""

    def __init__(self, key: str, line: int) -> None:
        super().__init__(f"key {ascii(key)[:80]} stands twice in one object; expected once, as parsers differ in which")
        self.line = line


def loads(text: str | bytes) -> Any:
    """The value that a JSON text is of. Raises `RepeatedKey`, and ValueError for what is no JSON."""
    value = from_json(text)
    _check_keys(text if isinstance(text, str) else text.decode())
    return value


def _check_keys(text: str) -> None:
    """Raises `RepeatedKey`. text: JSON."""
    inside: list[set[str]] = []
    for found in SIGN.finditer(text):
        sign = found[0]
        if found[2]:
            key = found[1]
            key = str(from_json(key)) if "\\" in key else key[1:-1]
            if key in inside[-1]:
                raise RepeatedKey(key, text.count("\n", 0, found.start()) + 1)
            inside[-1].add(key)
        elif sign in "{[":
            inside.append(set())
        elif sign in "}]":
            inside.pop()
