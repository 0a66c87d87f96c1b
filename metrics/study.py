"""`python -m metrics.study`: how far may the objectives that an optimizer can maximise be trusted? No LM is called.

Pools of simulated candidate programs (metrics.simulation) are ranked by each objective on a sample of records, and the
ranking is compared with the official score, on the same sample and in truth (20,000 records of the same world).
`--full` prints every size, spread and objective; the answer is the same on every run.
"""

import argparse
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from metrics.credit import linearise
from metrics.official import FN, FP, TP, Tally, f1_scores, score
from metrics.simulation import WORLDS, World, draw_corpus, draw_pool, judge, part

Floats = NDArray[np.float64]

SIZES = (35, 100, 200, 400, 1000)
SHOWN_SIZES = (35, 200, 400, 1000)
SEEDS = 5
DRAWS = 20  # samples of each size for each pool; a seed's value is their mean
TRAIN = 400  # records that the credit is linearised on; they are in no sample
TRUTH = 20_000
CANDIDATES = 60
PAIRS = (0.01, 0.10)  # true difference of the pairs of which the better is to be chosen
GOAL_SPEARMAN, GOAL_SPEARMAN_SIZE = 0.95, 200
GOAL_REGRET, GOAL_REGRET_SIZE = 0.5, 400  # points


class Sample(NamedTuple):
    """What an optimizer sees: each candidate's tally of a sample and of train, and which candidate is the baseline."""

    tallies: Sequence[Tally]
    train: Sequence[Tally]
    baseline: int


class Agreement(NamedTuple):
    """same, truth: Spearman with the official score of the sample, and with the true one; better: probability of
    choosing the better of two; regret: true score below the best candidate's, and below that of the candidate which
    the official score of the same sample chooses (both in points)."""

    same: float
    truth: float
    better: float
    regret: float
    extra: float


Objective = Callable[[Sample], Floats]
Results = dict[tuple[str, int, str], NDArray[np.float64]]  # (world, size, objective) -> (seeds, len(Agreement))


def accuracy(sample: Sample) -> Floats:
    """Mean over records of the share of sentences (claims) that are right."""
    counts = np.stack([tally.counts for tally in sample.tallies]).sum(axis=3)
    return np.asarray((counts[:, :, TP] / (counts[:, :, TP] + counts[:, :, FN])).mean(axis=1))


def accuracy_exact(sample: Sample) -> Floats:
    """Mean of accuracy and exact match."""
    return (accuracy(sample) + np.array([tally.exact.mean() for tally in sample.tallies])) / 2


def credit(sample: Sample) -> Floats:
    """Mean credit (metrics.credit), linearised at the baseline's train tally."""
    return _credit(sample.tallies, sample.train[sample.baseline])


def credit_again(sample: Sample) -> Floats:
    """Mean credit, linearised at the train tally of the candidate with most credit on train."""
    best = int(_credit(sample.train, sample.train[sample.baseline]).argmax())
    return _credit(sample.tallies, sample.train[best])


def corpus_score(sample: Sample) -> Floats:
    """The official score of the sample."""
    return np.array([score(tally).score for tally in sample.tallies])


def exact_gradient(sample: Sample) -> Floats:
    """As credit, but with the baseline's own denominator 2 TP + FP + FN in the place of 2 n."""
    return _linear(sample.tallies, _gradient(sample.train[sample.baseline]))


def exact_again(sample: Sample) -> Floats:
    """As credit, re-linearised, with the exact gradient."""
    best = int(_linear(sample.train, _gradient(sample.train[sample.baseline])).argmax())
    return _linear(sample.tallies, _gradient(sample.train[best]))

def _perfect(tally):
    c = tally.counts.copy(); c[:,TP]+=c[:,FN]; c[:,FP:]=0
    return Tally(tally.labels,c,tally.exact,tally.exact_name)

def midpoint(sample: Sample) -> Floats:
    b=sample.train[sample.baseline]
    return _linear(sample.tallies, (_gradient(b)+_gradient(_perfect(b)))/2)

def credit_third(sample):
    at=sample.baseline
    for _ in range(3): at=int(_credit(sample.train, sample.train[at]).argmax())
    return _credit(sample.tallies, sample.train[at])

def two_point(sample):
    b=sample.train[sample.baseline]
    best = int(_credit(sample.train, b).argmax())
    return (_credit(sample.tallies,b)+_credit(sample.tallies,sample.train[best]))/2

def pool_mean(sample):
    return np.mean([_credit(sample.tallies,t) for t in sample.train[::6]],axis=0)
def pool_mean_exact(sample):
    return _linear(sample.tallies,np.mean([_gradient(t) for t in sample.train[::6]],axis=0))
def true_best(sample):
    best=int(np.argmax([score(t).score for t in sample.train]))
    return _credit(sample.tallies, sample.train[best])
def true_best_exact(sample):
    best=int(np.argmax([score(t).score for t in sample.train]))
    return _linear(sample.tallies, _gradient(sample.train[best]))
def half_t(sample):
    b=sample.train[sample.baseline]; from metrics.credit import Credit
    c=linearise(b); c=Credit(t=np.full_like(c.t,.5),n=c.n)
    return np.array([c(t).mean() for t in sample.tallies])
def smooth_t(sample):
    b=sample.train[sample.baseline]; from metrics.credit import Credit
    c=linearise(b); c=Credit(t=(c.t+.5)/2,n=c.n)
    return np.array([c(t).mean() for t in sample.tallies])
def midn(sample):
    """denominator = mean of own and 2n"""
    b=sample.train[sample.baseline]
    tot=b.counts.sum(0)/len(b); n=tot[TP]+tot[FN]; D=tot[TP]+tot[FP]+n; D=(D+2*n)/2; t=f1_scores(tot)
    w=np.stack([2-t,-t,0*t])/np.where(D>0,D,1)/2/len(t)
    return _linear(sample.tallies,w)


OBJECTIVES: dict[str, Objective] = {
    "accuracy": accuracy,
    "accuracy + exact": accuracy_exact,
    "credit": credit,
    "credit, re-linearised": credit_again,
    "corpus score": corpus_score,
    "exact gradient": exact_gradient,
    "exact again": exact_again,
    "midpoint": midpoint,
    "credit third": credit_third,
    "two point": two_point,
    "pool mean": pool_mean,
    "pool mean exact": pool_mean_exact,
    "trainbest": true_best,
    "trainbest exact": true_best_exact,
    "t=.5": half_t,
    "smooth t": smooth_t,
    "midn": midn,
}


def study(worlds=WORLDS, sizes=SIZES, seeds=SEEDS, draws=DRAWS, truth=TRUTH) -> Results:
    found = {}
    for world in worlds:
        for seed in range(seeds):
            for key, agreements in _pool(world, seed, sizes, draws, truth).items():
                found.setdefault((world.name, *key), []).append(np.mean(agreements, axis=0))
    return {key: np.array(rows) for key, rows in found.items()}


def _pool(world, seed, sizes, draws, truth):
    rng = np.random.default_rng([seed, len(world.name)])
    block = TRAIN + max(sizes)
    corpus = draw_corpus(world, truth + draws * block, rng)
    true, seen = [], []
    for candidate in draw_pool(world, CANDIDATES, rng):
        whole = judge(world, corpus, candidate, rng)
        true.append(score(part(whole, 0, truth)).score)
        seen.append(part(whole, truth, draws * block))
    true = np.array(true)
    found = {}
    for draw in range(draws):
        baseline = int(rng.choice(np.argsort(true)[: CANDIDATES // 2]))
        train = [part(t, draw * block, TRAIN) for t in seen]
        for size in sizes:
            sample = Sample([part(t, draw * block + TRAIN, size) for t in seen], train, baseline)
            official = corpus_score(sample)
            for name, objective in OBJECTIVES.items():
                found.setdefault((size, name), []).append(agreement(objective(sample), official, true))
    return found


def agreement(values: Floats, official: Floats, true: Floats) -> Agreement:
    gap = true[:, None] - true
    pairs = (gap >= PAIRS[0]) & (gap <= PAIRS[1])
    ahead = np.sign(values[:, None] - values)[pairs]
    chosen = true[values.argmax()]
    return Agreement(
        spearmanr(values, official).statistic,
        spearmanr(values, true).statistic,
        float((1 + ahead.mean()) / 2),
        100 * (true.max() - chosen),
        100 * (true[official.argmax()] - chosen),
    )


def _credit(tallies: Sequence[Tally], at: Tally) -> Floats:
    per_record = linearise(at)
    return np.array([per_record(tally).mean() for tally in tallies])


def _gradient(at: Tally) -> Floats:
    """d score / d (TP, FP, FN), each a mean over records: shape (3, labels)."""
    totals = at.counts.sum(axis=0) / len(at)
    t = f1_scores(totals)
    bottom = 2 * totals[TP] + totals[FP] + totals[FN]
    top = np.stack([2 - 2 * t, -t, -t])
    return np.asarray(np.divide(top, 2 * len(t) * bottom, out=np.zeros_like(top), where=bottom > 0))


def _linear(tallies: Sequence[Tally], weights: Floats) -> Floats:
    return np.array([(tally.counts.mean(axis=0) * weights).sum() + tally.exact.mean() / 2 for tally in tallies])


if __name__ == "__main__":
    import sys, time
    t0 = time.time()
    r = study(seeds=int(sys.argv[1]), draws=int(sys.argv[2]))
    for w in WORLDS:
        for size in SIZES:
            for name in OBJECTIVES:
                a = r[w.name, size, name]
                m, s = a.mean(0), a.std(0)
                print(f"{w.name:20} {size:5} {name:22} same {m[0]:.3f}±{s[0]:.3f} true {m[1]:.3f} better {m[2]:.3f} regret {m[3]:.2f} extra {m[4]:.2f}±{s[4]:.2f}")
    print(time.time() - t0)
