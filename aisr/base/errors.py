"""What the user can mend, apart from what is a fault of ours.

A command ends with the message of the first in one line, and shows the second whole: a shape that does not fit deep in
the arithmetic must not look like a wrong file name, least of all after money was spent.
"""

import io
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any, NoReturn


class UserError(ValueError):
    """Bad input, a wrong option, a file that is not what it should be. The message says what, what was expected, and
    what to do next.

    A ValueError too, so that pydantic's validators may raise it; but a ValueError alone is no message for a user.
    """


# Whether a command runs, whose messages name options as they are typed (`--max-usd`); else arguments (`max_usd`).
COMMAND: ContextVar[bool] = ContextVar("command", default=False)
# What does not tell complaints apart: a name with a number, a place within a line.
VARYING = re.compile(r"'[^']*\d[^']*'|\[\d+\]|\b(?:line|column) \d+")


def merge_repeats(complaints: Iterable[tuple[str, str]]) -> list[str]:
    """Return complaints, each a place and what is wrong there, as `PLACE: WHAT`, in order. What is wrong at several
    places stands at the first, with their number; ids, indices and positions do not count as differences."""
    first: dict[str, str] = {}
    counts = Counter[str]()
    for place, wrong in complaints:
        kind = VARYING.sub("#", wrong)
        first.setdefault(kind, f"{place}: {wrong}")
        counts[kind] += 1
    for kind, count in counts.items():
        if count > 1:
            first[kind] += f" ({count:,} times, here first)"
    return list(first.values())


REFUSED = 2  # exit code: bad input, nothing was done
INTERRUPTED = 130  # typer's exit code where Ctrl-C ended a command


def run_command(command: Callable[[], int | None]) -> NoReturn:
    """Run a command and end the process by the exit code that it returns, 0 for None: what a user can mend ends in one
    line on standard error and exit code 2. Characters that the terminal cannot show are replaced, and where output is
    closed what is printed is discarded."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  until the process ends
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    token = COMMAND.set(True)
    try:
        code = command()
    except Exception as error:
        message = _message(error)
        if message is None:
            raise
        print(f"error: {message}", file=sys.stderr)
        sys.exit(REFUSED)
    finally:
        COMMAND.reset(token)
    if code == INTERRUPTED:
        print("stopped; the same command goes on where it can", file=sys.stderr)
    sys.exit(code)


def _message(error: Exception) -> str | None:
    """Return the message of an error that the user can mend: bad input, files, the LM; None for what is a fault of
    ours."""
    import typer

    from aisr.base import redact

    if isinstance(error, OSError) and error.filename:
        return redact.printable(f"{error.filename}: {error.strerror}")
    if isinstance(error, typer.TyperException):
        return redact.secrets(_describe_usage(error))
    kinds: list[type[Exception]] = [UserError, OSError]
    for module, name in (("dspy.utils.exceptions", "DSPyError"), ("mlflow.exceptions", "MlflowException")):
        if module in sys.modules:  # else no error of it was raised
            kinds.append(getattr(sys.modules[module], name))
    return redact.secrets(str(error)) if isinstance(error, tuple(kinds)) else None


def _describe_usage(error: Any) -> str:
    """Return what is wrong with a command line, by the option's own name: "--seed: '-1' is too small; …"."""
    import typer
    from pydantic import ValidationError

    from aisr.base.jsonl import explain

    context = getattr(error, "ctx", None)
    more = f"; `{context.command_path} --help` lists what there is" if context else ""
    if not isinstance(error, typer.BadParameter) or error.param is None:
        return f"{error.format_message().rstrip('.')}{more}"
    name = error.param.opts[-1]
    if not name.startswith("-"):
        name = error.param.metavar or name.upper()
    if not error.message:
        return f"{name} is missing{more}"
    wrong = error.message.rstrip(".")
    if isinstance(error.__cause__, ValidationError):
        wrong = explain(error.__cause__)
    return f"{name}: {wrong}"
