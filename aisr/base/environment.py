"""Variables of the environment that others read: set for no longer than they are needed, and keys without the blanks
around them."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

KEY_NAME = re.compile(r"KEY|TOKEN|SECRET", re.IGNORECASE)


def trim_keys() -> None:
    """Take blanks and line ends from the ends of all keys, as `$(cat key)` and lines of an `.env` file leave them.

    No key has any; with them no request could be sent, and the error that says so quotes the key. Those who read keys
    here read them from the environment, each by itself, so it is there that they are trimmed.
    """
    for name, value in list(os.environ.items()):
        if KEY_NAME.search(name) and value != value.strip():
            os.environ[name] = value.strip()


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Set variables for as long as the block lasts, where the user has set none."""
    missing = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        for name in missing:
            os.environ.pop(name, None)
