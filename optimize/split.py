"""Splitting labelled records so that nothing shared stands on two sides.

Records that share a claim or what it rests on are one group (see `aisr.optimize.leakage`), and a group goes to one
side as a whole: in a random split 32 % of Track 1 records share a picture with the other side, and a dev score of
88 becomes 50 on test.

Dev and test can be resampled to look like an unlabelled test file, so that a score on them predicts the test phase:
train-dev paragraphs hold an error in 33 % of cases, test paragraphs in 80 to 84 %, and they are longer; all-Supported
scores 43 on the one and 17 on the other.
"""

import random
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aisr.base.errors import UserError
from aisr.base.files import replacing
from aisr.base.jsonl import BadLine, scan
from aisr.optimize.leakage import Fingerprint, all_keys, fingerprint, groups
from aisr.programs.records import Record, SentenceRecord
from aisr.programs.task import Task

SIDES = ("train", "dev", "test")


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
        """From "3:1:1". Raises UserError for anything else than three whole numbers from 1 to 20."""
        fields = text.split(":")
        if len(fields) != 3 or not all(field.isdigit() and 1 <= int(field) <= 20 for field in fields):
            raise UserError(f"--parts {text!r}: expected three whole numbers from 1 to 20, such as 3:1:1")
        return cls(*map(int, fields))


def split(task: Task, strata: Sequence[str], keys: Sequence[set[str]], parts: Parts, seed: int) -> Split:
    """A seeded split, disjoint by group and stratified.

    strata: one word a record to keep in proportion (see `stratum`); keys: what each record shares.
    Raises UserError where there are fewer groups than parts.
    """
    group = groups(keys)
    folds = sum(parts)
    if len(set(group)) < folds:
        raise UserError(
            f"{len(strata)} records of {task.name} form {len(set(group))} groups that share no claim, "
            f"picture, paper or evidence; {folds} are needed for parts {parts.train}:{parts.dev}:{parts.test}"
        )
    fold = fold_of(strata, group, folds, seed)
    test, dev = fold < parts.test, (fold >= parts.test) & (fold < parts.test + parts.dev)
    return Split(*(np.flatnonzero(side).tolist() for side in (~(test | dev), dev, test)))


def fold_of(strata: Sequence[str], group: Sequence[int], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each record. A stratum that cannot be in every fold goes with the commonest one."""
    from sklearn.model_selection import StratifiedGroupKFold  # over a second; most commands have no use for it

    counts = Counter(strata)
    commonest = counts.most_common(1)[0][0]
    kept = [stratum if counts[stratum] >= folds else commonest for stratum in strata]
    splitter = StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=seed)
    fold = np.empty(len(strata), dtype=np.int64)
    for number, (_, rows) in enumerate(splitter.split(kept, kept, group)):
        fold[rows] = number
    return fold


def stratum(task: Task, record: Record) -> str:
    """What a split keeps in proportion of a labelled record. Raises UserError for one without labels."""
    if record.gold is None:
        raise UserError(f"{record.id} has no labels; only labelled records can be split")
    return task.stratify_by(record.gold)


class Survey(NamedTuple):
    """What a split depends on, for each record of a labelled file. lines: its number in the file, from 1; sentences:
    how many it has, 1 where the task counts none."""

    lines: list[int]
    strata: list[str]
    keys: list[set[str]]
    sentences: list[int]


def survey(task: Task, file: Path) -> Survey:
    """Read a labelled file once, a record at a time; only claims, digests and openings are held.

    Raises `BadLine` for a bad record and UserError for one without labels.
    """
    lines, strata, sentences = [], [], []
    rows: list[Fingerprint] = []
    for line in scan(file, task.record, task.name):
        if line.record is None:
            raise BadLine(str(line.problem))
        lines.append(line.number)
        strata.append(stratum(task, line.record))
        rows.append(fingerprint(task, line.record))
        sentences.append(len(line.record.statements) if isinstance(line.record, SentenceRecord) else 1)
    return Survey(lines, strata, all_keys(rows), sentences)


def split_folds(strata: Sequence[str], keys: Sequence[set[str]], folds: int, seed: int) -> list[Split]:
    """`folds` splits for cross-validation, each with another part as dev and no test.

    Raises UserError where there are fewer groups than folds.
    """
    group = groups(keys)
    if len(set(group)) < folds:
        raise UserError(f"{len(strata)} records form {len(set(group))} groups; --folds {folds} needs as many")
    fold = fold_of(strata, group, folds, seed)
    return [
        Split(np.flatnonzero(fold != part).tolist(), np.flatnonzero(fold == part).tolist(), []) for part in range(folds)
    ]


# Sentences a paragraph, as bins: exact for short ones, wide where a file has few.
EDGES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 32)


class Shape(NamedTuple):
    """What a test file looks like: how the numbers of sentences are distributed (bin -> share, summing to 1), and the
    share of its paragraphs that hold an error, which has to be stated, since the file has no labels."""

    lengths: dict[int, float]
    error_share: float


def bin_of(sentences: int) -> int:
    """The bin that a number of sentences (1 or more) falls into."""
    return max(edge for edge in EDGES if edge <= max(sentences, 1))


def shape_of(sentences: Sequence[int], error_share: float) -> Shape:
    """The shape of a file, from the number of sentences of each of its paragraphs.

    Raises UserError for an empty file or an error share outside 0-1.
    """
    if not sentences:
        raise UserError("the file to be like has no records")
    if not 0 <= error_share <= 1:
        raise UserError(f"--error-share {error_share}: expected a share from 0 to 1")
    counts = Counter(map(bin_of, sentences))
    return Shape({length: count / len(sentences) for length, count in counts.items()}, error_share)


def resample(sentences: Sequence[int], has_error: Sequence[bool], shape: Shape, seed: int) -> list[int]:
    """The rows to keep, ascending: as many as possible, none twice, in the proportions of `shape`.

    Lengths that these records do not have are left out and the rest scaled up. Raises UserError where no record of a
    needed kind (with an error, without) is there.
    """
    cells: dict[tuple[int, bool], list[int]] = {}
    for row, (length, error) in enumerate(zip(sentences, has_error, strict=True)):
        cells.setdefault((bin_of(length), error), []).append(row)
    wanted = {True: shape.error_share, False: 1 - shape.error_share}
    for error, share in wanted.items():
        if share and not any(kind == error for _, kind in cells):
            raise UserError(f"no paragraph {'with' if error else 'without'} an error to resample from")
    # Errors and lengths are taken as independent, since the test file tells of lengths only. Within each kind the
    # lengths that exist are scaled to its share; a cell that would shrink the whole below half is given up.
    targets: dict[tuple[int, bool], float] = {}
    for error, share in wanted.items():
        known = {length: shape.lengths[length] for length, kind in cells if kind == error and length in shape.lengths}
        total = sum(known.values())
        targets |= {(length, error): share * part / total for length, part in known.items() if total and share}
    if not targets:
        raise UserError("no paragraph is as long as those of the file to be like")
    # As many records as the scarce cells allow that hold nine tenths of the weight.
    limits = sorted((len(cells[cell]) / share, share) for cell, share in targets.items() if share)
    passed = np.cumsum([share for _, share in limits])
    size = next((limit for (limit, _), weight in zip(limits, passed, strict=True) if weight > 0.1), limits[-1][0])
    draw = random.Random(seed)
    counts = {cell: min(len(cells[cell]), round(share * size)) for cell, share in targets.items()}
    return sorted(row for cell in sorted(targets) for row in draw.sample(cells[cell], counts[cell]))


def resample_split(whole: Split, records: Survey, neutral: str, shape: Shape, seed: int) -> Split:
    """The split with dev and test resampled to a shape; train stays as it is, and so does a side without records (a
    fold has no test).

    neutral: the stratum of records without an error.
    """

    def side(rows: list[int]) -> list[int]:
        if not rows:
            return rows
        lengths, errors = [records.sentences[row] for row in rows], [records.strata[row] != neutral for row in rows]
        return [rows[k] for k in resample(lengths, errors, shape, seed)]

    return Split(whole.train, side(whole.dev), side(whole.test))


def write_split(rows: Split, records: Survey, file: Path, out: Path) -> dict[str, int]:
    """Write out/train.jsonl, dev.jsonl and test.jsonl (those that have records), line by line as they stand in `file`;
    returns the number of records a side. All of them are written, or none. Raises UserError where one exists."""
    sides = [name for name in SIDES if getattr(rows, name)]
    for name in sides:
        if (out / f"{name}.jsonl").exists():
            raise UserError(f"{out / name}.jsonl is there already; choose another --out or remove it")
    side = {records.lines[row]: name for name in sides for row in getattr(rows, name)}
    with ExitStack() as stack:
        files = {name: stack.enter_context(replacing(out / f"{name}.jsonl")) for name in sides}
        for number, text in enumerate(stack.enter_context(file.open("rb")), start=1):
            if number in side:
                files[side[number]].write(text.rstrip(b"\r\n") + b"\n")
        for open_file in files.values():
            open_file.flush()  # a full disk shows itself before any of them takes its place
    return {name: len(getattr(rows, name)) for name in sides}
