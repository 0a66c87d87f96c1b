"""Choosing nothing: an ensemble of given programs, beside its members as they are saved."""

from collections.abc import Callable, Mapping, Sequence

import dspy

from metrics.confidence import difference_interval
from optimize.artifact import Loaded
from optimize.champion import Choice, Contender, measure
from optimize.lm import OpenLM
from optimize.opinions import seen_by
from optimize.tasks import Task
from programs.ensemble import Ensemble


def ensemble(members: Mapping[str, Loaded]) -> Ensemble:
    """The members as one program, without a decision layer; they themselves stay as they are."""
    return Ensemble({name: loaded.program.deepcopy() for name, loaded in members.items()})


def beside_members(
    task: Task,
    program: Ensemble,
    members: Mapping[str, Loaded],
    dev: Sequence[dspy.Example],
    lm: OpenLM,
    done: Callable[[Contender], None],
) -> Choice:
    """The ensemble as the champion, before its layer is fitted, and its members with theirs, the best on dev first."""
    results, calls = {}, {}
    for name, loaded in members.items():
        results[name] = measure(task, loaded.program, [seen_by(name, example) for example in dev], lm)
        calls[name] = lm.ledger.spend.asked
    order = sorted(results, key=lambda name: -results[name].score.score)
    best = results[order[0]]
    whole = measure(task, program, dev, lm)
    contenders = [
        Contender(
            name,
            members[name].program,
            results[name],
            difference_interval(results[name].tally, best.tally),
            calls=calls[name],
        )
        for name in order
    ]
    gain = difference_interval(whole.tally, best.tally)
    champion = Contender("ensemble", program, whole, gain, calls=lm.ledger.spend.asked)
    for contender in (*contenders, champion):
        done(contender)
    return Choice(champion, [*contenders, champion], [])
