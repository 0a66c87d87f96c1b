"""The way from records to a submission, as functions: what the commands of `aisr` call, and Python may.

Each returns values and prints nothing. Messages of errors name arguments as Python has them, and options as they are
typed where a command called.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal, TypeAlias

from aisr.api import ARTIFACTS, LanguageModel, LoadedProgram, as_task, errors_in_python
from aisr.base.errors import UserError
from aisr.judging import predict as predicting
from aisr.judging.judge import attach, find_image_folder
from aisr.judging.predict import PredictionSummary, SubmissionCheck
from aisr.metrics.scores import Report
from aisr.optimize import split as splitting
from aisr.optimize.split import SplitSummary
from aisr.programs.task import Task
from aisr.tracking import registry, store

PathLike: TypeAlias = str | os.PathLike[str]
MOST_PROBLEMS = 20  # of a submission that a message lists


# --- Records


@errors_in_python()
def split(task: str | Task, data: PathLike, *, out: PathLike, parts: str = "3:1:1", seed: int = 0) -> SplitSummary:
    """Split a JSONL file of labelled records into train.jsonl, dev.jsonl and test.jsonl in the folder `out`, and return
    what that came to: records and labels a part, and what is shared.

    No part shares a claim, picture, paper or evidence, nor a near copy of one, with another (see
    `aisr.optimize.leakage`). parts: `train:dev:test`, whole numbers from 1 to 20; seed: of the shuffle, 0 or more.
    Raises `UserError` for a bad or unlabelled record, for too few records that share nothing, and where one of the
    files exists; nothing is written then.
    """
    return splitting.split_file(as_task(task), Path(data), Path(out), splitting.Parts.parse(parts), seed)


# --- Predictions


@errors_in_python()
def predict(
    program: LoadedProgram,
    data: PathLike,
    lm: LanguageModel,
    *,
    out: PathLike,
    image_root: PathLike | None = None,
    ray: str | None = None,
    workers: int = 2,
    judged: Callable[[], None] = lambda: None,
) -> PredictionSummary:
    """Predict a JSONL file of records into the file `out`, a line a record, and return how that went. A run that was
    stopped goes on in it; records that failed there are tried again. The same call resumes a command, and the other
    way round.

    image_root: where picture paths start; by default beside or above the data, where `images` is. ray: judge in
    `workers` processes of a Ray cluster: `local`, `auto` or an address. judged: called after each record. Raises
    `UserError` for a bad record, for a file that another run began, and for one that cannot be written, all before
    anything is spent; `LMUnavailable` for what would meet every record.
    """
    loaded, records, output = program.loaded, Path(data), Path(out)
    folder = find_image_folder(None if image_root is None else Path(image_root), records)
    attach(loaded.program, lm.opened, folder or loaded.program.image_folder)
    judging: AbstractContextManager[Any] = nullcontext()  # by the threads of this process
    if ray:
        from aisr.judging.ray import ray_workers

        address = None if ray == "local" else ray
        judging = ray_workers(loaded.task, loaded.program, lm.opened, lm.opened.config, workers, address)
    identity = {"task": program.task, "program": loaded.digest, "lm": lm.opened.identity}
    with judging as judge_record:
        return predicting.predict(
            loaded.task, loaded.program, lm.opened, records, output, identity, judged, judge_record
        )


class NotSubmitted(UserError):
    """Predictions that the evaluation server would refuse. problems: one message each."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        more = len(problems) - MOST_PROBLEMS
        listed = [*problems[:MOST_PROBLEMS], *([f"… and {more} more"] if more > 0 else [])]
        super().__init__(f"{len(problems)} problems; nothing was written: {'; '.join(listed)}")


@errors_in_python()
def submit(
    task: str | Task,
    data: PathLike,
    predictions: PathLike,
    *,
    out: PathLike,
    on_failure: Literal["refuse", "fallback"] = "refuse",
) -> SubmissionCheck:
    """Check predictions against the test inputs, write the zip that the evaluation server takes, and return its lines
    and the ids of records that were filled in.

    on_failure: what to do where records failed; `fallback` fills in the commonest answer of the task. Raises
    `NotSubmitted` with all problems, and `UserError` where `out` is something else; nothing is written then.
    """
    chosen = as_task(task)
    checked = predicting.check_submission(chosen, Path(data), Path(predictions), on_failure == "fallback")
    if checked.problems:
        raise NotSubmitted(checked.problems)
    chosen.write_submission(checked.lines, Path(out))
    return checked


@errors_in_python()
def score(task: str | Task, gold: PathLike, predictions: PathLike) -> Report:
    """Return the official score, in 0-1, of a predictions file against a file of labelled records, with its parts.

    Records are matched as the official evaluator does it: by id, or by line where a file has none. Raises `UserError`
    for what that refuses.
    """
    return predicting.score_files(as_task(task), Path(gold), Path(predictions))


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


def artifacts_folder(artifacts: PathLike | None) -> Path:
    """Return the artifacts folder that a caller names, by default that of AISR_ARTIFACTS, else `artifacts`."""
    return Path(artifacts or os.environ.get("AISR_ARTIFACTS") or ARTIFACTS)
