"""What makes a run this run: written down when it begins, and held against it when it goes on."""

from collections.abc import Mapping
from typing import Any


def difference(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """The first thing in which two runs differ, with both values, as `lm: this then, that now`; None where they are the
    same run. What only one of them has is a difference."""
    for key in dict.fromkeys([*now, *earlier]):
        if earlier.get(key) != now.get(key):
            return f"{key}: {earlier.get(key)} then, {now.get(key)} now"
    return None
