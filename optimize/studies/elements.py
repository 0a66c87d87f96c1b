"""All ways to rank figures and tables beside one another: `python -m aisr.optimize.studies.elements FILE… --task TASK`.

Prints two Markdown tables: each part of the score with its 95 % interval, and the paired difference of the ranking
score from the first row; then what one choice is worth where all else is equal. Groups of claims that share a paper or
evidence are resampled. No LM is asked, unless one is named: then three more rows have it describe the elements, and put
the best in order.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aisr.commands.options import chosen_task
from aisr.inference.judge import judge
from aisr.lm.client import OpenLM
from aisr.lm.open import open_lm
from aisr.metrics.confidence import Interval, mean_interval
from aisr.metrics.scores import Floats, value
from aisr.optimize.datasets.leakage import all_keys, common, groups
from aisr.optimize.evidence.rank_fit import TooFew, fit_ranker, looked
from aisr.optimize.studies.labelled import labelled
from aisr.programs.errors import UserError
from aisr.programs.judges.contract import Program
from aisr.programs.retrieval.bm25 import bm25
from aisr.programs.retrieval.elements.strategies import DEFAULT
from aisr.programs.retrieval.embeddings import built_in
from aisr.tasks.task import Answer, Task

# The first is what the others are compared with: as CSIRO-LT had it.
WAYS = (
    ("element/100/spelled/plain", "bm25"),
    ("element/100/spelled/plain", "dense"),
    ("element/100/read/plain", "bm25"),
    ("element/100/read/plain", "dense"),
    ("element/100/read/captions", "bm25"),
    ("element/100/read/captions", "dense"),
    ("element/100/read/captions", "hybrid"),
    ("element/100/read/parts", "bm25"),
    ("element/100/read/parts", "dense"),
    ("element/100/read/parts", "hybrid"),
    ("element/sentence/read/captions", "bm25"),
    ("element/sentence/read/captions", "dense"),
    ("element/paragraph/read/captions", "bm25"),
    ("element/semantic/read/captions", "bm25"),
    ("element/semantic/read/captions", "dense"),
    ("element/256/read/captions", "bm25"),
    ("chunk/sentence/plain", "bm25"),
    ("chunk/sentence/captions", "bm25"),
    ("chunk/100/plain", "bm25"),
    ("chunk/100/captions", "bm25"),
    ("chunk/100/captions", "dense"),
    ("chunk/100/captions/mentions", "bm25"),
    ("chunk/paragraph/captions", "bm25"),
    ("chunk/semantic/captions", "bm25"),
    ("chunk/128/captions", "bm25"),
    ("chunk/256/captions", "bm25"),
    ("chunk/512/captions", "bm25"),
    ("chunk/512/captions/mentions", "bm25"),
    ("chunk/1024/captions", "bm25"),
    ("hierarchical/plain", "hybrid"),
    ("hierarchical/captions", "bm25"),
    ("hierarchical/captions", "hybrid"),
    ("fusion/captions", "hybrid"),
    ("round-robin/captions", "hybrid"),
    ("top-k/captions", "hybrid"),
)
ASKING: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (f"{DEFAULT}, described by the LM", "bm25", {"rephrase": True, "order": 0}),
    (f"{DEFAULT}, described by the LM", "dense", {"rephrase": True, "order": 0}),
    (f"{DEFAULT}, ten put in order by the LM", "bm25", {"order": 10}),
)
# Two of `WAYS` that differ in one choice, or in what the second brings together.
CHOICES = (
    ("citations read, not as published", "element/100/read/plain bm25", "element/100/spelled/plain bm25"),
    ("captions", "element/100/read/captions bm25", "element/100/read/plain bm25"),
    ("of a panel its own part", "element/100/read/parts bm25", "element/100/read/captions bm25"),
    ("of a panel its own part, hybrid", "element/100/read/parts hybrid", "element/100/read/captions hybrid"),
    ("captions, chunk-guided", "chunk/100/captions bm25", "chunk/100/plain bm25"),
    ("dense for bm25", "element/100/read/captions dense", "element/100/read/captions bm25"),
    ("dense for bm25, as published", "element/100/spelled/plain dense", "element/100/spelled/plain bm25"),
    ("dense for hybrid", "element/100/read/captions dense", "element/100/read/captions hybrid"),
    ("semantic chunks for 100 words", "element/semantic/read/captions bm25", "element/100/read/captions bm25"),
    ("sentences for 100 words", "element/sentence/read/captions bm25", "element/100/read/captions bm25"),
    ("semantic chunks for 100 words, dense", "element/semantic/read/captions dense", "element/100/read/captions dense"),
    ("sentences for 100 words, dense", "element/sentence/read/captions dense", "element/100/read/captions dense"),
    ("chunk-guided for element-guided", "chunk/100/captions bm25", "element/100/read/captions bm25"),
    ("order of mention for inverse ranks", "chunk/100/captions/mentions bm25", "chunk/100/captions bm25"),
    ("hierarchical for chunks of 512", "hierarchical/captions bm25", "chunk/512/captions bm25"),
    ("hierarchical for chunks of a sentence", "hierarchical/captions bm25", "chunk/sentence/captions bm25"),
    ("top-k merge for its first run", "top-k/captions hybrid", "element/100/read/captions dense"),
    ("round-robin for top-k merge", "round-robin/captions hybrid", "top-k/captions hybrid"),
    ("rank fusion for top-k merge", "fusion/captions hybrid", "top-k/captions hybrid"),
)
Answers = list[Answer | None]


@dataclass(frozen=True)
class Row:
    """How a way did: its parts by their names; the ranking score of each claim; the difference from the first way's."""

    name: str
    retriever: str
    parts: Mapping[str, Interval]
    scores: Floats
    gain: Interval


def main() -> int:
    """0 where the files could be ranked, 2 where they could not."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.optimize.studies.elements", description="Rank figures and tables."
    )
    parser.add_argument("files", type=Path, nargs="+", help="JSONL files of labelled records")
    parser.add_argument("--task", required=True)
    parser.add_argument("--lm", help="an LM to describe elements and to order them, such as openai/gpt-4o-mini")
    given = parser.parse_args()
    try:
        task = chosen_task(given.task)
        if "rephrase" not in task.option_types:
            raise UserError(f"--task {task.name} ranks no figures; expected one that does")
        records = labelled(task, given.files)
        group = groups(all_keys([common(task, record) for record in records]))
        rows = compared(task, records, group, open_lm(given.lm) if given.lm else None)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(as_markdown(task, rows, len(records)))
    print(f"\n{choices(rows, group)}")
    return 0


def compared(task: Task, records: Sequence[Any], group: Sequence[int], lm: OpenLM | None = None) -> list[Row]:
    """Every way on the same records; with the ranker that is fitted on other papers than a claim's own, where there are
    enough. group: of each record, by the paper."""
    made: list[tuple[str, str, Answers]] = []
    for name, retriever in WAYS:
        program = task.build({"strategy": name, "retriever": retriever, "order": 0})
        made.append((name, retriever, _answers(task, records, [program] * len(records))))
    try:
        made.append((DEFAULT, "fitted, cross-validated", _by_fitted(task, records)))
    except TooFew as few:
        print(f"no fitted ranker: {few}", file=sys.stderr)
    if lm is not None:
        for name, retriever, options in ASKING:
            program = task.build({"retriever": retriever, **options})
            made.append((name, retriever, _asked(task, program, records, lm)))
    first = _scored(task, records, made[0][2])
    return [_row(task, records, name, retriever, answers, first, group) for name, retriever, answers in made]


def as_markdown(task: Task, rows: Sequence[Row], count: int) -> str:
    """The table."""
    head = ["strategy", "retriever", *task.parts.values(), "score against the first"]
    lines = [
        f"{count} claims; 95 % intervals over groups by paper and evidence",
        "",
        f"| {' | '.join(head)} |",
        "|---" * len(head) + "|",
    ]
    for row in rows:
        cells = [row.name, row.retriever, *map(str, row.parts.values()), "" if row is rows[0] else str(row.gain)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def choices(rows: Sequence[Row], group: Sequence[int]) -> str:
    """The table of what one choice is worth."""
    scores = {f"{row.name} {row.retriever}": row.scores for row in rows}
    lines = ["| choice | score, in points |", "|---|---|"]
    for said, new, old in CHOICES:
        if new in scores and old in scores:
            lines.append(f"| {said} | {mean_interval(scores[new] - scores[old], group)} |")
    return "\n".join(lines)


def _answers(task: Task, records: Sequence[Any], programs: Sequence[Program]) -> Answers:
    """What programs that ask no LM answer, one to each record."""
    pairs = zip(records, programs, strict=True)
    return [task.answer(program(**program.prepare(record).inputs())) for record, program in pairs]


def _by_fitted(task: Task, records: Sequence[Any]) -> Answers:
    unseen = fit_ranker(looked(task, records), bm25, built_in, seed=0).unseen
    programs = []
    for record in records:
        program = task.build({"order": 0})
        found = task.searched(record) if task.searched else None
        # None for a claim whose gold elements the paper lacks.
        program.ranker = unseen[tuple(found.paragraphs.values())] if found and found.gold else None
        programs.append(program)
    return _answers(task, records, programs)


def _asked(task: Task, program: Program, records: Sequence[Any], lm: OpenLM) -> Answers:
    return [judge(task, program, program.prepare(record), lm).answer for record in records]


def _scored(task: Task, records: Sequence[Any], answers: Answers) -> Floats:
    """The ranking score of each record by itself."""
    return np.array(
        [value(task.score([record.gold], [answer])) for record, answer in zip(records, answers, strict=True)]
    )


def _row(
    task: Task,
    records: Sequence[Any],
    name: str,
    retriever: str,
    answers: Answers,
    first: Floats,
    group: Sequence[int],
) -> Row:
    reports = [task.score([record.gold], [answer]).report() for record, answer in zip(records, answers, strict=True)]
    parts = {part: mean_interval([report.parts[part] for report in reports], group) for part in task.parts}
    scores = _scored(task, records, answers)
    return Row(name, retriever, parts, scores, mean_interval(scores - first, group))


if __name__ == "__main__":
    sys.exit(main())
