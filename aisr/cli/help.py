"""How commands read their words and show their help: options in panels, `--config`. Plain text, since rich's
panels cost half a second on a slow machine."""

import difflib
import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from aisr.cli.task_options import OF_TASKS
from aisr.programs.errors import UserError

# --- `--config run.toml`: a command's options in a file, by the names that they have on the command line.

MOST_BYTES = 2**20


class Option(NamedTuple):
    """How an option is said, and how it is said not to be (None: it is off unless it is said); whether it takes no
    value; whether it may be said several times."""

    yes: str
    no: str | None
    switch: bool
    repeatable: bool


def words_of_file(path: Path, options: Mapping[str, Option], command: str) -> list[str]:
    """What a file stands for on the command line: `demos = 4` is `--demos=4`, `track = false` is `--no-track`, a list
    says its option several times.

    options: by their names, with underscores; dashes will do in the file too. Raises UserError for a file that is no
    TOML, an unknown name (with the nearest one), a value that no option can have.
    """
    with path.open("rb") as file:
        text = file.read(MOST_BYTES + 1)
    try:
        said = tomllib.loads(text[:MOST_BYTES].decode("utf-8") if len(text) <= MOST_BYTES else "too long")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"--config {path}: expected a TOML file of at most 1 MiB with options: {error}") from None
    return [word for name, value in said.items() for word in _words(f"--config {path}", name, value, options, command)]


def _words(place: str, name: str, value: Any, options: Mapping[str, Option], command: str) -> list[str]:
    option = options.get(name.replace("-", "_"))
    if option is None:
        near = difflib.get_close_matches(name.replace("-", "_"), options, n=1)
        hint = f"did you mean {near[0]}?" if near else f"`aisr {command} --help` lists them"
        raise UserError(f"{place}: {name}: aisr {command} has no such option; {hint}")
    if option.switch or isinstance(value, bool):
        if not option.switch or not isinstance(value, bool):
            raise UserError(f"{place}: {name} = {value!r}: expected {'true or false' if option.switch else 'a value'}")
        return [option.yes] if value else [option.no] if option.no else []
    values = value if isinstance(value, list) and option.repeatable else [value]
    if not all(isinstance(one, str | int | float) for one in values):
        several = ", or a list of them" if option.repeatable else ""
        raise UserError(f"{place}: {name}: expected a text or a number{several}")
    return [f"{option.yes}={one}" for one in values]


# --- Options that commands share, as one value: a parameter of a command whose type is a dataclass stands for its
# fields, each of them an option.


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each field of the dataclasses that it takes, where the parameter stood."""
    signature = inspect.signature(command)
    groups: dict[str, Any] = {
        one.name: one.annotation for one in signature.parameters.values() if is_dataclass(one.annotation)
    }

    @wraps(command)
    def run(**said: Any) -> None:
        values = {name: kind(**{one.name: said.pop(one.name) for one in fields(kind)}) for name, kind in groups.items()}
        command(**said, **values)

    options = [option for one in signature.parameters.values() for option in _options(one)]
    run.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _options(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """The parameter itself, or one for each field of its dataclass; any may follow any, as all are given by name."""
    if is_dataclass(parameter.annotation):
        for one in fields(parameter.annotation):
            yield inspect.Parameter(one.name, parameter.KEYWORD_ONLY, default=one.default, annotation=one.type)
    else:
        yield parameter.replace(kind=parameter.KEYWORD_ONLY)


# --- In which group a command stands, what it does in one line, and what each option steers: the order of `--help`.

# A group of commands, and in it each command with what it does, in at most 62 characters.
COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Data": {
        "check": "say which lines of a record file are wrong, and how",
        "split": "split records into train, dev and test that share nothing",
        "corrections": "make labelled records of what people corrected",
        "retrieval": "score ways to find the evidence; fit one",
        "export": "write records as chats, for a provider that tunes models",
    },
    "Compile": {
        "compile": "search for the best program by the ranking score",
        "evaluate": "score a program on labelled records",
        "compare": "score two programs on the same records: the difference",
        "promote": "make a registered version the champion",
    },
    "Predict": {
        "predict": "predict a file of records; goes on where it was stopped",
        "vote": "average the label probabilities of predictions files",
        "submit": "check predictions and pack the zip for the server",
        "score": "score a predictions file as the official evaluator does",
    },
    "Papers and drafts": {
        "check-paper": "check a paper against its tables, figures and citations",
        "check-text": "judge a paragraph or a claim of your own, and say why",
        "mcp": "serve the checker to coding agents (MCP)",
    },
    "Programs": {
        "inspect": "show a program: instruction, examples, decision layer",
        "report": "write the error browser of a compile or an evaluation",
        "techreport": "write the technical report that the shared task demands",
    },
    "This machine": {
        "ui": "open the MLflow UI on this machine",
        "doctor": "what is installed, which LM would be asked, free room",
    },
}

# What options steer, and which do, by the names of the commands' parameters. What is in none belongs to its command.
OPTIONS: Mapping[str, Sequence[str]] = {
    "The LM": (
        "lm", "api_base", "schema", "logprobs", "threads", "timeout", "price",
        "embedding_api_base", "embedding_price",
        "teacher_lm", "teacher_api_base", "teacher_price",
    ),
    "The search": (
        "optimizer", "budget", "candidates", "seed",
        "limit_train", "limit_dev", "limit_test",
    ),
    "What is shown": ("demos", "demo_tokens"),
    "The decision": ("decide", "states"),
    "Limits": ("estimate", "max_usd", "max_calls", "max_minutes"),
    "Where things go": ("name", "out", "output", "artifacts", "track", "traces"),
}  # fmt: skip

ARGUMENTS = "Arguments"
OWN = "Options"  # what belongs to the command
CONFIG = ("config", "help")  # at the end: how to say the same in other ways
PANEL_OF: Mapping[str, str] = {name: panel for panel, names in OPTIONS.items() for name in names}


def panel_of(parameter: str) -> str:
    """The title of the group that an option is shown in."""
    if tasks := OF_TASKS.get(parameter):
        return f"Of {', '.join(tasks)}"
    return PANEL_OF.get(parameter, "More" if parameter in CONFIG else OWN)


def shown(parameter: str, task: str | None) -> bool:
    """Whether `--help` shows an option, where `--task` names a task, or none."""
    return task is None or task in OF_TASKS.get(parameter, (task,))


def in_order(panels: Sequence[str]) -> list[str]:
    """Titles as they follow each other: arguments, the command's own options, what they steer, tasks', the rest."""
    tasks = [panel for panel in panels if panel not in (ARGUMENTS, OWN, *OPTIONS, "More")]
    return [panel for panel in (ARGUMENTS, OWN, *OPTIONS, *tasks, "More") if panel in panels]


TASK = "aisr.task"  # where a command keeps what --task says, for its help
VALUES = {"str": "TEXT", "path": "PATH", "Path": "PATH", "int": "NUMBER", "float": "NUMBER"}
TYPE = re.compile(rf"<(?:list\[)?({'|'.join(VALUES)})(?: range)?\]?>")
ARGUMENT = re.compile(r"\{[\w.]+\}|^\w+(?=(?:\.\.\.)? (?:TEXT|PATH|NUMBER))")
BETWEEN, LEAST = re.compile(r"(?<![\d.])([\d.]++)<=x<=([\d.]++)"), re.compile("x>=")
Config = Annotated[Path | None, typer.Option("--config", help="A TOML file of options; the command line wins.")]


class Command(TyperCommand):
    """A command whose options can stand in a file too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the words, behind those that a file stands for, so that the former win."""
        ctx.meta[TASK] = _value("--task", args)
        if not {"--help", "--show-completion"}.intersection(args) and not ctx.resilient_parsing:
            file = _value("--config", args)
            before = words_of_file(Path(file), self.options(), str(self.name)) if file is not None else []
            said = {word.partition("=")[0] for word in args}
            repeatable = {option.yes for option in self.options().values() if option.repeatable}
            before = [word for word in before if word.partition("=")[0] not in said & repeatable]
            if before:
                args = [*before, *args]
                sys.argv[1:] = [str(ctx.info_name), *args]  # what is recorded as the command of a run
        return super().parse_args(ctx, args)

    def options(self) -> Mapping[str, Option]:
        """The options that can be said elsewhere, by the names of their parameters."""
        return {
            str(one.name): Option(one.opts[-1], next(iter(one.secondary_opts), None), one.is_flag, one.multiple)
            for one in self.params
            if isinstance(one, TyperOption) and one.name not in CONFIG
        }

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options in panels; those of other tasks than --task's are left out."""
        rows: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            row, name = one.get_help_record(ctx), str(one.name)
            if row is not None and shown(name, ctx.meta.get(TASK)):
                title = panel_of(name) if one.param_type_name == "option" else ARGUMENTS
                rows.setdefault(title, []).append((_plain(row[0]), _begun(row[1].removeprefix(f"{title[3:]}: "))))
        _write(formatter, ((title, rows[title]) for title in in_order(list(rows))))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words behind the command, arguments in capitals."""
        return [_plain(piece) for piece in super().collect_usage_pieces(ctx)]


class Group(TyperGroup):
    """All commands, in groups."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Each group with its commands, a line each."""
        _write(formatter, ((title, list(commands.items())) for title, commands in COMMANDS.items()))


def takes_a_file(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the option that `Command` reads; the command itself never hears of it."""

    @wraps(command)
    def run(*args: Any, config: Path | None = None, **said: Any) -> None:
        command(*args, **said)

    old = inspect.signature(command)
    new = inspect.Parameter("config", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Config)
    run.__signature__ = old.replace(parameters=[*old.parameters.values(), new])  # type: ignore[attr-defined]
    run.__annotations__ = {**command.__annotations__, "config": Config}
    return run


def _plain(words: str) -> str:
    """How an option or argument is written, with what it takes in plain words: typer shows Python's types."""
    told = TYPE.sub(lambda found: VALUES[found[1]], words)
    return ARGUMENT.sub(lambda found: found[0].strip("{}").upper(), told)


def _begun(text: str) -> str:
    """What an option is for, begun like a sentence also where the task in front of it went to its panel, and with its
    bounds in words."""
    told = BETWEEN.sub(r"\1 to \2", text[:1].upper() + text[1:])
    return LEAST.sub("at least ", told)


def _value(option: str, words: Iterable[str]) -> str | None:
    """What an option's last mention says; None where it is not mentioned."""
    found, before = None, ""
    for word in words:
        if before == option:
            found = word
        elif word.startswith(f"{option}="):
            found = word.partition("=")[2]
        before = word
    return found


def _write(formatter: Any, sections: Iterable[tuple[str, Sequence[tuple[str, str]]]]) -> None:
    for title, rows in sections:
        with formatter.section(title):
            formatter.write_dl(rows)
