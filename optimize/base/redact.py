"""Keeping keys, passwords and addresses out of files and messages: servers like to repeat them in their errors.

And keeping messages from steering the terminal that shows them: they quote records and answers, which hold anything.
"""

import os
import re
from collections.abc import Sequence
from typing import Any

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SHORTEST = 6  # shorter values are no secrets, and replacing them would garble the text
USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")
# Escape sequences begin with a control character; marks of direction make a line read as another.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
ADDRESS = re.compile(r"\bhttps?://[^\s'\"<>]+")


def environment() -> list[tuple[str, str]]:
    """The secret variables of the environment with their values, the longest first: one may hold another."""
    found = [pair for pair in os.environ.items() if SECRET_NAME.search(pair[0]) and len(pair[1]) >= SHORTEST]
    return sorted(found, key=lambda pair: -len(pair[1]))


def values(text: str, known: Sequence[tuple[str, str]] | None = None) -> str:
    """The text without the values of secret variables, and otherwise as it is. known: those that `environment` found
    before; looking costs more than replacing."""
    for name, value in environment() if known is None else known:
        text = text.replace(value, f"<{name}>")
    return text


def throughout(value: Any, known: Sequence[tuple[str, str]]) -> Any:
    """The same for a JSON value: in all its strings, the names of fields among them."""
    if isinstance(value, str):
        return values(value, known)
    if isinstance(value, dict):
        return {throughout(name, known): throughout(one, known) for name, one in value.items()}
    return [throughout(one, known) for one in value] if isinstance(value, (list, tuple)) else value


def secrets(text: str) -> str:
    """The same, and without user names and passwords in URLs; control characters are spelled out."""
    return printable(USER_INFO.sub("", values(text)))


def printable(text: str) -> str:
    """The text with control characters spelled out, but for tab and newline."""
    return STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def addresses(text: str) -> str:
    """The same, and without any http address: for what is written to files that are passed on."""
    return ADDRESS.sub("<address>", secrets(text))
