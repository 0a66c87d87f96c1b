"""What a model answered to labelled records, held against their gold:
`python -m aisr.optimize.studies.recorded RECORDS ANSWERS... --task TASK` (some minutes with --layer, no LM).

An answers file has a line a record: its `id`, its labels (`sentence_labels`, or one `label`) and how likely the model
said each label was (`stated`, likewise). Prints how good the labels were and how honest the chances; with --layer what
a decision layer would gain, by folds of records that share no claim, picture or paper, and by folds of records that
share no evidence either.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aisr.base.text import percent, with_interval
from aisr.commands.display import note, table
from aisr.commands.options import chosen_task
from aisr.inference.judge import Outcome
from aisr.metrics.calibration import calibration_error
from aisr.metrics.confidence import mean_interval
from aisr.optimize.datasets.apart import grouped
from aisr.optimize.datasets.examples import labelled
from aisr.optimize.datasets.leakage import Common
from aisr.optimize.decision.fit import fit
from aisr.optimize.decision.folds import Judged
from aisr.programs.asking.label_probabilities import Judgement
from aisr.programs.decision.layer import LM
from aisr.programs.errors import UserError
from aisr.tasks.task import Task

NARROW = ("claim", "picture", "paper")  # what counted as shared before evidence did


def main() -> int:
    """0 where the answers could be held against gold, 2 where they could not."""
    parser = argparse.ArgumentParser(prog="python -m aisr.optimize.studies.recorded", description="Recorded answers.")
    parser.add_argument("records", type=Path, help="JSONL file of labelled records")
    parser.add_argument("answers", type=Path, nargs="+", help="JSONL files of answers to them")
    parser.add_argument("--task", required=True)
    parser.add_argument("--layer", action="store_true", help="also what a decision layer would gain")
    given = parser.parse_args()
    try:
        task = chosen_task(given.task)
        found = {path.name: judged(task, given.records, path) for path in given.answers}
        table(
            "what was answered, and how likely it was said to be",
            ["answers", "records", "all right", "labels right", "said on average", "calibration error"],
            [[name, *_row(task, rows)] for name, rows in found.items()],
        )
        table(
            "share of records whose labels are all right, by what is resampled",
            ["answers", "groups", "records", "groups of records that share something"],
            [[name, *_intervals(task, rows)] for name, rows in found.items()],
        )
        if given.layer:
            table(
                "cross-validated gain of a decision layer, by what records of two folds do not share",
                ["answers", "claim, picture, paper", "evidence too"],
                [
                    [name, *(_gain(task, narrowed) for narrowed in (_narrow(rows), rows))]
                    for name, rows in found.items()
                ],
            )
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def judged(task: Task, records: Path, answers: Path) -> list[Judged]:
    """The records that were answered, with what was said of each. Raises UserError where nothing was."""
    rows = {row.record.id: row for row in labelled(task, task.build({}), records)}
    lines = [json.loads(line) for line in answers.read_text("utf-8").strip().split("\n")]
    found = [Judged(rows[line["id"]], {LM: _outcome(task, line)}) for line in lines if line["id"] in rows]
    note(f"{answers}: {len(found)} of {len(lines)} answers are to records of {records}")
    if not found:
        raise UserError(f"{answers}: no answer to a record of {records}")
    return found


def _outcome(task: Task, line: dict[str, Any]) -> Outcome:
    labels = line.get("sentence_labels") or [line["label"]]
    stated = line["stated"] if isinstance(line["stated"], list) else [line["stated"]]
    judgements = [
        Judgement(label, _chances(said, task.labelled.labels), "stated")
        for label, said in zip(labels, stated, strict=True)
    ]
    return Outcome(labels, judgements=judgements, named=line.get("evidence_ids", ()), ranking=line.get("ranker", ()))


def _chances(said: dict[str, float], labels: Sequence[str]) -> list[float]:
    """Of each label; what is left is shared evenly among those of which nothing was said."""
    unsaid = [label for label in labels if label not in said]
    rest = max(0.0, 1 - sum(said.values())) / len(unsaid) if unsaid else 0.0
    mass = [said.get(label, rest) for label in labels]
    return [one / sum(mass) for one in mass]


def _row(task: Task, rows: Sequence[Judged]) -> list[str]:
    right = [_right(task, row) for row in rows]
    flat = [one for record in right for one in record]
    said = [one.chances[task.labelled.labels.index(one.label)] for row in rows for one in row.outcomes[LM].judgements]
    shares = (sum(map(all, right)) / len(right), sum(flat) / len(flat), sum(said) / len(said))
    return [str(len(rows)), *map(percent, (*shares, calibration_error(said, flat)))]


def _intervals(task: Task, rows: Sequence[Judged]) -> list[str]:
    right = np.array([all(_right(task, row)) for row in rows], dtype=np.float64)
    group = grouped([row.row for row in rows])
    return [str(len(set(group))), str(mean_interval(right, range(len(right)))), str(mean_interval(right, group))]


def _right(task: Task, row: Judged) -> list[bool]:
    allowed = task.labelled.allowed(row.row.example.gold)
    return [one.label in types for one, types in zip(row.outcomes[LM].judgements, allowed, strict=True)]


def _gain(task: Task, rows: Sequence[Judged]) -> str:
    gain = fit(task.labelled, rows, [], seed=0).gain
    return "too few groups" if gain is None else with_interval(*gain)


def _narrow(rows: Sequence[Judged]) -> list[Judged]:
    """The records, having in common what counted before evidence did."""

    def less(common: Common) -> Common:
        return Common(frozenset(key for key in common.keys if key.partition(":")[0] in NARROW), common.claim)

    return [Judged(row.row._replace(common=less(row.row.common)), row.outcomes) for row in rows]


if __name__ == "__main__":
    sys.exit(main())
