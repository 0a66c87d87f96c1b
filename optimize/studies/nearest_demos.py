"""What stands in a prompt with nearest demos: `python -m aisr.optimize.studies.nearest_demos FILE --task TASK` (no LM).

Each record of a labelled file is shown six demos out of all others that share nothing with it, as a compile would:
chosen by nearness alone, then with at most two of one source and no twins, then varied as well.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

from aisr.base.text import percent
from aisr.commands.display import note, table
from aisr.commands.options import chosen_task
from aisr.optimize.datasets.apart import grouped
from aisr.optimize.datasets.examples import labelled
from aisr.optimize.search.nearest import marked, pool
from aisr.programs.errors import UserError
from aisr.programs.judges.ensemble import single
from aisr.programs.retrieval.knn_demos import MARKS, SOURCE, TWINS, Nearness, nearest, wording
from aisr.programs.text.tokens import length

SHOWN, TOKENS = 6, 750  # demos, and tokens of each at most


def main() -> int:
    """0 where the file could be read, 2 where it could not."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.optimize.studies.nearest_demos", description="What nearest demos are."
    )
    parser.add_argument("file", type=Path, help="JSONL file of labelled records")
    parser.add_argument("--task", required=True)
    given = parser.parse_args()
    try:
        task = chosen_task(given.task)
        program = single(task.build({}))
        rows = labelled(task, program, given.file)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    group = grouped(rows)
    fields, statement = list(program.judging.signature.fields), program.statement
    lessons = [
        lesson.copy(**{SOURCE: source})
        for row, source in zip(rows, group, strict=True)
        for lesson in program.lessons(row.example)
    ]
    demos = marked(pool(lessons, fields, SHOWN, SHOWN * TOKENS), statement)
    short = sum(length(row, fields) <= TOKENS for row in lessons)
    note(
        f"{given.file}: {len(lessons)} demos, {short} of at most {TOKENS} tokens, {len(demos)} after cutting the others"
    )
    apart = {wording(demo[statement]): frozenset({demo[SOURCE]}) for demo in demos}
    bare = [demo.without(*(mark for mark in MARKS if mark in demo)) for demo in demos]
    known = {wording(demo[statement]): demo for demo in demos}
    found = []
    for name, offered, by in (("nearest", bare, "words"), ("sparse", demos, "words"), ("varied", demos, "varied")):
        near = Nearness(SHOWN, by, apart=apart)  # type: ignore[arg-type]
        shown = [
            [known[wording(one[statement])] for one in nearest(offered, statement, wording(demo[statement]), near)]
            for demo in demos
        ]
        found.append([name, *_row(task.kinds, shown, fields)])
    heads = ["demos", "three or more of one source", "two nearly the same", "five of one kind", "tokens"]
    table("share of records that are shown such demos", heads, found)
    return 0


def _row(kinds: Any, shown: list[list[Any]], fields: list[str]) -> list[str]:
    def share(of: Any, least: int) -> str:
        return percent(fmean(max(Counter(of(demos)).values(), default=0) >= least for demos in shown))

    return [
        share(lambda demos: [demo[SOURCE] for demo in demos], 3),
        share(lambda demos: [demo[TWINS] for demo in demos if TWINS in demo], 2),
        share(lambda demos: [kinds(demo.gold) for demo in demos], 5),
        f"{fmean(sum(length(demo, fields) for demo in demos) for demos in shown):.0f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
