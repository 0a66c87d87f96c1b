"""Messages and files without keys, and without what steers the terminal that shows them: they quote records, answers
and errors of servers, which hold anything."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SHORTEST = 6  # shorter values are no secrets, and replacing them would garble the text
USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")
# Escape sequences begin with a control character; marks of direction make a line read as another.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
ADDRESS = re.compile(r"\bhttps?://[^\s'\"<>]*[^\s'\"<>:)]")


@contextmanager
def environment_defaults(**values: str) -> Iterator[None]:
    """Set variables for as long as the block lasts, where the user has set none."""
    missing = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        for name in missing:
            os.environ.pop(name, None)


@lru_cache(maxsize=1024)
def _names_secret(variable: str) -> bool:
    return SECRET_NAME.search(variable) is not None


def values(text: str) -> str:
    """Return the text without the values of secret variables of the environment, and otherwise as it is."""
    lines = []
    for name in filter(_names_secret, os.environ):
        lines += [(name, line.strip()) for line in os.environ[name].splitlines()]
    for name, line in sorted(lines, key=lambda pair: -len(pair[1])):  # one may hold another
        if len(line) >= SHORTEST:
            text = text.replace(line, f"<{name}>")
    return text


def secrets(text: str) -> str:
    """Return the text without secrets, and names and passwords in URLs; control characters are spelled out."""
    return printable(USER_INFO.sub("", values(text)))


def addresses(text: str) -> str:
    """Return the text without secrets and without any http address: for files that are passed on."""
    return ADDRESS.sub("<address>", secrets(text))


def printable(text: str) -> str:
    """Return the text with control characters spelled out, but for tab and newline."""
    return STEERING.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
