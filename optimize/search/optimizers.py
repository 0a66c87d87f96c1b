"""DSPy's optimizers behind one table. Each gives back every candidate that it tried, not only the one it likes best."""

import contextlib
import io
import random
from collections.abc import Callable, Iterator, Sequence

import dspy
from dspy.utils.exceptions import DSPyError, LMAuthError, LMConfigurationError

from aisr.optimize.datasets.apart import in_prompt
from aisr.optimize.search import nearest
from aisr.optimize.search.compilation import Candidate, Compilation, identity, strip
from aisr.optimize.search.corpus_score import CorpusAcceptance, CorpusMIPRO
from aisr.optimize.search.demo_sets import bootstrapped, labelled_beside, labelled_set, nearest_rows, whole_set
from aisr.optimize.search.reflection import Reflection
from aisr.programs.base import Judge
from aisr.programs.questions import describe_lost_options

GEPA_MINIBATCH = 10  # records that a proposed instruction is first tried on; the default of 3 is noise
MIPRO_MINIBATCH = 35
SIMBA_BATCH = 32


def labeled(work: Compilation) -> list[Judge]:
    """Few-shot with labelled records of train as they stand, in differently drawn sets with every kind of label."""
    return [labelled_set(work, work.settings.seed + k) for k in range(work.settings.candidates)]


def knn(work: Compilation) -> list[Judge]:
    """Few-shot chosen anew for each record: the labelled records of train that are nearest to it, by words or by words
    and vectors. The race on dev compares the two."""
    rows = nearest_rows(work)
    return [nearest.program(work.task, work.student, rows, work.settings.demos, way) for way in nearest.WAYS]


def bootstrap(work: Compilation) -> list[Judge]:
    """Few-shot with the program's own right answers on train."""
    return [bootstrapped(work, work.taught, work.settings.demos)]


def random_search(work: Compilation) -> list[Judge]:
    """A set of labelled records, and bootstrapped sets drawn at random. The race on dev compares them."""
    drawn = [labelled_set(work, work.settings.seed)]
    pool = work.taught
    for k in range(work.settings.candidates):
        draw = random.Random(work.settings.seed + k)
        shuffled = draw.sample(pool, len(pool)) if k else pool
        drawn.append(bootstrapped(work, shuffled, draw.randint(1, work.settings.demos) if k else work.settings.demos))
    return drawn


def mipro(work: Compilation) -> list[Judge]:
    """MIPROv2: instructions proposed by the LM, and demos, chosen together by Bayesian optimisation of the ranking
    score itself."""
    optimizer = CorpusMIPRO(
        work.task,
        lambda demos: whole_set(work, demos),
        metric=work.objective,
        metric_threshold=1.0,
        auto=None,
        num_candidates=work.settings.candidates,
        max_bootstrapped_demos=work.settings.demos,
        max_labeled_demos=labelled_beside(work),
        num_threads=work.lm.threads,
        max_errors=len(work.train) + len(work.dev) + 1,
        seed=work.settings.seed,
        prompt_model=work.teacher.lm,
        task_model=work.lm.lm,
        teacher_settings=work.teaching,
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


def simba(work: Compilation) -> list[Judge]:
    """SIMBA: looks at records that come out differently from draw to draw, and adds a demo or a rule for them."""
    teaching = work.teaching
    optimizer = dspy.SIMBA(
        metric=work.objective,
        bsize=min(SIMBA_BATCH, len(work.train)),
        num_candidates=work.settings.candidates,
        max_steps=work.settings.candidates,
        max_demos=work.settings.demos,
        prompt_model=work.teacher.lm,
        # A copy, since SIMBA writes into it; it draws like the other models, or DSPy warns that its rollout is in vain.
        teacher_settings=teaching and {**teaching, "lm": teaching["lm"].copy(temperature=1.0)},
        num_threads=work.lm.threads,
    )
    best = optimizer.compile(work.student, trainset=list(work.train), seed=work.settings.seed)
    programs: list[Judge] = [best, *(candidate["program"] for candidate in best.candidate_programs)]
    for program in programs:
        program.judging.demos = whole_set(work, program.judging.demos)
    return programs


def gepa(work: Compilation) -> list[Judge]:
    """GEPA: the LM reflects on what was wrong, in words, and rewrites the instruction (Agrawal et al. 2025)."""
    pool = [example for example in work.pool if not in_prompt(work.student, example)] or work.pool
    optimizer = dspy.GEPA(
        metric=work.objective.with_feedback,
        max_metric_calls=work.settings.candidates * (len(work.dev) + 2 * GEPA_MINIBATCH),
        reflection_minibatch_size=GEPA_MINIBATCH,
        reflection_lm=work.teacher.lm.copy(temperature=1.0, max_tokens=work.teacher.longest),
        instruction_proposer=Reflection(work.student, work.train, work.objective.confusion, work.teacher.adapter),
        gepa_kwargs={"acceptance_criterion": CorpusAcceptance(work.task, pool)},
        num_threads=work.lm.threads,
        track_stats=True,
        seed=work.settings.seed,
    )
    best = optimizer.compile(work.student, trainset=pool, valset=list(work.dev))
    return [*best.detailed_results.candidates]


OPTIMIZERS: dict[str, Callable[[Compilation], list[Judge]]] = {
    "labeled": labeled,
    "knn": knn,
    "bootstrap": bootstrap,
    "random-search": random_search,
    "mipro": mipro,
    "simba": simba,
    "gepa": gepa,
}
WRITTEN_BY_LM = ("mipro", "simba", "gepa")  # those that have an LM write instructions


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
    seen = {identity(candidate.program) for candidate in known}
    for program in programs:
        strip(program)
        if work.lm.brief:
            describe_lost_options(program)
        if identity(program) not in seen:
            seen.add(identity(program))
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
