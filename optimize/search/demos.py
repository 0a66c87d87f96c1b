"""Which records may stand in a prompt as demos: every kind of label among them, and none too long."""

import random
from collections.abc import Sequence
from itertools import zip_longest

import dspy

from aisr.programs.text import length


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


def covering(
    rows: Sequence[dspy.Example], labels: Sequence[set[str]], fields: Sequence[str], most: int, budget: int
) -> list[dspy.Example]:
    """The first rows that fit into `budget` tokens together, up to `most` of them, but before them such that each label
    which an affordable row has is among them: the first one with a label that is still missing, or with most of those
    where there is less room than labels.

    labels: those of each row; fields: those that a demo shows.
    """
    fitting = affordable(rows, fields, most, budget)
    known = {id(row): own for row, own in zip(rows, labels, strict=True)}
    missing = set().union(*(known[id(row)] for row in fitting))
    chosen: list[dspy.Example] = []
    left = budget
    while len(chosen) < most:
        able = [row for row in fitting if length(row, fields) <= left and not any(row is one for one in chosen)]
        if not able:
            break
        new = [len(known[id(row)] & missing) for row in able]
        scarce = len(missing) > most - len(chosen)  # else the order decides, so that other orders give other sets
        best = able[new.index(max(new))] if scarce or not any(new) else able[next(k for k, n in enumerate(new) if n)]
        chosen.append(best)
        left -= length(best, fields)
        missing -= known[id(best)]
    return chosen
