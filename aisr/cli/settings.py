"""Options of a task (`-T NAME=VALUE`), settings of an LM (`-L NAME=VALUE`), and the command that repeats a compile."""

import difflib
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

from annotated_types import Ge, Le

from aisr.base.errors import UserError
from aisr.lm.config import PROVIDER, RECORDED, LMConfig

if TYPE_CHECKING:
    import typer

    from aisr.programs.task import Task

TEACHER = "teacher."  # before the name of a setting of --teacher-lm
EMBEDDING_API_BASE = "AISR_EMBEDDING_API_BASE"  # the variable that stands for -L embedding_api_base


KINDS: dict[type, str] = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
LARGEST = 1e300  # of a number, which must be finite
MOST_QUOTED = 80  # characters of a value in a message


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return `; did you mean NAME?` with the name that is nearest to a wrong one; empty where none is near."""
    known = {one.lower(): one for one in names}
    near = difflib.get_close_matches(name.lower(), known, n=1)
    return f"; did you mean {known[near[0]]}?" if near else ""


class Option(NamedTuple):
    """One option: a text, a number or a switch."""

    name: str
    type: type  # str, int, float or bool
    default: Any
    help: str
    choices: tuple[str, ...] = ()  # the values that it can have; none: any
    min: float | None = None
    max: float | None = None

    @property
    def expected(self) -> str:
        """The values that it can have, in words."""
        if self.choices:
            return f"one of: {', '.join(self.choices)}"
        if self.max is not None:
            return f"{self.min} to {self.max}"
        return KINDS[self.type] if self.min is None else f"{self.min} or more"

    def parse(self, text: str) -> Any:
        """Return the value of a text. Raises UserError for one that the option cannot have."""
        value: Any = text
        if self.type is bool:
            value = {"true": True, "false": False}.get(text.lower(), text)
        elif self.type in (int, float):
            try:
                value = self.type(text)
            except ValueError:
                value = text
        fits = type(value) is self.type and (not self.choices or value in self.choices)
        if fits and self.type in (int, float):
            fits = abs(value) < LARGEST and value >= (value if self.min is None else self.min)
            fits = fits and (self.max is None or value <= self.max)
        if not fits:
            bounds = "" if type(value) is self.type or self.min is None else f"{KINDS[self.type]}, "
            expected = self.expected if self.choices else f"expected {bounds}{self.expected}"
            near = suggestion(text, self.choices)
            raise UserError(f"{self.name} is {repr(value)[:MOST_QUOTED]}; {expected}{near}")
        return value


def options_of(task: "Task") -> list[Option]:
    """Return the options of a task's program that a user sets.

    `evidence` takes one value more, which depends on the LM: `evidence_form` puts another in its place.
    """
    from aisr.programs.program import SEARCHED

    kind = task.program.Options
    own_first = sorted(kind.model_fields, key=lambda name: name not in vars(kind).get("__annotations__", {}))
    auto = "`auto`: image where the LM is known to take pictures, else ocr."
    options = []
    for name in own_first:
        field = kind.model_fields[name]
        bounds = {type(bound): bound for bound in field.metadata}
        least = bounds[Ge].ge if Ge in bounds else None
        most = bounds[Le].le if Le in bounds else None
        option = _option(name, field.annotation, field.default, field.description or "", least, most)
        if name == "evidence":
            option = option._replace(choices=(*option.choices, "auto"), help=f"{option.help} {auto}")
        if name not in SEARCHED:
            options.append(option)
    return options


def lm_settings() -> list[Option]:
    """Return what `-L` sets of the LM, whose address has an option of its own."""
    return [one for one in teacher_settings() if one.name != "api_base"]


def teacher_settings() -> list[Option]:
    """Return what `-L teacher.NAME` sets."""
    return [
        _option(one.name, one.type, one.default, one.metadata["help"], one.metadata.get("min"), one.metadata.get("max"))
        for one in fields(LMConfig)
        if "help" in one.metadata and one.name != "model"
    ]


def _option(name: str, kind: Any, default: Any, text: str, least: Any, most: Any) -> Option:
    """Return the option of a field. kind: its type; of alternatives, the one that a text is read as counts."""
    alternatives = [one for one in get_args(kind) if one is not NoneType]
    if get_origin(kind) is not Literal and alternatives:
        kind = next(one for one in alternatives if one in KINDS or get_origin(one) is Literal)
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    return Option(name, str if choices else kind, default, text, choices, least, most)


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
    known = {TEACHER + one.name: one for one in teacher_settings()}
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
