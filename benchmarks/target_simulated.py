"""Does a target's weight help to choose? Candidates drawn at random, on dev with a third of erroneous paragraphs.
Prints Markdown; needs no LM and no data.

    python -m benchmarks.target_simulated

The worlds are those of `benchmarks.simulation`: Track 1, one error in each erroneous paragraph; labels shift and
nothing else does. Candidates differ in what they find and in what they flag wrongly. Pairs are drawn freely, or the
second is a small change of the first; of six, half are small changes of the other half. The mix of the target is known,
as `--target-mix` states it.
"""

from dataclasses import replace

import numpy as np

from aisr.metrics.intervals import effective_number
from aisr.metrics.scores import Tally, value
from aisr.optimize.target import ERROR_FREE, WITH_ERROR, rake
from benchmarks import simulation
from benchmarks.simulation import Candidate, Corpus, World

DEV_SHARE = 0.33
SHARES = (0.2, 0.5, 0.84)
SIZES = (33, 60, 120, 250, 500)  # records of dev
TARGET = 1500  # records that are ranked: so many that their score is the candidate's own
REPEATS = 400
PAIRS, CLOSE, SIX = "two, freely", "two, alike", "six"


def draw_candidates(pool: str, draw: np.random.Generator) -> list[Candidate]:
    """Candidates of a kind of pool."""
    world = simulation.WORLDS[0]
    if pool == PAIRS:
        return simulation.draw_pool(world, 1, draw) + simulation.draw_pool(world, 1, draw)
    return simulation.draw_pool(world, 2 if pool == CLOSE else 6, draw)


def kinds(corpus: Corpus) -> list[str]:
    """Whether each paragraph has an error."""
    error = np.zeros(len(corpus.evidence), dtype=np.bool_)
    np.logical_or.at(error, corpus.record, corpus.first > 0)
    return [WITH_ERROR if one else ERROR_FREE for one in error]


def judge(world: World, size: int, pool: list[Candidate], draw: np.random.Generator) -> tuple[Corpus, list[Tally]]:
    """A corpus and what each candidate earns on it."""
    corpus = simulation.draw_corpus(world, size, draw)
    return corpus, [simulation.judge(world, corpus, candidate, draw) for candidate in pool]


def try_once(pool: str, size: int, share: float, draw: np.random.Generator) -> list[float]:
    """Return for one draw the effective records of dev; and by dev as it is, then by dev weighted, whether the best
    candidate is chosen (0 or 100), the points that the choice loses on the target, and the mean error of forecasts."""
    world = replace(simulation.WORLDS[0], with_error=DEV_SHARE)
    candidates = draw_candidates(pool, draw)
    _, on_target = judge(replace(world, with_error=share), TARGET, candidates, draw)
    truth = np.array([value(tally) for tally in on_target])
    dev, tallies = judge(world, size, candidates, draw)
    weights = rake(kinds(dev), [1] * size, {ERROR_FREE: 1 - share, WITH_ERROR: share}, [])
    result = [effective_number(weights)]
    for scores in (tallies, [tally.weighted(weights.tolist()) for tally in tallies]):
        chosen = int(np.argmax([value(tally.smoothed()) for tally in scores]))
        forecast = np.array([value(tally) for tally in scores])
        loss = 100 * (truth.max() - truth[chosen])
        result += [100 * float(loss == 0), loss, 100 * np.abs(forecast - truth).mean()]
    return result


def spread(values: np.ndarray) -> str:
    """A mean with its 95 % interval."""
    half = 1.96 * values.std(ddof=1) / len(values) ** 0.5
    return f"{values.mean():.2f} [{values.mean() - half:.2f}, {values.mean() + half:.2f}]"


def main() -> None:
    """Print a table for each kind of pool."""
    columns = ("dev", "target", "effective", "best chosen", "points lost", "fewer lost", "error of the forecast")
    for pool in (PAIRS, CLOSE, SIX):
        print(f"\n## Candidates: {pool}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
        for size in SIZES:
            for share in SHARES:
                draw = np.random.default_rng(0)
                rows = np.array([try_once(pool, size, share, draw) for _ in range(REPEATS)])
                effective, best, lost, error, best_weighted, lost_weighted, error_weighted = rows.mean(axis=0)
                print(
                    f"| {size} | {share:g} | {effective:.0f} | {best:.0f} → {best_weighted:.0f} %"
                    f" | {lost:.2f} → {lost_weighted:.2f} | {spread(rows[:, 2] - rows[:, 5])}"
                    f" | {error:.1f} → {error_weighted:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
