"""Fitting the parts of a decision layer: the priors, which need no LM, and the rule that weighs the experts.

The priors are the wording and the cues, each a logistic regression (scikit-learn, whose import takes over a second:
inside the functions, for commands that only read programs).

The rule is fitted in two steps: first the weights of the experts' probabilities, by likelihood; then an offset a label,
by the ranking score itself. The first is smooth and can be fitted on little data, and only the second, one number a
label, climbs the jagged score. A label's offset is shrunk towards 0 when fewer than ten statements have it as their
only gold label: where a label is gold only beside others, saying it more often is right although nobody would have
said it. Averaging rules that were fitted on different parts of the data smooths the rest (Breiman 1996, "Bagging
predictors"): a rule is linear, so the mean of several is one again.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from aisr.metrics.judgements import Gold, raised
from aisr.programs.decision import CUES, FAMILIES, LM, CueWeights, Opinions, Rule, Terms, Wording, softmax

MOST_TERMS = 6000  # of each family, the commonest: beyond that macro-F1 moves by chance only and the artifact swells
DECIMALS = 4  # rounded before use, so that what is fitted is what is saved
ABSENT = -9.0  # the intercept of a label that never occurs
PENALTY = 5.0  # on the squared distance of each number from "the LM as it is"
ENOUGH = 10  # statements with a label as their only gold one, or all that have it, from which on nothing is shrunk
DOUBT = 1.0  # misses added to each label's: without it a label of one lucky record is worth as much as any other
GRID = np.linspace(-4.0, 4.0, 33)
SWEEPS = 4


class Counted(NamedTuple):
    """How often each term of a family stands in each text; terms in alphabetical order, counts (texts, terms)."""

    terms: NDArray[np.object_]
    counts: csr_matrix


def count(texts: Sequence[str]) -> list[Counted]:
    """The terms of texts, once for all folds: counting takes longer than fitting."""
    return [_counted(texts, how) for how in FAMILIES]


def _counted(texts: Sequence[str], how: dict[str, Any]) -> Counted:
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(min_df=2, **how)
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError:  # scikit-learn: no term is left
        return Counted(np.array([], dtype=object), csr_matrix((len(texts), 0)))
    return Counted(vectorizer.get_feature_names_out(), counts)


def fit_wording(counted: Sequence[Counted], kept: NDArray[np.bool_], first: NDArray[np.int64], labels: int) -> Wording:
    """The wording prior of the texts that a mask keeps, whose label indices are `first`. A label counts the same
    however rare it is.

    Texts without a term that occurs twice give a prior that is the same for every text.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    terms, idf, columns = [], [], []
    for family in counted:
        counts = family.counts[kept]
        texts_with = np.diff(counts.tocsc().indptr)
        enough = np.flatnonzero(texts_with >= 2)
        often = np.argsort(-np.asarray(counts.sum(axis=0)).ravel()[enough], kind="stable")[:MOST_TERMS]
        chosen = np.sort(enough[often])
        weigh = TfidfTransformer(sublinear_tf=True)
        columns.append(weigh.fit_transform(counts[:, chosen]) if len(chosen) else csr_matrix((counts.shape[0], 0)))
        terms.append(family.terms[chosen])
        idf.append(weigh.idf_ if len(chosen) else np.zeros(0))
    intercepts, coefficients = _regress(hstack(columns).tocsr(), first[kept], labels, strength=10.0)
    rows = iter(coefficients)
    return Wording(
        intercepts=_round(intercepts),
        families=[
            Terms(rows={str(term): _round([weight, *next(rows)]) for term, weight in zip(*family, strict=True)})
            for family in zip(terms, idf, strict=True)
        ],
    )


def fit_cues(values: NDArray[np.float64], first: NDArray[np.int64], labels: int) -> CueWeights:
    """The weights of cues, whose values (judgements, cues) belong to labels `first`."""
    spread = np.where(values.std(axis=0) > 0, values.std(axis=0), 1.0)
    intercepts, coefficients = _regress(csr_matrix(values / spread), first, labels, strength=1.0)
    scaled = coefficients / spread[:, None]
    rows = {name: _round(row) for name, row in zip(CUES, scaled, strict=True)}
    return CueWeights(intercepts=_round(intercepts), coefficients=rows)


def _regress(
    features: csr_matrix, first: NDArray[np.int64], labels: int, strength: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Intercepts (labels,) and coefficients (features, labels) of a class-weighted logistic regression.

    strength: the inverse of the penalty.
    """
    from sklearn.linear_model import LogisticRegression

    intercepts, coefficients = np.full(labels, ABSENT), np.zeros((features.shape[1], labels))
    present = np.unique(first)
    intercepts[present] = 0.0
    if len(present) == 1 or not features.shape[1]:
        return intercepts, coefficients
    model = LogisticRegression(C=strength, class_weight="balanced", max_iter=2000).fit(features, first)
    if len(present) == 2:  # scikit-learn gives one row, for the second of the two
        intercepts[present[1]], coefficients[:, present[1]] = model.intercept_[0], model.coef_[0]
    else:
        intercepts[present], coefficients[:, present] = model.intercept_, model.coef_.T
    return intercepts, coefficients


class Rules(NamedTuple):
    """A fitted rule that gives the label, and one that gives the probabilities behind it."""

    says: Rule
    means: Rule


def fit_rules(opinions: Opinions, gold: Gold, evidence_right: NDArray[np.bool_] | None) -> Rules:
    """The rules for these experts, pulled towards the LM as it is. evidence_right: (judgements,), where the score
    counts evidence."""
    trust = _trust(gold)
    means = _likeliest(opinions, gold, trust)
    offsets = _climb(means.logits(opinions), gold, evidence_right, trust)
    says = Rule(weights=means.weights, offsets=_round(np.array(means.offsets) + offsets))
    return Rules(says, means)


def interpolate(rule: Rule, share: float) -> Rule:
    """The rule at a share in 0-1 of the way from the LM as it is to this one."""
    weights = {name: (1 - share) * (name == LM) + share * weight for name, weight in rule.weights.items()}
    return Rule(
        weights={name: round(weight, DECIMALS) for name, weight in weights.items()},
        offsets=_round(share * np.array(rule.offsets)),
    )


def mean_rule(rules: Sequence[Rule]) -> Rule:
    """The mean of rules over the same experts."""
    weights = {name: float(np.mean([rule.weights[name] for rule in rules])) for name in rules[0].weights}
    offsets = np.mean([rule.offsets for rule in rules], axis=0)
    return Rule(weights={name: round(weight, DECIMALS) for name, weight in weights.items()}, offsets=_round(offsets))


def _trust(gold: Gold) -> NDArray[np.float64]:
    """The factor of each label's offset, 0-1, shape (labels,): by the statements that have no other gold label."""
    alone = gold.allowed[gold.allowed.sum(axis=1) == 1].sum(axis=0)
    return np.asarray(np.minimum(alone / np.clip(gold.allowed.sum(axis=0), 1, ENOUGH), 1.0))


def _likeliest(opinions: Opinions, gold: Gold, trust: NDArray[np.float64]) -> Rule:
    """Weights and offsets of the highest penalised likelihood of an allowed label."""
    from scipy.optimize import minimize

    names = list(opinions)
    stacked = np.stack([opinions[name] for name in names])
    experts, _, labels = stacked.shape
    origin = np.concatenate([[float(name == LM) for name in names], np.zeros(labels)])

    def loss(numbers: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        probabilities = softmax(np.tensordot(numbers[:experts], stacked, axes=1) + trust * numbers[experts:])
        allowed = probabilities * gold.allowed
        right = np.maximum(allowed.sum(axis=1), 1e-300)
        off = probabilities - allowed / right[:, None]
        gradient = np.concatenate([np.tensordot(stacked, off, axes=2), trust * off.sum(axis=0)])
        away = numbers - origin
        value = -np.log(right).sum() + PENALTY / 2 * away @ away
        return float(value), gradient + PENALTY * away

    best = minimize(loss, origin, jac=True, method="L-BFGS-B").x
    return Rule(weights=dict(zip(names, _round(best[:experts]), strict=True)), offsets=_round(trust * best[experts:]))


def _climb(
    logits: NDArray[np.float64], gold: Gold, evidence_right: NDArray[np.bool_] | None, trust: NDArray[np.float64]
) -> NDArray[np.float64]:
    """An offset for each label that raises the ranking score, by coordinate ascent from 0, within `trust` times the
    grid.

    Along each line the score is smoothed over neighbouring values, so that a peak on which a single record sits does
    not win; of equals, the one nearest to where it was.
    """
    offsets = np.zeros(logits.shape[1])
    for _ in range(SWEEPS):
        before = offsets.copy()
        for label in range(len(offsets)):
            grid = trust[label] * GRID
            values = offsets[label] + grid
            others = logits + offsets
            others[:, label] = -np.inf
            moved = logits[:, label] + values[:, None] > others.max(axis=1)
            scores = raised(gold, others.argmax(axis=1), label, moved, evidence_right, DOUBT)
            smooth = np.convolve(np.pad(scores, 1, mode="edge"), np.ones(3) / 3, mode="valid")
            best = np.flatnonzero(smooth >= smooth.max() - 1e-12)
            nearest = best[np.argmin(np.abs(GRID[best]))]
            offsets[label] = before[label] + grid[nearest]
        if np.array_equal(before, offsets):
            break
    return np.asarray(offsets - offsets.mean())


def _round(values: Sequence[float] | NDArray[np.float64]) -> list[float]:
    return [round(float(value), DECIMALS) for value in values]
