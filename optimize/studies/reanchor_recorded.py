"""The decision layer beside DSPy's ReAnchor on what a model answered to labelled records:
`python -m aisr.optimize.studies.reanchor_recorded RECORDS ANSWERS --task TASK` (half a minute, no LM).

Files as in `aisr.optimize.studies.recorded`. Both are fitted on four of five folds of records that share nothing and
heard on the fifth, in ten divisions into folds; what most of the ten say counts. ReAnchor is told what each label is
worth as in `aisr.optimize.studies.reanchor`: 1 where it is right, or the credit, the ranking score linearised at the
model as it is.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aisr.base.text import percent, with_interval
from aisr.commands.display import table
from aisr.commands.options import chosen_task
from aisr.compat.reanchor import reanchored
from aisr.metrics.confidence import difference_interval
from aisr.metrics.judgements import Gold, tally
from aisr.metrics.tally import Tally
from aisr.optimize.datasets.apart import grouped
from aisr.optimize.decision.fit import fit, named_by
from aisr.optimize.decision.folds import FOLDS, REPEATS, Material, gather
from aisr.optimize.studies.reanchor import credit, right
from aisr.optimize.studies.recorded import judged
from aisr.programs.decision.layer import LM
from aisr.tasks.judgements import Judgements

Worth = Callable[[NDArray[np.int64], Gold], NDArray[np.float64]]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m aisr.optimize.studies.reanchor_recorded", description=__doc__)
    parser.add_argument("records", type=Path, help="JSONL file of labelled records")
    parser.add_argument("answers", type=Path, help="JSONL file of answers to them")
    parser.add_argument("--task", required=True)
    given = parser.parse_args()
    task = chosen_task(given.task)
    rows = judged(task, given.records, given.answers)
    labelled, group = task.labelled, grouped([found.row for found in rows])
    naming = named_by(labelled, rows, group, seed=0)
    material = gather(labelled, rows, [], group, 0, naming.found if naming else None)
    said = material.opinions[LM].argmax(axis=1) if material.said is None else material.said
    alone = _tally(labelled, material, said)
    layer = fit(labelled, rows, [], seed=0)
    cells = [["the model as it is", _score(alone), ""]]
    gain = "too few groups" if layer.gain is None else with_interval(*layer.gain)
    cells.append(["decision layer" if layer.decision.kept else "decision layer (not kept)", "", gain])
    for name, worth in (("ReAnchor, accuracy", lambda _, gold: right(gold)), ("ReAnchor, credit", credit)):
        scores = _tally(labelled, material, anchored(labelled, material, said, worth))
        cells.append([name, _score(scores), with_interval(*difference_interval(scores, alone, group=material.group))])
    table(f"{len(rows)} records, {FOLDS} folds, {REPEATS} times", ["", "ranking score", "gain"], cells)
    return 0


def anchored(labelled: Judgements, material: Material, said: NDArray[np.int64], worth: Worth) -> NDArray[np.int64]:
    """What is said of each judgement by weights that were fitted on the folds that it is not in; where these move
    nothing, what the model said. In every division into folds; what most of them say counts."""
    opinions, one = material.opinions[LM], np.eye(len(labelled.labels))
    counts = 0.5 * one[said]  # of equals, what the model says
    for folds in material.folds:
        fold = folds[material.gold.record]
        for part in range(FOLDS):
            others, here = fold != part, fold == part
            rows = worth(said[others], material.gold[others])
            weights = reanchored(labelled.labels, np.exp(opinions[others]).tolist(), rows.tolist())
            moved = any(weight != 1 for weight in weights)
            counts[here] += one[(opinions[here] + np.log(weights)).argmax(axis=1) if moved else said[here]]
    return np.asarray(counts.argmax(axis=1))


def _tally(labelled: Judgements, material: Material, said: NDArray[np.int64]) -> Tally:
    return tally(material.gold, said, material.found, labelled.labels)


def _score(scores: Tally) -> str:
    return percent(float(scores.ranking(np.ones((1, len(scores))))[0]))


if __name__ == "__main__":
    sys.exit(main())
