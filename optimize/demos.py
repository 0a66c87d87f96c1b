"""Optimizers that add demos: drawn sets that have every label of train, or the nearest to each record.

No record is shown a demo that would give its answer away.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar, get_args

import dspy

from aisr.base.jsonl import count_lines
from aisr.optimize.near_duplicates import near_duplicates
from aisr.optimize.search import Search
from aisr.programs.case import Case
from aisr.programs.nearest_demos import DUPLICATES, SOURCE, Similarity, wording
from aisr.programs.probabilities import is_complete
from aisr.programs.program import Program, label_field
from aisr.programs.text import length

RowT = TypeVar("RowT", Case, dspy.Example)

# --- Pools of records: which may become demos, and in which order they are tried.


def demo_pool(search: Search) -> list[Case]:
    """Return the cases of train that may become demos, in a seeded order in which the kinds of label take turns. Each
    shows the evidence that its answer names."""
    whole = [case for case in search.train if case.is_complete]
    return _balanced_pool(search, whole or search.train)


def lesson_pool(search: Search) -> list[Case]:
    """Return the cases on which the program's own answers may become demos, in the order of `demo_pool`; with the
    trimmed demo in place of the record where the two differ: none is too long then, and none lacks its evidence."""
    pool = []
    for case in search.train:
        lesson = _lesson(case)
        if lesson is not None:
            pool.append(replace(case, example=lesson))
        elif case.is_complete:
            pool.append(case)
    return _balanced_pool(search, pool or search.train)


def _balanced_pool(search: Search, cases: Sequence[Case]) -> list[Case]:
    short = affordable(search, cases, search.settings.demo_tokens)
    strata = [search.task.balance_key(case.gold) for case in short]
    return balanced(short, strata, search.settings.seed)


def _lesson(case: Case) -> dspy.Example | None:
    """Return the trimmed demo of a record; None where it does not differ from the record, or there is none."""
    if case.demo is None or case.demo.toDict() == case.example.toDict():
        return None
    return case.demo


def _fields(search: Search) -> list[str]:
    """Return the names of the fields that a demo shows, of all predictors."""
    names = set[str]()
    for predictor in search.student.predictors():
        names.update(predictor.signature.fields)
    return sorted(names)


def balanced(rows: Sequence[RowT], strata: Sequence[str], seed: int) -> list[RowT]:
    """Return the rows in a seeded order in which the strata take turns, so that the first few hold rare labels too."""
    draw = random.Random(seed)
    by_stratum = defaultdict[str, list[RowT]](list)
    for row, stratum in zip(rows, strata, strict=True):
        by_stratum[stratum].append(row)
    order = draw.sample(sorted(by_stratum), len(by_stratum))
    columns = [draw.sample(by_stratum[stratum], len(by_stratum[stratum])) for stratum in order]
    in_turn: list[RowT] = []
    for turn in zip_longest(*columns):
        in_turn += [row for row in turn if row is not None]
    return in_turn


def affordable(search: Search, rows: Sequence[RowT], budget: int) -> list[RowT]:
    """Return the rows that take at most twice an even share of `budget` tokens. Where there are none, the shortest."""
    most, fields = search.settings.demos, _fields(search)

    def size(row: RowT) -> int:
        return length(row.example if isinstance(row, Case) else row, fields)

    limit = 2 * budget / max(most, 1)
    short = [row for row in rows if size(row) <= limit]
    return short or sorted(rows, key=size)[:most]


def covering(search: Search, rows: Sequence[dspy.Example]) -> list[dspy.Example]:
    """Choose demos until the prompt or the token budget is full. Rows with missing labels come first; where more labels
    are missing than places are left, the row with most of them. Then rows fill up in order."""
    most, left, fields = search.settings.demos, search.settings.demo_tokens, _fields(search)
    able = [(row, _labels(search, row), length(row, fields)) for row in affordable(search, rows, left)]
    missing = set[str]().union(*(labels for _, labels, _ in able))
    chosen: list[dspy.Example] = []
    while len(chosen) < most:
        able = [one for one in able if one[2] <= left]
        if not able:
            break
        gains = [len(labels & missing) for _, labels, _ in able]
        if len(missing) <= most - len(chosen):  # then the first row with any will do: other orders give other sets
            gains = [min(gain, 1) for gain in gains]
        row, labels, tokens = able.pop(gains.index(max(gains)))
        chosen.append(row)
        left -= tokens
        missing -= labels
    return chosen


# --- Optimizers that add demos: labelled records, or a program's own right answers.


def labeled(search: Search) -> list[Program]:
    """Return programs with labelled records of train as demos, in differently drawn sets with every kind of label."""
    return [labeled_set(search, search.settings.seed + k) for k in range(search.settings.candidates)]


def bootstrap(search: Search) -> list[Program]:
    """Return the program with its own right answers on train as demos."""
    return [bootstrapped_set(search, lesson_pool(search), search.settings.demos)]


def random_search(search: Search) -> list[Program]:
    """Return programs with labelled records, and with bootstrapped sets drawn at random; the race compares them."""
    seed, most = search.settings.seed, search.settings.demos
    pool = lesson_pool(search)
    programs = [labeled_set(search, seed)]
    for k in range(search.settings.candidates):
        draw = random.Random(seed + k)
        if k == 0:
            programs.append(bootstrapped_set(search, pool, most))
        else:
            shuffled = draw.sample(pool, len(pool))
            programs.append(bootstrapped_set(search, shuffled, draw.randint(1, most)))
    return programs


def labeled_set(search: Search, seed: int) -> Program:
    """Return the program with labelled records as demos."""
    chosen = covering(search, _balanced_demos(search, _trimmed_demos(search), seed))
    program: Program = dspy.LabeledFewShot(k=len(chosen)).compile(search.student, trainset=chosen, sample=False)
    return program


def bootstrapped_set(search: Search, pool: Sequence[Case], most: int) -> Program:
    """Return the program with up to `most` own right answers on a pool as demos, and labelled records besides."""
    optimizer = dspy.BootstrapFewShot(
        metric=search.objective,
        metric_threshold=1.0,
        max_bootstrapped_demos=most,
        max_labeled_demos=search.settings.demos,
        teacher_settings=search.teacher_settings,
        max_errors=len(search.train) + 1,
    )
    program: Program = optimizer.compile(search.student, trainset=[case.for_metric() for case in pool])
    program.main_predictor.demos = complete_set(search, program.main_predictor.demos)
    return program


def complete_set(search: Search, demos: Sequence[dspy.Example]) -> list[dspy.Example]:
    """Return the demos of a set that an optimizer made, trimmed and with every label of train: a labelled record is
    added for each missing label, in place of the last demos where there is no room. No demos stay none."""
    statement = search.student.statement
    complete = _trim(search, demos)
    if not complete:
        return []
    statements = {str(demo[statement]) for demo in complete}
    others = [row for row in _trimmed_demos(search) if str(row[statement]) not in statements]
    known = set[str]().union(*(_labels(search, demo) for demo in complete))
    for row in _balanced_demos(search, others, search.settings.seed):
        labels = _labels(search, row)
        if not labels <= known:
            complete.append(row)
            known |= labels
    return covering(search, complete)


def _trim(search: Search, demos: Sequence[dspy.Example]) -> list[dspy.Example]:
    """Return the demos with an answer; where the record's trimmed demo shows another part of its evidence, that one."""
    signature, statement = search.student.main_predictor.signature, search.student.statement
    lessons = {str(case.example[statement]): _lesson(case) for case in search.train if statement in case.example}
    trimmed = []
    for demo in demos:
        if not is_complete(demo, signature.output_fields):
            continue
        lesson = lessons.get(str(demo[statement]))
        if lesson is None or all(demo.get(name) == lesson.get(name) for name in signature.input_fields):
            lesson = dspy.Example(**demo)
        trimmed.append(lesson)
    return trimmed


def _trimmed_demos(search: Search) -> list[dspy.Example]:
    """Return the records of train as trimmed demos."""
    return [case.demo for case in search.train if case.demo is not None]


def _balanced_demos(search: Search, rows: Sequence[dspy.Example], seed: int) -> list[dspy.Example]:
    """Return demos in a seeded order in which the sets of labels take turns."""
    return balanced(rows, [" ".join(sorted(_labels(search, row))) for row in rows], seed)


def _labels(search: Search, row: dspy.Example) -> set[str]:
    """Return the labels of a demo; none of a task without labels."""
    name = label_field(search.student.main_predictor.signature)
    if name is None:
        return set()
    return set(row[name]) if isinstance(row[name], list) else {str(row[name])}


# --- Demos that are chosen anew for each record: the labelled records of train that are nearest to it.
#
# On real records such demos were worth more than any fixed ones and than any rewritten instruction. Which similarity is
# better differs from data set to data set, so both race.

FROM = 200  # records of train: with fewer the nearest is not near


def default_optimizers(train: Path, limit: int | None, demos: int) -> list[str]:
    """Return the optimizers where the user names none: `knn` where train has `FROM` records and some demos are wanted,
    else `random-search`. limit: of the records that are taken from the file."""
    is_large = count_lines(train, limit) >= FROM
    return ["knn"] if is_large and demos > 0 else ["random-search"]


def knn(search: Search) -> list[Program]:
    """Return programs that choose demos for each record: the most similar labelled records of train, by words, and by
    words and vectors. The race on dev compares the two."""
    student, rows = search.student, _nearest_rows(search)
    programs = []
    for similarity in get_args(Similarity):
        program = student.deepcopy()
        nearest = {"demos_per_record": search.settings.demos, "demo_similarity": similarity}
        program.options = student.options.model_copy(update=nearest)
        programs.append(dspy.LabeledFewShot(k=len(rows)).compile(program, trainset=rows, sample=False))
    return programs


def _nearest_rows(search: Search) -> list[dspy.Example]:
    """Return the demos that nearest ones are chosen from, any `demos` of which fit into the token budget. Those of one
    source, and those with statements that are near-duplicates, are marked: no prompt shows two of them."""
    rows = []
    for case in search.train:
        if case.demo is not None:
            source = {} if case.group is None else {SOURCE: case.group}
            rows.append(case.demo.copy(**source))
    short = affordable(search, rows, search.settings.demo_tokens // 2)
    group = near_duplicates([wording(row.get(search.student.statement)) for row in short])
    counts = Counter(group)
    for place, key in enumerate(group):
        if counts[key] > 1:
            short[place] = short[place].copy(**{DUPLICATES: key})
    return short


# --- Demos and leakage.


def exclude_leaking(program: Program, cases: Iterable[Case]) -> None:
    """Have a program that chooses demos for each record show no record a demo of the record's own group. Programs that
    an optimizer derives from it do the same."""
    excluded = defaultdict[str, set[int]](set)
    for case in cases:
        if case.group is not None:
            excluded[wording(case.example.get(program.statement))].add(case.group)
    program.excluded = {text: frozenset(own) for text, own in excluded.items()}
