"""Fitting the decision layer for the ranking score, on train and dev, from judgements that are there already.

No LM call is made. What is kept is what repeated cross-validation over group-disjoint folds found to be better than the
model as it is, by a paired bootstrap; the test split and the records to be predicted are never seen.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from aisr.metrics.confidence import Interval
from aisr.optimize.datasets.apart import grouped
from aisr.optimize.datasets.examples import Labelled
from aisr.optimize.decision.folds import FOLDS, Judged, gather
from aisr.optimize.decision.trial import Choosing, as_they_are, cross_validated
from aisr.optimize.evidence.naming_fit import Naming, NamingFitted, fit_naming
from aisr.programs.decision.layer import CUES, WORDING, Decision, as_it_is
from aisr.programs.errors import UserError
from aisr.tasks.task import Judgements

SHARES = (0.5, 1.0)  # of the way from the model as it is to the fit
# Ways to decide, from the least to the most. The first two do without the LM and are there to be compared with.
ALONE = "LM alone"
PRIOR, PRIORS = "wording alone", "wording + cues"
WEIGHTS, BOTH, VOTES = "LM + weights", "LM + prior + weights", "LM + prior + weights + votes"
WAYS = (PRIOR, PRIORS, WEIGHTS, BOTH, VOTES)


class Fitted(NamedTuple):
    """A decision layer; its cross-validated gain over the model as it is (None where nothing could be fitted); what a
    manifest says of it; and how evidence is named, whether the layer is kept or not, where the task asks for some."""

    decision: Decision
    gain: Interval | None
    report: dict[str, Any]
    naming: NamingFitted | None = None


def fit(
    labelled: Judgements, judged: Sequence[Judged], planted: Sequence[Labelled], seed: int, fitted_on: str = ""
) -> Fitted:
    """The decision layer for judged records of train and dev.

    planted: made records, for the priors alone; fitted_on: the LM that judged, to tell it from others later.
    With too few records for cross-validation there is a layer that changes nothing. Raises UserError for no records.
    """
    # On these small problems the threads of linear algebra wait for each other: on a busy machine two cores took up to
    # four times as long as one.
    with threadpool_limits(1):
        return _fitted(labelled, judged, planted, seed, fitted_on)


def _fitted(
    labelled: Judgements, judged: Sequence[Judged], planted: Sequence[Labelled], seed: int, fitted_on: str
) -> Fitted:
    if not judged:
        raise UserError("no judged records: nothing to fit a decision layer on")
    start = as_it_is(list(judged[0].outcomes), len(labelled.labels))
    majority = Counter(label for found in judged for label in labelled.said(found.row.example.gold)).most_common(1)[0][
        0
    ]
    group = grouped([*(found.row for found in judged), *planted])
    naming = named_by(labelled, judged, group[: len(judged)], seed)
    known = len(set(group[: len(judged)]))
    if known < FOLDS:
        why = f"{known} groups of records that share nothing; {FOLDS} are needed"
        idle = Decision(labels=list(labelled.labels), majority=majority, kept=False, says=start, means=start)
        return Fitted(idle, None, {"kept": None, "why": why}, naming)
    material = gather(labelled, judged, planted, group, seed, naming.found if naming else None)
    trials = {
        way: cross_validated(labelled, material, way, names, start, shares, votes=way == VOTES)
        for way, (names, shares) in _ways(material.models).items()
    }
    alone = as_they_are(labelled, material, ALONE, start)
    offered = [one for way, trial in trials.items() if way not in (PRIOR, PRIORS) for one in trial.tried]
    choosing = Choosing(alone, offered)
    best = offered[int(choosing.sure_gains().argmax())]
    gain = choosing.honest()
    kept = gain.low > 0 and choosing.best() is best
    of_way = {way: Choosing(alone, trial.tried).best() for way, trial in trials.items()}
    of_way |= {way: trials[way].tried[-1] for way in (PRIOR, PRIORS)}
    wording, cues = material.texts.fit(np.ones(len(material.texts.fold), dtype=np.bool_))
    decision = Decision(
        labels=list(labelled.labels),
        majority=majority,
        fitted_on=fitted_on,
        kept=kept,
        says=best.rule,
        means=trials[best.way].blend.means,
        ablations={way: one.rule for way, one in of_way.items()},
        wording=wording,
        cues=cues,
    )
    judgements = [one for row in judged for outcome in row.outcomes.values() for one in outcome.judgements]
    report = {
        "kept": best.way if kept else None,
        "share": best.share,
        "gain": list(gain),
        "cross_validated": {ALONE: alone.score, **{way: one.score for way, one in of_way.items()}},
        "records": len(judged),
        "sources": dict(Counter(one.source for one in judgements)),
    }
    return Fitted(decision, gain, report, naming)


def named_by(labelled: Judgements, judged: Sequence[Judged], group: Sequence[int], seed: int) -> NamingFitted | None:
    """How evidence is named; None for a task that asks for none."""
    if labelled.evidence_right is None:
        return None
    cases = []
    for (_, example, *_), outcomes in judged:
        first = next(iter(outcomes.values()))
        named = [outcome.named for outcome in outcomes.values()]
        said = first.judgements[0].label
        right = partial(labelled.evidence_right, example.gold)
        (label,) = labelled.said(example.gold)
        cases.append(Naming(label, said, right, named, first.ranking, first.odds))
    return fit_naming(cases, group, seed)


def _ways(models: Sequence[str]) -> dict[str, "_Way"]:
    """The experts of each way, and the shares at which it is tried."""
    ways = {
        PRIOR: _Way([WORDING], (1.0,)),
        PRIORS: _Way([WORDING, CUES], (1.0,)),
        WEIGHTS: _Way([*models], SHARES),
        BOTH: _Way([*models, WORDING, CUES], SHARES),
    }
    return ways | ({VOTES: _Way([*models, WORDING, CUES], (1.0,))} if len(models) > 1 else {})


class _Way(NamedTuple):
    experts: Sequence[str]
    shares: Sequence[float]
