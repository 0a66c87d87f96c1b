"""A compile that aims at a target: how well the mix is found, forecasts, and choices. Prints Markdown.

    python -m benchmarks.target --task track1 --data FOLDER --lm MODEL [--api-base URL]

The folder has train, dev and test, and the LM judges dev and test with the uncompiled program and with nearest demos
(`knn`, by words). Targets are drawn from test with a share of records with an error; dev is also thinned to a third of
such records, as it was in the shared task. Scores are those of the labels that occur in test.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from aisr.api import open_lm
from aisr.judging.judge import Outcome, judge_all
from aisr.metrics.intervals import score_interval
from aisr.metrics.scores import Scores, Tally, f1_scores, ranking_value, value
from aisr.optimize import target as aim
from aisr.optimize.optimizers import compile_candidates
from aisr.optimize.run import Callbacks, Run
from aisr.optimize.search import Candidate, Search
from aisr.programs.case import Case
from aisr.programs.task import Task
from aisr.workflow import plan_compile

SHARES = (0.2, 0.33, 0.5, 0.84)
REPEATS = 200
DEV, TARGET = 60, 150  # records that a repetition draws
THINNED = 1 / 3  # of the records of a thinned dev that have an error


class Judged(NamedTuple):
    """A split with the answers of a program to it."""

    cases: Sequence[Case]
    outcomes: Sequence[Outcome]

    def at(self, rows: Any) -> "Judged":
        return Judged([self.cases[k] for k in rows], [self.outcomes[k] for k in rows])

    def has_error(self, task: Task) -> Any:
        return np.array([task.stratify_by(case.gold) != task.default_label for case in self.cases])


Programs = dict[str, dict[str, Judged]]  # the answers of each program by split


def judge_splits(options: argparse.Namespace) -> tuple[Task, Programs]:
    """Return the answers of each program to dev and test."""
    lm = open_lm(options.lm, api_base=options.api_base, price=(0, 0), needs_key=False)
    settings = dict(text.split("=", 1) for text in options.settings)
    plan = plan_compile(options.task, options.data, optimizer="knn", budget="light", options=settings)
    run = Run(plan, lm.opened, lm.opened, Path(), Callbacks())
    run.prepare()
    search = Search(plan.task, run.student, run.cases["train"], [], plan.settings, lm.opened, lm.opened, print)
    programs = compile_candidates("knn", search, [Candidate("uncompiled", run.student)])[:2]
    judged: Programs = {}
    for name, program in programs:
        judged[name] = {
            split: Judged(cases, judge_all(plan.task, program, cases, lm.opened))
            for split, cases in run.cases.items()
            if split != "train"
        }
    return plan.task, judged


def scores_of(task: Task, judged: Judged, weights: Any = None) -> Scores:
    scores = task.score([case.gold for case in judged.cases], [one.answer for one in judged.outcomes])
    return scores if weights is None else scores.weighted(weights)


def value_of(scores: Scores, labels: Any) -> float:
    """The ranking score over the labels of a mask."""
    if not isinstance(scores, Tally):
        return value(scores)
    return float(ranking_value(f1_scores(scores.totals)[labels], scores.mean(scores.exact)))


def draw_share(task: Task, judged: Judged, share: float, size: int, draw: np.random.Generator) -> Judged:
    """Records with replacement, of which a share has an error."""
    error = judged.has_error(task)
    count = round(share * size)
    rows = [*draw.choice(np.flatnonzero(error), count), *draw.choice(np.flatnonzero(~error), size - count)]
    return judged.at(rows)


def adjusted_counts(task: Task, dev: Judged, target: Judged) -> float:
    """The share of records with an error by adjusted counts (Forman 2008)."""
    table = np.zeros((2, 2))
    for case, outcome in zip(dev.cases, dev.outcomes, strict=True):
        kind = aim.kind_of_answer(task, outcome)
        table[int(task.stratify_by(case.gold) != task.default_label), int(kind != task.default_label)] += 1
    rates = (table / table.sum(axis=1, keepdims=True)).T
    said = np.mean([aim.kind_of_answer(task, one) != task.default_label for one in target.outcomes])
    mix, _ = nnls(np.vstack([rates, [10.0, 10.0]]), np.array([1 - said, said, 10.0]))
    return float(mix[1] / mix.sum())


def error_share(task: Task, mix: aim.Mix) -> float:
    return 1 - mix.shares[mix.group_of[task.default_label]].value


def weighed(task: Task, judged: Judged, mix: aim.Mix) -> Any:
    cases = aim.Target(mix).weigh(task, judged.cases)
    return np.array([case.weight for case in cases])


def print_mixes(task: Task, judged: Judged, dev: Judged) -> None:
    """Print how well the share of records with an error is found."""
    print(
        "\n| true share | expectation maximisation | mean error | adjusted counts | mean error |\n|---|---|---|---|---|"
    )
    for share in SHARES:
        draw = np.random.default_rng(0)
        found, others = [], []
        for _ in range(REPEATS):
            some = dev.at(draw.integers(len(dev.cases), size=DEV))
            target = draw_share(task, judged, share, TARGET, draw)
            found.append(error_share(task, aim.estimate_mix(task, *some, target.outcomes, 0)))
            others.append(adjusted_counts(task, some, target))
        parts = [
            f"{np.mean(x):.2f} ± {np.std(x):.2f} | {np.mean(np.abs(np.array(x) - share)):.3f}" for x in (found, others)
        ]
        print(f"| {share:g} | {' | '.join(parts)} |")


class Trial(NamedTuple):
    """What one repetition came to, for a dev as it is, one weighted by the estimated mix, and one by the stated mix."""

    error: list[float]  # of the forecast for the last program
    holds: list[bool]  # whether its interval holds the true score
    is_best: list[bool]  # whether the program that scores best there is best on the target
    loss: list[float]  # of the chosen program against the best one, on the target


def try_once(task: Task, judged: Programs, rows: Any, share: float, draw: np.random.Generator) -> Trial:
    """Forecast and choose by some rows of dev, for a target drawn from test."""
    names = list(judged)
    error = judged[names[0]]["test"].has_error(task)
    count = round(share * TARGET)
    picked = [*draw.choice(np.flatnonzero(error), count), *draw.choice(np.flatnonzero(~error), TARGET - count)]
    devs = {name: parts["dev"].at(rows) for name, parts in judged.items()}
    targets = {name: parts["test"].at(picked) for name, parts in judged.items()}
    mixes = [
        aim.estimate_mix(task, *devs[names[0]], targets[names[0]].outcomes, 0),
        aim.stated_mix(task, {aim.ERROR_FREE: 1 - share, aim.WITH_ERROR: share}),
    ]
    labels = np.array([label in present(task, judged) for label in task.labels])
    truth = {name: value_of(scores_of(task, one), labels) for name, one in targets.items()}
    trial = Trial([], [], [], [])
    for weights in (None, *(weighed(task, devs[names[0]], mix) for mix in mixes)):
        scores = {name: scores_of(task, one, weights) for name, one in devs.items()}
        forecast = {name: value_of(one, labels) for name, one in scores.items()}
        chosen = max(names, key=lambda name: forecast[name])
        interval = score_interval(scores[names[-1]], [case.group or 0 for case in devs[names[-1]].cases])
        trial.error.append(abs(forecast[names[-1]] - truth[names[-1]]))
        trial.holds.append(interval.low <= value(scores_of(task, targets[names[-1]])) <= interval.high)
        trial.is_best.append(truth[chosen] == max(truth.values()))
        trial.loss.append(max(truth.values()) - truth[chosen])
    return trial


def present(task: Task, judged: Programs) -> set[str]:
    """The labels that are first gold labels in test."""
    cases = next(iter(judged.values()))["test"].cases
    return {label for case in cases for label in task.first_labels(case.gold)}


def print_forecasts(task: Task, judged: Programs, thinned: bool) -> None:
    """Print what dev as it is, weighted by the estimated mix, and weighted by the stated one forecast and choose."""
    parts = ("error of the forecast", "interval holds", "better program chosen", "loss of the choice")
    print(f"\nas it is / weighted / by the stated mix\n\n| target | {' | '.join(parts)} |\n|{'---|' * 5}")
    dev = next(iter(judged.values()))["dev"]
    for share in SHARES:
        draw, trials = np.random.default_rng(1), []
        for _ in range(REPEATS):
            rows = draw.integers(len(dev.cases), size=len(dev.cases))
            if thinned:
                error = dev.at(rows).has_error(task)
                keep = min(int(error.sum()), round((~error).sum() * THINNED / (1 - THINNED)))
                rows = np.array([*rows[~error], *draw.choice(rows[error], keep, replace=False)])
            trials.append(try_once(task, judged, rows, share, draw))
        means = [100 * np.mean([trial[k] for trial in trials], axis=0) for k in range(4)]
        cells = [" / ".join(f"{number:.1f}" for number in row) for row in means]
        print(f"| {share:g} | {' | '.join(cells)} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="track1")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--lm", required=True)
    parser.add_argument("--api-base")
    parser.add_argument("-T", dest="settings", action="append", default=[], metavar="NAME=VALUE", help="of the task")
    task, judged = judge_splits(parser.parse_args())
    aim.DRAWS = 2  # intervals of the mix take most of the time
    for name, parts in judged.items():
        print(f"\n## The mix by {name}, {len(parts['dev'].cases)} records of dev")
        print_mixes(task, parts["test"], parts["dev"])
    for thinned in (True, False):
        print(f"\n## Forecasts, dev {'thinned to a third with an error' if thinned else 'as it is'}")
        print_forecasts(task, judged, thinned)


if __name__ == "__main__":
    main()
