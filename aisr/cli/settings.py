"""Options of a task (`-T NAME=VALUE`), settings of an LM (`-L NAME=VALUE`), and the command that repeats a compile."""

import difflib
import shlex
from collections.abc import Collection, Iterable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisr.base.errors import UserError
from aisr.lm.config import PROVIDER, RECORDED, LMConfig

if TYPE_CHECKING:
    import typer

    from aisr.programs.task import Task

TEACHER = "teacher."  # before the name of a setting of --teacher-lm
TEACHER_SETTINGS = [one.name for one in fields(LMConfig) if one.name not in ("model", "role")]
LM_SETTINGS = [name for name in TEACHER_SETTINGS if name != "api_base"]  # that has an option of its own


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return `; did you mean NAME?` with the name that is nearest to a wrong one; empty where none is near."""
    known = {one.lower(): one for one in names}
    near = difflib.get_close_matches(name.lower(), known, n=1)
    return f"; did you mean {known[near[0]]}?" if near else ""


def _read(flag: str, words: Iterable[str], names: Collection[str], what: str) -> dict[str, str]:
    """Return the texts of `NAME=VALUE` words by their names. Raises UserError for a name that is not among `names`,
    with the nearest one."""
    values = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise UserError(f"{flag} {word}: expected NAME=VALUE")
        if name not in names:
            expected = f"expected one of: {', '.join(names)}" if names else "there is none"
            raise UserError(f"{flag} {name[:80]}: not {what}{suggestion(name, names)}; {expected}")
        values[name] = text
    return values


# --- The LM


def read_lm(lm: str | None, api_base: str | None, words: Iterable[str]) -> LMConfig:
    """Return the LM of a command that has no teacher. words: of `-L`. Raises UserError."""
    values = {"model": lm, "api_base": api_base, **_read("-L", words, LM_SETTINGS, "a setting of the LM")}
    return LMConfig.parse({name: value for name, value in values.items() if value})


def read_lms(
    lm: str | None, api_base: str | None, teacher_lm: str | None, words: Iterable[str]
) -> tuple[LMConfig, LMConfig | None]:
    """Return the LM of a compile, and its teacher LM: None where the LM teaches itself.

    The teacher is reached as the LM is, where `-L teacher.NAME=VALUE` says nothing else. Raises UserError.
    """
    of_teacher = [word for word in words if word.startswith(TEACHER)]
    config = read_lm(lm, api_base, [word for word in words if word not in of_teacher])
    if teacher_lm is None:
        if of_teacher:
            raise UserError(f"-L {of_teacher[0]} goes with --teacher-lm PROVIDER/MODEL")
        return config, None
    names = [TEACHER + name for name in TEACHER_SETTINGS]
    values = _read("-L", of_teacher, names, "a setting of the teacher LM")
    settings = {name.removeprefix(TEACHER): value for name, value in values.items()}
    return config, config.for_role("teacher", teacher_lm, settings)


# --- The options of a task


def task_options(task: "Task") -> list[str]:
    """Return the names of the options of a task's program that a user sets, its own first."""
    from aisr.programs.program import SEARCHED

    kind = task.program.Options
    names = [name for name in kind.model_fields if name not in SEARCHED]
    return sorted(names, key=lambda name: name not in kind.__annotations__)


def read_task_options(task: "Task", words: Iterable[str]) -> dict[str, Any]:
    """Return the options that `-T NAME=VALUE` set. Raises UserError for a name that the task's program does not have,
    and for a value that it cannot have."""
    from pydantic import ValidationError

    from aisr.base.jsonl import explain

    texts = _read("-T", words, task_options(task), f"an option of {task.name}")
    try:
        options = task.program.Options.model_validate(texts)
    except ValidationError as error:
        raise UserError(f"-T {explain(error)}") from None
    return {name: getattr(options, name) for name in texts}


def describe(task: "Task", name: str) -> str:
    """Return what an option of a task is for, the values that it can have, and its default."""
    field = task.program.Options.model_json_schema()["properties"][name]
    notes = [f"one of: {', '.join(field['enum'])}"] if "enum" in field else []
    if "minimum" in field:
        notes.append(
            f"{field['minimum']} to {field['maximum']}" if "maximum" in field else f"{field['minimum']} or more"
        )
    notes.append(f"default: {as_word(field['default'])}")
    return f"{field['description']} [{'; '.join(notes)}]"


def as_word(value: Any) -> str:
    """Return a value as it is typed."""
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- Repeating a command

NOT_REPEATED = ("artifacts", "estimate", "record", "track", "output")  # by their parameters
PLACEHOLDERS = {"data": "DATA", "image_root": "IMAGES"}  # for absolute paths; FILE for others


def repeating_command(context: "typer.Context", **values: Any) -> str:
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
        for one in value if isinstance(value, list | tuple) else [value]:
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
    return word.replace(path, PLACEHOLDERS.get(option, "FILE")) if Path(path).is_absolute() else word
