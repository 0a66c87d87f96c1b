"""Judging the checks of a paper.

Nothing is kept but the answers in the response cache: whoever runs the command again, be it after a stop or after an
edit, asks only about what was not asked before, since an answer is known by the whole text of its prompt.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import dspy
from dspy.utils.exceptions import LMBillingError

from aisr.inference.cascade import Stage, in_turn, threads
from aisr.inference.confidence import of_judgement
from aisr.inference.judge import Outcome, finished
from aisr.lm.client import OpenLM
from aisr.paper.draft import Draft
from aisr.programs.decision.cues import signs
from aisr.programs.judges.contract import Program
from aisr.review.evidence import of_record
from aisr.review.verdicts import Kind, Labels, Review, Verdict, hidden, in_order
from aisr.review.worth import Record, about, asked_second, worth
from aisr.tasks.check import Check
from aisr.tasks.paper_checks import Checks
from aisr.tasks.task import Task


@dataclass(frozen=True)
class Judge:
    """What judges one kind of check. known: what is known of how its program did; None for an uncompiled one; second:
    what is asked where that is less sure than `below`, see `aisr.inference.cascade`."""

    kind: Kind
    task: Task
    program: Program
    known: Record | None = None
    second: Stage | None = None
    below: float = 0.0


def reviewed(
    draft: Draft,
    found: Checks,
    judges: Sequence[Judge],
    lm: OpenLM,
    done: Callable[[], None] = lambda: None,
    problems: Mapping[tuple[str, str], str] | None = None,
) -> Review:
    """A draft with the verdicts on all its checks, and what these are worth. `done` is called after each check;
    problems: where the pictures that cannot be shown stand meanwhile, see `aisr.programs.vision.images.Gallery`."""
    verdicts, labels = hidden(draft), {}
    first, more = about(lm.spec), list[str]()
    for by in judges:
        facet, checks = by.task.labelled, found.claims if by.kind == "claim" else found.citations
        labels[by.kind] = Labels(facet.neutral, facet.definitions)
        if checks:
            known = worth(by.kind, by.known, lm.spec)
            first, more = [*first, *known.first], [*more, *known.more]
            first += [asked_second(by.kind, lm.spec, by.second.lm.spec, by.below)] if by.second else []
            verdicts += judged(by, checks, lm, done)
    return Review(
        draft,
        lm.spec,
        in_order(verdicts),
        labels,
        tuple(first),
        tuple(dict.fromkeys(more)),
        found.skipped,
        found.missing,
        lm.ledger.stopped,
        {path: why for (_, path), why in (problems or {}).items()},
    )


def judged(by: Judge, checks: Sequence[Check], lm: OpenLM, done: Callable[[], None] = lambda: None) -> list[Verdict]:
    """A verdict for each sentence of each check, in the order of the checks; `done` is called after each check.

    A check that fails, or that a limit of the ledger leaves out, gives verdicts without a label. Raises what would
    fail every check alike (see `aisr.inference.judge.judge`).
    """
    found: dict[int, list[Verdict]] = {}
    try:
        for (place, check), (example, outcome) in _outcomes(by, checks, lm):
            found[place] = _verdicts(by, check, example, outcome)
            done()
    except LMBillingError:
        if lm.ledger.stopped is None:  # then it is the provider who wants money
            raise
    why = f"not reached: {lm.ledger.stopped}"
    return [
        verdict
        for place, check in enumerate(checks)
        for verdict in found.get(place) or _unjudged(by.kind, check, _texts(by.task, check), why)
    ]


def _outcomes(
    by: Judge, checks: Sequence[Check], lm: OpenLM
) -> Iterator[tuple[tuple[int, Check], tuple[dspy.Example, Outcome]]]:
    def work(numbered: tuple[int, Check]) -> tuple[dspy.Example, Outcome]:
        return in_turn(by.task, Stage(by.program, lm), by.second, by.below, numbered[1].record)

    return finished(enumerate(checks), work, threads(lm, *([by.second.lm] if by.second else [])))


def _verdicts(by: Judge, check: Check, example: dspy.Example, outcome: Outcome) -> list[Verdict]:
    task = by.task
    statements = task.labelled.statements(example)
    if outcome.failure is not None:
        return _unjudged(by.kind, check, statements, outcome.failure)
    pieces, marks = of_record(task, check.record, example, outcome.answer)
    grounds = task.labelled.grounds(example)
    return [
        Verdict(
            by.kind,
            check.paragraph,
            sentence,
            statement,
            said.label,
            said.label == task.labelled.neutral,
            of_judgement(task, said),
            None,
            check.work,
            pieces,
            marked,
            signs(statement, grounds) if said.label != task.labelled.neutral else {},
        )
        for sentence, statement, said, marked in zip(
            check.sentences, statements, outcome.judgements, marks, strict=True
        )
    ]


def _unjudged(kind: Kind, check: Check, statements: Sequence[str], why: str) -> list[Verdict]:
    return [
        Verdict(kind, check.paragraph, sentence, statement, None, failure=why, work=check.work)
        for sentence, statement in zip(check.sentences, statements, strict=True)
    ]


def _texts(task: Task, check: Check) -> list[str]:
    """What would have been judged, where nothing was prepared."""
    texts = getattr(check.record, "sentences", None)
    return list(texts) if texts else [task.text(check.record)]
