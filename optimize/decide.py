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
from optimize import blend
from optimize.blend import Blend, between
from optimize.labelled import Labelled
from optimize.material import FILLS, FOLDS, NAMED_WEIGHTS, Judged, Material, gather, grouped
from optimize.tasks import Task
from programs.decision import CUES, WORDING, Decision, Rule, as_it_is
from programs.fusion import DEFAULT, EvidencePolicy, Fill

SHARES = (0.25, 0.5, 0.75, 1.0)  # of the way from the model as it is to the best fit
# Ways to decide, from the least to the most. The first two do without the LM and are there to be compared with.
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
    """One way to decide under cross-validation: the labels that it said of records it had not seen, whether their
    evidence was right, and how far from the model as it is it went."""

    score: float
    share: float
    said: NDArray[np.int64]
    found: NDArray[np.bool_] | None


def fit(task: Task, judged: Sequence[Judged], planted: Sequence[Labelled], seed: int, fitted_on: str = "") -> Fitted:
    """The decision layer for judged records of train and dev.

    planted: made records, for the priors alone; fitted_on: the LM that judged, to tell it from others later.

    With too few records for cross-validation there is a layer that changes nothing. Raises ValueError for no records.
    """
    if not judged:
        raise ValueError("no judged records: nothing to fit a decision layer on")
    start = as_it_is(list(judged[0].outcomes), len(task.labels))
    majority = Counter(label for found in judged for label in task.said(found.row.example.gold)).most_common(1)[0][0]
    group = grouped(task, [*(found.row for found in judged), *planted])
    known = len(set(group[: len(judged)]))
    if known < FOLDS:
        why = f"{known} groups of records that share nothing; {FOLDS} are needed"
        idle = Decision(labels=list(task.labels), majority=majority, kept=False, says=start, means=start)
        return Fitted(idle, None, {"kept": None, "why": why})
    material = gather(task, judged, planted, group, seed)
    everyone = [*material.models, WORDING, CUES]
    experts = {PRIOR: [WORDING], PRIORS: [WORDING, CUES], WEIGHTS: material.models, BOTH: everyone}
    if len(material.models) > 1:
        experts[VOTES] = everyone
    alone = _tried(task, material, start)
    tried = {name: _cross_validated(task, material, name, names, start) for name, names in experts.items()}
    best = max((name for name in experts if name not in (PRIOR, PRIORS)), key=lambda name: tried[name].score)
    after, before = (tally(material.gold, way.said, way.found, task.labels) for way in (tried[best], alone))
    gain = difference_interval(after, before)
    everything = np.ones(len(material.fold), dtype=np.bool_)
    blends = {name: _fit(task, material, name, names, start, everything) for name, names in experts.items()}
    rules = {name: between(start, blends[name].says, tried[name].share) for name in experts}
    wording, cues = material.texts.fit(np.ones(len(material.texts.fold), dtype=np.bool_))
    decision = Decision(
        labels=list(task.labels),
        majority=majority,
        fitted_on=fitted_on,
        kept=gain.low > 0,
        says=rules[best],
        means=blends[best].means,
        ablations=rules,
        wording=wording,
        cues=cues,
        evidence=_evidence(task, material, everything),
    )
    scores = {"LM alone": alone.score, **{name: found.score for name, found in tried.items()}}
    report = {
        "kept": best if gain.low > 0 else None,
        "share": tried[best].share,
        "gain": list(gain),
        "cross_validated": scores,
        "records": len(judged),
        "source": judged[0].outcomes[material.models[0]].judgements[0].source,
    }
    return Fitted(decision, gain, report)


def _tried(task: Task, material: Material, rule: Rule) -> Tried:
    """The models as they are."""
    said = rule.labels(material.opinions)
    found = material.found_under(DEFAULT, task.labels)
    return Tried(ranking_score(material.gold, said, found), 0.0, said, found)


def _cross_validated(task: Task, material: Material, way: str, names: Sequence[str], start: Rule) -> Tried:
    """What rules over these experts say of the records of each fold when fitted on the others, at the best share."""
    shares = SHARES if way in (WEIGHTS, BOTH) else (1.0,)
    said = {share: np.empty(len(material.fold), dtype=np.int64) for share in shares}
    found = material.found_under(DEFAULT, task.labels)
    for part in range(FOLDS):
        others, here = material.fold != part, material.fold == part
        fitted = _fit(task, material, way, names, start, others)
        for share in shares:
            rule = between(start, fitted.says, share)
            said[share][here] = rule.labels(material.opinions)[here]
        if found is not None:
            under = material.found_under(_evidence(task, material, others) or DEFAULT, task.labels)
            found[here] = under[here] if under is not None else False
    scores = {share: ranking_score(material.gold, said[share], found) for share in shares}
    best = max(shares, key=lambda share: scores[share])
    return Tried(scores[best], best, said[best], found)


def _fit(task: Task, material: Material, way: str, names: Sequence[str], start: Rule, kept: NDArray[np.bool_]) -> Blend:
    """The rule over some experts, from the judgements that a mask keeps."""
    found = material.found_under(_evidence(task, material, kept) or DEFAULT, task.labels)
    opinions = {name: material.opinions[name][kept] for name in names}
    origin = Rule(weights={name: start.weights.get(name, 0.0) for name in names}, offsets=start.offsets)
    gold, found = material.gold[kept], None if found is None else found[kept]
    fitted = blend.fit(opinions, gold, found, origin)
    if way != VOTES:
        return fitted
    common = np.bincount(gold.first, minlength=len(task.labels)).argmax()
    minority = [k for k in range(len(task.labels)) if k != common]
    return fitted._replace(says=blend.with_votes(fitted.says, opinions, gold, found, len(material.models), minority))


def _evidence(task: Task, material: Material, kept: NDArray[np.bool_]) -> EvidencePolicy | None:
    """The policy that is right for most of the records whose label was right; of equals the default."""
    if not material.found:
        return None
    best, most = DEFAULT, -1
    for weight in NAMED_WEIGHTS:
        fill: dict[str, Fill] = {}
        right = 0
        for k, label in enumerate(task.labels):
            rows = kept & (material.gold.first == k)
            usual = DEFAULT.fill.get(label, "three")
            counts = {way: int(material.found[weight, way][rows].sum()) for way in FILLS}
            fill[label] = max(FILLS, key=lambda way: (counts[way], way == usual))
            right += counts[fill[label]]
        if right > most:
            best, most = EvidencePolicy(named_weight=weight, fill=fill), right
    return best
