"""`--config run.toml`: a command's options in a file, by the names that they have on the command line."""

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from aisr.programs.errors import UserError

MOST_BYTES = 2**20


class Option(NamedTuple):
    """How an option is said, and how it is said not to be (None: it is off unless it is said); whether it takes no
    value; whether it may be said several times."""

    yes: str
    no: str | None
    switch: bool
    repeatable: bool


def words(path: Path, options: Mapping[str, Option], command: str) -> list[str]:
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
