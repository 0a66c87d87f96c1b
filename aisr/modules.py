"""DSPy's own road: our programs, records and scores for whoever calls an optimizer of DSPy by hand, and the way back.

    module = aisr.Track1()                                   # a dspy.Module with a typed signature
    train = aisr.examples("track1", "data/t1/train.jsonl")   # dspy.Examples with their inputs marked
    metric = aisr.metric("track1", train)                    # what an optimizer that takes means may see
    ...
    aisr.save(module, "track1", "artifacts/track1/mine")     # an artifact, as `aisr compile` writes them

docs/dspy.md has a whole compile.
"""

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import dspy

from aisr.api import LoadedProgram, as_task, errors_in_python
from aisr.artifact.manifest import FILE, PROGRAM, Manifest, read_versions, save_files
from aisr.artifact.program import parse, program_text
from aisr.artifact.prompt_page import prompt_page
from aisr.base.errors import UserError
from aisr.base.files import as_json, digest_text
from aisr.judging.evaluate import score_cases
from aisr.judging.judge import open_images
from aisr.metrics.scores import CorpusScore, Scores
from aisr.optimize.search import GRADIENT_RECORDS, Objective, gradient_records
from aisr.programs.case import Case
from aisr.programs.program import Program
from aisr.programs.task import Task
from aisr.records import Records, read_records

JudgedPair: TypeAlias = tuple[dspy.Example, dspy.Prediction | None]  # None: a record that failed


def examples(
    task: str | Task,
    records: Records,
    *,
    program: LoadedProgram | Program | None = None,
    image_root: str | os.PathLike[str] | None = None,
) -> list[dspy.Example]:
    """Return records as `dspy.Example`s: the inputs of the task's program, marked as such; where a record is labelled,
    also the right outputs, and `gold`, which the metric reads.

    records: a JSONL file, or dicts and records as in one. program: the one that they are for, whose options and
    evidence ranker say what stands in the inputs; by default the uncompiled one. image_root: where its pictures are.
    Raises `UserError`.
    """
    with errors_in_python():
        chosen = as_task(task)
        module = program.module if isinstance(program, LoadedProgram) else program or chosen.build({})
        if image_root is not None:
            module.image_folder = open_images(Path(image_root))
        return [module.prepare(record).for_metric() for record in read_records(chosen, records)]


class Metric:
    """The per-record surrogate of a task's official score, for DSPy's optimizers; made by `metric`.

    `metric(example, prediction)` is a number, a right record mostly about .75: only its mean over records has a
    meaning (see `aisr.metrics.scores`). While demos are bootstrapped (`trace`) it is 1 for an answer that is right as a
    whole, else 0: `metric_threshold=metric.threshold`. `metric.with_feedback` is the form that `dspy.GEPA` takes: a
    right record scores 1, so that GEPA passes over minibatches without a mistake, and `feedback` says what is wrong.
    """

    threshold = 1.0

    def __init__(self, task: Task, train: Sequence[Case], baseline: Scores | None) -> None:
        self.task = task
        self.train = train
        self.baseline = baseline

    def __call__(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        return self._objective(example, prediction, trace)

    def with_feedback(
        self,
        example: dspy.Example,
        prediction: dspy.Prediction,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> dspy.Prediction:
        """Return `score` and `feedback` of one record: 1 for a right answer, else less by what its surrogate lacks."""
        return self._objective.with_feedback(example, prediction)

    @cached_property
    def _objective(self) -> Objective:
        """The metric of a compile, linearised at the baseline."""
        baseline = self.baseline
        if baseline is None:
            cases = gradient_records(self.task, self.train, seed=0)
            examples = [case.example for case in cases]
            judged = self.task.build({}).batch(examples, disable_progress_bar=True, timeout=0)
            answers = [None if one is None else self.task.answer(one) for one in judged]
            if not any(answer is not None for answer in answers):
                raise UserError("metric: the uncompiled program answered no record of train; is dspy.settings.lm set?")
            baseline = score_cases(self.task, cases, answers)
        return Objective(self.task, baseline, "")


def metric(task: str | Task, train: Sequence[dspy.Example] = (), *, baseline: Scores | None = None) -> Metric:
    """Return the per-record surrogate of a task's official score, as a metric for DSPy's optimizers.

    Macro-F1 is no mean over records, and optimizers take means: they are shown its linearisation at a baseline.
    baseline: the `Scores` at which it is linearised, from `Task.score`; by default those of the uncompiled program on
    about 100 records of `train`, which the LM of `dspy.settings` judges when the metric is first called. Never give it
    scores on dev or test. Raises `UserError` where there is neither.
    """
    with errors_in_python():
        chosen = as_task(task)
        labelled = [Case.from_metric(example) for example in train if example.get("gold") is not None]
        if baseline is None and not labelled:
            raise UserError(
                f"metric: no labelled examples; give train, of which {GRADIENT_RECORDS} are judged, or a baseline"
            )
        return Metric(chosen, labelled, baseline)


def corpus_score(task: str | Task, pairs: Iterable[JudgedPair]) -> CorpusScore:
    """Return the official score, in 0-1, of predictions beside the examples that they answer, with its parts.

    A prediction of None is a record that failed: it earns nothing. Raises `UserError` where there are none, or an
    example has no gold.
    """
    with errors_in_python():
        chosen = as_task(task)
        cases: list[Case] = []
        answers: list[Any] = []
        for example, prediction in pairs:
            if example.get("gold") is None:
                raise UserError(f"example {len(cases)} has no gold; expected examples of labelled records")
            cases.append(Case.from_metric(example))
            answers.append(None if prediction is None else chosen.answer(prediction))
        if not cases:
            raise UserError("no pairs; an empty corpus has no score")
        return score_cases(chosen, cases, answers).corpus_score()


def save(module: Program, task: str | Task, folder: str | os.PathLike[str]) -> LoadedProgram:
    """Write an artifact of a program, whoever compiled it, and return it as `load` reads it: program.json (text: no
    pickle, LM or key), manifest.json with its digest, and PROMPT.md.

    module: a program of the task, such as `aisr.Track1()` after an optimizer of DSPy. What it was scored with is not
    known, so the manifest holds no scores: `aisr evaluate` adds them in MLflow. Raises `UserError` for another module,
    and for a folder that holds a program.
    """
    with errors_in_python():
        chosen, place = as_task(task), Path(folder)
        if not isinstance(module, chosen.program):
            expected = f"expected one of {chosen.program.__name__}, the program of {chosen.name}"
            raise UserError(f"module: a {type(module).__name__}; {expected}")
        if (place / PROGRAM).exists():
            raise UserError(f"{place}: there is a program already; choose another folder, or remove it")
        copy: Program = module.deepcopy()
        copy.set_lm(None)
        for predictor in copy.predictors():
            predictor.traces, predictor.train = [], []  # which optimizers leave
        text = program_text(chosen, copy)
        loaded = parse(text, "the program to save", chosen)
        manifest = Manifest(
            task=chosen.name,
            digest=digest_text(text),
            name=place.name,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            options=module.options.model_dump(),
            versions=read_versions(),
        )
        page = prompt_page(f"{chosen.name} · {place.name}", chosen, module)
        save_files(place, {PROGRAM: text, FILE: as_json(manifest.model_dump()), "PROMPT.md": page})
        return LoadedProgram(loaded)
