"""`python -m benchmarks.objective`: how far may the objectives that an optimizer can maximise be trusted? No
LM is called.

Pools of 60 simulated candidate programs (benchmarks.simulation) are ranked by each objective on a sample of
records. The ranking is compared with the official score, of the same sample and in truth (20,000 records of the same
world). The surrogate is linearised at a program of the worse half of the pool, as the uncompiled one is, on 400 records
that stand in no sample. The answer is the same on every run.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from aisr.metrics.scores import FN, TP, Surrogate, Tally, f1_scores, value
from benchmarks.simulation import WORLDS, World, draw_corpus, draw_pool, judge, part

Floats = NDArray[np.float64]

PAIRS = (0.01, 0.10)  # true difference of the pairs of which the better is to be chosen
GOAL_SPEARMAN, AT_SPEARMAN = 0.95, 200
GOAL_EXTRA, AT_EXTRA = 0.5, 400  # points, records


class Plan(NamedTuple):
    """How much is simulated. Each seed has `pools` pools, each of them `draws` samples of each size and of train."""

    sizes: tuple[int, ...] = (35, 200, 400, 1000)
    seeds: int = 5
    pools: int = 4
    draws: int = 5
    candidates: int = 60
    train: int = 400
    truth: int = 20_000


PLAN = Plan()


class Sample(NamedTuple):
    """Each candidate's tally of a sample and of train, and which candidate is the baseline."""

    tallies: Sequence[Tally]
    train: Sequence[Tally]
    baseline: int


class Agreement(NamedTuple):
    """How an objective agrees with the official score.

    same, truth: Spearman with that of the same sample, and with the true one; better: probability of choosing the
    better of two; regret: points that the chosen candidate truly is below the best one; extra: points that it truly is
    below the one which the official score of the same sample chooses (what is lost to the objective, not to chance).
    """

    same: float
    truth: float
    better: float
    regret: float
    extra: float


class Measured(NamedTuple):
    """Mean over seeds of an agreement, and its standard deviation from seed to seed."""

    mean: Agreement
    spread: Agreement


Results = dict[tuple[str, int, str], Measured]  # by world, size and objective


def accuracy(sample: Sample) -> Floats:
    """Mean over records of the share of sentences (claims) that are right."""
    counts = np.stack([tally.counts.sum(axis=2) for tally in sample.tallies])
    return np.asarray((counts[..., TP] / (counts[..., TP] + counts[..., FN])).mean(axis=1))


def surrogate(sample: Sample) -> Floats:
    """Mean surrogate, linearised at the baseline's train tally."""
    return _means(sample.train[sample.baseline].linearised, sample.tallies)


def relinearised(sample: Sample) -> Floats:
    """Mean surrogate, linearised at the train tally of the candidate with the highest surrogate on train."""
    best = int(_means(sample.train[sample.baseline].linearised, sample.train).argmax())
    return _means(sample.train[best].linearised, sample.tallies)


def own_slope(sample: Sample) -> Floats:
    """As surrogate, but with the baseline's own F1 as t_k, which is right for its near copies only."""
    totals = sample.train[sample.baseline].counts.mean(axis=0)
    return _means(Surrogate(t=f1_scores(totals), n=totals[TP] + totals[FN]), sample.tallies)


def corpus_score(sample: Sample) -> Floats:
    """The official score of the sample."""
    return np.array([value(tally) for tally in sample.tallies])


OBJECTIVES: dict[str, Callable[[Sample], Floats]] = {
    "accuracy": accuracy,
    "surrogate": surrogate,
    "surrogate, re-linearised": relinearised,
    "surrogate, own slope": own_slope,
    "corpus score": corpus_score,
}


def study(plan: Plan = PLAN, worlds: Sequence[World] = WORLDS) -> Results:
    """Every objective in every world at every size."""
    agreements: dict[tuple[str, int, str], list[list[Agreement]]] = {}
    for world in worlds:
        for seed in range(plan.seeds):
            for pool in range(plan.pools):
                rng = np.random.default_rng([seed, pool, *world.name.encode()])
                for size, name, measured in _pool(world, plan, rng):
                    seeds = agreements.setdefault((world.name, size, name), [[] for _ in range(plan.seeds)])
                    seeds[seed].append(measured)
    return {key: _over_seeds(np.array(seeds)) for key, seeds in agreements.items()}


def agreement(values: Floats, official: Floats, true: Floats) -> Agreement:
    """How `values` of candidates agree with their `official` score on the same sample and their `true` one (0-1)."""
    gap = true[:, None] - true
    pairs = (gap >= PAIRS[0]) & (gap <= PAIRS[1])
    ahead = np.sign(values[:, None] - values)[pairs]  # 0 for a tie, which a coin decides
    chosen = true[values.argmax()]
    return Agreement(
        same=float(spearmanr(values, official).statistic),
        truth=float(spearmanr(values, true).statistic),
        better=float((1 + ahead.mean()) / 2),
        regret=float(100 * (true.max() - chosen)),
        extra=float(100 * (true[official.argmax()] - chosen)),
    )


def _pool(world: World, plan: Plan, rng: np.random.Generator) -> Iterator[tuple[int, str, Agreement]]:
    """One pool: size, objective and agreement of each sample."""
    block = plan.train + max(plan.sizes)
    corpus = draw_corpus(world, plan.truth + plan.draws * block, rng)
    scores, seen = [], []
    for candidate in draw_pool(world, plan.candidates, rng):
        tally = judge(world, corpus, candidate, rng)
        scores.append(value(part(tally, 0, plan.truth)))
        seen.append(part(tally, plan.truth, plan.draws * block))
    true = np.array(scores)
    worse_half = true.argsort()[: len(true) // 2]
    for draw in range(plan.draws):
        baseline = int(rng.choice(worse_half))
        train = [part(tally, draw * block, plan.train) for tally in seen]
        for size in plan.sizes:
            sample = Sample([part(tally, draw * block + plan.train, size) for tally in seen], train, baseline)
            official = corpus_score(sample)
            for name, objective in OBJECTIVES.items():
                yield size, name, agreement(objective(sample), official, true)


def _over_seeds(values: Floats) -> Measured:
    """`values` has shape (seeds, samples, parts of an agreement)."""
    means = values.mean(axis=1)
    spread = means.std(axis=0, ddof=1) if len(means) > 1 else np.zeros(means.shape[1])
    return Measured(Agreement(*means.mean(axis=0)), Agreement(*spread))


def _means(per_record: Surrogate, tallies: Sequence[Tally]) -> Floats:
    return np.array([per_record.of(tally.counts, tally.exact).mean() for tally in tallies])


def summary(results: Results) -> str:
    """One line a world and objective; the values of a cell are those of the sample sizes in the heading."""
    sizes = sorted({size for _, size, _ in results})
    lines = [
        f"| at {' / '.join(map(str, sizes))} records | objective | Spearman, same sample | Spearman, truth "
        "| P(choose better) | regret | lost to objective |",
        "|---|---|---|---|---|---|---|",
    ]
    for world in _worlds(results):
        for name in OBJECTIVES:
            rows = zip(*(results[world, size, name].mean for size in sizes), strict=True)
            cells = [" / ".join(map(form, row)) for form, row in zip(FORMS, rows, strict=True)]
            lines.append(f"| {' | '.join([world, name, *cells])} |")
    return "\n".join(lines)


def goals(results: Results) -> str:
    """Whether the variants of the surrogate meet the goals in all worlds, with mean ± standard deviation over seeds."""
    lines = [
        f"| goal in {', '.join(_worlds(results))} | Spearman, same sample >= {GOAL_SPEARMAN:.2f} at {AT_SPEARMAN} "
        f"| | lost to objective < {GOAL_EXTRA} at {AT_EXTRA} | |",
        "|---|---|---|---|---|",
    ]
    for name in (name for name in OBJECTIVES if name.startswith("surrogate")):
        ranks = [results[world, AT_SPEARMAN, name] for world in _worlds(results)]
        losses = [results[world, AT_EXTRA, name] for world in _worlds(results)]
        cells = [
            ", ".join(f"{rank.mean.same:.3f} ± {rank.spread.same:.3f}" for rank in ranks),
            _met(all(rank.mean.same >= GOAL_SPEARMAN for rank in ranks)),
            ", ".join(f"{loss.mean.extra:.2f} ± {loss.spread.extra:.2f}" for loss in losses),
            _met(all(loss.mean.extra < GOAL_EXTRA for loss in losses)),
        ]
        lines.append(f"| {' | '.join([name, *cells])} |")
    return "\n".join(lines)


def _worlds(results: Results) -> list[str]:
    return list(dict.fromkeys(key[0] for key in results))


def _met(met: bool) -> str:
    return "met" if met else "missed"


def _share(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1)


def _points(value: float) -> str:
    return f"{round(value, 1) + 0:.1f}"  # + 0: no "-0.0"


FORMS = (_share, _share, _share, _points, _points)  # of the parts of an Agreement


def main(plan: Plan = PLAN) -> None:
    """Print the tables to stdout."""
    results = study(plan)
    drawn = f"{plan.seeds} seeds x {plan.pools} pools of {plan.candidates} candidates x {plan.draws} samples."
    print(f"{drawn} Regret: points of true score below the best candidate;")
    print("lost to objective: below the candidate that the official score of the same sample chooses.\n")
    print(summary(results))
    print(f"\n{goals(results)}")


if __name__ == "__main__":
    main()
