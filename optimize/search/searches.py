"""How many records each optimizer judges, at most: what an estimate rests on.

The numbers are those of the optimizers' code in DSPy and of how `aisr.optimize.search.optimizers` calls them; a test
holds each against the calls that a server counts.
"""

from collections.abc import Callable, Sequence
from math import ceil
from typing import Literal, NamedTuple

from aisr.optimize.search.compilation import Settings
from aisr.optimize.search.optimizers import GEPA_MINIBATCH, MIPRO_MINIBATCH, SIMBA_BATCH

Split = Literal["train", "dev", "test"]


class Sizes(NamedTuple):
    """Records of each split."""

    train: int
    dev: int
    test: int


class Step(NamedTuple):
    """Records of a split that are judged: all of them, or `records` of them.

    cached: asked before in the same words, so that the response cache answers, unless the call failed then. taught: by
    the teacher. nearest: with so many demos, chosen for each record; 0: with those that all share.
    """

    split: Split
    times: int = 1
    records: int | None = None
    cached: bool = False
    taught: bool = False
    nearest: int = 0


def around(sizes: Sizes, decide: bool, count: int = 0) -> list[Step]:
    """What every compile judges beside its search: the uncompiled program on dev, it and the champion on test, and the
    champion on train and dev where a decision layer is fitted. count: nearest demos of the champion, see `Step`."""
    steps = [Step("dev"), Step("test"), Step("test", nearest=count)]
    fitted = [Step("train", nearest=count), Step("dev", cached=True, nearest=count)]
    return [*steps, *fitted] if decide else steps


def in_turn(optimizers: Sequence[str], s: Settings, n: Sizes, decide: bool, most: bool) -> list[Step]:
    """What a chain of optimizers judges. Those behind one that races nearest demos may start from its champion. most:
    as if that were the one with most demos, else with a usual number."""
    steps, later = [], 0
    for name in optimizers:
        found = SEARCHES[name](s, n)
        steps += [step._replace(nearest=max(step.nearest, later)) for step in found]
        if raced := sorted(step.nearest for step in found if step.nearest):
            later = max(later, raced[-1] if most else raced[len(raced) // 2])
    return [*around(n, decide, later), *steps]


# Each: the objective's baseline on train, where the optimizer looks at scores; its own search; the race on dev.
def _labeled(s: Settings, n: Sizes) -> list[Step]:
    return [Step("dev", s.candidates)]


def _knn(s: Settings, n: Sizes) -> list[Step]:
    return [Step("dev")]


def _bootstrap(s: Settings, n: Sizes) -> list[Step]:
    return [Step("train"), Step("train", taught=True), Step("dev")]


def _random_search(s: Settings, n: Sizes) -> list[Step]:
    return [
        Step("train"),
        Step("train", s.candidates, taught=True),
        Step("dev", s.candidates + 1),  # a set of labelled records beside the bootstrapped ones
    ]


def _mipro(s: Settings, n: Sizes) -> list[Step]:
    trials = 2 * s.candidates
    batched = n.dev > MIPRO_MINIBATCH
    search = [Step("dev", trials, MIPRO_MINIBATCH), Step("dev", 2 + trials // 5)] if batched else [Step("dev", trials)]
    return [
        Step("train"),
        Step("train", max(s.candidates - 2, 0), taught=True),  # its first sets of demos are none, and labelled ones
        *search,
        Step("dev", 2 + trials, cached=True),
    ]


def _simba(s: Settings, n: Sizes) -> list[Step]:
    batch = min(SIMBA_BATCH, n.train)
    kept = s.candidates + 1
    return [
        Step("train"),
        Step("train", s.candidates, batch, taught=True),  # the teacher is one of the models that it draws from
        Step("train", s.candidates * (s.candidates - 1), batch),
        Step("train", s.candidates * kept, batch),
        Step("train", kept),
        Step("dev", kept),
    ]


def _gepa(s: Settings, n: Sizes) -> list[Step]:
    # It looks at its budget between two rounds, so that one round may go beyond it.
    judged = gepa_budget(s, n) + n.dev + 2 * GEPA_MINIBATCH
    heavier: Split = "train" if n.train >= n.dev else "dev"
    return [
        Step("train"),
        *_epochs(heavier, judged, n.train if heavier == "train" else n.dev),
        Step("dev", s.candidates + 1, cached=True),
    ]


def _epochs(split: Split, judged: int, size: int) -> list[Step]:
    whole, rest = divmod(judged, size)
    return [Step(split, whole), Step(split, 1, rest)]


def gepa_rounds(s: Settings, n: Sizes) -> int:
    """The most rounds of GEPA, each of which asks for one instruction: a round that is refused judges a minibatch."""
    return ceil(max(gepa_budget(s, n) - n.dev, 0) / GEPA_MINIBATCH) + 1


def gepa_budget(s: Settings, n: Sizes) -> int:
    return s.candidates * (n.dev + 2 * GEPA_MINIBATCH)


SEARCHES: dict[str, Callable[[Settings, Sizes], list[Step]]] = {
    "labeled": _labeled,
    "knn": _knn,
    "bootstrap": _bootstrap,
    "random-search": _random_search,
    "mipro": _mipro,
    "simba": _simba,
    "gepa": _gepa,
}
