"""What the decision layer would be on recorded answers, and how often each label is gold alone.

`python -m aisr.optimize.studies.recorded_layer ANSWERS RECORDS --task TASK`

ANSWERS has a line a record: `id`, the labels (`label`, or `sentence_labels`) and `stated`, what the LM stated of each,
a probability by label. RECORDS is a labelled file that holds them. No LM is asked.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aisr.base.text import percent
from aisr.commands.display import note, table
from aisr.commands.options import chosen_task
from aisr.inference.judge import Outcome
from aisr.optimize.datasets.examples import row_of
from aisr.optimize.decision.fit import fit
from aisr.optimize.decision.folds import Judged
from aisr.programs.asking.label_probabilities import from_stated
from aisr.programs.decision.layer import LM
from aisr.programs.reading.lines import read
from aisr.tasks.task import Task


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path)
    parser.add_argument("records", type=Path)
    parser.add_argument("--task", required=True)
    options = parser.parse_args(argv)
    task = chosen_task(options.task)
    rows = judged(task, options.answers, options.records)
    found = fit(task.labelled, rows, [], seed=0)
    golds = [types for row, _ in rows for types in task.labelled.allowed(row.example.gold)]
    alone, some = (
        Counter(types[0] for types in golds if len(types) == 1),
        Counter(label for own in golds for label in own),
    )
    offsets = zip(task.labelled.labels, found.decision.says.offsets, strict=True)
    table(
        f"{len(rows)} records",
        ["label", "gold statements", "of which it alone", "offset"],
        [[label, str(some[label]), str(alone[label]), f"{offset:+.2f}"] for label, offset in offsets],
    )
    scores = found.report.get("cross_validated", {})
    note(", ".join(f"{way} {percent(score)}" for way, score in scores.items()))
    note(f"gain, cross-validated: {found.gain}; kept: {found.report['kept']}")
    return 0


def judged(task: Task, answers: Path, records: Path) -> list[Judged]:
    """The recorded answers as judged records."""
    given = {row["id"]: row for row in map(json.loads, answers.read_text("utf-8").strip().split("\n"))}
    program = task.build({})
    rows = []
    for record in read(records, task.record, task.name):
        if record.id in given:
            row = row_of(task, program, record)
            rows.append(Judged(row, {LM: _outcome(given[record.id], task.labelled.labels, row.example)}))
    return rows


def _outcome(given: dict[str, Any], labels: Sequence[str], example: Any) -> Outcome:
    said = given["sentence_labels"] if "sentence_labels" in given else [given["label"]]
    stated = given["stated"] if isinstance(given["stated"], list) else [given["stated"]]
    texts = [", ".join(f"{label} {100 * chance:.4g}" for label, chance in one.items()) for one in stated]
    thoughts = from_stated(texts, said, labels)
    return Outcome(None, None, thoughts, given.get("evidence_ids", ()), example.get("ranking", ()))


if __name__ == "__main__":
    sys.exit(main())
