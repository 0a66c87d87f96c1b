"""All ways to find the passages that ground claims beside one another: `python -m aisr.optimize.studies.passages FILE…
--task TASK --train TRAIN`.

Prints a Markdown table: each part of the score with its 95 % interval, and the paired difference of the ranking score
from the first row, both over groups by paper and evidence. No LM is asked, unless one is named: then more
rows have it choose sentences, and quote the paper.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aisr.commands.options import chosen_task
from aisr.inference.judge import judge_all
from aisr.lm.client import OpenLM
from aisr.lm.open import open_lm
from aisr.metrics.confidence import Interval, mean_interval
from aisr.optimize.datasets.leakage import all_keys, common, groups
from aisr.optimize.experiment.evidence import learn
from aisr.optimize.studies.labelled import labelled
from aisr.programs.errors import UserError
from aisr.programs.retrieval.paper_sentences import known_again
from aisr.tasks.task import Answer, Options, Task

# What the others are compared with comes first: the baseline of CSIRO-LT.
WAYS: Mapping[str, Options] = {
    "5 best sentences by BM25": {"strategy": "sentences"},
    "5 best sentences, snippets apart": {"strategy": "sentences", "several": True},
    "the best sentence": {"strategy": "sentences", "sentences": 1},
    "3 best sentences": {"strategy": "sentences", "sentences": 3},
    "10 best sentences": {"strategy": "sentences", "sentences": 10},
    "the best one with its neighbours": {"strategy": "sentences", "sentences": 1, "neighbours": 1},
    "5 best with their neighbours": {"strategy": "sentences", "neighbours": 1},
    "5 best with an expression": {"strategy": "sentences", "expressions": True},
    "5 best with an expression, snippets apart": {"strategy": "sentences", "expressions": True, "several": True},
    "the best one with an expression, and neighbours": {
        "strategy": "sentences",
        "sentences": 1,
        "neighbours": 1,
        "expressions": True,
    },
    "the best paragraph": {"strategy": "paragraph"},
}
ASKING: Mapping[str, Options] = {
    "an LM chooses among the 15 best": {"strategy": "select"},
    "an LM chooses among 15, those with an expression first": {"strategy": "select", "expressions": True},
    "an LM chooses among the 15 that tell most of method": {"strategy": "method"},
    "an LM quotes the whole paper, joined": {"strategy": "whole"},
    "an LM quotes the whole paper, quotes apart": {"strategy": "whole", "several": True},
}


SHOWING = ("select", "method")


class Row(NamedTuple):
    """How a way did: its parts by their names, and the difference of its ranking score from that of the first."""

    name: str
    parts: Mapping[str, Interval]
    gain: Interval


def main() -> int:
    """0 where the files could be scored, 2 where they could not."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.optimize.studies.passages", description="Find grounding passages."
    )
    parser.add_argument("files", type=Path, nargs="+", help="JSONL files of labelled records")
    parser.add_argument("--task", required=True)
    parser.add_argument(
        "--train", type=Path, required=True, help="JSONL file of labelled records to mine expressions of"
    )
    parser.add_argument("--lm", help="an LM to choose and to quote, such as openai/gpt-4o-mini")
    given = parser.parse_args()
    try:
        task = chosen_task(given.task)
        if not {"strategy", "expressions"} <= set(task.option_types):
            raise UserError(f"--task {task.name} looks for no passages; expected one that does")
        records, train = labelled(task, given.files), labelled(task, [given.train])
        rows = compared(task, records, train, open_lm(given.lm) if given.lm else None)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(as_markdown(task, rows, len(records)))
    for strategy in SHOWING:
        print(f"\n`{strategy}` shows an LM {shown(task, strategy, records, train)} of the gold sentences")
    return 0


def compared(task: Task, records: Sequence[Any], train: Sequence[Any], lm: OpenLM | None = None) -> list[Row]:
    """Every way on the same records."""
    group = groups(all_keys([common(task, record) for record in records]))
    reports = {
        name: [
            task.score([record.gold], [answer]).report()
            for record, answer in zip(records, _answers(task, options, records, train, lm), strict=True)
        ]
        for name, options in {**WAYS, **(ASKING if lm else {})}.items()
    }
    first = np.array([report.score for report in next(iter(reports.values()))])
    rows = []
    for name, found in reports.items():
        parts = {part: mean_interval([report.parts[part] for report in found], group) for part in task.parts}
        gain = mean_interval(np.array([report.score for report in found]) - first, group)
        rows.append(Row(name, parts, gain))
    return rows


def as_markdown(task: Task, rows: Sequence[Row], count: int) -> str:
    """The table."""
    head = ["strategy", *task.parts.values(), "score against the first"]
    lines = [
        f"{count} claims; 95 % intervals over groups by paper and evidence",
        "",
        f"| {' | '.join(head)} |",
        "|---" * len(head) + "|",
    ]
    for row in rows:
        cells = [row.name, *map(str, row.parts.values()), "" if row is rows[0] else str(row.gain)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def shown(task: Task, strategy: str, records: Sequence[Any], train: Sequence[Any]) -> Interval:
    """The share of gold sentences, in points, among those that an LM may choose from."""
    program = task.build({"strategy": strategy})
    learn(program, train, lambda said: None)
    shares = []
    for example in map(program.prepare, records):
        gold = {f"S{place + 1}" for places in known_again(example.source, example.gold) for place in places}
        shares.append(len(gold & set(example.shown)) / max(len(gold), 1))
    return mean_interval(np.array(shares), groups(all_keys([common(task, record) for record in records])))


def _answers(
    task: Task, options: Options, records: Sequence[Any], train: Sequence[Any], lm: OpenLM | None
) -> list[Answer | None]:
    """What a program of these options answers to each record, having learnt from train."""
    program = task.build(options)
    learn(program, train, lambda said: None)
    examples = [program.prepare(record) for record in records]
    if lm is None:
        return [task.answer(program(**example.inputs())) for example in examples]
    return [outcome.answer for outcome in judge_all(task, program, examples, lm)]


if __name__ == "__main__":
    sys.exit(main())
