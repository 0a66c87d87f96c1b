"""The champion: the best of all candidates on dev, the uncompiled program among them, by the official score, smoothed
for rare labels."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from aisr.artifact.prompt_page import prompt_tokens
from aisr.base.files import percent
from aisr.judging.evaluate import Result, groups_of, score_cases, score_outcomes
from aisr.judging.judge import Outcome, judge_all
from aisr.lm.budget import BudgetSpent
from aisr.lm.client import OpenLM
from aisr.metrics.intervals import Interval
from aisr.metrics.scores import Scores, Tally, value
from aisr.optimize.race import nested, rungs, survivors
from aisr.optimize.search import Candidate
from aisr.programs.case import Case
from aisr.programs.program import Program
from aisr.programs.task import Task


@dataclass(frozen=True)
class Contender:
    """A candidate with its result on dev."""

    name: str
    program: Program
    dev: Result
    gain: Interval  # the paired difference from the uncompiled program on the same records
    finished: bool = True  # False: the race dropped it, and its result is on a part of dev
    prompt_tokens: int = 0  # of the part of its prompt that is the same for each record, with its demos, about

    @cached_property
    def chosen_by(self) -> float:
        """The score by which the champion is chosen: weighted to the target where there is one, and smoothed."""
        return value(self.dev.scores.smoothed())


@dataclass(frozen=True)
class Choice:
    """The champion, and the contenders among which it was chosen."""

    champion: Contender
    contenders: list[Contender]  # the uncompiled program first
    unscored: list[str]  # the names of candidates for which the budget did not suffice

    @property
    def smoothed(self) -> dict[str, int]:
        """The labels with so few gold statements in dev that race and choice weigh them less, and how many."""
        scores = self.champion.dev.scores
        return scores.rare_labels if isinstance(scores, Tally) else {}

    def describe_measure(self) -> str:
        """Return in what the score by which it was chosen differs from the official one; empty for nothing."""
        differences = []
        if self.champion.dev.at_target:
            differences.append("weighted to the target")
        if self.smoothed:
            differences.append("rare labels counted less")
        return f" ({', '.join(differences)})" if differences else ""


def choose(task: Task, candidates: Sequence[Candidate], dev: Sequence[Case], lm: OpenLM) -> Choice:
    """Race the candidates on dev (see `aisr.optimize.race`) and return the best of those that ran to the end.

    The best has the highest smoothed score (see `aisr.metrics.scores.Tally.smoothed`). Of equals it is the first, so
    that ties go to the uncompiled program, which always runs to the end.

    Calls that an optimizer made already come from the cache. Where the budget is spent, candidates that the cache
    cannot score are left out. Raises `BudgetSpent` where that happens to the first, the uncompiled program.
    """
    strata = [task.balance_key(case.gold) for case in dev]
    order = [dev[row] for row in nested(strata)]
    outcomes = defaultdict[int, list[Outcome]](list)  # by the number of the candidate
    running = list(range(len(candidates)))
    unscored: list[int] = []
    for size in rungs(len(order)):
        for k in list(running):
            unjudged = order[len(outcomes[k]) : size]
            try:
                outcomes[k] += judge_all(task, candidates[k].program, unjudged, lm)
            except BudgetSpent:
                if k == 0:
                    raise
                running.remove(k)
                unscored.append(k)
        if size < len(order):
            scores = [_score(task, order[:size], outcomes[k]) for k in running]
            running = [running[row] for row in survivors(scores, groups_of(order[:size]))]
    contenders = []
    for k, (name, program) in enumerate(candidates):
        if k not in unscored:
            judged = order[: len(outcomes[k])]
            dev_result = score_outcomes(task, judged, outcomes[k])
            baseline = _score(task, judged, outcomes[0][: len(judged)])
            gain = dev_result.gain(Result(baseline, group=dev_result.group))
            contenders.append(Contender(name, program, dev_result, gain, k in running, prompt_tokens(program)))
    finished = [contender for contender in contenders if contender.finished]
    champion = max(finished, key=lambda one: one.chosen_by)
    return Choice(champion, contenders, [candidates[k].name for k in unscored])


def _score(task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Scores:
    return score_cases(task, cases, [outcome.answer for outcome in outcomes])


def why_none_was_kept(choice: Choice, names: Sequence[str]) -> str | None:
    """Return why none of the candidates with these names became the champion, in words; None where one did."""
    champion = choice.champion
    if champion.name in names:
        return None
    if not names:
        return "no program that differs from the others"
    tried = [contender for contender in choice.contenders if contender.name in names]
    if not tried:
        return "none of its programs was scored: the budget is spent"
    lost = "its program was not kept" if len(tried) == 1 else f"none of its {len(tried)} programs was kept"
    finished = [contender for contender in tried if contender.finished]
    if not finished:
        return f"{lost}: dropped by the race on dev"
    best = max(finished, key=lambda one: one.chosen_by)
    scores = f"{best.name} scores {percent(best.chosen_by)} on dev, {champion.name} {percent(champion.chosen_by)}"
    are_official = all(one.chosen_by == one.dev.score.score for one in (best, champion))
    measure = "" if are_official else choice.describe_measure()
    return f"{lost}: {scores}{measure}"
