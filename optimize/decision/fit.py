"""Fitting the decision layer for the ranking score, on train and dev, from judgements that are there already.

No LM call is made. What is kept is what cross-validation over group-disjoint folds found to be better than the model as
it is, by a paired bootstrap; the test split and the records to be predicted are never seen.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.confidence import Interval, difference_interval
from metrics.judgements import ranking_score, tally
from optimize.datasets.examples import Labelled
from optimize.decision import rule as rule_fit
from optimize.decision.folds import FILLS, FOLDS, NAMED_WEIGHTS, Judged, Material, gather, grouped
from optimize.decision.rule import Blend, between
from optimize.tasks.judgements import Judgements
from programs.decision.layer import CUES, WORDING, Decision, Rule, as_it_is
from programs.errors import UserError
from programs.retrieval.evidence_list import DEFAULT, EvidencePolicy, Fill

SHARES = (0.25, 0.5, 0.75, 1.0)  # of the way from the model as it is to the best fit
# Ways to decide, from the least to the most. The first two do without the LM and are there to be compared with.
ALONE = "LM alone"
PRIOR, PRIORS = "wording alone", "wording + cues"
WEIGHTS, BOTH, VOTES = "LM + weights", "LM + prior + weights", "LM + prior + weights + votes"
WAYS = (PRIOR, PRIORS, WEIGHTS, BOTH, VOTES)


class Fitted(NamedTuple):
    """A decision layer; its cross-validated gain over the model as it is (None where nothing could be fitted); and what
    a manifest says of it."""

    decision: Decision
    gain: Interval | None
    report: dict[str, Any]


class Tried(NamedTuple):
    """One way to decide under cross-validation: how far from the models as they are it goes, its score, the label of
    each judgement as said by the rule of the other folds, and whether the evidence that goes with it was right."""

    way: str
    share: float
    score: float
    said: NDArray[np.int64]
    found: NDArray[np.bool_] | None


def fit(
    labelled: Judgements, judged: Sequence[Judged], planted: Sequence[Labelled], seed: int, fitted_on: str = ""
) -> Fitted:
    """The decision layer for judged records of train and dev.

    planted: made records, for the priors alone; fitted_on: the LM that judged, to tell it from others later.
    With too few records for cross-validation there is a layer that changes nothing. Raises UserError for no records.
    """
    if not judged:
        raise UserError("no judged records: nothing to fit a decision layer on")
    start = as_it_is(list(judged[0].outcomes), len(labelled.labels))
    majority = Counter(label for found in judged for label in labelled.said(found.row.example.gold)).most_common(1)[0][
        0
    ]
    group = grouped([*(found.row for found in judged), *planted])
    known = len(set(group[: len(judged)]))
    if known < FOLDS:
        why = f"{known} groups of records that share nothing; {FOLDS} are needed"
        idle = Decision(labels=list(labelled.labels), majority=majority, kept=False, says=start, means=start)
        return Fitted(idle, None, {"kept": None, "why": why})
    material = gather(labelled, judged, planted, group, seed)
    everyone = [*material.models, WORDING, CUES]
    experts = {PRIOR: [WORDING], PRIORS: [WORDING, CUES], WEIGHTS: material.models, BOTH: everyone}
    if len(material.models) > 1:
        experts[VOTES] = everyone
    alone = _as_they_are(labelled, material)
    tried = [one for way, names in experts.items() for one in _cross_validated(labelled, material, way, names, start)]
    best_of = {way: max((one for one in tried if one.way == way), key=lambda one: one.score) for way in experts}
    best = max((best_of[way] for way in experts if way not in (PRIOR, PRIORS)), key=lambda one: one.score)
    gain = _gain(labelled, material, alone, [one for one in tried if one.way not in (PRIOR, PRIORS)])
    everything = np.ones(len(material.fold), dtype=np.bool_)
    blends = {way: _fit(labelled, material, way, names, start, everything) for way, names in experts.items()}
    rules = {way: between(start, blends[way].says, best_of[way].share) for way in experts}
    wording, cues = material.texts.fit(np.ones(len(material.texts.fold), dtype=np.bool_))
    kept = gain.low > 0 and best.score > alone.score
    decision = Decision(
        labels=list(labelled.labels),
        majority=majority,
        fitted_on=fitted_on,
        kept=kept,
        says=rules[best.way],
        means=blends[best.way].means,
        ablations=rules,
        wording=wording,
        cues=cues,
        evidence=_evidence(labelled, material, everything),
    )
    judgements = [one for row in judged for outcome in row.outcomes.values() for one in outcome.judgements]
    report = {
        "kept": best.way if kept else None,
        "share": best.share,
        "gain": list(gain),
        "cross_validated": {ALONE: alone.score, **{way: one.score for way, one in best_of.items()}},
        "records": len(judged),
        "sources": dict(Counter(one.source for one in judgements)),
    }
    return Fitted(decision, gain, report)


def _as_they_are(labelled: Judgements, material: Material) -> Tried:
    """The models without a layer: what a single one says, or the most likely label of several together."""
    several = as_it_is(material.models, len(labelled.labels))
    said = material.said if material.said is not None else several.labels(material.opinions)
    found = material.found_under(DEFAULT, labelled.labels)
    return Tried(ALONE, 0.0, ranking_score(material.gold, said, found), said, found)


def _cross_validated(
    labelled: Judgements, material: Material, way: str, names: Sequence[str], start: Rule
) -> list[Tried]:
    """What rules over these experts say of the records of each fold when fitted on the others, for each share.

    The priors' opinions of the other folds come from priors that saw this one: a second-order effect that refitting
    them within each fold would remove, at five times the time. The test split is untouched by it.
    """
    shares = SHARES if way in (WEIGHTS, BOTH) else (1.0,)
    said = {share: np.empty(len(material.fold), dtype=np.int64) for share in shares}
    found = material.found_under(DEFAULT, labelled.labels)
    for part in range(FOLDS):
        others, here = material.fold != part, material.fold == part
        fitted = _fit(labelled, material, way, names, start, others)
        for share in shares:
            said[share][here] = between(start, fitted.says, share).labels(material.opinions)[here]
        if found is not None:
            under = material.found_under(_evidence(labelled, material, others) or DEFAULT, labelled.labels)
            found[here] = under[here] if under is not None else False
    return [Tried(way, share, ranking_score(material.gold, said[share], found), said[share], found) for share in shares]


def _gain(labelled: Judgements, material: Material, alone: Tried, tried: Sequence[Tried]) -> Interval:
    """The gain of choosing the best of what was tried, the choice made for each fold on the others alone: the best of
    nine scores is too good to be tested as if it were the only one."""
    said = alone.said.copy()
    found = None if alone.found is None else alone.found.copy()
    for part in range(FOLDS):
        others, here = material.fold != part, material.fold == part
        gold = material.gold[others]
        best = max(
            (alone, *tried),
            key=lambda one: ranking_score(gold, one.said[others], None if one.found is None else one.found[others]),
        )
        said[here] = best.said[here]
        if found is not None and best.found is not None:
            found[here] = best.found[here]
    chosen, before = (
        tally(material.gold, said, found, labelled.labels),
        tally(material.gold, alone.said, alone.found, labelled.labels),
    )
    return difference_interval(chosen, before)


def _fit(
    labelled: Judgements, material: Material, way: str, names: Sequence[str], start: Rule, kept: NDArray[np.bool_]
) -> Blend:
    """The rule over some experts, from the judgements that a mask keeps."""
    found = material.found_under(_evidence(labelled, material, kept) or DEFAULT, labelled.labels)
    opinions = {name: material.opinions[name][kept] for name in names}
    origin = Rule(weights={name: start.weights.get(name, 0.0) for name in names}, offsets=start.offsets)
    gold, found = material.gold[kept], None if found is None else found[kept]
    fitted = rule_fit.fit(opinions, gold, found, origin)
    if way != VOTES:
        return fitted
    common = np.bincount(gold.first, minlength=len(labelled.labels)).argmax()
    minority = [k for k in range(len(labelled.labels)) if k != common]
    return fitted._replace(says=rule_fit.with_votes(fitted.says, opinions, gold, found, len(material.models), minority))


def _evidence(labelled: Judgements, material: Material, kept: NDArray[np.bool_]) -> EvidencePolicy | None:
    """The policy that is right for most of the records whose label was right; of equals the default."""
    if not material.found:
        return None
    best, most = DEFAULT, -1
    for weight in NAMED_WEIGHTS:
        fill: dict[str, Fill] = {}
        right = 0
        for k, label in enumerate(labelled.labels):
            rows = kept & (material.gold.first == k)
            usual = DEFAULT.fill.get(label, "three")
            counts = {way: int(material.found[weight, way][rows].sum()) for way in FILLS}
            fill[label] = max(FILLS, key=lambda way: (counts[way], way == usual))
            right += counts[fill[label]]
        if right > most:
            best, most = EvidencePolicy(named_weight=weight, fill=fill), right
    return best
