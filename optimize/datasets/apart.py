"""Which records share something, and that none is shown the demo of another one that it shares something with."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from aisr.optimize.datasets.examples import Labelled
from aisr.optimize.datasets.leakage import Leak, all_keys, groups, leak
from aisr.programs.judges.contract import ChoosingProgram, JudgeProgram, Program
from aisr.programs.judges.ensemble import by_name, members, seen_by
from aisr.programs.retrieval.knn_demos import wording


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


def keep_apart(program: Program, rows: Sequence[Labelled]) -> Program:
    """The program; where it chooses the demos of each record, it shows none of these one of its own group from now on.
    So do those that an optimizer makes of it."""
    group: list[int] = []
    if not rows:
        return program
    for name, model in by_name(program).items():
        if hasattr(model, "near"):
            choosing = cast(ChoosingProgram, model)
            group = group or grouped(rows)
            choosing.near = replace(choosing.near, apart=_of_statements(name, model, rows, group))
    return program


def as_before(old: Program, new: Program) -> Program:
    """The new program, which keeps apart what the old one does, and sees and asks where that does: none of this is
    saved with either."""
    for before, after in zip(members(old), members(new), strict=True):
        vars(after).update({name: vars(before)[name] for name in ("gallery", "embed") if name in vars(before)})
        if hasattr(before, "near"):
            cast(ChoosingProgram, after).near = cast(ChoosingProgram, before).near
    return new


def _of_statements(
    name: str, model: JudgeProgram, rows: Sequence[Labelled], group: Sequence[int]
) -> Mapping[str, frozenset[int]]:
    """The groups of the records that each statement stands in, as the model has it."""
    found: dict[str, set[int]] = {}
    for row, key in zip(rows, group, strict=True):
        for shown in model.demo_rows(seen_by(name, row.example)):
            found.setdefault(wording(shown.get(model.statement)), set()).add(key)
    return {text: frozenset(keys) for text, keys in found.items()}
