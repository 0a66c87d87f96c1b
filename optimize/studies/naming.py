"""What naming evidence by two heads is worth on recorded answers.

`python -m aisr.optimize.studies.naming ANSWERS... RECORDS --task TASK`

ANSWERS has a line a record: `id`, `label`, and `evidence_ids`, the ids that a model named, best first; of several such
files the labels are the first one's, and all ids are heeded, of records that are in all. RECORDS is a labelled file
that holds them. The ranker is fitted on all claims of RECORDS with gold evidence, and each claim ranked
by one that did not see its paper; the heads are cross-validated over papers, too. No LM is asked.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from aisr.commands.display import note, table
from aisr.commands.options import chosen_task
from aisr.metrics.confidence import mean_interval
from aisr.optimize.datasets.leakage import all_keys, common, groups
from aisr.optimize.evidence.naming_fit import Naming, fit_naming, found_under
from aisr.optimize.evidence.rank_fit import fit_ranker, looked
from aisr.programs.errors import UserError
from aisr.programs.reading.lines import read
from aisr.programs.records.base import Record
from aisr.programs.retrieval.bm25 import bm25
from aisr.programs.retrieval.embeddings import built_in
from aisr.programs.retrieval.evidence_list import BY_RANKS, DEFAULT, DEPTH, EvidencePolicy, log_odds, told
from aisr.programs.retrieval.retrievers import order
from aisr.tasks.task import Task


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path, nargs="+")
    parser.add_argument("records", type=Path)
    parser.add_argument("--task", required=True)
    options = parser.parse_args(argv)
    task = chosen_task(options.task)
    records = list(read(options.records, task.record, task.name))
    files = [
        {row["id"]: row for row in map(json.loads, path.read_text("utf-8").strip().split("\n"))}
        for path in options.answers
    ]
    answers = {key: [file[key] for file in files] for key in files[0] if all(key in file for file in files)}
    cases = _cases(task, records, answers)
    own = [record for record in records if record.id in answers]
    group = groups(all_keys([common(task, one) for one in own]))
    fitted = fit_naming(cases, group, seed=0)
    said = np.array([one.said == one.label for one in cases])
    with_gold = np.array([not one.empty for one in cases])
    rows = {"named first, then ranked": found_under(cases, BY_RANKS), "two and one": found_under(cases, DEFAULT)}
    rows["fitted, cross-validated"] = fitted.found
    note(f"{len(cases)} records, {with_gold.sum()} with gold evidence, {len(set(group))} groups")
    first_way, first = next(iter(rows.items()))
    table(
        "evidence",
        ["way", "Joint@3", "gain"],
        [
            [
                name,
                f"{100 * (said & found).mean():.1f}",
                str(mean_interval((said & found).astype(float) - (said & first), group)),
            ]
            for name, found in rows.items()
        ],
    )
    hits = {first_way: _hit(cases, BY_RANKS), **fitted.report.get("hit", {})}
    table(
        "claims with gold evidence", ["three ids", "Hit@3"], [[name, f"{100 * hit:.1f}"] for name, hit in hits.items()]
    )
    note("taken: " + "; ".join(f"{what}: {how}" for what, how in told(fitted.policy).items()))
    return 0


def _hit(cases: Sequence[Naming], policy: EvidencePolicy) -> float:
    always = policy.model_copy(update={"fill": {}})
    return float(found_under([one for one in cases if not one.empty], always).mean())


def _cases(task: Task, records: Sequence[Record], answers: Mapping[str, Sequence[Any]]) -> list[Naming]:
    """What models named of each record that all of them answered."""
    right = task.labelled.evidence_right
    if task.searched is None or right is None:
        raise UserError(f"{task.name} names no evidence")
    given = looked(task, records)
    fitted = fit_ranker(given, bm25, built_in, seed=0)
    cases = []
    for record in records:
        if record.id not in answers:
            continue
        found = task.searched(record)
        paper = tuple(found.paragraphs.values())
        scores = fitted.unseen.get(paper, fitted.ranker).matcher(built_in)(found.claim, paper)
        best = order(scores)
        keys = list(found.paragraphs)
        said = answers[record.id]
        cases.append(
            Naming(
                task.labelled.said(record.gold)[0],
                said[0]["label"],
                partial(right, record.gold),
                [one["evidence_ids"] for one in said],
                [keys[k] for k in best[:DEPTH]],
                log_odds(scores)[best[:DEPTH]].tolist(),
            )
        )
    return cases


if __name__ == "__main__":
    sys.exit(main())
