"""The options that several commands share, exit codes, and what is refused while the command line is read."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from aisr.base.errors import UserError
from aisr.cli.plan import Limits
from aisr.programs.options import suggestion, table
from aisr.programs.registry import TASKS

ARTIFACTS = Path("artifacts")
SAMPLE = Path("data/sample")

RECORDS_FAILED = 1  # exit code: the command went through, some records did not
REFUSED = 2  # exit code: bad input, nothing was done

# Titles under which `--help` shows options.
LM_PANEL = "Language model"
LIMITS_PANEL = "Cost"
OUTPUT_PANEL = "Output"

# --- Callbacks: nobody waits for the import of DSPy to learn of a typing error.


def one_of(*words: str) -> Callable[[typer.CallbackParam, str | None], str | None]:
    """A callback that takes these words alone. It raises UserError for another, with the nearest one."""

    def check(param: typer.CallbackParam, value: str | None) -> str | None:
        if value is not None and value not in words:
            raise UserError(
                f"{param.opts[-1]} {value!r}: expected one of: {', '.join(words)}{suggestion(value, words)}"
            )
        return value

    return check


def check_files(param: typer.CallbackParam, value: Any) -> Any:
    """The path or paths of an option or argument. Raises UserError where one is no file."""
    option = f"{param.opts[-1]} " if param.param_type_name == "option" else ""
    for path in value if isinstance(value, list | tuple) else [value]:
        if path is not None and (path.is_dir() or not path.exists()):
            problem = "a folder" if path.is_dir() else "no such file"
            expected = str(getattr(param, "help", None) or "a file").rstrip(".")
            raise UserError(f"{option}{path}: {problem}; expected: {expected.partition(': ')[2] or expected}")
    return value


def of_field(kind: type, name: str, *words: str, metavar: str | None = None, panel: str) -> Any:
    """The option of the command line for a field of a table of plan.toml: its help, choices and bounds stand there."""
    field = next(one for one in table(kind) if one.name == name)
    return typer.Option(
        *words,
        metavar="|".join(field.choices) or metavar,
        help=field.help if field.default is None else f"{field.help} Default: {field.default}.",
        min=field.min,
        callback=one_of(*field.choices) if field.choices else None,
        rich_help_panel=panel,
    )


def check_task(param: typer.CallbackParam, value: str | None) -> str | None:
    """The name of a task, or the place of one. Raises UserError for another, with the nearest one."""
    return value if is_place(value) else one_of(*TASKS)(param, value)


def is_place(value: str | None) -> bool:
    """Whether a value of --task or --optimizer is `package.module:VALUE`; the current folder is then searched last."""
    if value is None or ":" not in value:
        return False
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)
    return True


TASK_NAMES = f"{', '.join(TASKS)}, or your own as package.module:TASK"

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
Jsonl = Annotated[Path, typer.Option("--data", help="JSONL file of records.", show_default=False, callback=check_files)]
Limit = Annotated[int | None, typer.Option(min=1, help="Take only the first records.")]
ProgramName = Annotated[
    str, typer.Option("--program", help="artifacts/TASK/NAME, or models:/aisr-TASK@champion.", show_default=False)
]
TaskSettings = Annotated[
    list[str] | None,
    typer.Option(
        "-T",
        metavar="NAME=VALUE",
        help="An option of the task, such as -T retriever=hybrid; repeatable. `--task TASK --help` lists them.",
    ),
]
ImageRoot = Annotated[
    Path | None,
    typer.Option(
        envvar="AISR_IMAGE_ROOT",
        help="Folder that img_path of the records starts from. Default: that of the data, or one above, with images/.",
    ),
]
LM = Annotated[
    str | None,
    typer.Option(
        "--lm",
        metavar="MODEL",
        help="PROVIDER/MODEL such as openai/gpt-4o-mini, `embedded`, or recorded:FILE, answers of `aisr compile "
        "--record FILE`. Default: AISR_LM, or embedded.",
        rich_help_panel=LM_PANEL,
    ),
]
ApiBase = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Server of --lm openai/MODEL, with OpenAI's API. Default: AISR_API_BASE.",
        rich_help_panel=LM_PANEL,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="TABLE.NAME=VALUE",
        help="A setting of plan.toml, such as lm.schema=false or limits.max_calls=500, or such a file; repeatable. "
        "`aisr compile --help` lists them.",
        rich_help_panel=LM_PANEL,
    ),
]
MaxUsd = Annotated[float | None, of_field(Limits, "max_usd", panel=LIMITS_PANEL)]
Estimate = Annotated[
    bool,
    typer.Option(
        "--estimate",
        help="Print the estimated calls, tokens and cost by a dry run, then exit.",
        rich_help_panel=LIMITS_PANEL,
    ),
]
Track = Annotated[bool, typer.Option(help="Log to MLflow.", rich_help_panel=OUTPUT_PANEL)]
Root = Annotated[
    Path,
    typer.Option(
        "--artifacts",
        envvar="AISR_ARTIFACTS",
        help="Folder of artifacts, response cache and MLflow store.",
        rich_help_panel=OUTPUT_PANEL,
    ),
]
