"""`aisr` as a process of its own, for the few tests whose subject is that; the fixture `aisr` runs it in this one."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence

from support.paths import ROOT


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
