"""What a decision layer is fitted on: judged records of train and dev, as arrays, in folds that share nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from metrics.judgements import Gold
from optimize.judging import Outcome
from optimize.labelled import Labelled, examples
from optimize.priors import Counted, count, fit_cues, fit_wording
from optimize.sharing import groups, with_near_duplicates
from optimize.splits import fold_of
from optimize.tasks import Task
from programs.cues import CueWeights, measure
from programs.decision import CUES, WORDING, Opinions, logs
from programs.fusion import EvidencePolicy, Fill, complete
from programs.wording import Wording

FOLDS = 5
NAMED_WEIGHTS = (1.0, 0.75, 0.5, 0.25, 0.0)
FILLS: tuple[Fill, ...] = get_args(Fill)


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
    said: the label that the model itself gave, int (judgements,), where it is one; fold: int (judgements,); found: for
    Track 2, whether the evidence that goes with the gold label is right, bool (judgements,), for each way (named
    weight, fill) to name it.
    """

    models: list[str]
    opinions: Opinions
    said: NDArray[np.int64] | None
    gold: Gold
    fold: NDArray[np.int64]
    found: dict[tuple[float, Fill], NDArray[np.bool_]]
    texts: Texts

    def found_under(self, policy: EvidencePolicy, labels: Sequence[str]) -> NDArray[np.bool_] | None:
        """Whether the evidence is right under a policy (judgements,); None where the task asks for none."""
        if not self.found:
            return None
        fills = [policy.fill.get(labels[k], "three") for k in self.gold.first]
        return np.array([self.found[policy.named_weight, fill][row] for row, fill in enumerate(fills)], dtype=np.bool_)


def grouped(task: Task, rows: Sequence[Labelled]) -> list[int]:
    """The group of each record; two groups share no picture, no paper and no (nearly) equal claim."""
    claims = [" ".join(task.statements(row.example)) for row in rows]
    return groups(with_near_duplicates([row.shares for row in rows], claims))


def gather(
    task: Task, judged: Sequence[Judged], planted: Sequence[Labelled], group: Sequence[int], seed: int
) -> Material:
    """The arrays of judged records. planted: made records; the priors learn from them, outside the folds of the records
    that they were made from. group: of each record, judged and planted (see `grouped`)."""
    rows = [*(found.row for found in judged), *planted]
    texts = _texts(task, rows, _folds(task, rows, group, len(judged), seed))
    real = examples(rows[: len(judged)])
    fold = texts.fold[: sum(len(task.statements(example)) for example in real)]
    models = list(judged[0].outcomes)
    opinions = {name: logs(_chances(judged, name)) for name in models}
    wording, cues = np.empty_like(opinions[models[0]]), np.empty_like(opinions[models[0]])
    for part in range(FOLDS):
        prior, weights = texts.fit(texts.fold != part)
        here = np.flatnonzero(fold == part)
        wording[here] = logs(prior.chances([texts.statements[k] for k in here]))
        cues[here] = logs(weights.of(texts.cues[here]))
    gold = Gold.of([task.allowed(example.gold) for example in real], task.labels)
    everything = {**opinions, WORDING: wording, CUES: cues}
    said = _said(task, judged, models[0]) if len(models) == 1 else None
    return Material(models, everything, said, gold, fold, _found(task, judged), texts)


def _folds(task: Task, rows: Sequence[Labelled], group: Sequence[int], real: int, seed: int) -> list[int]:
    """The fold of each record; a planted one is in that of what it was made from."""
    strata = [next((said for said in task.said(row.example.gold) if said != "Supported"), "Supported") for row in rows]
    fold = fold_of(strata[:real], group[:real], FOLDS, seed)
    of_group = dict(zip(group, fold.tolist(), strict=False))
    return [of_group.get(key, 0) for key in group]


def _texts(task: Task, rows: Sequence[Labelled], folds: Sequence[int]) -> Texts:
    statements, cues, first, fold = [], [], [], []
    for example, part in zip(examples(rows), folds, strict=True):
        for statement, label in zip(task.statements(example), task.said(example.gold), strict=True):
            statements.append(statement)
            cues.append(measure(statement, task.grounds(example)))
            first.append(task.labels.index(label))
            fold.append(part)
    return Texts(statements, count(statements), np.array(cues), np.array(first), np.array(fold), len(task.labels))


def _chances(judged: Sequence[Judged], name: str) -> NDArray[np.float64]:
    rows = [judgement.chances for found in judged for judgement in found.outcomes[name].judgements]
    return np.array(rows, dtype=np.float64)


def _said(task: Task, judged: Sequence[Judged], name: str) -> NDArray[np.int64]:
    labels = [judgement.label for found in judged for judgement in found.outcomes[name].judgements]
    return np.array([task.labels.index(label) for label in labels], dtype=np.int64)


def _found(task: Task, judged: Sequence[Judged]) -> dict[tuple[float, Fill], NDArray[np.bool_]]:
    if task.evidence_right is None:
        return {}
    table = {}
    for weight in NAMED_WEIGHTS:
        for fill in FILLS:
            right = []
            for (example, *_), outcomes in judged:
                (label,) = task.said(example.gold)
                policy = EvidencePolicy(named_weight=weight, fill={label: fill})
                named = [outcome.named for outcome in outcomes.values()]
                ranking = next(iter(outcomes.values())).ranking
                right.append(task.evidence_right(example.gold, complete(label, named, ranking, policy)))
            table[weight, fill] = np.array(right, dtype=np.bool_)
    return table
