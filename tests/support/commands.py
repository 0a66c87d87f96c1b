"""Commands run in this process: starting one of their own costs seconds of imports."""

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock


class Finished(NamedTuple):
    """A command that ended: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str


Aisr = Callable[..., Finished]


def run(*words: object) -> Finished:
    """`aisr WORDS…`, as a shell would run it."""
    from aisr.cli.__main__ import main

    return run_main(main, "aisr", *words)


def run_main(main: Callable[[], None], name: str, *words: object) -> Finished:
    """`NAME WORDS…`, a console script of that name and its words, as a shell would run it."""
    with (
        mock.patch.object(sys, "argv", [name, *map(str, words)]),
        redirect_stdout(io.StringIO()) as out,
        redirect_stderr(io.StringIO()) as err,
    ):
        try:
            main()
            code: object = 0
        except SystemExit as end:
            code = end.code or 0
    return Finished(code if isinstance(code, int) else 1, out.getvalue(), err.getvalue())
