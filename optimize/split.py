"""Splitting labelled records so that nothing shared stands on two sides.

Records that share a claim or what it rests on are one group (see `aisr.optimize.leakage`), and a group goes to one
side as a whole: in a random split 32 % of Track 1 records share a picture with the other side, and a dev score of
88 becomes 50 on test.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.base.errors import UserError
from aisr.base.files import replacing
from aisr.base.jsonl import BadLine, count_lines, scan
from aisr.base.progress import counted
from aisr.optimize.leakage import LEAKAGE_RULE, Fingerprint, Leak, all_keys, fingerprint, groups, leak, shared
from aisr.programs.task import Task

Split = dict[str, list[int]]  # the records of `train`, `dev` and `test` by their place in the file, ascending


class Parts(NamedTuple):
    """How the records are shared out, in whole parts; 3:1:1 is 60 %, 20 %, 20 %."""

    train: int = 3
    dev: int = 1
    test: int = 1

    @classmethod
    def parse(cls, text: str) -> "Parts":
        """Return the parts of a text such as "3:1:1", whole numbers from 1 to 20. Raises UserError for any other."""
        fields = text.split(":")
        if len(fields) != 3 or not all(field.isdigit() and 1 <= int(field) <= 20 for field in fields):
            raise UserError(f"--parts {text!r}: expected three whole numbers from 1 to 20, such as 3:1:1")
        return cls(*map(int, fields))


class Survey(NamedTuple):
    """What a split depends on, for each record of a labelled file."""

    lines: list[int]  # its number in the file, from 1
    ids: list[str | None]  # the one it got, where it has none of its own
    strata: list[str]  # one word, kept in proportion
    labels: list[frozenset[str]]  # those of its statements; in a task without labels its stratum
    keys: list[set[str]]  # what it may share with others


@dataclass(frozen=True)
class SplitSummary:
    """What a split came to."""

    folder: Path  # that holds train.jsonl, dev.jsonl and test.jsonl
    records: dict[str, int]  # by part
    labels: dict[str, Counter[str]]  # by part: how many of its records have a label
    faulty: dict[str, int]  # by part: how many have another label than the default one; none in a task without labels
    groups: int  # of records that share something
    shared: Leak  # how many records share something with another
    leak: Leak  # how many records of dev and test share something with train
    random_leak: Leak  # the same of a plain random split
    default_label: str = ""  # of the task, if it has labels

    @property
    def missing(self) -> dict[str, list[str]]:
        """The parts in which no record has a label, by label; scores there tell nothing about it."""
        missing = {}
        for label in self._totals():
            parts = [part for part, own in self.labels.items() if not own[label]]
            if parts:
                missing[label] = parts
        return missing

    def _totals(self) -> Counter[str]:
        return sum(self.labels.values(), Counter[str]())

    def lines(self) -> list[str]:
        """Return it in words, with a warning for each label that a part lacks."""
        groups = f"{sum(self.records.values())} records in {self.groups} groups"
        lines = [
            f"  {groups}; what they share with another: {self.shared}",
            f"  compared: {LEAKAGE_RULE}",
            f"  a plain random split would share with train: {self.random_leak}; this one: {self.leak}",
        ]
        for part, count in self.records.items():
            line = f"  {self.folder / part}.jsonl: {count} records"
            if self.faulty:
                line += f", {self.faulty[part]} of them with another label than {self.default_label}"
            lines.append(line)
        for label, total in self._totals().most_common():
            numbers = ", ".join(f"{part} {own[label]}" for part, own in self.labels.items())
            lines.append(f"  {total:6d}  {label or '(labelled)'}: {numbers}")
            if label in self.missing:
                where = " and ".join(self.missing[label])
                lines.append(f"warning: no record of {where} has {label}; scores on it tell nothing about this label")
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())


def split_file(task: Task, file: Path, out: Path, parts: Parts, seed: int) -> SplitSummary:
    """Split a labelled file into `out`/train.jsonl, dev.jsonl and test.jsonl, which share nothing. Raises UserError for
    records without labels, for too few groups of them, and where one of the files exists; nothing is written then."""
    surveyed = survey(task, file)
    sides = split(surveyed.strata, surveyed.labels, surveyed.keys, parts, seed)
    drawn = random.Random(seed).sample(range(len(surveyed.keys)), len(sides["train"]))
    write_split(sides, surveyed, file, out)
    labels: dict[str, Counter[str]] = {}
    faulty: dict[str, int] = {}
    for name, rows in sides.items():
        labels[name] = Counter()
        for row in rows:
            labels[name].update(surveyed.labels[row])
        if task.labels:
            faulty[name] = sum(surveyed.strata[row] != task.default_label for row in rows)
    return SplitSummary(
        folder=out,
        records={name: len(rows) for name, rows in sides.items()},
        labels=labels,
        faulty=faulty,
        groups=len(set(groups(surveyed.keys))),
        shared=shared(surveyed.keys),
        leak=leak(surveyed.keys, sides["train"]),
        random_leak=leak(surveyed.keys, drawn),
        default_label=task.default_label if task.labels else "",
    )


def survey(task: Task, file: Path) -> Survey:
    """Read a labelled file once; only claims, digests and openings are held. Raises `BadLine` for a bad record and
    UserError for one without labels."""
    lines, ids, strata, labels = [], [], [], []
    rows: list[Fingerprint] = []
    for line in counted(scan(file, task.record, task.name), f"reading {file.name}", count_lines(file)):
        if line.record is None:
            raise BadLine(str(line.problem))
        record = line.record
        if record.gold is None:
            raise UserError(f"{record.id} has no labels; only labelled records can be split")
        stratum = task.stratify_by(record.gold)
        lines.append(line.number)
        ids.append(record.id if line.numbered else None)
        strata.append(stratum)
        labels.append(frozenset(task.first_labels(record.gold) if task.labels else [stratum]))
        rows.append(fingerprint(task, record))
    return Survey(lines, ids, strata, labels, all_keys(rows))


def split(
    strata: Sequence[str], labels: Sequence[frozenset[str]], keys: Sequence[set[str]], parts: Parts, seed: int
) -> Split:
    """Return a seeded split, disjoint by group and stratified, in which each part has each label, as far as groups
    allow. Raises UserError where there are fewer groups than parts."""
    group = groups(keys)
    if len(set(group)) < sum(parts):
        raise UserError(
            f"{len(strata)} records form {len(set(group))} groups that share no claim, picture, paper or evidence; "
            f"{sum(parts)} are needed for parts {':'.join(map(str, parts))}"
        )
    side_of_fold = ["test"] * parts.test + ["dev"] * parts.dev + ["train"] * parts.train
    fold = fold_of(strata, group, sum(parts), seed).tolist()
    drawn = {own: side_of_fold[number] for own, number in zip(group, fold, strict=True)}
    side_of = spread_labels(drawn, labels, group)
    sides: Split = {name: [] for name in Parts._fields}
    for row, own in enumerate(group):
        sides[side_of[own]].append(row)
    return sides


def spread_labels(side_of: Mapping[int, str], labels: Sequence[frozenset[str]], group: Sequence[int]) -> dict[int, str]:
    """Return the side of each group, with groups moved to sides that lack one of their labels, the rarest label first.

    Of the groups that can move the smallest does. A group can move where its side keeps this label and all rarer ones;
    commoner labels come later.
    """
    sides, size = dict(side_of), Counter(group)
    kept = set[str]()
    holders = defaultdict[str, set[int]](set)  # the groups with each label
    labels_of = defaultdict[int, set[str]](set)
    for own, some in zip(group, labels, strict=True):
        labels_of[own] |= some
        for label in some:
            holders[label].add(own)

    def sides_of(some: set[int]) -> set[str]:
        return {sides[own] for own in some}

    def stays(own: int) -> bool:
        """Return whether the side of a group has those of its labels that are kept without it."""
        others = [holders[label] - {own} for label in labels_of[own] & kept]
        return all(sides[own] in sides_of(some) for some in others)

    for label in sorted(holders, key=lambda label: (len(holders[label]), label)):
        kept.add(label)
        for name in Parts._fields:
            if name not in sides_of(holders[label]):
                movable = [own for own in holders[label] if stays(own)]
                if movable:
                    smallest = min(movable, key=lambda own: (size[own], own))
                    sides[smallest] = name
    return sides


def fold_of(strata: Sequence[str], group: Sequence[int], folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each record. A stratum that cannot be in every fold is treated as the commonest one."""
    from sklearn.model_selection import StratifiedGroupKFold  # over a second; most commands have no use for it

    counts = Counter(strata)
    commonest = counts.most_common(1)[0][0]
    kept = [stratum if counts[stratum] >= folds else commonest for stratum in strata]
    splitter = StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=seed)
    fold = np.empty(len(strata), dtype=np.int64)
    for number, (_, rows) in enumerate(counted(splitter.split(kept, kept, group), "drawing folds", folds)):
        fold[rows] = number
    return fold


def write_split(sides: Split, records: Survey, file: Path, out: Path) -> None:
    """Write out/train.jsonl, dev.jsonl and test.jsonl, line by line as they stand in `file`; a record without an id
    keeps the one that its place there gives it. All of them are written, or none. Raises UserError where one exists."""
    for name in sides:
        if (out / f"{name}.jsonl").exists():
            raise UserError(f"{out / name}.jsonl is there already; choose another --out or remove it")
    side_of_line: dict[int, tuple[str, str | None]] = {}  # with the id that its record got
    for name, rows in sides.items():
        side_of_line |= {records.lines[row]: (name, records.ids[row]) for row in rows}
    with ExitStack() as stack:
        files = {name: stack.enter_context(replacing(out / f"{name}.jsonl")) for name in sides}
        for number, text in enumerate(stack.enter_context(file.open("rb")), start=1):
            if number not in side_of_line:
                continue
            name, key = side_of_line[number]
            line = text.rstrip(b"\r\n")
            if key is not None:  # at the end, where it also counts if there is an `"id": null`
                line = text.rstrip()[:-1] + b', "id": "%s"}' % key.encode()
            files[name].write(line + b"\n")
        for open_file in files.values():
            open_file.flush()  # a full disk shows itself before any of them takes its place
