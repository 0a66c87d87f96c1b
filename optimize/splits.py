"""Splitting labelled records so that nothing shared stands on two sides.

Records that share a picture, a cited paper or a claim are one group (connected components), and a group goes to one
side as a whole: in a random split 32 % of Track 1 records share a picture with the other side, and a dev score of 88
becomes 50 on test.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import StratifiedGroupKFold

from optimize import digests
from optimize.tasks import Task
from programs.records import CitationRecord, ClaimRecord, Record, read


@dataclass(frozen=True)
class Split:
    """Indices of the records on each side, each list ascending."""

    train: list[int]
    dev: list[int]
    test: list[int]


class Parts(NamedTuple):
    """How the records are shared out, in whole parts; 3:1:1 is 60 %, 20 %, 20 %."""

    train: int = 3
    dev: int = 1
    test: int = 1

    @classmethod
    def parse(cls, text: str) -> "Parts":
        """From "3:1:1". Raises ValueError for anything else than three whole numbers from 1 to 20."""
        fields = text.split(":")
        if len(fields) != 3 or not all(field.isdigit() and 1 <= int(field) <= 20 for field in fields):
            raise ValueError(f"--parts {text!r}: expected three whole numbers from 1 to 20, such as 3:1:1")
        return cls(*map(int, fields))


def shared(record: Record) -> set[str]:
    """What another record must not have in common with this one across a split: pictures, the paper, the claim."""
    keys = {"claim:" + " ".join(record.claim_text.lower().split())}
    if isinstance(record, ClaimRecord):
        keys |= {f"picture:{item.img_path}" for item in record.evidence_bundle if item.img_path}
    if isinstance(record, CitationRecord):
        whole = "\n".join(record.paragraphs.values())
        keys.add(f"paper:{digests.of_text(whole)}")
    return keys


def groups(keys: Sequence[set[str]]) -> list[int]:
    """The number of the group of each record, given what each shares."""
    columns = {key: k for k, key in enumerate(dict.fromkeys(key for own in keys for key in sorted(own)))}
    rows, cols = [], []
    for row, own in enumerate(keys):
        for key in own:
            rows.append(row)
            cols.append(len(keys) + columns[key])
    size = len(keys) + len(columns)
    graph = coo_array((np.ones(len(rows)), (rows, cols)), shape=(size, size))
    _, component = connected_components(graph, directed=False)
    return [int(number) for number in component[: len(keys)]]


def split(task: Task, strata: Sequence[str], keys: Sequence[set[str]], parts: Parts, seed: int) -> Split:
    """A seeded split, disjoint by group and stratified.

    strata: one word a record to keep in proportion (see `stratum`); keys: what each record shares (see `shared`).
    Raises ValueError where there are fewer groups than parts.
    """
    group = groups(keys)
    folds = sum(parts)
    if len(set(group)) < folds:
        raise ValueError(
            f"{len(strata)} records of {task.name} form {len(set(group))} groups that share no picture, paper or "
            f"claim; {folds} are needed for parts {parts.train}:{parts.dev}:{parts.test}"
        )
    rare = {stratum for stratum in strata if list(strata).count(stratum) < folds}
    kept = ["(rare)" if stratum in rare else stratum for stratum in strata]
    splitter = StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=seed)
    fold_of = np.empty(len(strata), dtype=int)
    for fold, (_, rows) in enumerate(splitter.split(kept, kept, group)):
        fold_of[rows] = fold
    test, dev = fold_of < parts.test, (fold_of >= parts.test) & (fold_of < parts.test + parts.dev)
    return Split(*(np.flatnonzero(side).tolist() for side in (~(test | dev), dev, test)))


def stratum(task: Task, record: Record) -> str:
    """The rarest thing about a labelled record: its first label other than Supported."""
    gold = getattr(record, "gold", None)
    if gold is None:
        raise ValueError(f"{record.id} has no labels; only labelled records can be split")
    unusual = [label for label in task.said(gold) if label != "Supported"]
    return unusual[0] if unusual else "Supported"


def split_file(task: Task, file: Path, out: Path, parts: Parts, seed: int) -> dict[str, int]:
    """Split a file into out/train.jsonl, dev.jsonl and test.jsonl, line by line as they stand; records a side.

    The file is read twice and never held whole. Raises ValueError where one of the three is there already.
    """
    there = [name for name in ("train", "dev", "test") if (out / f"{name}.jsonl").exists()]
    if there:
        raise ValueError(f"{out / there[0]}.jsonl is there already; choose another --out or remove it")
    strata, keys = [], []
    for record in read(file, task.record, task.name):
        strata.append(stratum(task, record))
        keys.append(shared(record))
    made = split(task, strata, keys, parts, seed)
    side = {row: name for name in ("train", "dev", "test") for row in getattr(made, name)}
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        files = {name: stack.enter_context((out / f"{name}.jsonl").open("wb")) for name in ("train", "dev", "test")}
        lines = (line for line in stack.enter_context(file.open("rb")) if line.strip())
        for row, line in enumerate(lines):
            files[side[row]].write(line.rstrip(b"\r\n") + b"\n")
    return {name: len(getattr(made, name)) for name in ("train", "dev", "test")}
