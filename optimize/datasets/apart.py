"""Which records share something, and that none is shown the demo of another one that it shares something with."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import dspy

from aisr.optimize.datasets.examples import Labelled
from aisr.optimize.datasets.leakage import Leak, all_keys, groups, leak
from aisr.programs.base import Judge
from aisr.programs.demos import wording
from aisr.programs.text.compare import quotes


def grouped(rows: Sequence[Labelled]) -> list[int]:
    """The group of each record: what no two of them share, `aisr.optimize.datasets.leakage` says."""
    return groups(all_keys([row.common for row in rows]))


def across(rows: Mapping[str, Sequence[Labelled]]) -> dict[str, Leak]:
    """What the records of each other split share with those of train."""
    train = rows["train"]
    return {
        name: leak(all_keys([row.common for row in (*train, *found)]), range(len(train)))
        for name, found in rows.items()
        if name != "train"
    }


def keep_apart(program: Judge, rows: Sequence[Labelled]) -> Judge:
    """The program; where it chooses the demos of each record, it shows none of these one of its own group from now on.
    So do those that an optimizer makes of it."""
    if rows:
        program.knn = replace(program.knn, excluded=_of_statements(program, rows, grouped(rows)))
    return program


def in_prompt(program: Judge, example: dspy.Example) -> bool:
    """Whether a record stands in a prompt of the program, whole or in part: as a demo, or quoted by an instruction."""
    return _is_demo(program, example) or _is_quoted(program, example)


def _is_demo(program: Judge, example: dspy.Example) -> bool:
    """By what is judged: its evidence may stand in a demo in another form, without its pictures."""
    said = [row.get(program.statement) for row in program.demo_rows(example)]
    if all(program.knn.excludes(wording(one)) for one in said):
        return False  # it stands in the prompts of others only
    return any(demo.get(program.statement) in said for demo in program.judging.demos)


def _is_quoted(program: Judge, example: dspy.Example) -> bool:
    """Whether an instruction has a run of words from what is judged."""
    said = "\n".join(wording(row.get(program.statement)) for row in program.demo_rows(example))
    return any(quotes(predictor.signature.instructions, said) for predictor in program.predictors())


def _of_statements(program: Judge, rows: Sequence[Labelled], group: Sequence[int]) -> Mapping[str, frozenset[int]]:
    """The groups of the records that each statement stands in, as the program has it."""
    found: dict[str, set[int]] = {}
    for row, key in zip(rows, group, strict=True):
        for shown in program.demo_rows(row.example):
            found.setdefault(wording(shown.get(program.statement)), set()).add(key)
    return {text: frozenset(keys) for text, keys in found.items()}
