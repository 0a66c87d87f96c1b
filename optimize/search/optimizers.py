"""DSPy's optimizers behind one table. Each gives back every candidate that it tried, not only the one it likes best."""

import contextlib
import io
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import dspy
from dspy.utils.exceptions import DSPyError, LMAuthError, LMConfigurationError

from aisr.lm.client import OpenLM
from aisr.optimize.search import nearest
from aisr.optimize.search.corpus_score import CorpusAcceptance, CorpusMIPRO
from aisr.optimize.search.demos import affordable, balanced, covering, plausible_first
from aisr.optimize.search.objective import Objective
from aisr.optimize.search.reflection import Reflection
from aisr.programs.asking.stated import complete
from aisr.programs.judges.contract import JudgeProgram, Program
from aisr.programs.judges.ensemble import in_prompt
from aisr.programs.vision.content_parts import is_harmless
from aisr.tasks.task import Task

GEPA_MINIBATCH = 10  # records that a proposed instruction is first tried on; the default of 3 is noise
MIPRO_MINIBATCH = 35
SIMBA_BATCH = 32


class Candidate(NamedTuple):
    """A program that an optimizer left, and where it came from ("random-search 2")."""

    name: str
    program: Program


@dataclass(frozen=True)
class Settings:
    """What can be set of an optimizer. demos: most few-shot examples; demo_tokens: what they may take together, about;
    candidates: how many programs it may try; max_usd_per_1000: what judging a thousand records may cost with one."""

    demos: int = 4
    demo_tokens: int = 3000
    candidates: int = 4
    seed: int = 0
    max_usd_per_1000: float | None = None

    @property
    def nearest(self) -> int:
        """How many ways to choose nearest demos are tried, where there are records enough."""
        return 2 * self.candidates


@dataclass(frozen=True)
class Compilation:
    """What an optimizer works on. Examples carry `gold` beside their fields.

    baseline: makes the objective; it is called, and its LM calls are made, only if the optimizer looks at scores.
    """

    task: Task
    student: JudgeProgram
    train: Sequence[dspy.Example]
    dev: Sequence[dspy.Example]
    baseline: Callable[[], Objective]
    settings: Settings
    lm: OpenLM
    teacher: OpenLM  # what writes demos and instructions; often the LM itself
    note: Callable[[str], None]

    @property
    def fields(self) -> list[str]:
        """The fields that a demo shows, of whichever predictor."""
        return sorted({name for predictor in self.student.predictors() for name in predictor.signature.fields})

    @property
    def pool(self) -> list[dspy.Example]:
        """The records of train that may become demos, each with the evidence that its answer names, in a seeded order
        in which the kinds of label take turns."""
        whole = [example for example in self.train if not example.get("incomplete")] or self.train
        short = affordable(whole, self.fields, self.settings.demos, self.settings.demo_tokens)
        kinds = [self.task.kinds(example.gold) for example in short]
        return balanced(short, kinds, self.settings.seed)

    @property
    def taught(self) -> list[dspy.Example]:
        """The records that the program's own answers on may become demos: as `pool`, but where a record as it stands
        would be a poor demo, cut to what teaches, so that no record is too long and none lacks its evidence."""
        cut = [(_lesson(self, example), example) for example in self.train]
        whole = [lesson or example for lesson, example in cut if lesson or not example.get("incomplete")] or self.train
        short = affordable(whole, self.fields, self.settings.demos, self.settings.demo_tokens)
        return balanced(short, [self.task.kinds(example.gold) for example in short], self.settings.seed)

    @cached_property
    def objective(self) -> Objective:
        return self.baseline()


def labeled(work: Compilation) -> list[JudgeProgram]:
    """Few-shot with labelled records of train as they stand, in differently drawn sets with every kind of label."""
    return [_labelled_set(work, work.settings.seed + k) for k in range(work.settings.candidates)]


def knn(work: Compilation) -> list[JudgeProgram]:
    """Few-shot chosen anew for each record: the labelled records of train that are nearest to it."""
    return [
        nearest.program(work.task, work.student, _nearest_rows(work), nearest.Way(work.settings.demos, "words", False))
    ]


def bootstrap(work: Compilation) -> list[JudgeProgram]:
    """Few-shot with the program's own right answers on train."""
    return [_bootstrapped(work, work.taught, work.settings.demos)]


def random_search(work: Compilation) -> list[JudgeProgram]:
    """Bootstrapped sets drawn at random; two of labelled records, one as drawn, one of those whose gold the uncompiled
    program finds plausible; and where train is large enough, nearest demos (see `aisr.optimize.search.nearest`). The
    race on dev compares them."""
    drawn = [_labelled_set(work, work.settings.seed), _labelled_set(work, work.settings.seed, work.objective.plausible)]
    pool = work.taught
    for k in range(work.settings.candidates):
        draw = random.Random(work.settings.seed + k)
        shuffled = draw.sample(pool, len(pool)) if k else pool
        drawn.append(_bootstrapped(work, shuffled, draw.randint(1, work.settings.demos) if k else work.settings.demos))
    if not nearest.races(work.task, len(work.train), work.settings.demos):
        return drawn
    rows = {sure: _nearest_rows(work, sure) for sure in (False, True)}
    offered = nearest.ways(work.settings.nearest, work.task.judgements is not None, any(work.objective.sure))
    ways = nearest.fitting(offered, rows[False], work.fields, work.lm.window)
    return [*drawn, *(nearest.program(work.task, work.student, rows[way.sure], way) for way in ways)]


def mipro(work: Compilation) -> list[JudgeProgram]:
    """MIPROv2: instructions proposed by the LM, and demos, chosen together by Bayesian optimisation of the ranking
    score itself."""
    optimizer = CorpusMIPRO(
        work.task,
        lambda demos: _whole_set(work, demos),
        metric=work.objective,
        metric_threshold=1.0,
        auto=None,
        num_candidates=work.settings.candidates,
        max_bootstrapped_demos=work.settings.demos,
        max_labeled_demos=_labelled_beside(work),
        num_threads=work.lm.threads,
        max_errors=len(work.train) + len(work.dev) + 1,
        seed=work.settings.seed,
        prompt_model=work.teacher.lm,
        task_model=work.lm.lm,
        teacher_settings=_teacher(work),
    )
    best = optimizer.compile(
        work.student,
        trainset=work.taught,
        valset=list(work.dev),
        num_trials=2 * work.settings.candidates,
        minibatch=len(work.dev) > MIPRO_MINIBATCH,
        minibatch_size=MIPRO_MINIBATCH,
        seed=work.settings.seed,
    )
    tried = [*getattr(best, "candidate_programs", []), *getattr(best, "mb_candidate_programs", [])]
    return [best, *(candidate["program"] for candidate in tried)]


def simba(work: Compilation) -> list[JudgeProgram]:
    """SIMBA: looks at records that come out differently from draw to draw, and adds a demo or a rule for them."""
    teacher = _teacher(work)
    optimizer = dspy.SIMBA(
        metric=work.objective,
        bsize=min(SIMBA_BATCH, len(work.train)),
        num_candidates=work.settings.candidates,
        max_steps=work.settings.candidates,
        max_demos=work.settings.demos,
        prompt_model=work.teacher.lm,
        # A copy, since SIMBA writes into it; it draws like the other models, or DSPy warns that its rollout is in vain.
        teacher_settings=teacher and {**teacher, "lm": teacher["lm"].copy(temperature=1.0)},
        num_threads=work.lm.threads,
    )
    best = optimizer.compile(work.student, trainset=list(work.train), seed=work.settings.seed)
    programs: list[JudgeProgram] = [best, *(candidate["program"] for candidate in best.candidate_programs)]
    for program in programs:
        program.judging.demos = _whole_set(work, program.judging.demos)
    return programs


def gepa(work: Compilation) -> list[JudgeProgram]:
    """GEPA: the LM reflects on what was wrong, in words, and rewrites the instruction (Agrawal et al. 2025)."""
    pool = [example for example in work.pool if not in_prompt(work.student, example)] or work.pool
    optimizer = dspy.GEPA(
        metric=work.objective.with_feedback,
        max_metric_calls=work.settings.candidates * (len(work.dev) + 2 * GEPA_MINIBATCH),
        reflection_minibatch_size=GEPA_MINIBATCH,
        reflection_lm=work.teacher.lm.copy(temperature=1.0, max_tokens=work.teacher.longest),
        instruction_proposer=Reflection(work.student, work.train, work.objective.confusion),
        gepa_kwargs={"acceptance_criterion": CorpusAcceptance(work.task, pool)},
        num_threads=work.lm.threads,
        track_stats=True,
        seed=work.settings.seed,
    )
    best = optimizer.compile(work.student, trainset=pool, valset=list(work.dev))
    return [*best.detailed_results.candidates]


OPTIMIZERS: dict[str, Callable[[Compilation], list[JudgeProgram]]] = {
    "labeled": labeled,
    "knn": knn,
    "bootstrap": bootstrap,
    "random-search": random_search,
    "mipro": mipro,
    "simba": simba,
    "gepa": gepa,
}


def compile_candidates(optimizer: str, work: Compilation, known: Sequence[Candidate]) -> list[Candidate]:
    """The known candidates, and every program that the optimizer left and that is none of them, in a fixed order.

    Raises KeyError for an optimizer that is not in `OPTIMIZERS`. What the optimizers print is dropped.
    """
    programs = []
    # The whole process's, both: DSPy's optimizers draw from the global generator, and print.
    with work.lm.context(), _drawn_from(work.settings.seed), contextlib.redirect_stdout(io.StringIO()):
        try:
            programs = OPTIMIZERS[optimizer](work)
        except DSPyError as error:
            if isinstance(error, LMAuthError | LMConfigurationError):
                raise
            # An answer that cannot be read, or a spent budget, may end an optimizer anywhere. The uncompiled program
            # and whatever earlier optimizers left are still there to choose from.
            work.note(f"{optimizer} ended early: {' '.join(str(error).split())[:200]}")
    candidates = list(known)
    seen = {_identity(candidate.program) for candidate in known}
    for program in programs:
        strip(program)
        if _identity(program) not in seen:
            seen.add(_identity(program))
            candidates.append(Candidate(f"{optimizer} {len(candidates)}", program))
    return candidates


@contextlib.contextmanager
def _drawn_from(seed: int) -> Iterator[None]:
    """Python's global generator by a seed; afterwards it goes on where it was."""
    before = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)


def strip(program: Program) -> None:
    """Leave in a compiled program what it needs: no LM; of a predictor the demos that hold its answer and that can be
    loaded again, and of each the fields that the signature has."""
    program.set_lm(None)
    for _, predictor in program.named_predictors():
        fields = {*predictor.signature.fields, "augmented"}
        rows = [{name: value for name, value in dict(demo).items() if name in fields} for demo in predictor.demos]
        outputs = predictor.signature.output_fields
        predictor.demos = [row for row in rows if complete(row, outputs) and is_harmless(row)]
        predictor.traces, predictor.train = [], []


def _identity(program: Program) -> str:
    predictors = [(name, p.signature.instructions, p.demos) for name, p in program.named_predictors()]
    return str((program.options, predictors))


def _teacher(work: Compilation) -> dict[str, Any]:
    return {} if work.teacher is work.lm else {"lm": work.teacher.lm, "adapter": work.teacher.adapter}


def _labelled_beside(work: Compilation) -> int:
    """How many labelled demos stand beside bootstrapped ones: none where a record is several calls, as its rows are
    then no demos of the predictor."""
    one_call = len(_rows(work, work.train[0])) == 1 and _rows(work, work.train[0])[0] is work.train[0]
    return work.settings.demos if one_call else 0


def _nearest_rows(work: Compilation, sure: bool = False) -> list[dspy.Example]:
    """The demos that nearest ones are chosen from. sure: with what the program itself stated where it was right."""
    rows = []
    for k, example in enumerate(work.train):
        lessons = work.student.lessons(example)
        said = work.objective.sure[k] if sure and work.objective.sure else None
        if not example.get("incomplete"):
            rows += (
                nearest.with_stated(lessons, said, work.student.judging.signature.output_fields) if said else lessons
            )
    rows = rows or [row for example in work.train for row in work.student.lessons(example)]
    return nearest.pool(rows, work.fields, work.settings.demos, work.settings.demo_tokens)


def _rows(work: Compilation, example: dspy.Example) -> list[dspy.Example]:
    rows: list[dspy.Example] = work.student.demo_rows(example)
    return rows


def _lesson(work: Compilation, example: dspy.Example) -> dspy.Example | None:
    """A record that is one call, cut to what teaches; None where it teaches as it stands."""
    as_is, lessons = _rows(work, example), work.student.lessons(example)
    return lessons[0] if len(as_is) == len(lessons) == 1 and lessons[0].toDict() != as_is[0].toDict() else None


def _labelled_set(work: Compilation, seed: int, plausible: Sequence[float] | None = None) -> JudgeProgram:
    """The program with labelled records as demos. plausible: how likely the gold of each record of train is, where
    likely ones are preferred."""
    rows, of_record = _rarest_rows(work)
    chances = {id(row): plausible[k] for row, k in zip(rows, of_record, strict=True)} if plausible else {}
    drawn = balanced(rows, [_kind(work, row) for row in rows], seed)
    if plausible:
        drawn = plausible_first(drawn, [chances[id(row)] for row in drawn])
    chosen = _covering(work, drawn)
    program: JudgeProgram = dspy.LabeledFewShot(k=len(chosen)).compile(work.student, trainset=chosen, sample=False)
    return program


def _bootstrapped(work: Compilation, pool: Sequence[dspy.Example], most: int) -> JudgeProgram:
    """The program with up to `most` of its own right answers on a pool as demos, and labelled records beside them."""
    optimizer = dspy.BootstrapFewShot(
        metric=work.objective,
        metric_threshold=1.0,
        max_bootstrapped_demos=most,
        max_labeled_demos=_labelled_beside(work),
        teacher_settings=_teacher(work),
        max_errors=len(work.train) + 1,
    )
    program: JudgeProgram = optimizer.compile(work.student, trainset=list(pool))
    program.judging.demos = _whole_set(work, program.judging.demos)
    return program


def _whole_set(work: Compilation, demos: Sequence[dspy.Example]) -> list[dspy.Example]:
    """The demos of a set that an optimizer made, each cut to what teaches, and where a label of train is missing, a
    labelled record that has it, in place of the last demo if need be. No demos stay none."""
    outputs, statement = work.student.judging.signature.output_fields, work.student.statement
    own = [dspy.Example(**demo) for demo in demos if complete(demo, outputs)]
    if not own:
        return []
    lessons = {str(one[statement]): _lesson(work, one) for one in work.train if statement in one}
    own = [_cut(work, demo, lessons.get(str(demo[statement]))) for demo in own]
    said = {str(demo[statement]) for demo in own}
    others = [row for row in _rarest_rows(work)[0] if str(row[statement]) not in said]
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


def _rarest_rows(work: Compilation) -> tuple[list[dspy.Example], list[int]]:
    """One demo of each record of train, and which record that is: where a record is several calls, the one with the
    rarest kind of label. Behind them all demos of kinds that would be lost by that."""
    of_record = [work.student.lessons(example) for example in work.train]
    common = Counter(_kind(work, row) for rows in of_record for row in rows)
    rarest = [(min(rows, key=lambda row: common[_kind(work, row)]), k) for k, rows in enumerate(of_record) if rows]
    # Of a label that no record has alone, often the neutral one.
    lost = set(common) - {_kind(work, row) for row, _ in rarest}
    more = [(row, k) for k, rows in enumerate(of_record) for row in rows if _kind(work, row) in lost]
    return [row for row, _ in [*rarest, *more]], [k for _, k in [*rarest, *more]]


def _kind(work: Compilation, row: dspy.Example) -> str:
    """What kinds of label a demo shows, as one word."""
    return " ".join(sorted(_labels(work, row)))


def _labels(work: Compilation, row: dspy.Example) -> set[str]:
    """The labels that a demo shows: those of its predictor's first output field for labels, if any."""
    name = next((name for name in work.student.judging.signature.output_fields if "label" in name), None)
    if name is None:
        return set()
    return set(row[name]) if isinstance(row[name], list) else {str(row[name])}
