"""Judging the checks of a paper.

Nothing is kept but the answers in the response cache: whoever runs the command again, be it after a stop or after an
edit, asks only about what was not asked before, since an answer is known by the whole text of its prompt.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import dspy
from dspy.utils.exceptions import LMBillingError

from aisr.lm.client import OpenLM
from aisr.paper.check.index import SECTION
from aisr.paper.check.paper_checks import Checks, without_pictures
from aisr.paper.check.record import Check
from aisr.paper.check.second_look import SecondLook
from aisr.paper.check.verdicts import Kind, Labels, Mark, Piece, Review, Subject, Verdict, hidden, in_order
from aisr.paper.check.worth import AGAIN, Record, about, of_all
from aisr.paper.draft import Draft
from aisr.predict.evaluate import of_judgement
from aisr.predict.judge import Outcome, finished, judge
from aisr.programs.base import Judge as Program
from aisr.programs.decision import nearest_line, signs
from aisr.programs.records import Record as BaseRecord
from aisr.programs.task import Answer, Exhibit, Task

# --- What a sentence is held against, piece by piece as the model read it, and the lines of it that stand out.

LONGEST_NAME = 20
LONGEST_HEADING = 160
BAR = "| "  # what leads a row of a table in a prompt


def of_record(
    task: Task, record: BaseRecord, example: dspy.Example, answer: Answer | None
) -> tuple[tuple[Piece, ...], list[tuple[Mark, ...]]]:
    """The pieces of evidence of a record, and for each statement of it the marks.

    Of a task whose programs name evidence, the pieces are paragraphs, and the named ones are marked. Of any other they
    are the items of a bundle with the rows of their tables, and for each statement the line is marked that shares most
    words and numbers with it, and so is such a table row: nobody asked the model which one decided.
    """
    statements = task.labelled.statements(example)
    exhibits = task.exhibits(record, example, answer)
    if task.labelled.evidence_right is not None:
        pieces = tuple(Piece(one.key, (one.text,), one.picture) for one in exhibits)
        named = sorted((one.chosen, number) for number, one in enumerate(exhibits) if one.chosen)
        marks = tuple(Mark(number, 0, place) for place, number in named)
        return pieces, [marks for _ in statements]
    grounds = task.labelled.grounds(example)
    pieces = as_read(grounds, exhibits)
    return pieces, [_nearest(statement, grounds, pieces) for statement in statements]


def as_read(grounds: str, exhibits: Sequence[Exhibit]) -> tuple[Piece, ...]:
    """The pieces of a text that has a line an item, led by its key in brackets, and rows on lines below it."""
    pictures = {one.key: one.picture for one in exhibits}
    found: list[tuple[str, list[str]]] = []
    for line in grounds.split("\n"):
        key, closed, text = line.removeprefix("[").partition("] ")
        if closed and line.startswith("[") and key in pictures:
            found.append((key, [text]))
        elif found:
            found[-1][1].append(line.strip().removeprefix(BAR))
        else:
            found.append(("", [line]))
    return tuple(Piece(_name(key, lines[0]), tuple(lines), pictures.get(key)) for key, lines in found)


def _name(key: str, text: str) -> str:
    """What the paper calls an item, where its text begins with that ("Table 3: …"), or the section of a passage; else
    its key, which counts the items of one bundle."""
    name, kind = text.partition(":")[0], key.partition(" ")[0]
    if kind == "text" and text.startswith(SECTION) and "”: " in text[:LONGEST_HEADING]:
        return f"{text.partition('”: ')[0]}”"
    return name if len(name) <= LONGEST_NAME and name.lower().startswith(f"{kind} ") else key


def _nearest(statement: str, grounds: str, pieces: Sequence[Piece]) -> tuple[Mark, ...]:
    lines = grounds.split("\n")
    places = [Mark(piece, line) for piece, one in enumerate(pieces) for line in range(len(one.lines))]
    rows = [line for line, mark in zip(lines, places, strict=True) if mark.line]
    found = [nearest_line(statement, grounds), nearest_line(statement, "\n".join(rows))]
    return tuple(dict.fromkeys(places[lines.index(line)] for line in found if line))


@dataclass(frozen=True)
class Judge:
    """What judges one kind of check. known: what is known of how its program did; None for an uncompiled one."""

    kind: Kind
    task: Task
    program: Program
    known: Record | None = None


def reviewed(
    draft: Draft,
    found: Checks,
    judges: Sequence[Judge],
    lm: OpenLM,
    done: Callable[[], None] = lambda: None,
    problems: Mapping[tuple[str, str], str] | None = None,
    again: Judge | None = None,
) -> Review:
    """A draft with the verdicts on all its checks, and what these are worth. `done` is called after each check;
    problems: where the pictures that cannot be shown stand meanwhile, see `aisr.programs.images.Gallery`;
    again: what takes a second look at the sentences that are doubted, or sum up or discuss."""
    verdicts, labels = hidden(draft), {}
    known = dict[str, Record | None]()
    for by in judges:
        facet, checks = by.task.labelled, found.claims if by.kind == "claim" else found.citations
        labels[by.kind] = Labels(facet.neutral, facet.definitions)
        if checks:
            known[by.kind] = by.known
            verdicts += judged(by, checks, lm, done)
    if again is not None and found.second is not None:
        facet = again.task.labelled
        labels[again.kind] = Labels(facet.neutral, facet.definitions)
        verdicts = looked_again(verdicts, found.second, again, lm, done)
        known[AGAIN] = again.known
    first, more = of_all(known, lm.spec)
    return Review(
        draft,
        lm.spec,
        in_order(verdicts),
        labels,
        (*about(lm.spec), *first),
        tuple(more),
        found.skipped,
        found.missing,
        lm.ledger.stopped,
        {path: why for (_, path), why in (problems or {}).items()},
    )


def looked_again(
    verdicts: Sequence[Verdict],
    look: SecondLook,
    again: Judge,
    lm: OpenLM,
    done: Callable[[], None] = lambda: None,
) -> list[Verdict]:
    """The verdicts, those of a second look in the place of the doubts that it is about, and beside them."""
    doubted = {
        (one.paragraph, one.sentence): one
        for one in verdicts
        if one.kind == again.kind and one.label is not None and not one.neutral
    }
    wanted = {paragraph: list(sentences) for paragraph, sentences in look.straight.items()}
    for paragraph, sentence in doubted:
        wanted.setdefault(paragraph, []).append(sentence)
    said = judged(again, look.checks(wanted), lm, done)
    kept = [one for one in verdicts if one.kind != again.kind or (one.paragraph, one.sentence) not in doubted]
    return kept + [_behind(doubted.get((one.paragraph, one.sentence)), one) for one in said]


def _behind(first: Verdict | None, second: Verdict) -> Verdict:
    """The verdict of a second look, with what the first one said."""
    if first is None:
        return second
    failure = second.failure and f"second look: {second.failure}; the first said {first.label}"
    return second._replace(first=first.label, failure=failure)


def judged(by: Judge, checks: Sequence[Check], lm: OpenLM, done: Callable[[], None] = lambda: None) -> list[Verdict]:
    """A verdict for each sentence of each check, in the order of the checks; `done` is called after each check.

    A check that fails, or that a limit of the ledger leaves out, gives verdicts without a label. Raises what would
    fail every check alike (see `aisr.predict.judge.judge`).
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
        for verdict in found.get(place) or _unjudged(by, check, _texts(by.task, check), why)
    ]


def _outcomes(
    by: Judge, checks: Sequence[Check], lm: OpenLM
) -> Iterator[tuple[tuple[int, Check], tuple[dspy.Example, Outcome]]]:
    def work(numbered: tuple[int, Check]) -> tuple[dspy.Example, Outcome]:
        example = by.program.prepare(numbered[1].record)
        return example, judge(by.task, by.program, example, lm)

    return finished(enumerate(checks), work, lm.threads)


def _verdicts(by: Judge, check: Check, example: dspy.Example, outcome: Outcome) -> list[Verdict]:
    task = by.task
    statements = task.labelled.statements(example)
    pieces, marks = of_record(task, check.record, example, outcome.answer)
    if outcome.failure is not None:
        return [one._replace(evidence=pieces) for one in _unjudged(by, check, statements, outcome.failure)]
    grounds = task.labelled.grounds(example)
    return [
        Verdict(
            by.kind,
            paragraph,
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
            subject=subject,
            meaning=task.labelled.definitions.get(said.label, ""),
        )
        for (paragraph, sentence), statement, said, marked, subject in zip(
            check.places, statements, outcome.judgements, marks, _subjects(by, check), strict=True
        )
    ]


def _unjudged(by: Judge, check: Check, statements: Sequence[str], why: str) -> list[Verdict]:
    return [
        Verdict(by.kind, paragraph, sentence, statement, None, failure=why, work=check.work, subject=subject)
        for (paragraph, sentence), statement, subject in zip(
            check.places, statements, _subjects(by, check), strict=True
        )
    ]


def _subjects(by: Judge, check: Check) -> Sequence[Subject | None]:
    """What the verdicts on a check are about; None of a task that takes no corrections."""
    if by.task.correctable is None:
        return [None] * len(check.sentences)
    record = without_pictures(check.record)
    program = by.known.manifest.digest if by.known and by.known.manifest else None
    both = zip(by.task.correctable.statements(record), by.task.correctable.digests(record), strict=True)
    return [Subject(by.task.name, record, number, *about, program) for number, about in enumerate(both)]


def _texts(task: Task, check: Check) -> Sequence[str]:
    """What would have been judged, where nothing was prepared."""
    return task.correctable.statements(check.record) if task.correctable else [task.text(check.record)]
