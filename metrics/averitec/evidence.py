"""Evidence as the official scorer compares it, strings of question and answer; and how well two lists of them match."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from aisr.metrics.averitec.meteor import meteor
from aisr.programs.records.averitec import MOST_PAIRS, Pair, Question

NO_ANSWER = "No answer could be found."


class Evidence(NamedTuple):
    """strings: a question with one of its answers each, in order; questions: alone, in order."""

    strings: tuple[str, ...]
    questions: tuple[str, ...]


def of_questions(questions: Sequence[Question] | None, alone: Iterable[str] = ()) -> Evidence:
    """Gold evidence, and predictions in the paper's format. alone: strings without a question, which come behind; where
    there are no questions (None), they stand in for them."""
    strings = []
    for each in questions or ():
        if not each.answers:
            strings.append(f"{each.question} {NO_ANSWER}")
        for answer in each.answers:
            more = f". {answer.boolean_explanation}" if answer.answer_type == "Boolean" else ""
            strings.append(f"{each.question} {answer.answer}{more}")
    strings += alone
    return Evidence(tuple(strings), tuple(strings if questions is None else (each.question for each in questions)))


def of_pairs(pairs: Sequence[Pair]) -> Evidence:
    """Predictions in the format of 2024."""
    strings = (f"{pair.question} {pair.answer}" for pair in pairs)
    return Evidence(tuple(strings), tuple(pair.question for pair in pairs))


@lru_cache(maxsize=200_000)
def matched(predicted: tuple[str, ...], gold: tuple[str, ...]) -> float:
    """How well predicted strings match gold ones, in 0-1: METEOR of the best assignment of one to one, over the number
    of gold strings. The first ten predicted ones count; more of them than gold costs nothing.

    Raises ValueError where there are no gold strings.
    """
    if not gold:
        raise ValueError("no gold evidence: expected at least one question")
    kept = predicted[:MOST_PAIRS]
    if not kept:
        return 0.0
    table = np.array([[meteor(one, right) for right in gold] for one in kept])
    from scipy.optimize import linear_sum_assignment  # half a second; most commands have no use for it

    return float(table[linear_sum_assignment(table, maximize=True)].sum() / len(gold))
