"""Which records to label first, and what that is worth: `python -m aisr.optimize.studies.corrections FILE… --task TASK`
(minutes; no LM).

Of labelled records, those are "corrected" that an order puts first: `aisr.optimize.datasets.which_first`, the least
sure alone, or drawn. Prints how many of the program's errors are among the first 10, 20, 50 and 100; and how records of
other groups are answered by what those teach. The program is an LM whose answers were recorded (`--answers`, see
`recorded.py`); or, without, a classifier of texts that was fitted on a few drawn records.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from aisr.commands.display import note, table
from aisr.commands.options import chosen_task
from aisr.inference.confidence import of_record
from aisr.inference.judge import Outcome
from aisr.metrics.confidence import interval_of
from aisr.metrics.judgements import Gold, tally
from aisr.optimize.datasets.apart import grouped
from aisr.optimize.datasets.examples import labelled
from aisr.optimize.datasets.split import fold_of
from aisr.optimize.datasets.which_first import queued, which_first
from aisr.optimize.decision.folds import Judged
from aisr.optimize.studies.learners import CLASSIFIER, Said, answers, silent
from aisr.optimize.studies.recorded import judged
from aisr.programs.decision.layer import LM
from aisr.programs.errors import UserError
from aisr.tasks.task import Task

COUNTS = (10, 20, 50, 100)
FOLDS = 5
RESAMPLES = 1000
DRAWN, UNSURE, SPREAD = "drawn", "least sure", "least sure, spread"
Ints = NDArray[np.int64]
Key = tuple[str, str, int]  # what was fitted, on records by which way, how many


@dataclass(frozen=True)
class Studied:
    """Labelled records, judged by an LM or not (lm); the group of each; how many a program without one starts from."""

    task: Task
    rows: list[Judged]
    group: Ints
    lm: bool
    start: int

    def answers(self, taught: Ints, asked: Ints) -> Mapping[str, Said]:
        """What some records teach of others, by their places."""
        known, others = ([self.rows[k] for k in some] for some in (taught, asked))
        return answers(self.task.labelled, known, others, self.lm)

    def wrong(self, place: int, outcome: Outcome) -> bool:
        """Whether any label of a record is none of its gold ones."""
        allowed = self.task.labelled.allowed(self.rows[place].row.example.gold)
        return any(one.label not in types for one, types in zip(outcome.judgements, allowed, strict=True))


class Begun(NamedTuple):
    """A program before any correction: the places of the records that it was fitted on, of the others, and what it says
    of these."""

    taught: Ints
    others: Ints
    said: list[Outcome]


def main() -> int:
    """0 where the files could be studied, 2 where they could not."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.optimize.studies.corrections", description="Which records to label first."
    )
    parser.add_argument("records", type=Path, nargs="+", help="JSONL files of labelled records")
    parser.add_argument("--task", required=True)
    parser.add_argument("--answers", type=Path, help="JSONL file of an LM's answers to the first file of records")
    parser.add_argument("--start", type=int, default=30, help="without answers: drawn records to begin with")
    parser.add_argument("--repeats", type=int, default=4, help="divisions into folds, each with draws of its own")
    given = parser.parse_args()
    try:
        studied = _read(given)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    note(f"{len(studied.rows)} records in {len(set(studied.group.tolist()))} groups that share nothing")
    with threadpool_limits(1):  # of linear algebra, on problems so small that its threads wait for each other
        _say_errors(studied, given.repeats)
        _say_growth(studied, grown(studied, given.repeats), given.repeats)
    return 0


def _read(given: argparse.Namespace) -> Studied:
    task = chosen_task(given.task)
    if given.answers:
        rows = judged(task, given.records[0], given.answers)
    else:
        facet, program = task.labelled, task.build({})
        read = [row for file in given.records for row in labelled(task, program, file)]
        rows = [Judged(row, {LM: silent(facet, len(facet.statements(row.example)))}) for row in read]
    group = np.array(grouped([one.row for one in rows]))
    if (known := len(np.unique(group))) < FOLDS:
        raise UserError(f"{known} groups of records that share nothing; {FOLDS} are needed")
    return Studied(task, rows, group, bool(given.answers), given.start)


def begin(studied: Studied, places: Ints, draw: np.random.Generator) -> Begun:
    """The program as it is before any of these records is corrected."""
    if studied.lm:
        return Begun(places[:0], places, [studied.rows[k].outcomes[LM] for k in places])
    mixed = draw.permutation(places)
    taught, others = mixed[: studied.start], np.sort(mixed[studied.start :])
    said = studied.answers(taught, others)[CLASSIFIER]
    return Begun(taught, others, [Outcome(None, judgements=one) for one in said])


def orders(studied: Studied, begun: Begun, draw: np.random.Generator) -> dict[str, Ints]:
    """The places of what the program was not fitted on, as they are corrected one after the other, by each way."""
    known = [
        queued(studied.task, [one.label for one in said.judgements], of_record(studied.task, said), int(group))
        for group, said in zip(studied.group[begun.others], begun.said, strict=True)
    ]
    mixed = draw.permutation(len(known))
    ways = {
        DRAWN: mixed,
        UNSURE: sorted(mixed, key=lambda k: known[k].sure or 0.0),
        SPREAD: which_first(known, int(draw.integers(2**31))),
    }
    return {way: begun.others[np.array(order, dtype=np.int64)] for way, order in ways.items()}


def _say_errors(studied: Studied, repeats: int) -> None:
    """How many of the program's errors are among the first."""
    from scipy.stats import hypergeom

    found: dict[str, list[Ints]] = {}
    for repeat in range(repeats):
        draw = np.random.default_rng(repeat)
        begun = begin(studied, np.arange(len(studied.rows)), draw)
        wrong = np.zeros(len(studied.rows), dtype=np.int64)
        wrong[begun.others] = [studied.wrong(k, one) for k, one in zip(begun.others, begun.said, strict=True)]
        for way, order in orders(studied, begun, draw).items():
            found.setdefault(way, []).append(np.cumsum(wrong[order]))
    mean = {way: np.mean(counts, axis=0) for way, counts in found.items()}
    errors, others = mean[DRAWN][-1], len(mean[DRAWN])
    rows = []
    for count in (count for count in COUNTS if count <= others):
        drawn = hypergeom(others, round(errors), count)
        span = f"{count * errors / others:.1f} [{drawn.ppf(0.025):.0f}, {drawn.ppf(0.975):.0f}]"
        rows.append([str(count), span, *(f"{mean[way][count - 1]:.1f}" for way in (UNSURE, SPREAD))])
    title = f"records with an error among the first, of {errors:.0f} in {others}"
    table(title, ["records", "drawn, and 95 % of draws", UNSURE, SPREAD], rows)


def grown(studied: Studied, repeats: int) -> dict[Key, Ints]:
    """The label of each judgement (repeats, judgements), as said by what was fitted on corrected records of other
    groups."""
    facet = studied.task.labelled
    strata = [facet.fault(one.row.example.gold) for one in studied.rows]
    owner = np.repeat(np.arange(len(studied.rows)), [len(one.outcomes[LM].judgements) for one in studied.rows])
    said: dict[Key, Ints] = {}
    for repeat in range(repeats):
        fold = fold_of(strata, studied.group.tolist(), FOLDS, repeat)
        for part in range(FOLDS):
            asked, here = np.flatnonzero(fold == part), fold[owner] == part
            for key, labels in _learnt(studied, np.flatnonzero(fold != part), asked, [repeat, part]):
                said.setdefault(key, np.zeros((repeats, len(owner)), dtype=np.int64))[repeat, here] = labels
    return said


def _learnt(studied: Studied, pool: Ints, asked: Ints, seed: Sequence[int]) -> Iterator[tuple[Key, list[int]]]:
    """The labels of what is asked about, by what the first records of a pool teach."""
    draw = np.random.default_rng(seed)
    begun = begin(studied, pool, draw)
    index = {label: k for k, label in enumerate(studied.task.labelled.labels)}
    for way, order in orders(studied, begun, draw).items():
        for count in COUNTS:
            if count <= len(order):
                for name, said in studied.answers(np.concatenate([begun.taught, order[:count]]), asked).items():
                    yield (name, way, count), [index[one.label] for record in said for one in record]
    if not studied.lm:
        for name, said in studied.answers(begun.taught, asked).items():
            yield (name, DRAWN, 0), [index[one.label] for record in said for one in record]


def _say_growth(studied: Studied, said: Mapping[Key, Ints], repeats: int) -> None:
    """The scores by what was fitted, and on how many, with the differences from drawn ones."""
    draw = np.random.default_rng(0)
    groups = int(studied.group.max()) + 1
    counts = draw.multinomial(groups, np.full(groups, 1 / groups), RESAMPLES)
    weights = np.vstack([np.ones(len(studied.rows)), counts[:, studied.group]])
    facet = studied.task.labelled
    gold = Gold.of([facet.allowed(one.row.example.gold) for one in studied.rows], facet.labels, facet.f1_share)

    def scores(labels: Ints) -> NDArray[np.float64]:
        """The ranking score of each resample of groups, the mean over the repetitions."""
        each = [tally(gold, one, None, facet.labels).ranking(weights) for one in labels]
        return np.asarray(np.mean(each, axis=0))

    found = {key: scores(labels) for key, labels in said.items()}
    if studied.lm:
        index = [facet.labels.index(one.label) for row in studied.rows for one in row.outcomes[LM].judgements]
        note(f"the LM as it is: {interval_of(scores(np.array([index])))}")
    rows = []
    for (name, way, count), drawn in found.items():
        if way == DRAWN:
            others = [found.get((name, other, count)) for other in (UNSURE, SPREAD)]
            rows.append([name, str(count), str(interval_of(drawn)), *(_more(one, drawn) for one in others)])
    title = f"score on other groups after so many corrections, {FOLDS} folds, {repeats} times (evidence not counted)"
    table(
        title, ["fitted", "records", DRAWN, f"{UNSURE}: more", f"{SPREAD}: more"], sorted(rows, key=lambda row: row[0])
    )


def _more(scores: NDArray[np.float64] | None, drawn: NDArray[np.float64]) -> str:
    return "" if scores is None else str(interval_of(scores - drawn))


if __name__ == "__main__":
    sys.exit(main())
