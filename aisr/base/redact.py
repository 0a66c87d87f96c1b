"""Keys, passwords and addresses: kept out of files and messages, since servers like to repeat them in their errors;
trimmed in the environment.

And messages are kept from steering the terminal that shows them: they quote records and answers, which hold anything.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

KEY_NAME = re.compile(r"KEY|TOKEN|SECRET", re.IGNORECASE)
SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SHORTEST = 6  # shorter values are no secrets, and replacing them would garble the text
USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")
# Escape sequences begin with a control character; marks of direction make a line read as another.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
ADDRESS = re.compile(r"\bhttps?://[^\s'\"<>]*[^\s'\"<>:)]")


# --- The environment


def trim_keys() -> None:
    """Take blanks and line ends from the ends of all keys, as `$(cat key)` and lines of an `.env` file leave them.

    No key has any; with them no request could be sent, and the error that says so quotes the key. DSPy and LiteLLM read
    keys from the environment, each by itself, so it is there that they are trimmed.
    """
    for name, value in list(os.environ.items()):
        if KEY_NAME.search(name) and value != value.strip():
            os.environ[name] = value.strip()


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


def secret_values() -> list[tuple[str, str]]:
    """The secret variables of the environment with their values, or the lines of these, the longest first: one may
    hold another. Shorter ones than `SHORTEST` are left out."""
    named = [pair for pair in os.environ.items() if SECRET_NAME.search(pair[0])]
    lines = [(name, line.strip()) for name, value in named for line in value.splitlines()]
    return sorted((pair for pair in lines if len(pair[1]) >= SHORTEST), key=lambda pair: -len(pair[1]))


# --- Text without secrets


def values(text: str, known: Sequence[tuple[str, str]] | None = None) -> str:
    """The text without the values of secret variables, and otherwise as it is. known: an earlier result of
    `secret_values`; looking costs more than replacing."""
    for name, value in secret_values() if known is None else known:
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


def addresses(text: str) -> str:
    """The same, and without any http address: for files that are passed on."""
    return ADDRESS.sub("<address>", secrets(text))


def printable(text: str) -> str:
    """The text with control characters spelled out, but for tab and newline."""
    return STEERING.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
