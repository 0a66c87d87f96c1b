"""How many records the decision layer needs to see a gain: `python -m aisr.optimize.studies.layer` (some minutes, no
LM).

A simulated model sees a noisy sign of the right label and states the probabilities that follow from it under a prior of
its own, which is off by as much as it takes for the best layer to gain so many points. Of each corpus the layer is
fitted as `aisr compile` does, without the classifiers of texts; what it truly gains is measured on a large corpus.
"""

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.base.text import percent
from aisr.commands.display import table
from aisr.metrics.judgements import Gold, ranking_score
from aisr.optimize.datasets.split import fold_of
from aisr.optimize.decision import rule as rule_fit
from aisr.optimize.decision.fit import ALONE, SHARES, WEIGHTS
from aisr.optimize.decision.folds import FOLDS, REPEATS, Material, Texts
from aisr.optimize.decision.trial import Choosing, as_they_are, cross_validated
from aisr.programs.decision.layer import LM, as_it_is, logs
from aisr.programs.decision.text_prior import softmax
from aisr.tasks.all import TASKS
from aisr.tasks.judgements import Judgements

SHARPNESS = 2.0  # standard deviations of noise between the right label and the others
PRIOR = np.array([0.6, 0.1, 0.1, 0.1, 0.1])
LEANING = np.array([1.0, -1.0, 0.5, -0.5, 0.0])  # of the model, for and against labels, in log-odds
LEANINGS = (0.0, 0.65, 1.15)  # how strongly
SIZES = (100, 200, 400, 800)
LARGE = 20_000
CORPORA = 10


class Drawn(NamedTuple):
    """gold: of one label a record; opinions: the model's log-probabilities (records, labels)."""

    gold: Gold
    opinions: NDArray[np.float64]


def draw(records: int, leaning: float, rng: np.random.Generator) -> Drawn:
    """A corpus, and what the model states about it."""
    labels = len(PRIOR)
    first = rng.choice(labels, records, p=PRIOR)
    one = np.eye(labels)[first]
    signs = SHARPNESS * one + rng.standard_normal((records, labels))
    stated = softmax(np.log(PRIOR) + SHARPNESS * signs + leaning * LEANING)
    return Drawn(Gold(one.astype(np.bool_), first.astype(np.int64), np.arange(records)), logs(stated))


def main() -> int:
    """Run the study."""
    facet = label_facet()
    rows = []
    for leaning in LEANINGS:
        large = draw(LARGE, leaning, np.random.default_rng(1))
        start = as_it_is([LM], len(PRIOR))
        best = rule_fit.fit({LM: large.opinions}, large.gold, None, start).says
        most = gain(best.labels({LM: large.opinions}), large)
        for size in SIZES:
            found = [fitted_layer(facet, draw(size, leaning, np.random.default_rng(k)), large) for k in range(CORPORA)]
            kept, reported, true = (np.array(column, dtype=np.float64) for column in zip(*found, strict=True))
            rows.append([
                percent(most), str(size), f"{100 * kept.mean():.0f} %", f"{percent(reported.mean())}",
                percent(reported.std()), percent((kept * true).mean()), percent((kept * true).min()),
            ])  # fmt: skip
    names = ["best gain", "records", "kept", "reported", "its deviation", "true gain", "worst"]
    table(f"the decision layer on {CORPORA} corpora each, points of ranking score", names, rows)
    return 0


def label_facet() -> Judgements:
    """That of a task with so many labels."""
    return next(task.labelled for task in TASKS.values() if task.judgements and len(task.labelled.labels) == len(PRIOR))


def fitted_layer(facet: Judgements, drawn: Drawn, large: Drawn) -> tuple[bool, float, float]:
    """Whether a layer is kept, the gain that is reported, and what it gains on a large corpus."""
    records = len(drawn.gold.first)
    strata = [str(k) for k in drawn.gold.first]
    folds = np.array([fold_of(strata, range(records), FOLDS, seed) for seed in range(REPEATS)])
    said = drawn.opinions.argmax(axis=1)
    none = Texts([], [], np.zeros((0, 0)), drawn.gold.first, folds[0], len(PRIOR))
    material = Material([LM], {LM: drawn.opinions}, said, drawn.gold, folds[0], folds, None, none, range(len(folds[0])))
    start = as_it_is([LM], len(PRIOR))
    trial = cross_validated(facet, material, WEIGHTS, [LM], start, SHARES)
    choosing = Choosing(as_they_are(facet, material, ALONE, start), trial.tried)
    reported, best = choosing.honest(), choosing.best()
    kept = reported.low > 0 and best.way != ALONE
    return kept, reported.value, gain(best.rule.labels({LM: large.opinions}), large)


def gain(said: NDArray[np.int64], drawn: Drawn) -> float:
    """What labels gain on the model's own, as a share of 1."""
    return ranking_score(drawn.gold, said) - ranking_score(drawn.gold, drawn.opinions.argmax(axis=1))


if __name__ == "__main__":
    sys.exit(main())
