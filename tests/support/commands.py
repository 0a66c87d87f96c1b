"""Commands as a test runs them: in this process, since one of their own costs seconds of imports, or apart."""

import io
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock

from support.paths import ROOT


class Finished(NamedTuple):
    """A command that ended: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def messages(self) -> list[str]:
        """The lines on standard error but those of progress, which a slow machine has more of."""
        return [line for line in self.err.splitlines() if not line.startswith("  … ")]


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


def as_process(*words: object) -> list[str]:
    """The command line of an `aisr` command as a process."""
    return [sys.executable, "-m", "aisr.cli", *map(str, words)]


APART = """
import json, sys
from aisr.cli.__main__ import main
codes = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["aisr", *words]
    try:
        main()
    except SystemExit as end:
        codes.append(end.code or 0)
print(json.dumps(codes))
sys.exit(max(codes))
"""


def run_apart(
    commands: Sequence[Sequence[object]], env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Several `aisr` commands, one after the other in a process of their own. Behind what they print stands a line with
    their exit codes as JSON; the process ends with the worst. env: the whole environment, by default ours."""
    words = json.dumps([[*map(str, words)] for words in commands])
    process = [sys.executable, "-c", APART, words]
    return subprocess.run(process, env=env, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
