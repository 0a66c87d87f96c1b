"""`python -m benchmarks.race`: what does racing candidates save against judging all of dev, and what does it
lose?

Pools of simulated candidates (benchmarks.simulation) are raced over dev samples as
`aisr.optimize.champion` races programs, and all of them are judged on all of dev as well. No LM is called. The
answer is the same on every run.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from aisr.metrics.scores import Tally, value
from aisr.optimize.race import rungs, survivors
from benchmarks.simulation import WORLDS, World, draw_corpus, draw_pool, judge, part

POOLS = (6, 20)
SIZES = (100, 200, 400)
SEEDS = 20
TRUTH = 20_000
GOAL_LOSS = 0.5  # points


class Outcome(NamedTuple):
    """One race. cost: share of the judgements that judging all candidates on all of dev takes; wrong: 1 where it
    dropped the champion of all of dev, else 0; dev, truth: points of score on dev, and of true score, that its own
    champion is below that one."""

    cost: float
    wrong: float
    dev: float
    truth: float


def race(tallies: list[Tally], true: list[float]) -> Outcome:
    """Race candidates, the first of them the uncompiled program, over the records of their tallies in order."""
    records = len(tallies[0])
    running = list(range(len(tallies)))
    judged, before = 0, 0
    for size in rungs(records):
        judged += len(running) * (size - before)
        before = size
        if size < records:
            kept = survivors([part(tallies[k], 0, size) for k in running])
            running = [running[place] for place in kept]
    scores = [value(tally) for tally in tallies]
    raced, best = max(running, key=lambda k: scores[k]), max(range(len(tallies)), key=lambda k: scores[k])
    return Outcome(
        judged / (records * len(tallies)),
        float(best not in running),
        100 * (scores[best] - scores[raced]),
        100 * (true[best] - true[raced]),
    )


def races(world: World, candidates: int, size: int, seeds: int = SEEDS, truth: int = TRUTH) -> Iterator[Outcome]:
    """One race a seed."""
    for seed in range(seeds):
        rng = np.random.default_rng([seed, candidates, size, *world.name.encode()])
        corpus = draw_corpus(world, truth + size, rng)
        tallies = [judge(world, corpus, candidate, rng) for candidate in draw_pool(world, candidates, rng)]
        true = [value(part(tally, 0, truth)) for tally in tallies]
        yield race([part(tally, truth, size) for tally in tallies], true)


def main() -> None:
    """Print the table and the goals to stdout."""
    print("| world | candidates | dev | judgements | best dropped | points lost on dev | points lost in truth |")
    print("|---|---|---|---|---|---|---|")
    missed = []
    for world in WORLDS:
        for candidates in POOLS:
            for size in SIZES:
                cost, wrong, dev, truth = np.mean(list(races(world, candidates, size)), axis=0)
                print(f"| {world.name} | {candidates} | {size} | {cost:.0%} | {wrong:.0%} | {dev:.2f} | {truth:.2f} |")
                if dev > GOAL_LOSS:
                    missed.append(f"{world.name}, {candidates} candidates, {size} records")
    goal = f"at most {GOAL_LOSS} points lost on dev"
    print(f"\nmeans of {SEEDS} races. Goal: {goal}.")
    print(f"missed: {'; '.join(missed)}" if missed else "met everywhere")


if __name__ == "__main__":
    main()
