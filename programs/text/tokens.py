"""About how many tokens a text has."""

import math
from collections.abc import Sequence
from typing import Any


def length(row: Any, fields: Sequence[str]) -> int:
    """About how many tokens a row takes as a demo."""
    return sum(tokens(str(row[name])) for name in fields if name in row)


BYTES_PER_TOKEN = 4  # the usual rule of thumb for English text; only a budget is kept with it, no price is made of it


def tokens(text: str) -> int:
    """About how many tokens a text has."""
    return math.ceil(len(text.encode()) / BYTES_PER_TOKEN)
