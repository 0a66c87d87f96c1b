"""Few-shot with the demos that are nearest to the record (kNN prompting, Liu et al. 2022)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Self, get_args

from aisr.programs.errors import UserError
from aisr.programs.retrieval.retrievers import matcher, order

By = Literal["words", "both"]
RETRIEVERS: Mapping[By, str] = MappingProxyType({"words": "bm25", "both": "hybrid"})
# What a demo may hold beside the fields of its predictor, which no model sees: the number of the group of records on
# the same evidence that it is from, and that of the statements that are nearly the same.
SOURCE, TWINS = "from_source", "from_twins"
MARKS = (SOURCE, TWINS)
OF_ONE_SOURCE = 2  # demos of one paper or table that are shown beside each other


@dataclass(frozen=True)
class Nearness:
    """Which demos a record is shown.

    count: how many, those nearest to it (0: all of them); by: what nearness is told by, BM25 over `words`, or `both`,
    its ranks fused with those by the built-in word vectors; apart: the groups that the statement of a demo or a record
    is in, where they are known: no record is shown a demo of a group of its own, which would give the answer away. That
    is no part of the program.
    """

    count: int = 0
    by: By = "words"
    apart: Mapping[str, frozenset[int]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, nearest: int, by: str) -> Self:
        """From options. Raises UserError for what cannot be."""
        if nearest < 0:
            raise UserError(f"nearest is {nearest}; expected 0 (all demos) or more")
        if by not in get_args(By):
            raise UserError(f"nearest_by is {by!r}; one of: {', '.join(get_args(By))}")
        return cls(nearest, by)  # type: ignore[arg-type]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def keeps_apart(self, text: str) -> bool:
        """Whether the record of a statement is shown no demo of a group of its own."""
        return self.count > 0 and text in self.apart


def nearest(demos: Sequence[Any], statement: str, text: str, near: Nearness) -> list[Any]:
    """The demos whose field `statement` is nearest to `text`, the nearest last; all of them where none are chosen.

    At most `OF_ONE_SOURCE` of them are of one source, and none is nearly the same as another, as far as demos say so
    (`MARKS`).

    Which they are depends on the record alone, so that a prompt is the same in every run. A provider's prompt cache
    gains nothing by it: the prefix is another for each record.
    """
    if not near.count:
        return list(demos)
    said = [wording(demo.get(statement)) for demo in demos]
    own = near.apart.get(text, frozenset())
    ranked = [
        place
        for place in order(matcher(RETRIEVERS[near.by])(text, said))
        if not own or own.isdisjoint(near.apart.get(said[place], frozenset()))
    ]
    return [demos[place] for place in reversed(_sparse(demos, ranked)[: near.count])]


def _sparse(demos: Sequence[Any], ranked: Sequence[int]) -> list[int]:
    """The places without those that nearer ones make needless."""
    kept, of_source, twins = [], Counter[int](), set[int]()
    for place in ranked:
        source, own = demos[place].get(SOURCE), demos[place].get(TWINS)
        if own in twins or (source is not None and of_source[source] >= OF_ONE_SOURCE):
            continue
        kept.append(place)
        of_source.update([] if source is None else [source])
        twins.update([] if own is None else [own])
    return kept


def wording(value: Any) -> str:
    """A field of a demo as one text."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
