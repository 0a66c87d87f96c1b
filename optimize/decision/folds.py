"""What a decision layer is fitted on: judged records of train and dev, as arrays, in folds that share nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.lm.client import OpenLM
from aisr.metrics.judgements import Gold
from aisr.optimize.datasets.apart import grouped, in_prompt
from aisr.optimize.datasets.examples import Labelled, examples
from aisr.optimize.datasets.split import fold_of
from aisr.optimize.decision.priors import Counted, count, fit_cues, fit_wording
from aisr.predict.judge import Outcome, judge_all
from aisr.programs.base import Judge
from aisr.programs.decision.cues import CueWeights, measure
from aisr.programs.decision.layer import CUES, LM, WORDING, Opinions, logs
from aisr.programs.decision.text_prior import Wording
from aisr.programs.retrieval.evidence_list import EvidencePolicy, complete
from aisr.programs.task import Judgements, Task

FOLDS = 5
REPEATS = 10  # other folds each time: what a single division finds swings with its seed


class Judged(NamedTuple):
    """A labelled record, and what the program without a decision layer made of it."""

    row: Labelled
    outcome: Outcome


@dataclass(frozen=True)
class Texts:
    """What the priors learn from, a row a judgement."""

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

    opinions: log-probabilities (judgements, labels) of the LM, and of priors that did not see the record's fold; said:
    the label that the LM itself gave, int (judgements,); folds: for each repetition the fold of each record, int
    (REPEATS, records); found: whether the evidence that goes with the gold label is right, bool (judgements,), where
    the task asks for some; group: of each record.
    """

    opinions: Opinions
    said: NDArray[np.int64]
    gold: Gold
    folds: NDArray[np.int64]
    found: NDArray[np.bool_] | None
    texts: Texts
    group: Sequence[int]

    def found_in(self, kept: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """`found` of the judgements that a mask keeps."""
        return None if self.found is None else self.found[kept]


def gather(
    labelled: Judgements, judged: Sequence[Judged], group: Sequence[int], seed: int, naming: EvidencePolicy | None
) -> Material:
    """The arrays of judged records. group: of each record (see `aisr.optimize.datasets.apart.grouped`); naming: how
    evidence is named, in tasks that ask for some."""
    rows = [one.row for one in judged]
    strata = [labelled.fault(row.example.gold) for row in rows]
    texts = _texts(labelled, rows, fold_of(strata, group, FOLDS, seed))
    chances = [judgement.chances for one in judged for judgement in one.outcome.judgements]
    opinions = {LM: logs(np.array(chances, dtype=np.float64))}
    wording, cues = np.empty_like(opinions[LM]), np.empty_like(opinions[LM])
    for part in range(FOLDS):
        prior, weights = texts.fit(texts.fold != part)
        here = np.flatnonzero(texts.fold == part)
        wording[here] = logs(prior.chances([texts.statements[k] for k in here]))
        cues[here] = logs(weights.of(texts.cues[here]))
    said = [labelled.labels.index(judgement.label) for one in judged for judgement in one.outcome.judgements]
    seeds = np.random.default_rng(seed).integers(2**31, size=REPEATS).tolist()
    return Material(
        {**opinions, WORDING: wording, CUES: cues},
        np.array(said, dtype=np.int64),
        Gold.of([labelled.allowed(row.example.gold) for row in rows], labelled.labels, labelled.f1_share),
        np.array([fold_of(strata, group, FOLDS, one) for one in seeds]),
        _evidence_right(labelled, judged, naming),
        texts,
        group,
    )


def _texts(labelled: Judgements, rows: Sequence[Labelled], folds: NDArray[np.int64]) -> Texts:
    statements, cues, first, fold = [], [], [], []
    for row, part in zip(rows, folds.tolist(), strict=True):
        for statement, label in zip(labelled.statements(row.example), labelled.said(row.example.gold), strict=True):
            statements.append(statement)
            cues.append(measure(statement, labelled.grounds(row.example)))
            first.append(labelled.labels.index(label))
            fold.append(part)
    return Texts(statements, count(statements), np.array(cues), np.array(first), np.array(fold), len(labelled.labels))


def _evidence_right(
    labelled: Judgements, judged: Sequence[Judged], naming: EvidencePolicy | None
) -> NDArray[np.bool_] | None:
    if labelled.answer_right is not None:
        right = [labelled.answer_right(one.row.example.gold, one.outcome.answer) for one in judged]
    elif labelled.evidence_right is not None and naming is not None:
        right = []
        for row, outcome in judged:
            (label,) = labelled.said(row.example.gold)
            ids = complete(label, outcome.named, outcome.ranking, naming)
            right.append(labelled.evidence_right(row.example.gold, ids))
    else:
        return None
    return np.array(right, dtype=np.bool_)


def opinions(
    task: Task, program: Judge, rows: Sequence[Labelled], lm: OpenLM, done: Callable[[], None]
) -> list[Judged]:
    """The judgements of a program, without its decision layer, on records that it can be asked fairly.

    Left out are records that share something with a demo of a prompt, since the LM has read their answer or one much
    like it, and those that fail.
    """
    group = grouped(rows)
    read = {key for key, row in zip(group, rows, strict=True) if in_prompt(program, row.example)}
    fair = [row for key, row in zip(group, rows, strict=True) if key not in read]
    outcomes = judge_all(task, program.without_decision(), examples(fair), lm, done)
    return [Judged(row, outcome) for row, outcome in zip(fair, outcomes, strict=True) if outcome.failure is None]
