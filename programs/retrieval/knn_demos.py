"""Few-shot with the demos that are nearest to the record (kNN prompting, Liu et al. 2022)."""

from collections.abc import Sequence
from typing import Any

from programs.errors import UserError
from programs.retrieval.passages import rank


def nearest(demos: Sequence[Any], field: str, text: str, count: int) -> list[Any]:
    """The `count` demos whose `field` is nearest to `text` by BM25, the nearest last; all of them where count is 0.

    Which they are depends on the record alone, so that a prompt is the same in every run. A provider's prompt cache
    gains nothing by it: the prefix is another for each record.
    """
    if not count or len(demos) <= count:
        return list(demos)
    said = {str(place): wording(demo.get(field)) for place, demo in enumerate(demos)}
    return [demos[int(place)] for place in reversed(rank(text, said)[:count])]


def check_nearest(count: int) -> int:
    """The number of demos to show, if it can be one. Raises UserError otherwise."""
    if count < 0:
        raise UserError(f"nearest is {count}; expected 0 (all demos) or more")
    return count


def wording(value: Any) -> str:
    """A field of a demo as one text."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
