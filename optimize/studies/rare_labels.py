"""How far rare labels are found without an LM: `python -m aisr.optimize.studies.rare_labels FILE --task TASK`.

For labelled records of a task that judges one claim each: the labels of the nearest claims, of a classifier on wording
and cues, and what a decision layer over these says, fitted for the ranking score and for macro-F1 alone. Everything is
said of a record by what shares no evidence with it; intervals resample groups that share something. Then, what demos
would show: how often a claim's own label is among those of the demos nearest to it, and among as many drawn ones.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from aisr.base.text import percent, with_interval
from aisr.commands.display import note, table
from aisr.commands.options import chosen_task
from aisr.inference.judge import Outcome
from aisr.metrics.confidence import interval_of, resampled
from aisr.optimize.datasets.apart import grouped
from aisr.optimize.datasets.examples import Labelled, labelled
from aisr.optimize.decision.folds import Judged, gather
from aisr.optimize.decision.trial import cross_validated
from aisr.optimize.studies.learners import from_votes
from aisr.programs.decision.layer import CUES, WORDING, as_it_is
from aisr.programs.errors import UserError
from aisr.programs.retrieval.retrievers import matcher, order
from aisr.tasks.judgements import Judgements

NEAREST = "nearest"
COUNTS = (1, 5, 15)  # nearest claims that vote
SHOWN = 6  # demos
SEED = 0
RARE = 2  # the labels that are counted together, the rarest
Labels = NDArray[np.int64]


class Row(NamedTuple):
    """What a way says of each record, by the index of the label."""

    name: str
    said: Labels


def main() -> int:
    """0 where the file could be read, 2 where it could not."""
    parser = argparse.ArgumentParser(prog="python -m aisr.optimize.studies.rare_labels", description="Rare labels.")
    parser.add_argument("file", type=Path, help="JSONL file of labelled records")
    parser.add_argument("--task", required=True)
    given = parser.parse_args()
    try:
        task = chosen_task(given.task)
        rows = labelled(task, task.build({}), given.file)
        if any(len(task.labelled.said(row.example.gold)) != 1 for row in rows):
            raise UserError(f"{given.file}: expected records of one label each")
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    names, group = task.labelled.labels, np.array(grouped(rows))
    gold = np.array([names.index(task.labelled.said(row.example.gold)[0]) for row in rows])
    texts = [task.labelled.statements(row.example)[0] for row in rows]
    near = {way: ranked(texts, group, way) for way in ("bm25", "hybrid")}
    common = np.bincount(gold, minlength=len(names))
    note(f"{given.file}: {len(rows)} records in {len(set(group.tolist()))} groups that share nothing")
    found = [Row("always the commonest", np.full(len(gold), common.argmax()))]
    found += [
        Row(f"{count} nearest by {way}", np.array([Counter(gold[one[:count]]).most_common(1)[0][0] for one in places]))
        for way, places in near.items()
        for count in COUNTS
    ]
    with threadpool_limits(1):
        for aim, judgements in {"": task.labelled, ", for macro-F1": replace(task.labelled, f1_share=1.0)}.items():
            found += layered(judgements, rows, near["hybrid"], gold, group, aim)
    rare = [int(label) for label in np.argsort(common)[:RARE]]
    table(
        "labels without an LM",
        [
            "way",
            "accuracy",
            "macro-F1",
            *(f"F1 {name} ({common[k]})" for k, name in enumerate(names)),
            "F1, rarest two",
        ],
        [shown(row, gold, group, len(names), rare) for row in found],
    )
    table(
        f"own label among that of {SHOWN} demos",
        ["demos", *names],
        [[name, *seen(own, gold, len(names))] for name, own in demos(near, gold, group).items()],
    )
    return 0


def ranked(texts: Sequence[str], group: Labels, way: str) -> list[Labels]:
    """For each claim the places of those that share nothing with it, the nearest first."""
    match = matcher(way)
    found = [np.asarray(order(match(text, texts))) for text in texts]
    return [places[group[places] != own] for places, own in zip(found, group, strict=True)]


def layered(
    judgements: Judgements, rows: Sequence[Labelled], near: Sequence[Labels], gold: Labels, group: Labels, aim: str
) -> list[Row]:
    """What a decision layer says that did not see a record, over its nearest claims and over its words."""
    names = judgements.labels
    voted = [from_votes([names[gold[k]] for k in places[: COUNTS[-1]]], names) for places in near]
    judged = [
        Judged(row, {NEAREST: Outcome([one.label], judgements=[one])}) for row, one in zip(rows, voted, strict=True)
    ]
    material = gather(judgements, judged, [], group.tolist(), SEED, np.ones(len(rows), dtype=np.bool_))
    start = as_it_is([NEAREST], len(names))
    ways = {
        "a layer on wording and cues": [WORDING, CUES],
        f"a layer on the {COUNTS[-1]} nearest": [NEAREST],
        "a layer on both": [NEAREST, WORDING, CUES],
    }
    return [
        Row(name + aim, cross_validated(judgements, material, name, experts, start, (1.0,)).tried[-1].said)
        for name, experts in ways.items()
    ]


def shown(row: Row, gold: Labels, group: Labels, labels: int, rare: Sequence[int]) -> list[str]:
    """A row of the table."""
    weights = resampled(np.column_stack([gold, row.said]).astype(np.float64), group=group.tolist())
    f1 = np.stack([f1_of(weights, gold == k, row.said == k) for k in range(labels)])
    each = [percent(float(one[0])) for one in f1]
    mean, both = interval_of(f1.mean(axis=0)), interval_of(f1[list(rare)].mean(axis=0))
    right = percent(float((gold == row.said).mean()))
    return [row.name, right, with_interval(*mean), *each, with_interval(*both)]


def f1_of(weights: NDArray[np.float64], right: NDArray[np.bool_], said: NDArray[np.bool_]) -> NDArray[np.float64]:
    """F1 of a label in each resample, 0 where it is neither gold nor said."""
    hits, all_of = weights @ (right & said), weights @ right.astype(float) + weights @ said.astype(float)
    return np.asarray(2 * hits / np.maximum(all_of, 1e-12))


def demos(near: dict[str, list[Labels]], gold: Labels, group: Labels) -> dict[str, NDArray[np.float64]]:
    """For each record how likely its own label is among those of the demos that it is shown, 0-1."""
    found = {
        f"nearest by {way}": np.array([gold[k] in gold[one[:SHOWN]] for k, one in enumerate(places)], dtype=np.float64)
        for way, places in near.items()
    }
    outside = [group != own for own in group]
    share = [float((gold[other] == label).mean()) for other, label in zip(outside, gold, strict=True)]
    return found | {"drawn": 1 - (1 - np.array(share)) ** SHOWN}


def seen(own: NDArray[np.float64], gold: Labels, labels: int) -> list[str]:
    return [percent(float(own[gold == k].mean())) if (gold == k).any() else "-" for k in range(labels)]


if __name__ == "__main__":
    sys.exit(main())
