"""How far a task's records can be answered without any LM: `python -m aisr.optimize.studies.floor FILE --task TASK`.

Prints the official score of the task's fallback answers, which is what any program has to beat.
"""

import argparse
import sys
from pathlib import Path

from aisr.commands.display import note, score_table
from aisr.commands.options import chosen_task
from aisr.metrics.confidence import score_interval
from aisr.programs.errors import UserError
from aisr.programs.reading.lines import read


def main() -> int:
    """0 where the file could be scored, 2 where it could not."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.optimize.studies.floor", description="The score without any LM."
    )
    parser.add_argument("file", type=Path, help="JSONL file of labelled records")
    parser.add_argument("--task", required=True)
    given = parser.parse_args()
    try:
        score(given.file, given.task)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def score(file: Path, name: str) -> None:
    """Print the score of a task's fallback on a file. Raises UserError where it has no labelled records."""
    task = chosen_task(name)
    records = list(read(file, task.record, task.name))
    if not records or any(record.gold is None for record in records):
        raise UserError(f"{file}: expected labelled records, all of them")
    scores = task.score([record.gold for record in records], [task.fallback(record) for record in records])
    interval = score_interval(scores)
    note(f"{file}: {len(records)} records, answered without any LM")
    score_table(task.parts, {**scores.report().as_dict(), "interval": [interval.low, interval.high]})


if __name__ == "__main__":
    sys.exit(main())
