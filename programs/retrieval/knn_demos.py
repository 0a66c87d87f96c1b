"""Few-shot with the demos that are nearest to the record (kNN prompting, Liu et al. 2022)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Self, get_args

from aisr.programs.errors import UserError
from aisr.programs.retrieval.retrievers import matcher, order, stemmed

By = Literal["words", "vectors", "both", "varied"]
RETRIEVERS: Mapping[By, str] = MappingProxyType(
    {"words": "bm25", "vectors": "dense", "both": "hybrid", "varied": "bm25"}
)
# What a demo may hold beside the fields of its predictor, which no model sees: the number of the group of records on
# the same evidence that it is from, that of the statements that are nearly the same, and whether the program itself
# finds its gold absurd. Demos of older programs hold none of it, and are chosen from as they always were.
SOURCE, TWINS, DOUBTED = "from_source", "from_twins", "doubted"
MARKS = (SOURCE, TWINS, DOUBTED)
OF_ONE_SOURCE = 2  # demos of one paper or table that are shown beside each other
LOOKED_AT = 4  # times as many of the nearest as are shown, that varied ones are taken from


@dataclass(frozen=True)
class Nearness:
    """Which demos a record is shown.

    count: how many, those nearest to it (0: all of them); by: what nearness is told by, BM25 over `words`, the built-in
    `vectors`, or the ranks of both fused; `varied`: the nearest by words, and then of the next nearest always the one
    that is least like those taken; seats: whether each label but the commonest has a place among them, at most
    half of all; apart: the groups that the statement of a demo or a record is in, where they are known: no record is
    shown a demo of a group of its own, which would give the answer away. That is no part of the program.
    """

    count: int = 0
    by: By = "words"
    seats: bool = False
    apart: Mapping[str, frozenset[int]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, nearest: int, by: str, seats: bool) -> Self:
        """From options. Raises UserError for what cannot be."""
        if nearest < 0:
            raise UserError(f"nearest is {nearest}; expected 0 (all demos) or more")
        if by not in get_args(By):
            raise UserError(f"nearest_by is {by!r}; one of: {', '.join(get_args(By))}")
        return cls(nearest, by, seats)  # type: ignore[arg-type]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def keeps_apart(self, text: str) -> bool:
        """Whether the record of a statement is shown no demo of a group of its own."""
        return self.count > 0 and text in self.apart


def nearest(demos: Sequence[Any], statement: str, text: str, near: Nearness) -> list[Any]:
    """The demos whose field `statement` is nearest to `text`, the nearest last; all of them where none are chosen.

    At most `OF_ONE_SOURCE` of them are of one source, none is nearly the same as another, and those with doubted gold
    come in where there are too few others, as far as demos say so (`MARKS`).

    Which they are depends on the record alone, so that a prompt is the same in every run. A provider's prompt cache
    gains nothing by it: the prefix is another for each record.
    """
    marked = any(mark in demo for demo in demos for mark in MARKS)
    if not near.count or (len(demos) <= near.count and not near.apart and not marked):
        return list(demos)
    said = [wording(demo.get(statement)) for demo in demos]
    own = near.apart.get(text, frozenset())
    ranked = [
        place
        for place in order(matcher(RETRIEVERS[near.by])(text, said))
        if not own or own.isdisjoint(near.apart.get(said[place], frozenset()))
    ]
    ranked = _sparse(demos, ranked) if marked else ranked
    ranked = _varied(said, ranked, near.count) if near.by == "varied" else ranked
    chosen = _seated([demos[place] for place in ranked], near.count) if near.seats else range(near.count)
    return [demos[ranked[k]] for k in sorted(chosen, reverse=True) if k < len(ranked)]


def _sparse(demos: Sequence[Any], ranked: Sequence[int]) -> list[int]:
    """The places without those that nearer ones make needless, doubted ones at the end."""
    kept, of_source, twins = [], Counter[int](), set[int]()
    for place in sorted(ranked, key=lambda place: bool(demos[place].get(DOUBTED))):
        source, own = demos[place].get(SOURCE), demos[place].get(TWINS)
        if own in twins or (source is not None and of_source[source] >= OF_ONE_SOURCE):
            continue
        kept.append(place)
        of_source.update([] if source is None else [source])
        twins.update([] if own is None else [own])
    return kept


def _varied(said: Sequence[str], ranked: Sequence[int], count: int) -> list[int]:
    """The places in the order in which they are taken: the nearest, and then always the one that is least like those
    taken, of equals the nearer."""
    looked_at = ranked[: LOOKED_AT * count]
    stems = dict(zip(looked_at, map(set, stemmed([said[place] for place in looked_at])), strict=True))
    taken = list(looked_at[:1])
    while len(taken) < min(count, len(looked_at)):
        left = [place for place in looked_at if place not in taken]
        taken.append(min(left, key=lambda place: max(_alike(stems[place], stems[one]) for one in taken)))
    return [*taken, *(place for place in ranked if place not in taken)]


def _alike(one: set[str], other: set[str]) -> float:
    """The share of their words that two texts have in common (Jaccard)."""
    return len(one & other) / max(len(one | other), 1)


def _seated(demos: Sequence[Any], count: int) -> set[int]:
    """The places of the first demos, the farthest of them giving way to the nearest with a label that none has."""
    labels = [_labels(demo) for demo in demos]
    common = Counter(label for own in labels for label in own).most_common()
    chosen, seated = set(range(min(count, len(demos)))), 0
    for label, _ in reversed(common[1:]):  # the rarest first
        if seated >= count // 2 or any(label in labels[k] for k in chosen):
            continue
        place = next(k for k, own in enumerate(labels) if label in own)
        spare = (
            k
            for k in sorted(chosen, reverse=True)
            if all(label == common[0][0] or any(label in labels[o] for o in chosen - {k}) for label in labels[k])
        )
        farthest = next(spare, None)
        if farthest is None:
            break
        chosen = chosen - {farthest} | {place}
        seated += 1
    return chosen


def _labels(demo: Any) -> list[str]:
    """The labels that a demo shows, each once, in order: of its first field for labels."""
    value: Any = next((demo[name] for name in demo if "label" in name), [])
    return list(dict.fromkeys(map(str, value if isinstance(value, list) else [value])))


def wording(value: Any) -> str:
    """A field of a demo as one text."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
