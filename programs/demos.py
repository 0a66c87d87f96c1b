"""Few-shot with the demos that are nearest to the record (kNN prompting, Liu et al. 2022)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from aisr.programs.retrieval import RETRIEVERS, Matcher, order

Similarity = Literal["words", "both"]
MATCHERS: Mapping[Similarity, Matcher] = MappingProxyType({"words": RETRIEVERS["bm25"], "both": RETRIEVERS["hybrid"]})
SIMILARITY_WORDS: Mapping[Similarity, str] = MappingProxyType(
    {"words": "by words", "both": "by words and by word vectors"}
)
# What a demo may hold beside the fields of its predictor, which no model sees: the number of the group of records on
# the same evidence that it is from, and that of the statements that are nearly the same.
SOURCE, DUPLICATES = "from_source", "near_duplicates"
MARKS = (SOURCE, DUPLICATES)
MOST_OF_A_SOURCE = 2  # demos of one paper or table in one prompt


def nearest(
    demos: Sequence[Any],
    statement: str,
    text: str,
    count: int,
    by: Similarity = "words",
    excluded: Mapping[str, frozenset[int]] = MappingProxyType({}),
) -> list[Any]:
    """Return up to `count` demos whose field `statement` is nearest to `text`, the nearest last.

    At most `MOST_OF_A_SOURCE` of them are of one source, and none is nearly the same as another, as far as demos say so
    (`MARKS`). None shares a group with `text`. excluded: the groups that statements are in.

    Which they are depends on the record alone, so that a prompt is the same in every run. A provider's prompt cache
    gains nothing by it: the prefix is another for each record.
    """
    texts = [wording(demo.get(statement)) for demo in demos]
    own, none = excluded.get(text, frozenset()), frozenset[int]()
    chosen: list[Any] = []
    of_source, groups = Counter[int](), set[int]()
    for place in order(MATCHERS[by](text, texts)):
        demo = demos[place]
        source, group = demo.get(SOURCE), demo.get(DUPLICATES)
        if own & excluded.get(texts[place], none) or group in groups or of_source[source] >= MOST_OF_A_SOURCE:
            continue
        chosen.append(demo)
        of_source.update([] if source is None else [source])
        groups.update([] if group is None else [group])
    return chosen[:count][::-1]


def wording(value: Any) -> str:
    """Return a field of a demo as one text."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
