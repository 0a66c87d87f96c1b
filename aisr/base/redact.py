"""Keeping keys, passwords and addresses out of files and messages: servers like to repeat them in their errors.

And keeping messages from steering the terminal that shows them: they quote records and answers, which hold anything.
"""

import html
import json
import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SHORTEST = 6  # shorter values are no secrets, and replacing them would garble the text
USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")
# Escape sequences begin with a control character; marks of direction make a line read as another.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
ADDRESS = re.compile(r"\bhttps?://[^\s'\"<>]+")


def environment() -> list[tuple[str, str]]:
    """The secret variables of the environment with all forms of their values, the longest first: one may hold
    another."""
    named = [pair for pair in os.environ.items() if SECRET_NAME.search(pair[0])]
    return sorted(((name, form) for name, value in named for form in forms(value)), key=lambda pair: -len(pair[1]))


@lru_cache(maxsize=256)
def forms(value: str) -> tuple[str, ...]:
    """A secret as errors and answers may hold it: as it is, trimmed, its lines, and each of these escaped or encoded.
    What is shorter than `SHORTEST` is left out."""
    plain = {value, value.strip(), " ".join(value.split()), *(line.strip() for line in value.splitlines())}
    found = {form for one in plain if len(one) >= SHORTEST for form in (one, *_spelled(one))}
    return tuple(sorted(form for form in found if len(form) >= SHORTEST))


def _spelled(value: str) -> Iterator[str]:
    """A value as Python, JSON, addresses, HTML and the common encodings spell it."""
    yield from (repr(value)[1:-1], json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
    raw = value.encode("utf-8", "surrogateescape")
    for encoded in (quote(raw), quote(raw, safe=""), quote_plus(raw)):
        yield from (encoded, re.sub("%..", lambda found: found[0].lower(), encoded))
    yield from (html.escape(value), html.escape(value, quote=False))
    yield from (raw.hex(), raw.hex().upper())
    for before in range(3):  # what stands before it, such as a user name, moves the letters of Base64
        whole = (before + len(raw)) * 8 // 6  # letters behind these depend on what follows
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(b"\0" * before + raw).decode()[-(-before * 8 // 6) : whole]


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
