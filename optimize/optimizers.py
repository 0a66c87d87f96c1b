"""The optimizers, most of them DSPy's; those that only add demos are in `aisr.optimize.demos`.

Each is a function of a `Search` and returns every program that it tried, not only its best: the champion is chosen
afterwards, by the official score.

Where an optimizer allows it, it sees the ranking score of the corpus itself: no mean, no linearisation.
"""

import contextlib
import io
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import dspy
from dspy.evaluate import Evaluate
from dspy.evaluate.evaluate import EvaluationResult
from dspy.teleprompt.gepa import InstructionProposer
from dspy.utils.exceptions import AdapterParseError, DSPyError, LMAuthError, LMConfigurationError

from aisr.artifact.program import program_text
from aisr.base.errors import UserError
from aisr.base.files import pluralize
from aisr.base.private import EvaluatedMIPRO
from aisr.base.progress import Stage, stage_of
from aisr.judging.evaluate import score_cases
from aisr.metrics.scores import value
from aisr.optimize.demos import bootstrap, complete_set, demo_pool, knn, labeled, lesson_pool, random_search
from aisr.optimize.search import Candidate, Search
from aisr.programs.case import Case
from aisr.programs.nearest_demos import MARKS, wording
from aisr.programs.pictures import is_text_alone
from aisr.programs.probabilities import is_complete
from aisr.programs.program import Program
from aisr.programs.registry import import_value
from aisr.programs.task import Answer, Task
from aisr.programs.text import runs, sentences

GEPA_MINIBATCH = 10  # records that a proposed instruction is first tried on; the default of 3 is noise
MIPRO_MINIBATCH = 35
MIPRO_FULL_EVERY = 5  # trials on minibatches, after which the best program is scored on all of dev


def mipro(search: Search) -> list[Program]:
    """Return the programs of MIPROv2: instructions that the LM proposes, and demos, chosen together by Bayesian
    optimisation of the ranking score itself.

    Its proposer shows the LM the source of the program's class: an edit there, of a comment too, changes these prompts.
    """
    trials = 2 * search.settings.candidates
    has_minibatches = len(search.dev) > MIPRO_MINIBATCH
    scored = 1 + trials  # the uncompiled program, and each trial
    if has_minibatches:
        scored += math.ceil(trials / MIPRO_FULL_EVERY)  # the best so far on all of dev, also at the end
    with stage_of("mipro: scoring programs", scored) as stage:
        optimizer = CorpusMIPRO(
            search,
            stage,
            metric=search.objective,
            metric_threshold=1.0,
            auto=None,
            num_candidates=search.settings.candidates,
            max_bootstrapped_demos=search.settings.demos,
            max_labeled_demos=search.settings.demos,
            num_threads=search.lm.threads,
            max_errors=len(search.train) + len(search.dev) + 1,
            seed=search.settings.seed,
            prompt_model=search.teacher,
            task_model=search.lm,
            teacher_settings=search.teacher_settings,
        )
        best = optimizer.compile(
            search.student,
            trainset=[case.for_metric() for case in lesson_pool(search)],
            valset=search.valset,
            num_trials=trials,
            minibatch=has_minibatches,
            minibatch_size=MIPRO_MINIBATCH,
            minibatch_full_eval_steps=MIPRO_FULL_EVERY,
            seed=search.settings.seed,
        )
    tried = [*getattr(best, "candidate_programs", []), *getattr(best, "mb_candidate_programs", [])]
    programs = [best, *(candidate["program"] for candidate in tried)]
    instructions = {program.main_predictor.signature.instructions for program in programs}
    instructions.discard(search.student.main_predictor.signature.instructions)
    new = pluralize(len(instructions), "new instruction")
    search.note(f"mipro: {new} in the {pluralize(len(tried), 'program')} that it tried")
    return programs


def gepa(search: Search) -> list[Program]:
    """Return the programs of GEPA: the LM reads in words what was wrong, and rewrites the instruction (Agrawal et al.
    2025)."""
    pool = demo_pool(search)
    reflection = Reflection(search.student, search.train, search.objective.confusion, search.teacher.adapter)
    gate = CorpusAcceptance(search.task, pool)
    most_calls = search.settings.candidates * (len(search.dev) + 2 * GEPA_MINIBATCH)
    with stage_of("gepa: judging records under proposed instructions", most_calls) as stage:

        def metric(
            example: Any, prediction: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None
        ) -> dspy.Prediction:
            stage.done += pred_name is None  # else it is asked again, for the feedback alone
            return search.objective.with_feedback(example, prediction)

        optimizer = dspy.GEPA(
            metric=metric,
            max_metric_calls=most_calls,
            reflection_minibatch_size=GEPA_MINIBATCH,
            reflection_lm=search.teacher.copy(temperature=1.0, max_tokens=search.teacher.reflection_tokens),
            instruction_proposer=reflection,
            gepa_kwargs={"acceptance_criterion": gate},
            num_threads=search.lm.threads,
            track_stats=True,
            seed=search.settings.seed,
        )
        best = optimizer.compile(search.student, trainset=[case.for_metric() for case in pool], valset=search.valset)
    if reflection.unusable:
        count = pluralize(len(reflection.unusable), "reflection")
        search.note(f"gepa: {count} could not be used, the first: {reflection.unusable[0]}")
    search.note(
        f"gepa: {pluralize(reflection.proposed, 'instruction')} proposed, {reflection.refused} refused for quoting "
        f"records of train; {gate.accepted} of {gate.compared} better than the one before on {GEPA_MINIBATCH} records"
    )
    return [*best.detailed_results.candidates]


Optimizer = Callable[[Search], list[Program]]
OPTIMIZERS: Mapping[str, Optimizer] = {
    "labeled": labeled,
    "knn": knn,
    "bootstrap": bootstrap,
    "random-search": random_search,
    "mipro": mipro,
    "gepa": gepa,
}


def find_optimizer(name: str) -> Optimizer:
    """Return the optimizer of a name in `OPTIMIZERS`, or the function at a place, `package.module:function`. Raises
    UserError where there is none."""
    optimizer: Optimizer = OPTIMIZERS.get(name) or import_value(name, "optimizer")
    if not callable(optimizer):
        raise UserError(f"optimizer {name}: it is {type(optimizer).__name__}; expected a function from a Search")
    return optimizer


def compile_candidates(optimizer: str, search: Search, known: Sequence[Candidate]) -> list[Candidate]:
    """Return the known candidates, and each new program that the optimizer left, in a fixed order. What the optimizers
    print is dropped. Raises UserError as `find_optimizer`."""
    programs: Any = []
    # The whole process's, both: DSPy's optimizers draw from the global generator, and print.
    with search.lm.context(), _global_seed(search.settings.seed), contextlib.redirect_stdout(io.StringIO()):
        try:
            programs = find_optimizer(optimizer)(search)
        except (LMAuthError, LMConfigurationError, UserError):
            raise
        except DSPyError as error:
            # An answer that cannot be read, or a spent budget, may end an optimizer anywhere. The uncompiled program
            # and whatever earlier optimizers left are still there to choose from.
            search.note(f"{optimizer} ended early: {' '.join(str(error).split())[:200]}")
        except Exception as error:
            if optimizer in OPTIMIZERS:
                raise
            reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            raise UserError(f"optimizer {optimizer} raised {reason}; expected a list of programs") from error
    if not isinstance(programs, list) or {*map(type, programs)} - {search.task.program}:
        raise UserError(f"optimizer {optimizer} returned something else than a list of programs of {search.task.name}")
    candidates = list(known)
    texts = {program_text(search.task, candidate.program) for candidate in known}
    for program in programs:
        strip(program)
        text = program_text(search.task, program)
        if text not in texts:
            texts.add(text)
            candidates.append(Candidate(f"{optimizer} {len(candidates)}", program))
    return candidates


def strip(program: Program) -> None:
    """Remove what no artifact holds: the LM, demos without an answer or with pictures, and fields of a demo that the
    signature of its predictor lacks."""
    program.set_lm(None)
    for predictor in program.predictors():
        fields = {*predictor.signature.fields, "augmented", *MARKS}
        outputs = predictor.signature.output_fields
        demos = []
        for demo in predictor.demos:
            row = {name: value for name, value in dict(demo).items() if name in fields}
            if is_complete(row, outputs) and is_text_alone(row):
                demos.append(row)
        predictor.demos, predictor.traces, predictor.train = demos, [], []


@contextlib.contextmanager
def _global_seed(seed: int) -> Iterator[None]:
    """Seed Python's global generator for a block, and restore its state afterwards."""
    before = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)


# --- The ranking score of the corpus inside an optimizer.


class CorpusEvaluate(Evaluate):
    """DSPy's evaluation with the official score of the corpus (0-100) in place of the mean of the metric."""

    def __init__(self, task: Task, evaluate: Evaluate, stage: Stage) -> None:
        self.__dict__.update(evaluate.__dict__)
        self.task = task
        self.stage = stage

    def __call__(self, *args: Any, **kwargs: Any) -> EvaluationResult:
        results = super().__call__(*args, **kwargs).results
        self.stage.done += 1
        cases = [Case.from_metric(example) for example, _, _ in results]
        answers = [_answer(self.task, prediction) for _, prediction, _ in results]
        return EvaluationResult(score=100 * value(score_cases(self.task, cases, answers)), results=results)


class CorpusMIPRO(EvaluatedMIPRO):
    """MIPROv2 that sees the official score of each minibatch, and that proposes complete sets of demos."""

    def __init__(self, search: Search, stage: Stage, **settings: Any) -> None:
        super().__init__(**settings)
        self.search = search
        self.stage = stage

    def evaluation(self, own: Evaluate) -> Evaluate:
        return CorpusEvaluate(self.search.task, own, self.stage)

    def demo_sets(self, program: Any, sets: Mapping[int, list[Any]] | None) -> Mapping[int, list[Any]] | None:
        if not sets:
            return sets
        main = program.predictors().index(program.main_predictor)
        return {**sets, main: [complete_set(self.search, demos) for demos in sets[main]]}


class CorpusAcceptance:
    """GEPA's gate: a proposal goes on if the ranking score of its minibatch rises, not the mean of its surrogates.
    train: the cases that minibatches are drawn from, in the order in which GEPA has them."""

    def __init__(self, task: Task, train: Sequence[Case]) -> None:
        self.task = task
        self.train = train
        self.compared = self.accepted = 0

    def should_accept(self, proposal: Any, state: Any) -> bool:
        """Return whether a proposal goes on. GEPA calls it with its `CandidateProposal` and `GEPAState`."""
        before, after, rows = proposal.eval_before, proposal.eval_after, proposal.subsample_indices
        if not rows or before is None or after is None or not before.outputs or not after.outputs:
            return False
        cases = [self.train[row] for row in rows]
        is_better = self._score(cases, after.outputs) > self._score(cases, before.outputs)
        self.compared += 1
        self.accepted += is_better
        return is_better

    def _score(self, cases: Sequence[Case], predictions: Sequence[Any]) -> float:
        return value(score_cases(self.task, cases, [_answer(self.task, prediction) for prediction in predictions]))


def _answer(task: Task, prediction: Any) -> Answer | None:
    """Return the answer in a prediction; None for a failed record: nothing, no fields, or what cannot be parsed."""
    if not isinstance(prediction, dspy.Prediction) or not prediction.toDict():
        return None
    return task.answer(prediction)


# --- Reflection: the prompt for an LM that rewrites instructions, and what it may not do.
#
# A proposed instruction that quotes train sentences with their labels makes a model look better on train than it is,
# and teaches it these sentences rather than the convention behind them.

MOST_WRITTEN = 4000  # characters of an instruction that may be proposed: every later call reads it
LEAST_LEFT = 0.5  # of an instruction, or it was mostly quotes
NO_QUOTES = (
    "State rules that hold for records nobody has seen. Quote no sentence of the examples and name none of their "
    "subjects; describe the kind of sentence instead."
)


class Reflection(InstructionProposer):
    """GEPA's proposer of instructions, with the confusion matrix over all of train in its prompt. Its instructions lose
    the sentences in which they quote a record of train. Raises ValueError for one that is mostly quotes, which ends
    GEPA's round."""

    def __init__(
        self, student: Program, train: Sequence[Case], confusion: str, adapter: dspy.Adapter | None = None
    ) -> None:
        own = " ".join(predictor.signature.instructions for predictor in student.predictors())
        additional = f"{NO_QUOTES} {confusion}".strip()
        super().__init__(max_chars=MOST_WRITTEN, additional_instructions=additional, adapter=adapter)
        statements = [wording(case.example.get(student.statement)) for case in train]
        self.known = set[tuple[str, ...]]().union(*map(runs, statements)) - runs(own)
        self.proposed = self.refused = 0
        self.unusable: list[str] = []  # why reflections were no instruction

    def __call__(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        lm = dspy.settings.lm
        answers = lm.record_answers() if hasattr(lm, "record_answers") else []
        reason: str | None = None
        try:
            proposed = super().__call__(candidate, reflective_dataset, components_to_update)
        except AdapterParseError:
            reason = "it holds no instruction"
        endings = [lm.failed_ending(answer) for answer in answers]
        reason = next(filter(None, endings), reason)
        if reason:
            self.unusable.append(reason)
            raise ValueError(f"a reflection could not be used: {reason}")
        self.proposed += len(proposed)
        return {name: self.without_quotes(text) for name, text in proposed.items()}

    def without_quotes(self, text: str) -> str:
        """Return an instruction without its quotes."""
        if not self._quotes(text):
            return text
        lines = []
        for line in text.splitlines():
            own = [sentence for sentence in sentences(line) if not self._quotes(sentence)]
            lines.append(" ".join(own))
        kept = "\n".join(lines).strip()
        if len(kept) < LEAST_LEFT * len(text) or self._quotes(kept):
            self.refused += 1
            raise ValueError("the proposed instruction quotes records of train")
        return kept

    def _quotes(self, text: str) -> bool:
        return not runs(text).isdisjoint(self.known)
