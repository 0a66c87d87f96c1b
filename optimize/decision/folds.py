"""What a decision layer is fitted on: judged records of train and dev, as arrays, in folds that share nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.inference.judge import Outcome
from aisr.metrics.judgements import Gold
from aisr.optimize.datasets.examples import Labelled, examples
from aisr.optimize.datasets.split import fold_of
from aisr.optimize.decision.priors import Counted, count, fit_cues, fit_wording
from aisr.programs.decision.cues import CueWeights, measure
from aisr.programs.decision.layer import CUES, WORDING, Opinions, logs
from aisr.programs.decision.text_prior import Wording
from aisr.tasks.task import Judgements

FOLDS = 5
REPEATS = 10  # other folds each time: what a single division finds swings with its seed


class Judged(NamedTuple):
    """A labelled record, and what became of it under each model, by its name."""

    row: Labelled
    outcomes: Mapping[str, Outcome]


@dataclass(frozen=True)
class Texts:
    """What the priors learn from, a row a judgement; planted ones behind the real ones."""

    statements: list[str]
    counted: list[Counted]
    cues: NDArray[np.float64]
    first: NDArray[np.int64]
    fold: NDArray[np.int64]
    labels: int

    def fit(self, kept: NDArray[np.bool_]) -> tuple[Wording, CueWeights]:
        """The priors of the judgements that a mask keeps."""
        return (
            fit_wording(self.counted, kept, self.first, self.labels),
            fit_cues(self.cues[kept], self.first[kept], self.labels),
        )


@dataclass(frozen=True)
class Material:
    """Judged records as arrays, a row a judgement.

    opinions: log-probabilities (judgements, labels) of each model, and of priors that did not see the record's fold;
    said: the label that the model itself gave, int (judgements,), where it is one; fold: int (judgements,), that of the
    priors; folds: for each repetition the fold of each record, int (REPEATS, records); found: whether the
    evidence that goes with the gold label is right, bool (judgements,), where the task asks for some; group: of each
    record.
    """

    models: list[str]
    opinions: Opinions
    said: NDArray[np.int64] | None
    gold: Gold
    fold: NDArray[np.int64]
    folds: NDArray[np.int64]
    found: NDArray[np.bool_] | None
    texts: Texts
    group: Sequence[int]

    def found_in(self, kept: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """`found` of the judgements that a mask keeps."""
        return None if self.found is None else self.found[kept]


def gather(
    labelled: Judgements,
    judged: Sequence[Judged],
    planted: Sequence[Labelled],
    group: Sequence[int],
    seed: int,
    found: NDArray[np.bool_] | None = None,
) -> Material:
    """The arrays of judged records. planted: made records; the priors learn from them, outside the folds of the records
    that they were made from. group: of each record, judged and planted (see
    `aisr.optimize.datasets.apart.grouped`); found: see `Material`, where that is not told by the answers themselves."""
    rows = [*(found.row for found in judged), *planted]
    texts = _texts(labelled, rows, _folds(labelled, rows, group, len(judged), seed))
    real = examples(rows[: len(judged)])
    fold = texts.fold[: sum(len(labelled.statements(example)) for example in real)]
    models = list(judged[0].outcomes)
    opinions = {name: logs(_chances(judged, name)) for name in models}
    wording, cues = np.empty_like(opinions[models[0]]), np.empty_like(opinions[models[0]])
    for part in range(FOLDS):
        prior, weights = texts.fit(texts.fold != part)
        here = np.flatnonzero(fold == part)
        wording[here] = logs(prior.chances([texts.statements[k] for k in here]))
        cues[here] = logs(weights.of(texts.cues[here]))
    gold = Gold.of([labelled.allowed(example.gold) for example in real], labelled.labels, labelled.f1_share)
    everything = {**opinions, WORDING: wording, CUES: cues}
    said = _said(labelled, judged, models[0]) if len(models) == 1 else None
    right = found if found is not None else _answers_right(labelled, judged)
    folds = _repeated(labelled, rows[: len(judged)], group, seed)
    return Material(models, everything, said, gold, fold, folds, right, texts, group[: len(judged)])


def _folds(labelled: Judgements, rows: Sequence[Labelled], group: Sequence[int], real: int, seed: int) -> list[int]:
    """The fold of each record; a planted one is in that of what it was made from."""
    strata = [labelled.fault(row.example.gold) for row in rows]
    fold = fold_of(strata[:real], group[:real], FOLDS, seed)
    of_group = dict(zip(group, fold.tolist(), strict=False))
    return [of_group.get(key, 0) for key in group]


def _repeated(labelled: Judgements, rows: Sequence[Labelled], group: Sequence[int], seed: int) -> NDArray[np.int64]:
    strata = [labelled.fault(row.example.gold) for row in rows]
    seeds = np.random.default_rng(seed).integers(2**31, size=REPEATS).tolist()
    return np.array([fold_of(strata, group[: len(rows)], FOLDS, one) for one in seeds])


def _texts(labelled: Judgements, rows: Sequence[Labelled], folds: Sequence[int]) -> Texts:
    statements, cues, first, fold = [], [], [], []
    for example, part in zip(examples(rows), folds, strict=True):
        for statement, label in zip(labelled.statements(example), labelled.said(example.gold), strict=True):
            statements.append(statement)
            cues.append(measure(statement, labelled.grounds(example)))
            first.append(labelled.labels.index(label))
            fold.append(part)
    return Texts(statements, count(statements), np.array(cues), np.array(first), np.array(fold), len(labelled.labels))


def _chances(judged: Sequence[Judged], name: str) -> NDArray[np.float64]:
    rows = [judgement.chances for found in judged for judgement in found.outcomes[name].judgements]
    return np.array(rows, dtype=np.float64)


def _said(labelled: Judgements, judged: Sequence[Judged], name: str) -> NDArray[np.int64]:
    labels = [judgement.label for found in judged for judgement in found.outcomes[name].judgements]
    return np.array([labelled.labels.index(label) for label in labels], dtype=np.int64)


def _answers_right(labelled: Judgements, judged: Sequence[Judged]) -> NDArray[np.bool_] | None:
    if labelled.answer_right is None:
        return None
    # Of an ensemble the first model's: what the others add to its evidence can only help.
    firsts = [(row.example.gold, next(iter(outcomes.values())).answer) for row, outcomes in judged]
    return np.array([labelled.answer_right(gold, answer) for gold, answer in firsts], dtype=np.bool_)
