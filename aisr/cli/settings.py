"""Options of a task (`-T NAME=VALUE`), settings of an LM (`-L NAME=VALUE`), and the command that repeats a compile."""

import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisr.base.errors import UserError
from aisr.lm.config import PROVIDER, RECORDED, LMConfig
from aisr.programs.options import Option, suggestion, table

if TYPE_CHECKING:
    import typer

    from aisr.programs.task import Task

TEACHER = "teacher."  # before the name of a setting of --teacher-lm
EMBEDDING_API_BASE = "AISR_EMBEDDING_API_BASE"  # the variable that stands for -L embedding_api_base
# Of LMConfig, what has an option of its own.
LM_OPTIONS = ("model", "api_base")


def options_of(task: "Task") -> list[Option]:
    """Return the options of a task's program that a user sets.

    `evidence` takes one value more, which depends on the LM: `evidence_form` puts another in its place.
    """
    options = [one for one in table(task.program.Options) if not one.searched]
    auto = "`auto`: image where the LM is known to take pictures, else ocr."
    return [
        one._replace(choices=(*one.choices, "auto"), help=f"{one.help} {auto}") if one.name == "evidence" else one
        for one in options
    ]


def lm_settings() -> list[Option]:
    """Return what `-L` sets."""
    return [one for one in table(LMConfig) if one.help and one.name not in LM_OPTIONS]


def describe(option: Option) -> str:
    """Return what an option is for, the values that it can have, and its default."""
    notes = [option.expected] if option.choices or option.type is not str else []
    if option.default is not None:
        notes.append(f"default: {as_word(option.default)}")
    return f"{option.help} [{'; '.join(notes)}]" if notes else option.help


def as_word(value: Any) -> str:
    """Return a value as it is typed."""
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- Reading them


def read_task_options(task: "Task", words: Iterable[str]) -> dict[str, Any]:
    """Return the options that `-T NAME=VALUE` set.

    Raises UserError for a name that the task's program does not have, with the nearest one, and for a value that it
    cannot have.
    """
    options = {one.name: one for one in options_of(task)}
    return dict(_parse("-T", word, options, f"an option of {task.name}") for word in words)


def read_lm(lm: str | None, api_base: str | None, words: Iterable[str]) -> LMConfig:
    """Return the LM of a command that has no teacher. words: of `-L`. Raises UserError."""
    return LMConfig(**_lm_values(lm, api_base, words))


def read_lms(
    lm: str | None, api_base: str | None, teacher_lm: str | None, words: Iterable[str]
) -> tuple[LMConfig, LMConfig | None]:
    """Return the LM of a compile, and its teacher LM: None where the LM teaches itself.

    The teacher is reached as the LM is, where `-L teacher.NAME=VALUE` says nothing else. Raises UserError.
    """
    of_teacher = [word for word in words if word.startswith(TEACHER)]
    config = LMConfig(**_lm_values(lm, api_base, [word for word in words if word not in of_teacher]))
    if teacher_lm is None:
        if of_teacher:
            raise UserError(f"-L {of_teacher[0]} goes with --teacher-lm PROVIDER/MODEL")
        return config, None
    known = {TEACHER + one.name: one for one in table(LMConfig) if one.help and one.name != "model"}
    values = dict(_parse("-L", word, known, "a setting of the teacher LM") for word in of_teacher)
    own = {name.removeprefix(TEACHER): value for name, value in values.items()}
    teacher = config.for_role("teacher", teacher_lm, own.pop("api_base", None), own.pop("price", None))
    return config, replace(teacher, **own)


def _lm_values(lm: str | None, api_base: str | None, words: Iterable[str]) -> dict[str, Any]:
    """Return the fields of the LM's config that are set."""
    known = {one.name: one for one in lm_settings()}
    values = {"model": lm, "api_base": api_base, "embedding_api_base": os.environ.get(EMBEDDING_API_BASE)}
    values |= dict(_parse("-L", word, known, "a setting of the LM") for word in words)
    return {name: value for name, value in values.items() if value not in (None, "")}


def _parse(flag: str, word: str, options: Mapping[str, Option], what: str) -> tuple[str, Any]:
    """Return the name and the value of `NAME=VALUE`."""
    name, equals, text = word.partition("=")
    if not equals:
        raise UserError(f"{flag} {word}: expected NAME=VALUE")
    if name not in options:
        expected = f"expected one of: {', '.join(options)}" if options else "there is none"
        raise UserError(f"{flag} {name[:80]}: not {what}{suggestion(name, options)}; {expected}")
    try:
        return name, options[name].parse(text)
    except UserError as error:
        raise UserError(f"{flag} {error}") from None


# --- Repeating a compile

NOT_REPEATED = ("artifacts", "estimate", "record", "track")  # by their parameters
FOLDERS = {"data": "DATA", "image_root": "IMAGES"}


def repeating_command(context: "typer.Context", **values: Any) -> str:
    """Return the command that repeats a compile, whatever the environment says: what differs from the defaults.

    ADDRESS stands for those of servers, which may hold keys; DATA, IMAGES and FILE for what another machine does not
    have. values: of parameters, where the compile worked by others than were typed.
    """
    values = {**context.params, **values}
    settings = [without_address(word) for word in values["lm_settings"] or ()]
    if os.environ.get(EMBEDDING_API_BASE) and not any(word.startswith("embedding_api_base=") for word in settings):
        settings.append("embedding_api_base=ADDRESS")
    values["lm_settings"] = settings
    values["api_base"] = values["api_base"] and "ADDRESS"
    for name, placeholder in FOLDERS.items():
        values[name] = placeholder if values[name] and Path(values[name]).is_absolute() else values[name]
    for name in ("lm", "teacher_lm"):
        values[name] = values[name] and _without_path(values[name])
    words = ["aisr", "compile"]
    for option in context.command.params:
        value = values.get(str(option.name))
        # An LM is always named: whoever repeats the compile may have another default (AISR_LM).
        if option.name not in NOT_REPEATED and value is not None and (value != option.default or option.name == "lm"):
            for one in value if isinstance(value, list | tuple) else [value]:
                words += [option.opts[0], str(one)]
    return shlex.join(words)


def without_address(word: str) -> str:
    """Return a `-L NAME=VALUE` as files may hold it: an address may hold a key."""
    name, _, value = word.partition("=")
    return word if value == PROVIDER or not name.endswith("api_base") else f"{name}=ADDRESS"


def _without_path(model: str) -> str:
    """Return a model string as files may hold it: no path of the user's machine."""
    file = model.removeprefix(RECORDED)
    return f"{RECORDED}FILE" if model.startswith(RECORDED) and Path(file).is_absolute() else model


# --- What `--help` prints of them


def print_task_options(task: "Task") -> None:
    """Print the options of a task: names, help, choices, defaults."""
    from rich.console import Console
    from rich.markup import escape
    from rich.panel import Panel
    from rich.table import Table

    rows = Table.grid(padding=(0, 2))
    for one in options_of(task):
        rows.add_row(f"[bold cyan]{one.name}[/]", escape(describe(one)))
    title = f"Options of {task.name}: -T NAME=VALUE"
    Console().print(Panel(rows, title=escape(title), title_align="left", border_style="dim"))
