"""DSPy's optimizers behind one table. Each gives back every candidate that it tried, not only the one it likes best.

The ranking score itself inside an optimizer, where the optimizer lets us: no mean, no linearisation.

What an optimizer that reflects is told beside single records, and what it may not do with them.

A proposed instruction that quotes train sentences with their labels makes a model look better on train than it is, and
teaches it these sentences rather than the convention behind them.
"""

import contextlib
import io
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import dspy
from dspy.evaluate import Evaluate
from dspy.evaluate.evaluate import EvaluationResult
from dspy.teleprompt.gepa import InstructionProposer
from dspy.utils.exceptions import DSPyError, LMAuthError, LMConfigurationError

from aisr.base.private import EvaluatedMIPRO
from aisr.metrics.scores import value
from aisr.optimize.demos import WAYS, bootstrapped, in_prompt, labelled_beside, labelled_set, nearest_rows, whole_set
from aisr.optimize.demos import program as nearest_program
from aisr.optimize.search import Candidate, Compilation, identity, strip
from aisr.programs.base import Judge
from aisr.programs.demos import wording
from aisr.programs.questions import SECTION, describe_lost_options
from aisr.programs.task import Answer, Task
from aisr.programs.text import runs, sentences

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
    return [nearest_program(work.task, work.student, rows, work.settings.demos, way) for way in WAYS]


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


class CorpusEvaluate(Evaluate):
    """DSPy's evaluation with the official score of the corpus (0-100) in place of the mean of the metric."""

    def __init__(self, task: Task, evaluate: Evaluate) -> None:
        self.__dict__.update(evaluate.__dict__)
        self.task = task

    def __call__(self, *args: Any, **kwargs: Any) -> EvaluationResult:
        found = super().__call__(*args, **kwargs)
        gold = [example.gold for example, _, _ in found.results]
        answers = [_said(self.task, prediction) for _, prediction, _ in found.results]
        return EvaluationResult(score=100 * value(self.task.score(gold, answers)), results=found.results)


class CorpusMIPRO(EvaluatedMIPRO):
    """MIPROv2 whose Bayesian optimisation sees the official score of each minibatch. whole: what makes of demos of the
    judging predictor a set that may be proposed."""

    def __init__(
        self, task: Task, whole: Callable[[Sequence[dspy.Example]], Sequence[dspy.Example]], **settings: Any
    ) -> None:
        super().__init__(**settings)
        self.task = task
        self.whole = whole

    def evaluation(self, own: Evaluate) -> Evaluate:
        return CorpusEvaluate(self.task, own)

    def demo_sets(self, program: Any, sets: Mapping[int, list[Any]] | None) -> Mapping[int, list[Any]] | None:
        judging = next(k for k, predictor in enumerate(program.predictors()) if predictor is program.judging)
        return sets and {k: [self.whole(one) for one in own] if k == judging else own for k, own in sets.items()}


class CorpusAcceptance:
    """GEPA's gate: a proposal goes on if the ranking score of its minibatch rises, not the mean of its surrogates.

    train: the examples that minibatches are drawn from, in the order in which GEPA has them.
    """

    def __init__(self, task: Task, train: Sequence[dspy.Example]) -> None:
        self.task = task
        self.train = train

    def should_accept(self, proposal: Any, state: Any) -> bool:
        """As GEPA calls it, with its `CandidateProposal` and `GEPAState`."""
        before, after, rows = proposal.eval_before, proposal.eval_after, proposal.subsample_indices
        if not rows or before is None or after is None or not before.outputs or not after.outputs:
            return False
        gold = [self.train[row].gold for row in rows]
        return self._score(gold, after.outputs) > self._score(gold, before.outputs)

    def _score(self, gold: Sequence[Any], predictions: Sequence[Any]) -> float:
        return value(self.task.score(gold, [_said(self.task, prediction) for prediction in predictions]))


def _said(task: Task, prediction: Any) -> Answer | None:
    """The answer in a prediction; None where the record failed, which comes as nothing, as a prediction without fields,
    or as what could not be parsed."""
    return task.answer(prediction) if isinstance(prediction, dspy.Prediction) and prediction.toDict() else None


MOST_WRITTEN = 4000  # characters of an instruction that may be proposed: every later call reads it
LEAST_LEFT = 0.5  # of an instruction, or it was mostly quotes
KEEP_OPTIONS = (
    f'End the instruction with the line "{SECTION}" and below it one line for each option, "- option: what it stands '
    'for", improved where the feedback shows that an option is misunderstood. '
)
NO_QUOTES = (
    "State rules that hold for records nobody has seen. Quote no sentence of the examples and name none of their "
    "subjects; describe the kind of sentence instead."
)


class Reflection(InstructionProposer):
    """GEPA's proposer of instructions, which is told of the confusion over all of train, and whose instructions lose
    the sentences in which they quote a record of train. Raises ValueError for one that is mostly quotes, which ends
    GEPA's round."""

    def __init__(
        self, student: Judge, train: Sequence[dspy.Example], confusion: str, adapter: dspy.Adapter | None = None
    ) -> None:
        given = " ".join(predictor.signature.instructions for predictor in student.predictors())
        options = KEEP_OPTIONS if f"\n{SECTION}\n" in given else ""
        told = f"{NO_QUOTES} {options}{confusion}".strip()
        super().__init__(max_chars=MOST_WRITTEN, additional_instructions=told, adapter=adapter)
        rows = [row for example in train for row in student.demo_rows(example)]
        statements = [wording(row.get(student.statement)) for row in rows]
        self.known = frozenset[tuple[str, ...]]().union(*map(runs, statements)) - runs(given)

    def __call__(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        proposed = super().__call__(candidate, reflective_dataset, components_to_update)
        return {name: self.without_quotes(text) for name, text in proposed.items()}

    def without_quotes(self, text: str) -> str:
        """An instruction without what it quotes."""
        if runs(text).isdisjoint(self.known):
            return text
        lines = [
            " ".join(part for part in sentences(line) if runs(part).isdisjoint(self.known)) if line.strip() else ""
            for line in text.splitlines()
        ]
        kept = "\n".join(lines).strip()
        if len(kept) < LEAST_LEFT * len(text) or not runs(kept).isdisjoint(self.known):
            raise ValueError("the proposed instruction quotes records of train")
        return kept
