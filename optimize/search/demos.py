"""Which records may stand in a prompt as demos: every kind of label among them, and none too long."""

import random
from collections.abc import Sequence
from itertools import zip_longest

import dspy

from programs.text.tokens import length


def balanced(examples: Sequence[dspy.Example], strata: Sequence[str], seed: int) -> list[dspy.Example]:
    """The examples in a seeded order in which the strata take turns, so that the first few hold rare labels too."""
    draw = random.Random(seed)
    of: dict[str, list[dspy.Example]] = {}
    for example, stratum in zip(examples, strata, strict=True):
        of.setdefault(stratum, []).append(example)
    columns = [draw.sample(of[stratum], len(of[stratum])) for stratum in draw.sample(sorted(of), len(of))]
    return [example for turn in zip_longest(*columns) for example in turn if example is not None]


def affordable(rows: Sequence[dspy.Example], fields: Sequence[str], most: int, budget: int) -> list[dspy.Example]:
    """The rows that leave room for others: at most twice an even share of `budget` tokens, where there are any such.

    fields: those that a demo shows; most: how many demos a prompt may have.
    """
    share = 2 * budget / max(most, 1)
    short = [row for row in rows if length(row, fields) <= share]
    return short or sorted(rows, key=lambda row: length(row, fields))[:most]


def within(rows: Sequence[dspy.Example], fields: Sequence[str], most: int, budget: int) -> list[dspy.Example]:
    """The first rows, up to `most` of them, that fit into `budget` tokens together; a row that does not fit is passed
    over."""
    chosen: list[dspy.Example] = []
    left = budget
    for row in affordable(rows, fields, most, budget):
        if len(chosen) < most and length(row, fields) <= left:
            chosen.append(row)
            left -= length(row, fields)
    return chosen
