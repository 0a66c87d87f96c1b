"""Sets of demos: labelled records, or a program's own right answers, with every label of train among them.

Candidates whose demos are chosen anew for each record: the labelled records of train that are nearest to it.

On real records such demos were worth more than any fixed ones and than any rewritten instruction. Which nearness is
better differs from data set to data set, so both ways race.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

import dspy

from aisr.optimize.examples import Labelled, grouped
from aisr.optimize.leakage import near_duplicates
from aisr.optimize.search import Compilation, affordable, balanced, covering
from aisr.programs.base import Judge
from aisr.programs.demos import DUPLICATES, SOURCE, Similarity, wording
from aisr.programs.probabilities import is_complete
from aisr.programs.task import Task
from aisr.programs.text import length, quotes


def labelled_beside(work: Compilation) -> int:
    """How many labelled demos stand beside bootstrapped ones: none where a record is several calls, as its rows are
    then no demos of the predictor."""
    rows = work.student.demo_rows(work.train[0])
    one_call = len(rows) == 1 and rows[0] is work.train[0]
    return work.settings.demos if one_call else 0


def nearest_rows(work: Compilation) -> list[dspy.Example]:
    """The demos that nearest ones are chosen from, with what tells which of them not to show beside each other."""
    rows = []
    for k, example in enumerate(work.train):
        marks = {SOURCE: work.sources[k]} if work.sources else {}
        if not example.get("incomplete") or "lesson" in example:
            rows += [row.copy(**marks) for row in work.student.lessons(example)]
    rows = rows or [row for example in work.train for row in work.student.lessons(example)]
    chosen = pool(rows, work.fields, work.settings.demos, work.settings.demo_tokens)
    return marked(chosen, work.student.statement)


def labelled_set(work: Compilation, seed: int) -> Judge:
    """The program with labelled records as demos."""
    rows = _rarest_rows(work)
    chosen = _covering(work, balanced(rows, [_kind(work, row) for row in rows], seed))
    program: Judge = dspy.LabeledFewShot(k=len(chosen)).compile(work.student, trainset=chosen, sample=False)
    return program


def bootstrapped(work: Compilation, pool: Sequence[dspy.Example], most: int) -> Judge:
    """The program with up to `most` of its own right answers on a pool as demos, and labelled records beside them."""
    optimizer = dspy.BootstrapFewShot(
        metric=work.objective,
        metric_threshold=1.0,
        max_bootstrapped_demos=most,
        max_labeled_demos=labelled_beside(work),
        teacher_settings=work.teaching,
        max_errors=len(work.train) + 1,
    )
    program: Judge = optimizer.compile(work.student, trainset=list(pool))
    program.judging.demos = whole_set(work, program.judging.demos)
    return program


def whole_set(work: Compilation, demos: Sequence[dspy.Example]) -> list[dspy.Example]:
    """The demos of a set that an optimizer made, each cut to what teaches, and where a label of train is missing, a
    labelled record that has it, in place of the last demo if need be. No demos stay none."""
    outputs, statement = work.student.judging.signature.output_fields, work.student.statement
    own = [dspy.Example(**demo) for demo in demos if is_complete(demo, outputs)]
    if not own:
        return []
    lessons = {str(one[statement]): work.lesson(one) for one in work.train if statement in one}
    own = [_cut(work, demo, lessons.get(str(demo[statement]))) for demo in own]
    said = {str(demo[statement]) for demo in own}
    others = [row for row in _rarest_rows(work) if str(row[statement]) not in said]
    missing = set().union(*(_labels(work, row) for row in others)).difference(*(_labels(work, row) for row in own))
    for row in balanced(others, [_kind(work, row) for row in others], work.settings.seed):
        if _labels(work, row) & missing:
            own.append(row)
            missing -= _labels(work, row)
    return _covering(work, own)


def _cut(work: Compilation, demo: dspy.Example, lesson: dspy.Example | None) -> dspy.Example:
    """A demo of a record, or the record as a lesson where the demo shows another part of its evidence."""
    inputs = work.student.judging.signature.input_fields
    return demo if lesson is None or all(demo.get(name) == lesson.get(name) for name in inputs) else lesson


def _covering(work: Compilation, rows: Sequence[dspy.Example]) -> list[dspy.Example]:
    labels = [_labels(work, row) for row in rows]
    return covering(rows, labels, work.fields, work.settings.demos, work.settings.demo_tokens)


def _rarest_rows(work: Compilation) -> list[dspy.Example]:
    """One demo of each record of train: where a record is several calls, the one with the rarest kind of label. Behind
    them all demos of kinds that would be lost by that."""
    of_record = [work.student.lessons(example) for example in work.train]
    common = Counter(_kind(work, row) for rows in of_record for row in rows)
    rarest = [min(rows, key=lambda row: common[_kind(work, row)]) for rows in of_record if rows]
    # Of a label that no record has alone, often the neutral one.
    lost = set(common) - {_kind(work, row) for row in rarest}
    return [*rarest, *(row for rows in of_record for row in rows if _kind(work, row) in lost)]


def _kind(work: Compilation, row: dspy.Example) -> str:
    """What kinds of label a demo shows, as one word."""
    return " ".join(sorted(_labels(work, row)))


def _labels(work: Compilation, row: dspy.Example) -> set[str]:
    """The labels that a demo shows: those of its predictor's first output field for labels, if any."""
    name = next((name for name in work.student.judging.signature.output_fields if "label" in name), None)
    if name is None:
        return set()
    return set(row[name]) if isinstance(row[name], list) else {str(row[name])}


FROM = 200  # records of train: with fewer the nearest is not near


WAYS: tuple[Similarity, ...] = get_args(Similarity)


def fits(train: int, demos: int) -> bool:
    """Whether nearest demos suit a data set: some demos are wanted, and train has `FROM` records."""
    return demos > 0 and train >= FROM


def usual_search(train: Path, limit: int | None, demos: int) -> list[str]:
    """The optimizers where nobody names some: nearest demos where they suit a file of train, else drawn ones. limit:
    the most records of it that are taken."""
    with train.open("rb") as lines:
        records = sum(1 for line in lines if line.strip())
    return ["knn"] if fits(min(records, limit or records), demos) else ["random-search"]


def pool(rows: Sequence[dspy.Example], fields: Sequence[str], demos: int, budget: int) -> list[dspy.Example]:
    """The rows that may be chosen from: of which `demos` fit into `budget` tokens, whichever they are. Those that would
    be too long are cut to what they are in brief, where they say."""
    most = budget / max(demos, 1)
    cut = [row.copy(**row.brief) if "brief" in row and length(row, fields) > most else row for row in rows]
    return affordable(cut, fields, demos, budget // 2)


def marked(rows: Sequence[dspy.Example], statement: str) -> list[dspy.Example]:
    """The rows, those whose statements are nearly the same with the number of their group."""
    group = near_duplicates([wording(row.get(statement)) for row in rows])
    many = {key for key, count in Counter(group).items() if count > 1}
    return [row.copy(**{DUPLICATES: key}) if key in many else row for row, key in zip(rows, group, strict=True)]


def program(task: Task, student: Judge, rows: Sequence[dspy.Example], demos: int, by: Similarity) -> Judge:
    """A student with all these rows as demos, of which it shows each record `demos`, the nearest by `by`."""
    options = {**student.options.as_dict(), "nearest": demos, "nearest_by": by}
    made = task.build(options)
    made.ranker = student.ranker
    made.fitted = student.fitted
    made.copy_context(student)
    for predictor, old in zip(made.predictors(), student.predictors(), strict=True):
        predictor.signature = old.signature
    return cast(Judge, dspy.LabeledFewShot(k=len(rows)).compile(made, trainset=list(rows), sample=False))


def keep_apart(program: Judge, rows: Sequence[Labelled]) -> Judge:
    """The program; where it chooses the demos of each record, it shows none of these one of its own group from now on.
    So do those that an optimizer makes of it."""
    if rows:
        program.knn = replace(program.knn, excluded=_of_statements(program, rows, grouped(rows)))
    return program


def in_prompt(program: Judge, example: dspy.Example) -> bool:
    """Whether a record stands in a prompt of the program, whole or in part: as a demo, or quoted by an instruction."""
    return _is_demo(program, example) or _is_quoted(program, example)


def _is_demo(program: Judge, example: dspy.Example) -> bool:
    """By what is judged: its evidence may stand in a demo in another form, without its pictures."""
    said = [row.get(program.statement) for row in program.demo_rows(example)]
    if all(program.knn.excludes(wording(one)) for one in said):
        return False  # it stands in the prompts of others only
    return any(demo.get(program.statement) in said for demo in program.judging.demos)


def _is_quoted(program: Judge, example: dspy.Example) -> bool:
    """Whether an instruction has a run of words from what is judged."""
    said = "\n".join(wording(row.get(program.statement)) for row in program.demo_rows(example))
    return any(quotes(predictor.signature.instructions, said) for predictor in program.predictors())


def _of_statements(program: Judge, rows: Sequence[Labelled], group: Sequence[int]) -> Mapping[str, frozenset[int]]:
    """The groups of the records that each statement stands in, as the program has it."""
    found: dict[str, set[int]] = {}
    for row, key in zip(rows, group, strict=True):
        for shown in program.demo_rows(row.example):
            found.setdefault(wording(shown.get(program.statement)), set()).add(key)
    return {text: frozenset(keys) for text, keys in found.items()}
