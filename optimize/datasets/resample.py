"""Making a labelled split look like an unlabelled test file, so that a score on it predicts the test phase.

Train-dev paragraphs hold an error in 33 % of cases, test paragraphs in 80 to 84 %, and they are longer: all-Supported
scores 43 on the one and 17 on the other.
"""

import random
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from aisr.programs.errors import UserError

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
    """The shape of a file, given the number of sentences of each of its paragraphs.

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
        there = {length: shape.lengths[length] for length, kind in cells if kind == error and length in shape.lengths}
        total = sum(there.values())
        targets |= {(length, error): share * part / total for length, part in there.items() if total and share}
    if not targets:
        raise UserError("no paragraph is as long as those of the file to be like")
    size = _size(targets, cells)
    draw = random.Random(seed)
    kept = [
        row for cell in sorted(targets) for row in draw.sample(cells[cell], _take(targets[cell], size, cells[cell]))
    ]
    return sorted(kept)


def _size(targets: dict[tuple[int, bool], float], cells: dict[tuple[int, bool], list[int]]) -> float:
    """How many records to aim for: as many as the scarce cells allow that hold nine tenths of the weight."""
    room = sorted((len(cells[cell]) / share, share) for cell, share in targets.items() if share)
    passed = 0.0
    for size, share in room:
        passed += share
        if passed > 0.1:
            return size
    return room[-1][0]


def _take(share: float, size: float, rows: list[int]) -> int:
    return min(len(rows), round(share * size))
