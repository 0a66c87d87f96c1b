"""`aisr` as a process of its own, for the few tests whose subject is that; the fixture `aisr` runs it in this one."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from support.paths import ROOT

LOOK_AGAIN = 0.2  # seconds between two looks at a process


def aisr(*words: object) -> list[str]:
    """The command line of an `aisr` command."""
    return [sys.executable, "-m", "aisr.cli", *map(str, words)]


def several(commands: Sequence[Sequence[object]]) -> list[str]:
    """The command line of one process that runs several `aisr` commands, one after the other.

    It prints what they print, then a line with their exit codes as JSON, and ends with the worst of them.
    """
    code = """
import json, sys
from aisr.cli.__main__ import main
codes = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["aisr", *words]
    try:
        main()
        codes.append(0)
    except SystemExit as end:
        codes.append(end.code or 0)
print(json.dumps(codes))
sys.exit(max(codes))
"""
    return [sys.executable, "-c", code, json.dumps([[*map(str, words)] for words in commands])]


def run(command: list[str], env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A process to its end, with what it printed; `env` is the whole environment, by default ours."""
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def start(command: list[str], env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """A process that goes on beside the test, with all that it prints on its standard output."""
    return subprocess.Popen(command, env=env, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@contextmanager
def session(command: list[str], env: Mapping[str, str], cwd: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a session of its own, whose processes are all gone after the block; `log` gets what they print."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=env, cwd=cwd, stdout=out, stderr=out, start_new_session=True)
        try:
            yield process
        finally:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill all processes of a session at once."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)


def happens(event: Callable[[], bool], process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether it happens before the process ends or the time is up. `process.wait` is the pause between two looks."""
    for _ in range(int(seconds / LOOK_AGAIN)):
        if event():
            return True
        try:
            process.wait(LOOK_AGAIN)
        except subprocess.TimeoutExpired:
            continue
        return event()
    return False
