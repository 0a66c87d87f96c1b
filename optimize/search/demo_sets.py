"""Sets of demos: labelled records, or a program's own right answers, with every label of train among them."""

from collections import Counter
from collections.abc import Sequence

import dspy

from aisr.optimize.search import nearest
from aisr.optimize.search.compilation import Compilation
from aisr.optimize.search.demos import balanced, covering
from aisr.programs.asking.stated import complete
from aisr.programs.base import Judge
from aisr.programs.demos import SOURCE


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
    chosen = nearest.pool(rows, work.fields, work.settings.demos, work.settings.demo_tokens)
    return nearest.marked(chosen, work.student.statement)


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
    own = [dspy.Example(**demo) for demo in demos if complete(demo, outputs)]
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
