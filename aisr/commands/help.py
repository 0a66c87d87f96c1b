"""How commands read their words and show their help: options in panels, `--config`, `--like`. Plain text, since rich's
panels cost half a second on a slow machine."""

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from aisr.commands import config
from aisr.commands.panels import ARGUMENTS, COMMANDS, CONFIG, in_order, panel_of, shown

TASK = "aisr.task"  # where a command keeps what --task says, for its help
VALUES = {"str": "TEXT", "path": "PATH", "Path": "PATH", "int": "NUMBER", "float": "NUMBER"}
TYPE = re.compile(rf"<(?:list\[)?({'|'.join(VALUES)})(?: range)?\]?>")
ARGUMENT = re.compile(r"\{[\w.]+\}|^\w+(?=(?:\.\.\.)? (?:TEXT|PATH|NUMBER))")
BETWEEN, LEAST = re.compile(r"([\d.]+)<=x<=([\d.]+)"), re.compile("x>=")
LIKE_FORMER = ("compile_",)
Config = Annotated[Path | None, typer.Option("--config", help="A TOML file of options; the command line wins.")]
Like = Annotated[
    str | None,
    typer.Option("--like", help="Repeat the compile of this program; the command line and --config win."),
]


class Command(TyperCommand):
    """A command whose options can stand in a file too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the words, behind those that a file or a former compile stands for, so that the former win."""
        ctx.meta[TASK] = _value("--task", args)
        if not {"--help", "--show-completion"}.intersection(args) and not ctx.resilient_parsing:
            before = self.before(args)
            said = {word.partition("=")[0] for word in args}
            repeatable = {option.yes for option in self.options().values() if option.repeatable}
            before = [word for word in before if word.partition("=")[0] not in said & repeatable]
            if before:
                args = [*before, *args]
                sys.argv[1:] = [str(ctx.info_name), *args]  # what is recorded as the command of a run
        return super().parse_args(ctx, args)

    def before(self, args: Sequence[str]) -> list[str]:
        """What stands for options of this command, from files that its words name."""
        file = _value("--config", args)
        return config.words(Path(file), self.options(), str(self.name)) if file is not None else []

    def options(self) -> Mapping[str, config.Option]:
        """The options that can be said elsewhere, by the names of their parameters."""
        return {
            str(one.name): config.Option(one.opts[-1], next(iter(one.secondary_opts), None), one.is_flag, one.multiple)
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


class Compiling(Command):
    """The command that can repeat a former run of itself."""

    def before(self, args: Sequence[str]) -> list[str]:
        """What the compile that it names was told, then what a file says."""
        program, file = _value("--like", args), super().before(args)
        if program is None:
            return file
        from aisr.commands import like
        from aisr.commands.display import note
        from aisr.commands.options import ARTIFACTS

        all_words = {word for one in self.params for word in (*one.opts, *one.secondary_opts)}
        said = {word.partition("=")[0] for word in (*file, *args)}
        root = _value("--artifacts", [*file, *args]) or os.environ.get("AISR_ARTIFACTS") or ARTIFACTS
        repeated = like.words(program, Path(root), all_words, said)
        note(f"as {program}: {' '.join(repeated) or 'by the defaults'}")
        return [*repeated, *file]


class Group(TyperGroup):
    """All commands, in groups."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Each group with its commands, a line each."""
        _write(formatter, ((title, list(commands.items())) for title, commands in COMMANDS.items()))


def takes_files(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options that `Command.before` reads; the command itself never hears of them."""
    also = {"config": Config} | ({"like": Like} if command.__name__ in LIKE_FORMER else {})

    @wraps(command)
    def run(*args: Any, **said: Any) -> None:
        command(*args, **{name: value for name, value in said.items() if name not in also})

    old = inspect.signature(command)
    new = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=also[name]) for name in also
    ]
    run.__signature__ = old.replace(parameters=[*old.parameters.values(), *new])  # type: ignore[attr-defined]
    run.__annotations__ = {**command.__annotations__, **also}
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
