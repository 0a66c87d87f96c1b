"""The options that several commands share: what is refused while the command line is read, their help, what their
values stand for, and the command that repeats a compile. Exit codes."""

import logging
import os
import shlex
import sys
from collections.abc import Collection, Iterable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from aisr.base import redact
from aisr.base.errors import UserError
from aisr.lm.config import PROVIDER, RECORDED, LMConfig
from aisr.programs.registry import TASKS

if TYPE_CHECKING:
    from aisr.api import LanguageModel
    from aisr.lm.budget import Ledger
    from aisr.programs.task import Task

ARTIFACTS = Path("artifacts")

RECORDS_FAILED = 1  # exit code: the command went through, some records did not

TEACHER = "teacher."  # before the name of a setting of --teacher-lm
TEACHER_SETTINGS = [one.name for one in fields(LMConfig) if one.name not in ("model", "role")]
LM_SETTINGS = [name for name in TEACHER_SETTINGS if name != "api_base"]  # that has an option of its own

# --- Callbacks: nobody waits for the import of DSPy to learn of a typing error.


def check_file(path: Path | None) -> Path | None:
    """Return a path that typer found. Raises UserError for a pipe or device, which could be read only once, and be
    waited for."""
    if path is not None and not path.is_file():
        raise UserError(f"{path}: a pipe or device; expected: a file")
    return path


def check_task(param: typer.CallbackParam, value: str | None) -> str | None:
    """Return the name of a task, or the place of one. Raises UserError for another, with the nearest one."""
    if value is None or value in TASKS or is_place(value):
        return value
    wrong = f"{value!r}:" if value else "is missing;"
    raise UserError(f"{param.opts[-1]} {wrong} expected one of: {TASK_NAMES}")


def check_program(context: typer.Context, value: str | None) -> str | None:
    """Return the name of a program; `compare` alone takes `uncompiled`. Raises UserError where there is none."""
    from aisr.artifact.manifest import UNCOMPILED, check_program_exists
    from aisr.tracking.store import MODEL_SCHEME, parse_model_uri

    if value and value.startswith(MODEL_SCHEME):
        parse_model_uri(context.params["artifacts"], value)
    elif value and (value, context.command.name) != (UNCOMPILED, "compare"):
        check_program_exists(Path(value), context.params["artifacts"])
    return value


def is_place(value: str) -> bool:
    """Return whether a value is `package.module:VALUE`; the current folder is then searched last."""
    if ":" not in value:
        return False
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)
    return True


# Options below the titles of `--help`, and files that must be there.
search_option = partial(typer.Option, rich_help_panel="Search")
lm_option = partial(typer.Option, rich_help_panel="Language model and cost", show_envvar=False)
output_option = partial(typer.Option, rich_help_panel="Output", show_envvar=False)
file_option = partial(typer.Option, exists=True, dir_okay=False, callback=check_file, show_default=False)
folder_option = partial(typer.Option, exists=True, file_okay=False, show_default=False)
file_argument = partial(typer.Argument, exists=True, dir_okay=False, callback=check_file)

TASK_NAMES = f"{', '.join(TASKS)}, or package.module:TASK"
PROGRAM_NAMES = "artifacts/TASK/NAME, or models:/aisr-TASK@champion"

# --- Options.

TaskName = Annotated[
    str, typer.Option("--task", metavar="TASK", help=f"{TASK_NAMES}.", show_default=False, callback=check_task)
]
Jsonl = Annotated[Path, file_option("--data", help="JSONL file of records.")]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Take only the first records.")]
ProgramName = Annotated[
    str, typer.Option("--program", help=f"{PROGRAM_NAMES}.", show_default=False, callback=check_program)
]
TaskOptions = Annotated[
    list[str] | None,
    typer.Option("-T", metavar="NAME=VALUE", help="Option of the task, repeatable; --task TASK --help lists all."),
]
ImageRoot = Annotated[
    Path | None,
    folder_option(
        metavar="FOLDER",
        envvar="AISR_IMAGE_ROOT",
        show_envvar=False,
        help="Where picture paths start. Default: beside or above the data, where images/ is.",
    ),
]
LM = Annotated[
    str | None,
    lm_option(
        "--lm", metavar="MODEL", envvar="AISR_LM", help="`embedded`, PROVIDER/MODEL, or recorded:FILE (of --record)."
    ),
]
ApiBase = Annotated[
    str | None,
    lm_option(metavar="ADDRESS", envvar="AISR_API_BASE", help="Server of --lm openai/MODEL, with OpenAI's API."),
]
LMSettings = Annotated[
    list[str] | None,
    lm_option("-L", metavar="NAME=VALUE", help=f"Setting of the LM, repeatable: {', '.join(LM_SETTINGS)}."),
]
MaxUsd = Annotated[
    float | None,
    lm_option(metavar="USD", min=0, max=1_000_000, help="Stop when all runs with this output spent so much."),
]
MaxCalls = Annotated[int | None, lm_option(metavar="N", min=1, help="Stop after so many LM calls.")]
Estimate = Annotated[bool, lm_option("--estimate", help="Print the estimated calls, tokens and cost, then exit.")]
TargetFile = Annotated[
    Path | None,
    file_option(metavar="FILE", rich_help_panel="Search", help="Unlabelled records to weigh dev and test to."),
]
TargetMix = Annotated[
    str | None, search_option(metavar="MIX", help="Its mix, where known: error-free=0.16 on Track 1.")
]
Track = Annotated[bool, output_option(help="Log to MLflow.")]
Root = Annotated[
    Path,
    output_option(
        "--artifacts",
        metavar="FOLDER",
        envvar="AISR_ARTIFACTS",
        is_eager=True,  # known where a program is looked for
        help="Artifacts, cache, MLflow store.",
    ),
]


# --- What `NAME=VALUE` words set


def read_lms(
    lm: str | None, api_base: str | None, words: Iterable[str] | None, teacher_lm: str | None = None
) -> tuple[LMConfig, LMConfig | None]:
    """Return the LM of a command and its teacher LM: None where the LM teaches itself, or nothing is compiled.

    The teacher is reached as the LM is, where `-L teacher.NAME=VALUE` says nothing else. words: of `-L`. Raises
    UserError.
    """
    of_lm, of_teacher = [], []
    for word in words or ():
        if word.startswith(TEACHER):
            of_teacher.append(word.removeprefix(TEACHER))
        else:
            of_lm.append(word)
    settings = _read("-L ", of_lm, LM_SETTINGS, "a setting of the LM")
    config = LMConfig.parse({"model": lm, "api_base": api_base or None, **settings})
    if teacher_lm:
        settings = _read(f"-L {TEACHER}", of_teacher, TEACHER_SETTINGS, "a setting of the LM")
        return config, config.for_role("teacher", teacher_lm, settings)
    if of_teacher:
        raise UserError(f"-L {TEACHER}{of_teacher[0]} goes with --teacher-lm PROVIDER/MODEL")
    return config, None


def read_task_options(task: "Task", words: Iterable[str] | None) -> dict[str, Any]:
    """Return the options that `-T NAME=VALUE` set. Raises UserError for names and values that it cannot have."""
    texts = _read("-T ", words, task.option_names(), f"an option of {task.name}")
    try:
        return task.parse_options(texts)
    except UserError as error:
        raise UserError(f"-T {error}") from None


def _read(flag: str, words: Iterable[str] | None, names: Collection[str], what: str) -> dict[str, str]:
    """Return the texts of `NAME=VALUE` words by their names. flag: what stands before them. Raises UserError for a name
    that is not among `names`."""
    values = {}
    for word in words or ():
        name, equals, text = word.partition("=")
        if not equals:
            raise UserError(f"{flag}{word}: expected NAME=VALUE")
        if name not in names:
            expected = f"expected one of: {', '.join(names)}" if names else "there is none"
            raise UserError(f"{flag}{name[:80]}: not {what}; {expected}")
        if not text:
            raise UserError(f"{flag}{name}=: no value; leave it out for the default")
        values[name] = text
    return values


# --- What is opened


def open_command_lm(config: LMConfig, ledger: "Ledger | None" = None, needs_key: bool = True) -> "LanguageModel":
    """Open the LM of a command, with the response cache of commands, and without what DSPy logs: failures are
    counted."""
    from aisr.api import LanguageModel
    from aisr.lm import open as opening

    logging.getLogger("dspy").setLevel(logging.CRITICAL)  # after its import, which sets its own
    opening.configure_cache()
    opening.stop_on_interrupt()
    opened = opening.open_config(config, ledger, needs_key)
    opening.quiet_litellm()
    return LanguageModel(opened)


# --- Repeating a command


def lm_command(config: LMConfig, settings: Iterable[str] | None, image_root: Path | None) -> str:
    """Return the options that reach the LM and pictures of a compile, without parts of an address that may be a key."""
    words = ["--lm", config.model]
    if config.api_base and config.api_base != os.environ.get("AISR_API_BASE"):  # which holds there as well
        path = urlsplit(config.api_base).path.split("/")
        is_plain = len(max(path, key=len)) <= LONGEST_PART
        words += ["--api-base", redact.secrets(config.api_base) if is_plain else "ADDRESS"]
    for setting in settings or ():
        if not setting.startswith(TEACHER):
            words += ["-L", redact.secrets(setting)]
    if image_root:
        words += ["--image-root", str(image_root)]
    return shlex.join(words)


LONGEST_PART = 8  # characters of a part of an address's path; a longer one may be a key
NOT_REPEATED = ("artifacts", "estimate", "record", "track", "output")  # by their parameters
PLACEHOLDERS = {"data": "DATA", "image_root": "IMAGES"}  # for absolute paths; FILE for others


def as_word(value: Any) -> str:
    """Return a value as it is typed."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def repeating_command(context: typer.Context, **values: Any) -> str:
    """Return the command that repeats a compile or an evaluation, whatever the environment says: what differs from the
    defaults. values: of parameters, where the command worked by others than were typed."""
    values = {**context.params, **values}
    words = ["aisr", str(context.command.name)]
    for option in context.command.params:
        name = str(option.name)
        value = values.get(name)
        # An LM is always named: whoever repeats the command may have another default (AISR_LM).
        if name in NOT_REPEATED or value is None or (value == option.default and name != "lm"):
            continue
        repeated = value if isinstance(value, list | tuple) else [value]
        for one in repeated:
            words += [option.opts[0], _portable(name, str(one))]
    return shlex.join(words)


def _portable(option: str, word: str) -> str:
    """Return the value of an option without what another machine does not have, or may not: absolute paths, and
    addresses of servers, which may hold keys."""
    name, _, value = word.partition("=")
    if option == "api_base":
        return "ADDRESS"
    if option == "lm_settings" and name.endswith("api_base") and value != PROVIDER:
        return f"{name}=ADDRESS"
    path = word.removeprefix(RECORDED)
    if not Path(path).is_absolute():
        return word
    return word.replace(path, PLACEHOLDERS.get(option, "FILE"))
