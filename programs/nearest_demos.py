"""The demos that a prompt shows: those whose statement is nearest to the record's (kNN prompting, Liu et al. 2022)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import is_
from types import MappingProxyType
from typing import Any, Literal, Self

from aisr.programs.retrieval import RETRIEVERS, Matcher, order
from aisr.programs.text_index import TextIndex

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

Groups = frozenset[int]


def wording(value: Any) -> str:
    """Return a field of a demo as one text."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


class IndexedDemos:
    """Demos with an index of their statements: for each record alone it would cost more than the rest of its prompt.
    statement: the field by which demos are compared with a record."""

    def __init__(self, demos: Sequence[Any], statement: str) -> None:
        self.demos = list(demos)
        self.statements = TextIndex([wording(demo.get(statement)) for demo in demos])

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself: it never changes, and a copied program has other demos, which `holds` sees."""
        return self

    def holds(self, demos: Sequence[Any]) -> bool:
        """Return whether these are the demos that it was made of."""
        return len(demos) == len(self.demos) and all(map(is_, demos, self.demos))

    def nearest(self, text: str, most: int, similarity: Similarity, groups_of: Mapping[str, Groups]) -> list[Any]:
        """Return up to `most` demos whose statement is nearest to `text`, the nearest last.

        At most `MOST_OF_A_SOURCE` of these are of one source, and none is nearly the same as another, as far as demos
        say so (`MARKS`). None shares a group with `text`; groups_of: of each statement, where they are known.
        """
        none: Groups = frozenset()
        own = groups_of.get(text, none)
        chosen: list[Any] = []
        of_source, groups = Counter[int](), set[int]()
        for place in order(MATCHERS[similarity](text, self.statements)):
            demo = self.demos[place]
            source, group = demo.get(SOURCE), demo.get(DUPLICATES)
            shares = own & groups_of.get(self.statements[place], none)
            if shares or group in groups or of_source[source] >= MOST_OF_A_SOURCE:
                continue
            chosen.append(demo)
            if len(chosen) == most:
                break
            if source is not None:
                of_source[source] += 1
            if group is not None:
                groups.add(group)
        return chosen[::-1]
