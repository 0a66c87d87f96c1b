"""`aisr compile --like PROGRAM`: the settings of a compile that was done, from its manifest, on other data or with
another LM."""

import shlex
from collections.abc import Set
from pathlib import Path

from aisr.commands.session import ADDRESSES, prepare
from aisr.programs.errors import UserError

# What says which compile it was, not how; and where servers are: a stranger's manifest may not say where records go.
NOT_REPEATED = {"--data", "--name", "--like", "--config", "--artifacts", "--estimate", "--image-root", *ADDRESSES}


PRICE_OF = {"--price": "--lm", "--teacher-price": "--teacher-lm"}  # another LM has another


def words(program: str, artifacts: Path, options: Set[str], said: Set[str]) -> list[str]:
    """What repeats the compile of a program on the command line: a folder, or `models:/…`.

    options: all that the command has; said: those that are said anew. Raises UserError where the manifest does not say
    which command it was, or names an option that there is no more.
    """
    prepare(artifacts)
    from aisr.artifact.manifest import manifest
    from aisr.tracking import registry
    from aisr.tracking.model_uri import MODEL_SCHEME

    made = registry.manifest(artifacts, program) if program.startswith(MODEL_SCHEME) else manifest(Path(program))
    try:
        command = shlex.split(made.command or "")
    except ValueError:
        command = []
    if command[:2] != ["aisr", "compile"]:
        raise UserError(f"--like {program}: its manifest does not say which `aisr compile` made it")
    found = _options(command[2:])
    for option, _ in found:
        if option not in options:
            raise UserError(
                f"--like {program}: it was compiled with {option}, which this version of aisr does not have"
            )
    return [word for option, word in found if option not in NOT_REPEATED and PRICE_OF.get(option) not in said]


def _options(command: list[str]) -> list[tuple[str, str]]:
    """Each option, and the word that says it with its value."""
    found: list[tuple[str, str]] = []
    for word in command:
        if word.startswith("--"):
            found.append((word.partition("=")[0], word))
        elif found:
            option, before = found.pop()
            found.append((option, f"{before}={word}"))
    return found
