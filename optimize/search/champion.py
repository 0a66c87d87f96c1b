"""The champion: the best of all candidates by the official score on dev, the uncompiled program among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dspy
from dspy.utils.exceptions import LMBillingError

from metrics.confidence import Interval, difference_interval
from metrics.racing import nested, rungs, survivors
from optimize.inference.evaluate import Result, result, scored
from optimize.inference.judge import Outcome, judge_all
from optimize.lm.client import OpenLM
from optimize.search.optimizers import Candidate
from optimize.tasks.task import Task
from programs.judges.contract import Program


@dataclass(frozen=True)
class Contender:
    """A candidate with its result on dev and the paired difference from the uncompiled program on the same records.

    finished: whether it ran to the end; otherwise the race dropped it, and its result is on a part of dev.
    calls: the LM calls that the compile had asked for when its result was known, sent or answered from the cache.
    """

    name: str
    program: Program
    dev: Result
    gain: Interval
    finished: bool = True
    calls: int = 0


@dataclass(frozen=True)
class Tested:
    """The champion and its baseline on the held-out test split, and their paired difference; the last two are
    None where the budget did not reach that far."""

    champion: Result
    baseline: Result | None
    gain: Interval | None


@dataclass(frozen=True)
class Choice:
    """The champion and all contenders, the baseline first: the uncompiled program, or the best member of an ensemble;
    the names of candidates that the budget left unscored."""

    champion: Contender
    contenders: list[Contender]
    unscored: list[str]


def choose(
    task: Task,
    candidates: Sequence[Candidate],
    dev: Sequence[dspy.Example],
    lm: OpenLM,
    done: Callable[[Contender], None] = lambda contender: None,
) -> Choice:
    """Race the candidates on dev (see `metrics.racing`) and take the best of those that ran to the end; of equals the
    first, so that ties go to the uncompiled program, which always runs to the end.

    Calls that an optimizer made already come from the cache. Where the budget is spent, candidates that the cache
    cannot score are left out. Raises LMBillingError where that happens to the first, the uncompiled program.
    """
    order = [dev[row] for row in nested([task.kinds(example.gold) for example in dev])]
    outcomes: dict[int, list[Outcome]] = {k: [] for k in range(len(candidates))}
    running, unscored = list(outcomes), []
    calls = dict.fromkeys(outcomes, 0)
    for size in rungs(len(order)):
        for k in list(running):
            try:
                fresh = judge_all(task, candidates[k].program, order[len(outcomes[k]) : size], lm)
            except LMBillingError:
                if k == 0 or lm.ledger.spent_out() is None:
                    raise
                running.remove(k)
                unscored.append(candidates[k].name)
                continue
            outcomes[k] += fresh
            calls[k] = lm.ledger.spend.asked
        if size < len(order):
            scores = [scored(task, order[:size], outcomes[k]) for k in running]
            running = [running[place] for place in survivors(scores)]
    contenders = []
    for k, (name, program) in enumerate(candidates):
        if name in unscored:
            continue
        judged = order[: len(outcomes[k])]
        found = result(task, judged, outcomes[k])
        baseline = scored(task, judged, outcomes[0][: len(judged)])
        gain = difference_interval(found.scores, baseline)
        contenders.append(Contender(name, program, found, gain, k in running, calls[k]))
        done(contenders[-1])
    champion = max((c for c in contenders if c.finished), key=lambda contender: contender.dev.score.score)
    return Choice(champion, contenders, unscored)
