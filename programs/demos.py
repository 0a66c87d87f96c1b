"""Few-shot with the demos that are nearest to the record (kNN prompting, Liu et al. 2022)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class KnnConfig:
    """Which demos stand in the prompt of a record."""

    count: int = 0  # the nearest so many; 0: all of them
    by: Similarity = "words"  # BM25 over words, or its ranks fused with those by the built-in word vectors
    # The groups that the statement of a demo or a record is in, where they are known: no prompt of a record has
    # a demo of the record's own group, which would give the answer away. That is no part of the program.
    excluded: Mapping[str, frozenset[int]] = field(default_factory=dict, compare=False, repr=False)

    def __deepcopy__(self, memo: dict[int, Any]) -> "KnnConfig":
        return self

    def excludes(self, text: str) -> bool:
        """Return whether demos are kept out of the prompt for the record of a statement."""
        return self.count > 0 and text in self.excluded


def nearest(demos: Sequence[Any], statement: str, text: str, config: KnnConfig) -> list[Any]:
    """Return the demos whose field `statement` is nearest to `text`, the nearest last; all of them where none are
    chosen.

    At most `MOST_OF_A_SOURCE` of them are of one source, and none is nearly the same as another, as far as demos say so
    (`MARKS`).

    Which they are depends on the record alone, so that a prompt is the same in every run. A provider's prompt cache
    gains nothing by it: the prefix is another for each record.
    """
    if not config.count:
        return list(demos)
    texts = [wording(demo.get(statement)) for demo in demos]
    own = config.excluded.get(text, frozenset())
    ranked = [
        place
        for place in order(MATCHERS[config.by](text, texts))
        if not own or own.isdisjoint(config.excluded.get(texts[place], frozenset()))
    ]
    return [demos[place] for place in reversed(_sparse(demos, ranked)[: config.count])]


def _sparse(demos: Sequence[Any], ranked: Sequence[int]) -> list[int]:
    """The places without those that nearer ones make needless."""
    kept, of_source, groups = [], Counter[int](), set[int]()
    for place in ranked:
        source, group = demos[place].get(SOURCE), demos[place].get(DUPLICATES)
        if group in groups or (source is not None and of_source[source] >= MOST_OF_A_SOURCE):
            continue
        kept.append(place)
        of_source.update([] if source is None else [source])
        groups.update([] if group is None else [group])
    return kept


def wording(value: Any) -> str:
    """Return a field of a demo as one text."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
