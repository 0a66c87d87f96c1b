"""The way from records to a submission, as functions: what the commands of `aisr` call, and Python may.

Each returns values and prints nothing. Messages of errors name arguments as Python has them, and options as they are
typed where a command called.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack

from aisr.api import LanguageModel, LoadedProgram, artifacts_folder, as_task, errors_in_python
from aisr.artifact.program import check_name, describe_origin, load_program
from aisr.base.errors import UserError
from aisr.base.files import pluralize, split_files, write_whole
from aisr.base.jsonl import count_lines, read
from aisr.base.progress import counted
from aisr.judging import predict as predicting
from aisr.judging.judge import attach_for, find_image_folder, judge_all
from aisr.judging.predict import PredictionSummary, SubmissionCheck
from aisr.metrics.intervals import Interval
from aisr.metrics.scores import CorpusScore
from aisr.optimize.demos import FROM, default_optimizers
from aisr.optimize.estimate import DryRun
from aisr.optimize.optimizers import OPTIMIZERS, find_optimizer
from aisr.optimize.run import Callbacks, Plan, Run, compile_program
from aisr.optimize.search import settings
from aisr.optimize.summary import describe_contender, describe_run
from aisr.optimize.target import parse_mix
from aisr.programs.task import Task
from aisr.records import PathLike, Predictions, Records, as_file, keep_records
from aisr.report.page import write_compile_report
from aisr.tracking import registry, store
from aisr.tracking.experiment import check_writable
from aisr.tracking.runs import log_compile

Budget: TypeAlias = Literal["light", "medium", "heavy"]
OF_INSTRUCTIONS = {"mipro", "gepa"}  # optimizers that need no demos
ABOUT = "program.txt"  # beside a predictions file
MOST_PROBLEMS = 20  # of a submission that a message lists


# --- Compiles


class Event(NamedTuple):
    """What a compile tells as it goes on: a `stage` begins, or a `candidate` was scored on dev."""

    kind: Literal["stage", "candidate"]
    text: str  # one line

    def __str__(self) -> str:
        return self.text


OnEvent: TypeAlias = Callable[[Event], object]


@dataclass(frozen=True)
class CompiledRun:
    """A compile that went through. Scores are in 0-1, with their 95 % intervals, and print as points."""

    run: Run  # the compile itself, with the scores of each candidate and record
    registered: tuple[str, ...] = ()  # what MLflow registered, a line each
    not_registered: str | None = None  # why MLflow took nothing; the folder is whole all the same

    @property
    def folder(self) -> Path:
        """The artifact: `aisr.load(run.folder)` reads it in another process."""
        return self.run.folder

    @property
    def champion(self) -> str:
        """The name of the candidate that was chosen on dev; `uncompiled` where none was better."""
        return self.run.choice.champion.name

    @property
    def dev(self) -> Interval:
        """The champion's official score on dev, where it was chosen."""
        return self.run.choice.champion.dev.interval

    @property
    def test(self) -> Interval | None:
        """Its score on test, which chose nothing; None where there is none."""
        return self.run.test.interval if self.run.test else None

    @property
    def gain(self) -> Interval | None:
        """The paired difference on test from the uncompiled program; None where one has no score."""
        return self.run.gain_on_test

    @property
    def failures(self) -> dict[str, str]:
        """Why records of dev and test could not be judged, by their ids."""
        test = self.run.test.failures if self.run.test else {}
        return {**self.run.choice.champion.dev.failures, **test}

    @property
    def picture_problems(self) -> Mapping[tuple[str, str], str]:
        """Why pictures could not be shown, by the id of a record and the path that it gives."""
        images = self.run.plan.image_folder
        return images.problems if images else {}

    @property
    def spend(self) -> dict[str, int | float | None]:
        """Calls, tokens and USD of the LM so far (see `LanguageModel.spend`)."""
        return self.run.lm.ledger.spend.as_dict()

    def lines(self) -> list[str]:
        """Return it in words: which program was chosen, and how it did on dev and test."""
        return describe_run(self.run)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    @cached_property
    def program(self) -> LoadedProgram:
        """The champion, as its artifact holds it."""
        loaded = LoadedProgram(load_program(self.folder, self.run.plan.task))
        loaded.module.image_folder = self.run.plan.image_folder
        return loaded


class CompileArguments(TypedDict, total=False):
    """What `compile` and `estimate` take beside task, data and LM; `compile` describes it."""

    optimizer: str | None
    budget: Budget
    demos: int | None
    candidates: int | None
    seed: int
    max_train: int | None
    max_dev: int | None
    max_test: int | None
    options: Mapping[str, Any]
    name: str | None
    image_root: PathLike | None
    target: Records | None
    target_mix: str | None


Splits: TypeAlias = PathLike | Mapping[str, Records]  # a folder with a file a split, or the records of each


@errors_in_python()
def plan_compile(
    task: str | Task, data: Splits, *, artifacts: PathLike | None = None, **arguments: Unpack[CompileArguments]
) -> Plan:
    """Return what a compile with these arguments does (see `compile`). Nothing is sent; records that are no files are
    kept below the artifacts folder."""
    chosen, root = as_task(task), artifacts_folder(artifacts)
    if isinstance(data, Mapping):
        if not {"train", "dev"} <= {*data} <= {"train", "dev", "test"}:
            raise UserError(f"data: splits {', '.join(map(str, data))}; expected train, dev and maybe test")
        data = keep_records(data, root)
    target = arguments.get("target")
    if target is not None and not isinstance(target, str | os.PathLike):
        target = keep_records({"target": target}, root) / "target.jsonl"
    files, mix = split_files(Path(data), chosen.name), arguments.get("target_mix")
    limits = {"train": arguments.get("max_train"), "dev": arguments.get("max_dev"), "test": arguments.get("max_test")}
    demos, candidates = arguments.get("demos"), arguments.get("candidates")
    optimizers = find_optimizers(arguments.get("optimizer"), demos, files["train"], limits["train"])
    budget, seed = arguments.get("budget", "medium"), arguments.get("seed", 0)
    return Plan(
        task=chosen,
        name=check_name(arguments.get("name") or "-".join(optimizers)),
        optimizers=optimizers,
        settings=settings(budget, seed, demos=demos, candidates=candidates),
        options=dict(arguments.get("options", {})),
        data=files,
        limits=limits,
        command="",
        image_folder=find_image_folder(arguments.get("image_root"), files["train"]),
        target=None if target is None else Path(target),
        target_mix=parse_mix(chosen, mix) if mix else None,
    )


def _python_call(plan: Plan, data: Splits, lm: LanguageModel, arguments: CompileArguments) -> str:
    """Return the call that repeats a compile, without absolute paths, which another machine does not have."""
    folder = plan.data["train"].parent if isinstance(data, Mapping) else Path(data)
    place = "DATA" if folder.is_absolute() else str(folder)
    words = [repr(plan.task.name), repr(place), f"aisr.open_lm({lm.spec!r})"]
    for name, value in arguments.items():
        if name == "target" and plan.target:
            value = plan.target.name
        if value is not None and name != "image_root":
            words.append(f"{name}={value!r}")
    return f"aisr.compile({', '.join(words)})"


def find_optimizers(names: str | None, demos: int | None, train: Path, most_train: int | None) -> list[str]:
    """Return the optimizers that run. Raises UserError for one that does not exist, and for no demos where there is
    nothing else to search for."""
    if names:
        chain = [step.strip() for step in names.split(",")]
    else:
        chain = default_optimizers(train, most_train, 1 if demos is None else demos)
    for step in chain:
        if step not in OPTIMIZERS and ":" not in step:
            expected = f"expected one of: {', '.join(OPTIMIZERS)}, package.module:function, or several joined by commas"
            raise UserError(f"--optimizer {step!r}: {expected}")
        find_optimizer(step)
    if demos == 0 and not OF_INSTRUCTIONS.issuperset(chain):
        raise UserError("--demos 0 leaves only instructions to optimize: --optimizer mipro or gepa")
    return chain


def describe_default(optimizers: Sequence[str]) -> str:
    """Return why these optimizers run where the user named none."""
    bound = "at least" if "knn" in optimizers else "fewer than"
    return f"{optimizers[0]} is the default where train has {bound} {FROM} records"


def estimate(
    task: str | Task,
    data: Splits,
    lm: LanguageModel,
    *,
    teacher: LanguageModel | None = None,
    artifacts: PathLike | None = None,
    **arguments: Unpack[CompileArguments],
) -> dict[str, int | float | None]:
    """Return the calls, tokens and USD that a compile would use (see `LanguageModel.spend`); nothing is sent. The
    arguments are those of `compile`."""
    plan = plan_compile(task, data, artifacts=artifacts, **arguments)
    return estimate_plan(plan, lm, teacher or lm)


@errors_in_python()
def estimate_plan(
    plan: Plan, lm: LanguageModel, teacher: LanguageModel, on_event: OnEvent | None = None
) -> dict[str, int | float | None]:
    """Return what a planned compile would use; nothing is sent or kept."""
    run = DryRun()
    run.compile(plan, lm.opened, teacher.opened, _callbacks(on_event))
    return run.ledger.spend.as_dict()


def compile(
    task: str | Task,
    data: Splits,
    lm: LanguageModel,
    *,
    teacher: LanguageModel | None = None,
    artifacts: PathLike | None = None,
    track: bool = True,
    on_event: OnEvent | None = None,
    **arguments: Unpack[CompileArguments],
) -> CompiledRun:
    """Search for the best program of a task by its official score, test it, save it, register it in MLflow, and return
    how that went. A compile that was stopped goes on: the same call asks only what was not answered before.

    data: a folder with train.jsonl, dev.jsonl and maybe test.jsonl, as `split` writes them; or the records of each, a
    dict such as {"train": …, "dev": …}; or `sample`. teacher: the LM that writes demos and instructions; by default
    `lm`. artifacts: the folder of artifacts and of the MLflow store
    (default: AISR_ARTIFACTS, else `artifacts`). track: whether the compile is logged to MLflow, and its champion
    registered. on_event: called with an `Event` at each stage and for each candidate; `print` shows them.

    arguments: `optimizer` (labeled, knn, bootstrap, random-search, mipro, gepa, package.module:function, or several
    joined by commas; by default knn where train has 200 records, else random-search), `budget` (light, medium, heavy),
    `demos` and `candidates` (at most; by budget 4, 4 or 8 and 2, 4 or 8), `seed`, `max_train`, `max_dev`, `max_test`
    (records), `options` (of the program, as `-T` takes them), `name` (of the artifact folder; by default the
    optimizer's), `image_root` (where picture paths start), `target` (the unlabelled records that will be ranked, as a
    file or a list: dev and test are weighted to it) and `target_mix` (its mix, such as "error-free=0.16", where it is
    known).

    Raises `UserError` for bad data, for a name that another compile has, and where MLflow is out of reach, all before
    anything is spent; `LMUnavailable` for what would meet every record.
    """
    plan = plan_compile(task, data, artifacts=artifacts, **arguments)
    plan = replace(plan, command=_python_call(plan, data, lm, arguments))
    return run_plan(plan, lm, teacher or lm, artifacts_folder(artifacts), track, on_event)


def _callbacks(on_event: OnEvent | None) -> Callbacks:
    """Return what a compile calls as it goes on."""
    if on_event is None:
        return Callbacks()
    return Callbacks(
        stage=lambda text: on_event(Event("stage", text)),
        scored=lambda contender: on_event(Event("candidate", describe_contender(contender))),
    )


@errors_in_python()
def run_plan(
    plan: Plan, lm: LanguageModel, teacher: LanguageModel, root: Path, track: bool, on_event: OnEvent | None = None
) -> CompiledRun:
    """Compile what was planned, below the artifacts folder `root`, with its report, and register it."""
    callbacks = _callbacks(on_event)
    if track:
        callbacks.stage("asking MLflow what may be written")
        check_writable(root, plan.task, registers=True)  # what the store does not take is said before anything is spent
    run = compile_program(plan, lm.opened, teacher.opened, root, callbacks)
    callbacks.stage("writing the report, from the response cache")
    report = write_compile_report(run)
    if not track:
        return CompiledRun(run)
    callbacks.stage("logging to MLflow, and registering the program")
    problem = f"{run.folder}/ is whole, but not registered in MLflow"
    registered, failed = store.try_to_log(lambda: log_compile(root, run, report), problem)
    return CompiledRun(run, tuple(registered or ()), failed)


# --- Predictions


@errors_in_python()
def predict(
    program: LoadedProgram,
    data: Records,
    lm: LanguageModel,
    *,
    out: PathLike,
    image_root: PathLike | None = None,
    ray: str | None = None,
    workers: int = 2,
) -> PredictionSummary:
    """Predict records into the file `out`, a line a record, and return how that went. A run that was stopped goes on in
    it; records that failed there are tried again. The same call resumes a command, and the other way round.

    data: a JSONL file, dicts such as its lines, or checked records. image_root: where picture paths start; by default
    beside or above the file, where `images` is. ray: judge in `workers` processes of a Ray cluster, each with as many
    calls at a time as `lm` has threads: `local`, `auto` or an address. Raises `UserError` for a bad record, for a file
    that another run began, and for one that cannot be written, all before anything is spent; `LMUnavailable` for what
    would meet every record.
    """
    loaded, output = program.loaded, Path(out)
    with as_file(data) as records:
        attach_for(loaded.program, lm.opened, image_root, records)
        judging: AbstractContextManager[Any] = nullcontext()  # by the threads of this process
        if ray:
            from aisr.judging.ray import ray_workers

            address = None if ray == "local" else ray
            judging = ray_workers(loaded.task, loaded.program, lm.opened, lm.opened.config, workers, address)
        identity = {"task": program.task, "program": loaded.digest, "lm": lm.opened.identity}
        threads = lm.threads * (workers if ray else 1)
        with judging as judge_record:
            summary = predicting.predict(
                loaded.task, loaded.program, lm.opened, records, output, identity, judge_record, threads
            )
        write_whole(predicting.sidecar(output, ABOUT), "\n".join(describe_origin(loaded, records)))
    return summary


@errors_in_python()
def estimate_prediction(
    program: LoadedProgram, data: Records, lm: LanguageModel, *, image_root: PathLike | None = None
) -> dict[str, int | float | None]:
    """Return the calls, tokens and USD that `predict` would use (see `LanguageModel.spend`); nothing is sent."""
    dry = lm.estimating()
    with as_file(data) as file:
        lines = read(file, program.loaded.task.record, program.task)
        records = counted(lines, "counting tokens of records", count_lines(file))
        attach_for(program.module, dry.opened, image_root, file)
        judge_all(program.loaded.task, program.module, records, dry.opened)
    return dry.spend


def read_origin(predictions: Path) -> list[str]:
    """Return which program made a predictions file, a line each; nothing where that is not known."""
    about = predicting.sidecar(predictions, ABOUT)
    return about.read_text(encoding="utf-8").splitlines() if about.is_file() else []


class NotSubmitted(UserError):
    """Predictions that the evaluation server would refuse. problems: one message each; listed: the first of them."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        self.listed = problems[:MOST_PROBLEMS]
        more = len(problems) - MOST_PROBLEMS
        if more > 0:
            self.listed.append(f"… and {more} more")
        super().__init__(f"{pluralize(len(problems), 'problem')}; nothing was written: {'; '.join(self.listed)}")


@errors_in_python()
def submit(
    task: str | Task,
    data: Records,
    predictions: Predictions,
    *,
    out: PathLike,
    on_failure: Literal["refuse", "fallback"] = "refuse",
) -> SubmissionCheck:
    """Check predictions against the test inputs, write the zip that the evaluation server takes, and return its lines
    and the ids of records that were filled in.

    data: the test inputs, a JSONL file, dicts such as its lines, or checked records. predictions: a file of `predict`,
    lines of one, or verdicts. on_failure: what to do where records failed; `fallback` fills in the commonest answer of
    the task. Raises `NotSubmitted` with all problems, and `UserError` where `out` is something else; nothing is written
    then.
    """
    chosen = as_task(task)
    with as_file(data) as inputs, as_file(predictions, "predictions") as file:
        checked = predicting.check_submission(chosen, inputs, file, on_failure == "fallback")
    if checked.problems:
        raise NotSubmitted(checked.problems)
    chosen.write_submission(checked.lines, Path(out))
    return checked


@errors_in_python()
def score(task: str | Task, gold: Records, predictions: Predictions) -> CorpusScore:
    """Return the official score, in 0-1, of predictions against labelled records, with its parts.

    gold: a JSONL file, dicts such as its lines, or checked records. predictions: a file of `predict`, lines of one, or
    verdicts. They are matched as the official evaluator does it: by id, or by line where a file has none. Raises
    `UserError` for what that refuses.
    """
    with as_file(gold, "gold") as labelled, as_file(predictions, "predictions") as predicted:
        return predicting.score_files(as_task(task), labelled, predicted)


# --- Registered versions


@errors_in_python()
def promote(version: str, *, anyway: bool = False, artifacts: PathLike | None = None) -> str:
    """Make a registered version (`models:/aisr-TASK/VERSION`) the champion of its task, and return what it replaced, in
    words; "" for nothing.

    anyway: even if it is not better than the champion on the same test split. artifacts: the artifacts folder whose
    MLflow store has it (default: AISR_ARTIFACTS, else `artifacts`). Raises `UserError`.
    """
    root = artifacts_folder(artifacts)
    name, number = store.parse_model_uri(root, version).group("name", "version")
    if number is None:
        raise UserError(f"{version}: expected models:/aisr-TASK/VERSION, as a compile names it")
    try:
        return registry.promote(store.open_store(root), name, number, anyway=anyway)
    except registry.NotPromoted as error:
        raise UserError(f"{error}. --anyway promotes it all the same") from error
