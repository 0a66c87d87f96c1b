"""What a command works by: plan files, `--set TABLE.NAME=VALUE` and `-T NAME=VALUE`, merged into one value.

A plan file is TOML with the tables [task], [search], [lm], [teacher] and [limits]. Of two places that set the same, the
later wins: environment, plan file, `--set`, the options of the command.
"""

import os
import shlex
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisr.base.errors import UserError
from aisr.lm.config import EMBEDDED, PROVIDER, RECORDED, LMConfig
from aisr.programs.options import Option, suggestion, table
from aisr.programs.registry import TASKS, find_task

if TYPE_CHECKING:
    from aisr.programs.task import Task

MOST_BYTES = 2**16  # of a plan file: the time to read nested names grows with their square


@dataclass(frozen=True, kw_only=True)
class Search:
    """[search]: how a program is compiled."""

    optimizer: str | None = field(
        default=None,
        metadata={
            "help": "labeled, knn, bootstrap, random-search, mipro, simba or gepa; several, joined by commas, run one "
            "after the other. Default: knn where train has 200 records, else random-search."
        },
    )
    budget: str = field(
        default="medium", metadata={"help": "How thorough the search is.", "choices": ("light", "medium", "heavy")}
    )
    demos: int | None = field(
        default=None, metadata={"help": "Most few-shot examples in a prompt. By budget: 4, 4 or 8.", "min": 0}
    )
    demo_tokens: int | None = field(
        default=None, metadata={"help": "Most tokens, about, of all demos. By budget: 3000, 3000 or 6000.", "min": 1}
    )
    candidates: int | None = field(
        default=None, metadata={"help": "Programs that an optimizer may try. By budget: 2, 4 or 8.", "min": 1}
    )
    seed: int = field(default=0, metadata={"help": "Seed of the optimizers."})
    label_weights: bool = field(default=True, metadata={"help": "Whether to fit label weights."})


@dataclass(frozen=True, kw_only=True)
class Limits:
    """[limits]: what a command may spend, and how many records a compile takes."""

    max_usd: float | None = field(
        default=None,
        metadata={
            "help": "Send nothing more once so many US dollars are spent, by all runs with this output.",
            "min": 0,
        },
    )
    max_calls: int | None = field(
        default=None, metadata={"help": "Send nothing more after so many LM calls.", "min": 1}
    )
    max_minutes: float | None = field(
        default=None, metadata={"help": "Send nothing more after so many minutes.", "min": 0}
    )
    train: int | None = field(
        default=None,
        metadata={"help": "The LM judges only the first records of train; the ranker is fitted on all.", "min": 1},
    )
    dev: int | None = field(default=None, metadata={"help": "A compile takes only the first records of dev.", "min": 1})
    test: int | None = field(default=None, metadata={"help": "The same for test.", "min": 1})


TABLES: Mapping[str, type] = {"search": Search, "lm": LMConfig, "teacher": LMConfig, "limits": Limits}
TASK = "task"  # the table of a task: its name, and the options of its judge
ENVIRONMENT = {
    "model": "AISR_LM",
    "api_base": "AISR_API_BASE",
    "embedding_api_base": "AISR_EMBEDDING_API_BASE",
}  # of [lm]

Values = dict[str, dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a command works by.

    task: the task's name; options: those of its judge that were set; teacher: None where the LM teaches itself.
    """

    task: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    search: Search
    lm: LMConfig
    teacher: LMConfig | None
    limits: Limits


def read_plan(
    file: Path | None = None,
    settings: Iterable[str] = (),
    *,
    uses: Collection[str] = ("lm",),
    **options: Mapping[str, Any],
) -> Plan:
    """The plan of a command.

    settings: the values of `--set`; uses: the tables that these may name; options: by table, the values of the
    command's own options, None where they are not set. Raises UserError for a file, table, name or value that cannot
    be.
    """
    values: Values = {name: {} for name in (TASK, *TABLES)}
    values["lm"] = {name: value for name, variable in ENVIRONMENT.items() if (value := os.environ.get(variable))}
    if file is not None:
        _merge(values, read_file(file))
    for word in settings:
        _merge(values, read_file(Path(word)) if _is_file(word) else _setting(word, uses))
    _merge(values, options)
    teacher = values["teacher"]
    if teacher and "model" not in teacher:
        raise UserError(f"teacher.{next(iter(teacher))} goes with --teacher-lm PROVIDER/MODEL")
    lm = LMConfig(**values["lm"])
    return Plan(
        task=values[TASK].pop("name", None),
        options=values[TASK],
        search=Search(**values["search"]),
        lm=lm,
        teacher=_teacher(lm, **teacher) if teacher else None,
        limits=Limits(**values["limits"]),
    )


def command_plan(
    settings: Iterable[str] | None,
    lm: str | None = None,
    api_base: str | None = None,
    max_usd: float | None = None,
    *,
    uses: Collection[str] = ("lm",),
) -> Plan:
    """The plan of a command that compiles nothing."""
    return read_plan(
        None, settings or (), uses=uses, lm={"model": lm, "api_base": api_base}, limits={"max_usd": max_usd}
    )


def _teacher(lm: LMConfig, model: str, api_base: str | None = None, price: str | None = None, **more: Any) -> LMConfig:
    """The LM of [teacher], reached as that of [lm] where it says nothing else."""
    return replace(lm.for_role("teacher", model, api_base, price), **more)


def read_file(path: Path) -> Values:
    """The tables of a plan file. Raises UserError for a file that is no TOML, and for a table, name or value that
    cannot be; the options of a task are checked where its judge is built."""
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise UserError(f"{path}: not a file; expected a plan file (TOML)")
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise ValueError("it is longer")
        tables = tomllib.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # ValueError: no TOML, no UTF-8, a number of thousands of digits
        raise UserError(f"{path}: expected a plan file, TOML of at most 64 KiB: {error}") from None
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; expected a plan file (TOML)") from error
    values: Values = {}
    for name, content in tables.items():
        if name != TASK and name not in TABLES:
            expected = ", ".join(f"[{one}]" for one in (TASK, *TABLES))
            raise UserError(
                f"{path}: no table is called {name[:80]!r}{suggestion(name, (TASK, *TABLES))}; expected {expected}"
            )
        if not isinstance(content, dict):
            raise UserError(f"{path}: {name} = {str(content)[:80]}: expected the table [{name}]")
        try:
            values[name] = {
                key: value if name == TASK else option(name, key).check(value) for key, value in content.items()
            }
        except UserError as error:
            raise UserError(f"{path}: [{name}] {error}") from None
    if (task := values.get(TASK, {}).get("name")) is not None and not (
        isinstance(task, str) and (task in TASKS or ":" in task)
    ):
        near = suggestion(str(task)[:80], TASKS)
        raise UserError(f"{path}: [task] name is {str(task)[:80]!r}; expected one of: {', '.join(TASKS)}{near}")
    return values


def options_in(table_name: str) -> list[Option]:
    """The options of a table of plan files."""
    return [one for one in table(TABLES[table_name]) if one.help]


def option(table_name: str, name: str) -> Option:
    """The option of that name in a table. Raises UserError where there is none."""
    options = {one.name: one for one in options_in(table_name)}
    if name not in options:
        raise UserError(f"has no {name[:80]!r}{suggestion(name, options)}; expected one of: {', '.join(options)}")
    return options[name]


def _is_file(word: str) -> bool:
    return "=" not in word and word.endswith(".toml")


def _setting(word: str, uses: Collection[str]) -> Values:
    """What `--set TABLE.NAME=VALUE` says."""
    place, equals, text = word.partition("=")
    name, dot, key = place.partition(".")
    if not equals or not dot:
        raise UserError(f"--set {word}: expected TABLE.NAME=VALUE, such as lm.schema=false, or a plan file (.toml)")
    if name == TASK:
        raise UserError(f"--set {place}: the options of a task are set by -T NAME=VALUE")
    if name not in uses:
        raise UserError(f"--set {place}: expected one of the tables {', '.join(uses)}{suggestion(name, uses)}")
    try:
        return {name: {key: option(name, key).parse(text)}}
    except UserError as error:
        raise UserError(f"--set {place}: {name} {error}") from None


def _merge(values: Values, new: Mapping[str, Mapping[str, Any]]) -> None:
    for name, content in new.items():
        values[name] |= {key: value for key, value in content.items() if value is not None}


def task_options(task: "Task", values: Mapping[str, Any], words: Iterable[str]) -> dict[str, Any]:
    """The options of a task's judge: those of a plan file's [task], and over them those of `-T NAME=VALUE`.

    Raises UserError for a name that the judge does not have, with the nearest one, and a value that cannot be.
    """
    options = {one.name: one for one in options_of(task)}

    def checked(name: str, value: Any, is_text: bool = False) -> Any:
        place = "-T" if is_text else "[task] of the plan file:"
        if name not in options:
            expected = f"expected one of: {', '.join(options)}" if options else "it has none"
            raise UserError(f"{place} {name}: {task.name} has no such option{suggestion(name, options)}; {expected}")
        try:
            return options[name].parse(value) if is_text else options[name].check(value)
        except UserError as error:
            raise UserError(f"{place} {error}") from None

    checked_values = {name: checked(name, value) for name, value in values.items()}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise UserError(f"-T {word}: expected NAME=VALUE; `aisr compile --task {task.name} --help` lists the names")
        checked_values[name] = checked(name, text, is_text=True)
    return checked_values


def options_of(task: "Task") -> list[Option]:
    """The options of a task's judge that a user sets. `evidence` takes one value more, which depends on the LM:
    `evidence_form` puts another in its place."""
    options = [one for one in table(task.program.Options) if not one.searched]
    auto = "`auto`: image where the LM is known to take pictures, else ocr."
    return [
        one._replace(choices=(*one.choices, "auto"), help=f"{one.help} {auto}") if one.name == "evidence" else one
        for one in options
    ]


# --- What `--help` prints of them.


def print_tables(task: str | None) -> None:
    """Print the options of a task, or without one the settings of plan files: names, help, choices, defaults."""
    if task is None:
        for name in TABLES:
            if name != "teacher":
                title = "[lm] and [teacher]" if name == "lm" else f"[{name}]"
                setting = "lm.NAME=VALUE or teacher.NAME=VALUE" if name == "lm" else f"{name}.NAME=VALUE"
                _print_options(f"{title} of plan.toml, --set {setting}", options_in(name))
        return
    _print_options(f"Options of {task}: -T NAME=VALUE, [task] of plan.toml", options_of(find_task(task)))


def _print_options(title: str, options: Iterable[Option]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.panel import Panel
    from rich.table import Table

    rows = Table.grid(padding=(0, 2))
    for one in options:
        rows.add_row(f"[bold cyan]{one.name}[/]", escape(describe(one)))
    Console().print(Panel(rows, title=escape(title), title_align="left", border_style="dim"))


def describe(one: Option) -> str:
    """What an option is for, the values that it can have, and its default."""
    notes = [one.expected] if one.choices or one.type is not str else []
    if one.default is not None:
        notes.append(f"default: {_toml(one.default) if one.type is bool else one.default}")
    return f"{one.help} [{'; '.join(notes)}]" if notes else one.help


def plan_text(plan: Plan) -> str:
    """A plan file that repeats a compile: what differs from the defaults, without addresses, which may hold keys."""
    tables = {
        TASK: {"name": plan.task, **plan.options},
        **{name: _set(getattr(plan, name)) for name in TABLES if getattr(plan, name) is not None},
    }
    return "# aisr compile plan.toml --data FOLDER repeats this compile; add addresses by --set.\n" + "".join(
        f"\n[{name}]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in content.items())
        for name, content in tables.items()
        if content
    )


# Of the settings of a plan, those that have an option of their own.
WORDS = {
    "search.optimizer": "--optimizer",
    "search.budget": "--budget",
    "search.demos": "--demos",
    "lm.model": "--lm",
    "teacher.model": "--teacher-lm",
    "limits.max_usd": "--max-usd",
}


def compile_command(plan: Plan, name: str, data: Path, image_root: Path | None) -> str:
    """The command that repeats a compile, whatever the environment says: what differs from the defaults. ADDRESS stands
    for those of servers, which may hold keys; DATA and IMAGES for folders that another machine does not have.

    name: of the artifact.
    """
    words = ["aisr", "compile", "--task", str(plan.task), "--data", "DATA" if data.is_absolute() else str(data)]
    if image_root is not None:
        words += ["--image-root", "IMAGES" if image_root.is_absolute() else str(image_root)]
    for key, value in plan.options.items():
        words += ["-T", f"{key}={_word(value)}"]
    for table_name in TABLES:
        value = getattr(plan, table_name)
        for key, one in (_set(value) if value is not None else {}).items():
            place = f"{table_name}.{key}"
            words += [WORDS[place], _word(one)] if place in WORDS else ["--set", f"{place}={_word(one)}"]
    if plan.lm.api_base:
        words += ["--api-base", "ADDRESS"]
    if plan.lm.embedding_api_base:
        own = plan.lm.embedding_api_base != PROVIDER
        words += ["--set", f"lm.embedding_api_base={'ADDRESS' if own else PROVIDER}"]
    if plan.teacher and plan.teacher.model != EMBEDDED and (plan.lm.api_base or plan.teacher.api_base):
        words += ["--set", f"teacher.api_base={'ADDRESS' if plan.teacher.api_base else PROVIDER}"]
    return shlex.join([*words, "--name", name])


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _without_path(model: str) -> str:
    """A model string as files may hold it: no path of the user's machine."""
    file = model.removeprefix(RECORDED)
    return f"{RECORDED}FILE" if model.startswith(RECORDED) and Path(file).is_absolute() else model


def _set(value: Any) -> dict[str, Any]:
    """The options of a table that differ from their defaults, without addresses. An LM is always named: who repeats
    the plan may have another default (`AISR_LM`)."""
    return {
        one.name: _without_path(value.model) if one.name == "model" else getattr(value, one.name)
        for one in table(type(value))
        if one.help
        and (getattr(value, one.name) != one.default or one.name == "model")
        and not one.name.endswith("api_base")
    }


def _toml(value: Any) -> str:
    return (
        str(value)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else dumps(value, ensure_ascii=False)
    )
