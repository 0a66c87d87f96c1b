"""What a second LM behind the first is worth: `python -m aisr.optimize.studies.cascade GOLD FIRST SECOND --task TASK`.

From two predictions files of the same labelled records, the first written by `aisr predict --confidence`. Both LMs have
answered everything, so that each threshold can be looked at: the score if the second had been asked about the records
that the first was least sure of, and what that would have cost. No call is sent. Beside it the same share of records
drawn at random: what is above that is owed to the confidence.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aisr.base.text import percent
from aisr.commands.display import note, table
from aisr.commands.options import chosen_task
from aisr.inference.answered import answers
from aisr.metrics.confidence import Interval, difference_interval
from aisr.metrics.scores import value
from aisr.programs.errors import UserError
from aisr.programs.reading.lines import read
from aisr.report import figures
from aisr.tasks.task import Task

SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
DRAWS = 20  # of a share at random


class Point(NamedTuple):
    """A cascade: below which confidence the second is asked, of what share of the records, for what price a record;
    its score in 0-1, its difference from the second LM alone, and the mean score of as many records at random."""

    below: float
    share: float
    price: float
    score: float
    behind: Interval
    at_random: float


def curve(
    task: Task, gold: Sequence[Any], first: Sequence[Any], sure: Sequence[float | None], second: Sequence[Any],
    prices: tuple[float, float],
) -> list[Point]:  # fmt: skip
    """The cascades of `SHARES`, from the first LM alone to asking the second about everything. Answers are None where a
    record failed; what is not known to be sure is asked about first. prices: of a record, by each LM."""
    keys = np.array([-1.0 if one is None else one for one in sure])
    order = np.argsort(keys, kind="stable")
    whole = task.score(gold, second)
    draw = np.random.default_rng(0)
    points = []
    for share in SHARES:
        count = round(share * len(gold))
        below = 0.0 if not count else float(np.nextafter(keys[order[count - 1]], 2.0))
        asked = keys < below if count else np.zeros(len(gold), dtype=np.bool_)  # equals go together
        scores = task.score(gold, _mixed(first, second, asked))
        drawn = []
        for _ in range(DRAWS):
            chosen = np.zeros(len(gold), dtype=np.bool_)
            chosen[draw.permutation(len(gold))[: int(asked.sum())]] = True
            drawn.append(value(task.score(gold, _mixed(first, second, chosen))))
        reached = float(asked.mean())
        price = prices[0] + reached * prices[1]
        points.append(
            Point(below, reached, price, value(scores), difference_interval(scores, whole), float(np.mean(drawn)))
        )
    return points


def _mixed(first: Sequence[Any], second: Sequence[Any], asked: Any) -> list[Any]:
    return [two if taken else one for one, two, taken in zip(first, second, asked, strict=True)]


def main() -> int:
    """0 where the files could be held against each other, 2 where they could not."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.optimize.studies.cascade", description="Two LMs, by threshold."
    )
    parser.add_argument("gold", type=Path, help="JSONL file of labelled records")
    parser.add_argument("first", type=Path, help="predictions of the first LM, with confidence")
    parser.add_argument("second", type=Path, help="predictions of the second LM")
    parser.add_argument("--task", required=True)
    parser.add_argument("--prices", default="1,10", help="of a record by the first LM and by the second, in any unit")
    parser.add_argument("--figure", type=Path, help="folder to write cascade.png into")
    given = parser.parse_args()
    try:
        _study(given)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _study(given: argparse.Namespace) -> None:
    task = chosen_task(given.task)
    records = list(read(given.gold, task.record, task.name))
    if not records or any(record.gold is None for record in records):
        raise UserError(f"{given.gold}: expected labelled records, all of them")
    prices = _prices(given.prices)
    first, second = (answers(task, path) for path in (given.first, given.second))
    rows = [record for record in records if record.id in first and record.id in second]
    if not rows:
        raise UserError(f"no record of {given.gold} is in both {given.first} and {given.second}")
    sure = [first[row.id][1] for row in rows]
    if all(one is None for one in sure):
        raise UserError(f"{given.first} says nowhere how sure it is; `aisr predict --confidence` writes that")
    gold = [row.gold for row in rows]
    one, other = ([known[row.id][0] for row in rows] for known in (first, second))
    points = curve(task, gold, one, sure, other, prices)
    note(
        f"{len(rows)} records that both answered, of {len(records)}; {sum(one is None for one in sure)} not known sure"
    )
    names = ["asked below", "records asked", "price a record", "score", "difference from the second", "at random"]
    table(
        "the second LM behind the first",
        names,
        [
            [f"{one.below:.2f}", f"{percent(one.share)} %", f"{one.price:.3g}", percent(one.score),
             str(one.behind), percent(one.at_random)]
            for one in points
        ],
    )  # fmt: skip
    if given.figure:
        drawn = figures.cascade_curve(
            [(one.price, one.score, one.at_random) for one in points], f"{task.name}: a second LM behind the first"
        )
        note(f"wrote {figures.write(given.figure, {'cascade': drawn})[0]}")


def _prices(text: str) -> tuple[float, float]:
    try:
        first, second = map(float, text.split(","))
    except ValueError:
        first = second = -1.0
    if min(first, second) < 0:
        raise UserError(f"--prices {text!r}: expected two numbers, such as 1,10")
    return first, second


if __name__ == "__main__":
    sys.exit(main())
