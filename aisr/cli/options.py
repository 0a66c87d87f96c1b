"""The options that several commands share, exit codes, and what is refused while the command line is read."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from aisr.base.errors import UserError
from aisr.cli.settings import LM_SETTINGS, suggestion
from aisr.lm.config import EMBEDDED as EMBEDDED
from aisr.programs.registry import TASKS

ARTIFACTS = Path("artifacts")
SAMPLE = Path(__file__).parents[1] / "sample"  # a link to data/sample; the wheel has a copy

RECORDS_FAILED = 1  # exit code: the command went through, some records did not
REFUSED = 2  # exit code: bad input, nothing was done

# Options below the titles of `--help`.
search_option = partial(typer.Option, rich_help_panel="Search")
lm_option = partial(typer.Option, rich_help_panel="Language model and cost")
output_option = partial(typer.Option, rich_help_panel="Output")

# --- Callbacks: nobody waits for the import of DSPy to learn of a typing error.


def check_file(param: typer.CallbackParam, path: Path | None) -> Path | None:
    """The path of an option or argument. Raises UserError where it is no file."""
    if path is not None and not path.is_file():
        option = f"{param.opts[-1]} " if param.param_type_name == "option" else ""
        problem = "a folder" if path.is_dir() else "a pipe or device" if path.exists() else "no such file"
        expected = str(getattr(param, "help", None) or "a file").rstrip(".")
        raise UserError(f"{option}{path}: {problem}; expected: {expected.partition(': ')[2] or expected}")
    return path


def check_task(param: typer.CallbackParam, value: str | None) -> str | None:
    """The name of a task, or the place of one. Raises UserError for another, with the nearest one."""
    if value is None or value in TASKS or is_place(value):
        return value
    wrong = f"{value!r}:" if value else "is missing;"
    raise UserError(f"{param.opts[-1]} {wrong} expected one of: {TASK_NAMES}{suggestion(value, TASKS)}")


def is_place(value: str) -> bool:
    """Whether a value of --task or --optimizer is `package.module:VALUE`; the current folder is then searched last."""
    if ":" not in value:
        return False
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)
    return True


TASK_NAMES = f"{', '.join(TASKS)}, or package.module:TASK"

# --- Options.

TaskName = Annotated[
    str, typer.Option("--task", metavar="TASK", help=f"{TASK_NAMES}.", show_default=False, callback=check_task)
]
ProgramTask = Annotated[
    str | None,
    typer.Option(
        "--task",
        metavar="PLACE",
        help="Where a task of your own is, package.module:TASK, for a program of it.",
        callback=check_task,
    ),
]
Jsonl = Annotated[Path, typer.Option("--data", help="JSONL file of records.", show_default=False, callback=check_file)]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Take only the first records.")]
ProgramName = Annotated[
    str, typer.Option("--program", help="artifacts/TASK/NAME, or models:/aisr-TASK@champion.", show_default=False)
]
TaskOptions = Annotated[
    list[str] | None,
    typer.Option("-T", metavar="NAME=VALUE", help="Option of the task, repeatable; --task TASK --help lists all."),
]
ImageRoot = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        envvar="AISR_IMAGE_ROOT",
        show_envvar=False,
        help="Where picture paths start. Default: beside or above the data, where images/ is.",
    ),
]
LM = Annotated[
    str,
    lm_option(
        "--lm",
        metavar="MODEL",
        envvar="AISR_LM",
        show_envvar=False,
        help="`embedded`, PROVIDER/MODEL, or recorded:FILE (of --record).",
    ),
]
ApiBase = Annotated[
    str | None,
    lm_option(
        metavar="ADDRESS",
        envvar="AISR_API_BASE",
        show_envvar=False,
        help="Server of --lm openai/MODEL, with OpenAI's API.",
    ),
]
LMSettings = Annotated[
    list[str] | None,
    lm_option("-L", metavar="NAME=VALUE", help=f"Setting of the LM, repeatable: {', '.join(LM_SETTINGS)}."),
]
MaxUsd = Annotated[
    float | None, lm_option(metavar="USD", min=0, max=1_000_000, help="Spend no more, over all runs with this output.")
]
MaxCalls = Annotated[int | None, lm_option(metavar="N", min=1, help="Send nothing more after so many LM calls.")]
Estimate = Annotated[bool, lm_option("--estimate", help="Print the estimated calls, tokens and cost, then exit.")]
Track = Annotated[bool, output_option(help="Log to MLflow.")]
Root = Annotated[
    Path,
    output_option(
        "--artifacts",
        metavar="FOLDER",
        envvar="AISR_ARTIFACTS",
        show_envvar=False,
        help="Artifacts, cache, MLflow store.",
    ),
]
