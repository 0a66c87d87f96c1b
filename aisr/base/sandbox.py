"""Processes of our own for the files of strangers: no key of ours in them, and held to limits.

A PDF or a drawing is a program of strangers for a large library. Whatever goes wrong with it there (a
crash, a loop, memory without end) ends such a process and no other.
"""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

HOUSE = str(Path(__file__).parents[2])
# All that it takes of the environment: whoever breaks out of the library should find no key there.
PASSED = ("LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "PYTHONPATH", "SYSTEMROOT")
OUT_OF_TIME = (-24, -9)  # ended by SIGXCPU, or by SIGKILL where its soft and hard limits are one


def run(
    module: str, arguments: list[str], limits: dict[str, Any], given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """What a module of ours printed, called with the arguments and the limits as JSON. given: what it reads from its
    standard input. Raises subprocess.TimeoutExpired after `limits["waiting"]` seconds."""
    return subprocess.run(
        command(module, *arguments, json.dumps(limits)),
        input=given,
        capture_output=True,
        env=environment() | {"OPENBLAS_NUM_THREADS": "1"},
        timeout=limits["waiting"],
        check=False,
    )


def command(module: str, *arguments: str) -> list[str]:
    """What starts a module of ours; nothing of the current folder is imported there."""
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> dict[str, str]:
    """What such a process is given of the environment: where Python and our modules are, and no key."""
    passed = {name: os.environ[name] for name in PASSED if name in os.environ}
    return passed | {
        "PYTHONPATH": os.pathsep.join(filter(None, [HOUSE, passed.get("PYTHONPATH")])),
        "PYTHONUTF8": "1",
    }


def confine(memory: int, seconds: float) -> None:
    """Hold this process to bytes of address space and seconds of a core, where the system can."""
    bound("RLIMIT_AS", memory)
    bound("RLIMIT_CPU", max(int(seconds), 1))
    bound("RLIMIT_CORE", 0)


def bound(name: str, most: int) -> None:
    """One limit of this process, for good, where the system has it: macOS does not bound memory, Windows nothing."""
    with suppress(ImportError, AttributeError, OSError, ValueError):
        import resource

        resource.setrlimit(getattr(resource, name), (most, most))
