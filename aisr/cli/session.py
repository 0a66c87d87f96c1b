"""What commands open before they work: language models with the response cache, programs, files of records."""

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from aisr.base.errors import UserError

if TYPE_CHECKING:
    from aisr.lm.budget import Ledger
    from aisr.lm.client import OpenLM
    from aisr.lm.config import LMConfig
    from aisr.programs.program import Program
    from aisr.programs.task import Task

ResultT = TypeVar("ResultT")


def prepare(artifacts: Path, *programs: str | None) -> None:
    """Set what must be set before DSPy is imported: no progress bars of others.

    Raises UserError for a program that does not exist, so that nobody waits for that import to learn of it.
    """
    from aisr.tracking.store import MODEL_SCHEME, parse_model_uri

    for program in filter(None, programs):
        if program.startswith(MODEL_SCHEME):
            parse_model_uri(artifacts, program)
        else:
            from aisr.artifact.manifest import check_program_exists

            check_program_exists(Path(program), artifacts)
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # the price list of the package, not of the web


def open_lm(config: "LMConfig", ledger: "Ledger | None" = None, needs_key: bool = True) -> "OpenLM":
    """`aisr.lm.open.open_lm` with the response cache of commands, and without what DSPy logs: failures are counted."""
    from aisr.lm.open import configure_cache
    from aisr.lm.open import open_lm as open_config

    logging.getLogger("dspy").setLevel(logging.CRITICAL)  # after its import, which sets its own
    configure_cache()
    return open_config(config, ledger, needs_key)


def attach(program: "Program", lm: "OpenLM", image_root: Path | None, data: Path) -> None:
    """Prepare a program for an LM and the records of a file: `aisr.predict.prepare.attach`, with a warning where the
    label weights were fitted on another LM."""
    from aisr.cli.display import note
    from aisr.predict.judge import another_lm
    from aisr.predict.prepare import attach as attach_to
    from aisr.predict.prepare import find_image_folder

    attach_to(program, lm, find_image_folder(image_root, data))
    if warning := another_lm(program, lm):
        note(f"warning: {warning}")


def log(step: "Callable[[], ResultT]", problem: str) -> "ResultT | None":
    """The result of a step that writes to MLflow. Where the store fails, `problem` and the reason are printed as an
    error, and it is None: what was paid for is kept."""
    from mlflow.exceptions import MlflowException

    from aisr.base import redact
    from aisr.tracking.store import NoStore, describe

    try:
        return step()
    except (MlflowException, NoStore, OSError) as error:
        reason = redact.secrets(f"{problem}: {describe(error)}")
        print(f"error: {reason}; the same command does that, with the answers from the cache", file=sys.stderr)
        return None


def find_task_for(name: str, *records: Path, predictions: Path | None = None) -> "Task":
    """The task of a name, for files of records and one of predictions.

    Raises UserError for a file whose first line is another task's: of those that take it, the one that knows most of
    its fields.
    """
    from aisr.base.jsonl import scan
    from aisr.programs.registry import TASKS, find_task

    chosen = find_task(name)
    tasks = {task.name: task for task in (*map(find_task, TASKS), chosen)}
    for file in (*records, *([predictions] if predictions else [])):
        kind = "prediction" if file is predictions else "record"
        first = {one: next(scan(file, getattr(task, kind), one), None) for one, task in tasks.items()}
        known = {one: len(line.record.model_fields_set) for one, line in first.items() if line and line.record}
        best = [one for one, count in known.items() if count == max(known.values())]
        if len(best) == 1 and chosen.name not in best:
            raise UserError(
                f"{file}: its first line is a {kind} of {best[0]}, not of {chosen.name}; is it --task {best[0]}?"
            )
    return chosen
