"""Choosing nothing: an ensemble of given programs, beside its members as they are saved."""

from collections.abc import Callable, Mapping, Sequence

import dspy

from aisr.artifact.program_file import Loaded
from aisr.inference.evaluate import check_any, measure
from aisr.lm.client import OpenLM
from aisr.optimize.search.champion import Choice, Contender
from aisr.programs.judges.ensemble import Ensemble, seen_by, single
from aisr.tasks.task import Task


def ensemble(members: Mapping[str, Loaded]) -> Ensemble:
    """The members as one program, without a decision layer; they themselves stay as they are."""
    return Ensemble({name: single(loaded.program).deepcopy() for name, loaded in members.items()})


def beside_members(
    task: Task,
    program: Ensemble,
    members: Mapping[str, Loaded],
    dev: Sequence[dspy.Example],
    lm: OpenLM,
    done: Callable[[Contender], None],
) -> Choice:
    """The ensemble as the champion, before its layer is fitted, and its members with theirs, the best on dev first.

    Raises UserError where a member fails every record, as the ensemble then does too.
    """
    results, calls = {}, {}
    for name, loaded in members.items():
        results[name] = measure(task, loaded.program, [seen_by(name, example) for example in dev], lm)
        check_any(results[name], f"dev with {name}")
        calls[name] = lm.ledger.spend.asked
    order = sorted(results, key=lambda name: -results[name].score.score)
    best = results[order[0]]
    whole = measure(task, program, dev, lm)
    contenders = [
        Contender(
            name,
            members[name].program,
            results[name],
            results[name].gain(best),
            calls=calls[name],
        )
        for name in order
    ]
    gain = whole.gain(best)
    champion = Contender("ensemble", program, whole, gain, calls=lm.ledger.spend.asked)
    for contender in (*contenders, champion):
        done(contender)
    return Choice(champion, [*contenders, champion], [])
