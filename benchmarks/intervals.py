"""`python -m benchmarks.intervals`: how often does a 95 % interval hold the true value, where groups are few?

Two programs answer simulated records in groups of 1 to 20. The records of a group are like (one gold label, one
outcome), half like, or unlike. Labels have the mix of Track 2's train-dev; a wrong answer is any other label. No LM is
called, and the answer is the same on every run. It takes about a minute.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.metrics.intervals import Interval, difference_interval, score_interval
from aisr.metrics.scores import FN, FP, TP, Floats, MeanScores, Tally, f1_scores, ranking_value
from aisr.programs.track2 import CITATION_LABELS
from benchmarks.simulation import WORLDS

Ints = NDArray[np.int64]

MIX = np.array(WORLDS[-1].mix) / sum(WORLDS[-1].mix)
LABELS = len(MIX)
LARGEST = 20  # records of a group
LIKENESS = {"like": 1.0, "half": 0.5, "unlike": 0.0}  # the share of records that take after their group
RIGHT = (0.5, 0.9)
BETTER = 0.05  # how much more often the second program is right
SHARED = 0.7  # the share of records on which both have the same luck
REPEATS = {3: 400, 4: 400, 5: 400, 10: 400, 30: 400, 100: 100}  # simulated corpora, by their number of groups
SHARE_GOAL, OTHER_GOAL = 0.90, 0.88
GOALS = {"share": (SHARE_GOAL, 10), "score": (OTHER_GOAL, 30), "macro-F1": (OTHER_GOAL, 30)}  # and from how many groups
GOALS |= {f"difference of {name}s": (OTHER_GOAL, 30) for name in ("share", "score")}


class Corpus(NamedTuple):
    """Answers of both programs to the same records."""

    first: Tally
    second: Tally
    group: Ints


def draw_corpus(groups: int, likeness: float, right: float, rng: np.random.Generator) -> Corpus:
    """Return a corpus; right: how often the first program is."""
    group = np.repeat(np.arange(groups), rng.integers(1, LARGEST + 1, groups))
    records = len(group)

    def take_after_group(of_groups: NDArray[np.float64], own: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(rng.random(records) < likeness, of_groups[group], own)

    lots = [take_after_group(rng.random(groups), rng.random(records)) for _ in range(5)]
    gold = np.searchsorted(MIX.cumsum(), lots[0])
    other = (gold + 1 + (lots[1] * (LABELS - 1)).astype(np.int64)) % LABELS
    luck = np.where(lots[2] < SHARED, lots[3], lots[4])
    answers = [np.where(lots[3] < right, gold, other), np.where(luck < right + BETTER, gold, other)]
    first, second = (_tally(gold, answer) for answer in answers)
    return Corpus(first, second, group)


def _tally(gold: Ints, answer: Ints) -> Tally:
    counts = np.zeros((len(gold), 3, LABELS), dtype=np.int64)
    rows, right = np.arange(len(gold)), gold == answer
    counts[rows[right], TP, gold[right]] = 1
    counts[rows[~right], FN, gold[~right]] = 1
    counts[rows[~right], FP, answer[~right]] = 1
    return Tally(CITATION_LABELS, counts, right, "right")


def true_scores(right: float) -> dict[str, float]:
    """Return the scores of a program that is right so often, on an endless corpus."""
    wrong = (1 - right) * MIX
    f1 = f1_scores(np.array([right * MIX, (wrong.sum() - wrong) / (LABELS - 1), wrong]))
    return {"share": right, "score": float(ranking_value(f1, right)), "macro-F1": float(f1.mean())}


class MacroF1(Tally):
    """Labels scored by macro-F1 alone."""

    def ranking(self, resamples: Floats) -> Floats:
        return np.asarray(2 * super().ranking(resamples) - resamples @ self.exact / resamples.sum(axis=1))


def intervals_of(corpus: Corpus) -> Iterator[tuple[str, Interval]]:
    """Yield the interval of each statistic, with its name."""
    first, second, group = corpus
    shares = [MeanScores(one.exact.astype(np.float64)) for one in (first, second)]
    yield "share", score_interval(shares[0], group)
    yield "score", score_interval(first, group)
    yield "macro-F1", score_interval(MacroF1(first.labels, first.counts, first.exact, first.exact_name), group)
    yield "difference of shares", difference_interval(shares[1], shares[0], group)
    yield "difference of scores", difference_interval(second, first, group)


def measure(groups: int, likeness: float, right: float, repeats: int) -> dict[str, tuple[float, float]]:
    """Return of each statistic how often its interval holds the true value, and its mean length; both in 0-1."""
    rng = np.random.default_rng([groups, round(100 * likeness), round(100 * right)])
    truth, after = true_scores(right), true_scores(right + BETTER)
    truth |= {f"difference of {name}s": after[name] - truth[name] for name in ("share", "score")}
    held: dict[str, list[tuple[bool, float]]] = {name: [] for name in GOALS}
    for _ in range(repeats):
        for name, (_, low, high) in intervals_of(draw_corpus(groups, likeness, right, rng)):
            held[name].append((low <= truth[name] <= high, high - low))
    return {
        name: (float(np.mean([hit for hit, _ in rows])), float(np.mean([length for _, length in rows])))
        for name, rows in held.items()
    }


def print_coverage() -> None:
    """Print the coverage of each statistic, and which goals are missed."""
    missed = []
    head = " | ".join(f"{groups} groups" for groups in REPEATS)
    print(f"coverage and mean length in points\n\n| | records of a group | right | {head} |")
    print("|" + "---|" * (3 + len(REPEATS)))
    for (likeness, share), right in product(LIKENESS.items(), RIGHT):
        results = {groups: measure(groups, share, right, repeats) for groups, repeats in REPEATS.items()}
        for name, (goal, least) in GOALS.items():
            cells = [f"{hit:.0%}, {100 * length:.0f}" for hit, length in (one[name] for one in results.values())]
            print(f"| {name} | {likeness} | {right} | {' | '.join(cells)} |")
            missed += [
                f"{name}, {likeness}, {right}, {groups} groups: {one[name][0]:.0%}"
                for groups, one in results.items()
                if groups >= least and one[name][0] < goal
            ]
    print(f"\nGoals: shares {SHARE_GOAL:.0%} from 10 groups, the others {OTHER_GOAL:.0%} from 30.")
    print(f"missed: {'; '.join(missed)}" if missed else "met everywhere")


def print_few() -> None:
    """Print, for groups of one record, the interval of a share of one half, of G right of G, and of no difference."""
    print("\n| groups | length at one half | all right: low end | exact | no difference: high end | exact |")
    print("|" + "---|" * 6)
    for groups in (*range(2, 13), 30, 100):
        all_right = MeanScores(np.ones(groups))
        half = score_interval(MeanScores(np.arange(groups, dtype=np.float64) % 2))
        low, high = score_interval(all_right).low, difference_interval(all_right, all_right).high
        exact = [0.025 ** (1 / groups), 1 - 0.05 ** (1 / groups)]  # Clopper & Pearson 1934, the rule of three
        cells = [f"{100 * end:.1f}" for end in (low, exact[0], high, exact[1])]
        print(f"| {groups} | {100 * (half.high - half.low):.0f} | {' | '.join(cells)} |")


def print_steps() -> None:
    """Print how far the ends of an interval move when one group is left out, as a share of its length."""
    print("\n| groups | right | the ends move by |\n|---|---|---|")
    for groups, right in product((3, 4, 5, 6, 8, 10, 11, 30), RIGHT):
        rng = np.random.default_rng([groups, round(100 * right), 7])
        steps = []
        for _ in range(200):
            corpus = draw_corpus(groups, LIKENESS["half"], right, rng)
            values, kept = corpus.first.exact.astype(np.float64), corpus.group > 0
            _, low, high = score_interval(MeanScores(values), corpus.group)
            _, *ends = score_interval(MeanScores(values[kept]), corpus.group[kept])
            steps += [abs(end - before) / (high - low) for end, before in zip(ends, (low, high), strict=True)]
        print(f"| {groups} | {right} | {np.mean(steps):.0%} |")


def main() -> None:
    """Print all tables to stdout."""
    print_coverage()
    print_few()
    print_steps()


if __name__ == "__main__":
    main()
