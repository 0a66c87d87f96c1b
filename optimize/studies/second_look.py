"""What a second look at papers is shown, and what it costs: `python -m aisr.optimize.studies.second_look PAPER…`.

For each paper: prompt tokens of the first look, and of the second at the sentences that get no first look and at one of
three of the others; and of the numbers and names in all these that a table, figure or passage of the paper has at all,
the share that is among what is shown. Nothing is sent.
"""

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from aisr.arithmetic.grid import grids
from aisr.arithmetic.names import mentions
from aisr.checker.judges import DOUBTED
from aisr.checker.reading import read_paper
from aisr.lm.open import open_lm
from aisr.optimize.search.cost_estimate import of_judging
from aisr.paper.draft import Draft
from aisr.tasks.check import Check
from aisr.tasks.paper_checks import Checks, checks
from aisr.tasks.paper_tasks import CLAIMS, WHOLE, as_if_faultless
from aisr.tasks.task import Task
from aisr.tasks.telling import numbers

LM = "openai/gpt-4o-mini"  # whose form of prompts is counted; it is not asked
NUMBER = re.compile(r"\d[\d,]*+(?:\.\d+)?")


class Row(NamedTuple):
    """Of one paper: prompt tokens of the first look, of the second at what gets no first one, and of the second at one
    of three; the numbers that are shown of those that could be, and the same of names."""

    first: int
    straight: int
    doubted: int
    numbers: tuple[int, int]
    names: tuple[int, int]


def measured(draft: Draft, found: Checks) -> Row:
    """What the two looks at a paper come to. Raises ValueError where there is none."""
    if found.second is None:
        raise ValueError("no second look without a paper")
    straight = found.second.checks(found.second.straight)
    wanted: dict[int, list[int]] = {}
    for paragraph, sentence in [place for one in found.claims for place in one.places][::DOUBTED]:
        wanted.setdefault(paragraph, []).append(sentence)
    doubted = found.second.checks(wanted)
    looks = ((CLAIMS, found.claims), (WHOLE, straight), (WHOLE, doubted))
    first, again, more = (_tokens(task, some) for task, some in looks)
    return Row(first, again, more, *shown(draft, [*straight, *doubted]))


def shown(draft: Draft, looked_at: Iterable[Check]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Of the numbers and of the tables' names in judged sentences, how many are shown, and how many could be: those
    that stand in a table, a caption, or a paragraph other than their own."""
    tables = grids(list(draft.floats.values()))
    floats = " ".join(f"{one.caption} {one.notes} {one.rows}" for one in draft.floats.values())
    texts = [" ".join(one.text for one in paragraph.sentences) for paragraph in draft.paragraphs]
    numbered, named = [0, 0], [0, 0]
    program = WHOLE.build({})
    for check in looked_at:
        example = program.prepare(check.record)
        evidence, said = WHOLE.labelled.grounds(example), WHOLE.labelled.statements(example)
        for (paragraph, _), sentence in zip(check.places, said, strict=True):
            elsewhere = _numbers(" ".join([floats, *texts[:paragraph], *texts[paragraph + 1 :]]))
            wanted = {_plain(number.text) for number in numbers(sentence)} & elsewhere
            numbered = [numbered[0] + len(wanted & _numbers(evidence)), numbered[1] + len(wanted)]
            names = {mention.label for table in tables for mention in mentions(sentence, table)}
            named = [named[0] + sum(name in evidence for name in names), named[1] + len(names)]
    return (numbered[0], numbered[1]), (named[0], named[1])


def _numbers(text: str) -> set[str]:
    return {_plain(one) for one in NUMBER.findall(text)}


def _plain(text: str) -> str:
    return text.strip(" %+-−–").replace(",", "")


def _tokens(task: Task, some: Iterable[Check]) -> int:
    program = task.build({})
    examples = [program.prepare(as_if_faultless(one.record)) for one in some]
    return of_judging(program, examples, open_lm(LM, keyed=False)).usual.prompt_tokens


def main() -> int:
    """Print a line a paper."""
    parser = argparse.ArgumentParser(prog="python -m aisr.optimize.studies.second_look", description=__doc__)
    parser.add_argument("papers", type=Path, nargs="+")
    for paper in parser.parse_args().papers:
        draft, cited = read_paper(paper, None, None, None)
        row = measured(draft, checks(draft, cited))
        times = (row.first + row.straight + row.doubted) / max(row.first, 1)
        print(
            f"{paper}: first look {row.first:,} tokens, second {row.straight:,} and {row.doubted:,}, together "
            f"{times:.2f} times; shown {row.numbers[0]} of {row.numbers[1]} numbers, {row.names[0]} of {row.names[1]} "
            "names"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
