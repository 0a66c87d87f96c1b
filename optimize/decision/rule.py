"""Fitting a rule that weighs experts: first their probabilities, by likelihood; then how readily to say each label, by
the ranking score itself.

Two steps, because the first is smooth and can be fitted on little data, and only the second, one number a label, climbs
the jagged score. How far an offset may go depends on how many statements have its label alone: where a label is gold
only beside others, saying it more readily is right although nobody would have said it. What is left of the jags goes by
averaging rules that were fitted on different parts of the data (Breiman 1996, "Bagging predictors"): a rule is linear,
so the mean of several is one again.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.judgements import Gold, raised
from aisr.programs.decision import LM, Opinions, Rule, softmax

PENALTY = 5.0  # on the squared distance of each number from "the LM as it is"
ENOUGH = 10  # statements with a label as their only gold one, or all that have it, let its offset be as free as any
DOUBT = 1.0  # misses added to each label's: without it a label of one lucky record is worth as much as any other
GRID = np.linspace(-4.0, 4.0, 33)
SWEEPS = 4
DECIMALS = 4


class Blend(NamedTuple):
    """A fitted rule, and one for the probabilities behind it."""

    says: Rule
    means: Rule


def fit(opinions: Opinions, gold: Gold, found: NDArray[np.bool_] | None) -> Blend:
    """The rule for these experts; it is pulled towards the LM as it is."""
    trust = _trust(gold)
    means = _likeliest(opinions, gold, trust)
    offsets = _climb(means.logits(opinions), gold, found, trust)
    says = Rule(weights=means.weights, offsets=_rounded(np.array(means.offsets) + offsets))
    return Blend(says, means)


def part_way(rule: Rule, share: float) -> Rule:
    """So much of the way from the LM as it is to a rule, 0-1."""
    weights = {name: (1 - share) * (name == LM) + share * weight for name, weight in rule.weights.items()}
    return Rule(
        weights={name: round(weight, DECIMALS) for name, weight in weights.items()},
        offsets=_rounded(share * np.array(rule.offsets)),
    )


def averaged(rules: Sequence[Rule]) -> Rule:
    """The mean of rules over the same experts."""
    weights = {name: float(np.mean([rule.weights[name] for rule in rules])) for name in rules[0].weights}
    offsets = np.mean([rule.offsets for rule in rules], axis=0)
    return Rule(weights={name: round(weight, DECIMALS) for name, weight in weights.items()}, offsets=_rounded(offsets))


def _trust(gold: Gold) -> NDArray[np.float64]:
    """How far each label's offset is believed, 0-1, shape (labels,): by statements without another gold label."""
    alone = gold.allowed[gold.allowed.sum(axis=1) == 1].sum(axis=0)
    return np.asarray(np.minimum(alone / np.clip(gold.allowed.sum(axis=0), 1, ENOUGH), 1.0))


def _likeliest(opinions: Opinions, gold: Gold, trust: NDArray[np.float64]) -> Rule:
    """Weights and offsets of the highest penalised likelihood of saying a label that is allowed."""
    from scipy.optimize import minimize

    names = list(opinions)
    stacked = np.stack([opinions[name] for name in names])
    experts, _, labels = stacked.shape
    origin = np.concatenate([[float(name == LM) for name in names], np.zeros(labels)])

    def loss(numbers: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        chances = softmax(np.tensordot(numbers[:experts], stacked, axes=1) + trust * numbers[experts:])
        allowed = chances * gold.allowed
        right = np.maximum(allowed.sum(axis=1), 1e-300)
        off = chances - allowed / right[:, None]
        gradient = np.concatenate([np.tensordot(stacked, off, axes=2), trust * off.sum(axis=0)])
        away = numbers - origin
        value = -np.log(right).sum() + PENALTY / 2 * away @ away
        return float(value), gradient + PENALTY * away

    best = minimize(loss, origin, jac=True, method="L-BFGS-B").x
    return Rule(
        weights=dict(zip(names, _rounded(best[:experts]), strict=True)), offsets=_rounded(trust * best[experts:])
    )


def _climb(
    logits: NDArray[np.float64], gold: Gold, found: NDArray[np.bool_] | None, trust: NDArray[np.float64]
) -> NDArray[np.float64]:
    """An offset for each label that raises the ranking score, by coordinate ascent from none, no farther than it is
    trusted.

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
            scores = raised(gold, others.argmax(axis=1), label, moved, found, DOUBT)
            smooth = np.convolve(np.pad(scores, 1, mode="edge"), np.ones(3) / 3, mode="valid")
            best = np.flatnonzero(smooth >= smooth.max() - 1e-12)
            nearest = best[np.argmin(np.abs(GRID[best]))]
            offsets[label] = before[label] + grid[nearest]
        if np.array_equal(before, offsets):
            break
    return np.asarray(offsets - offsets.mean())


def _rounded(values: NDArray[np.float64]) -> list[float]:
    return [round(float(value), DECIMALS) for value in values]
