"""Processes of our own for the files of strangers: no key of ours in them, and held to limits.

A PDF or a drawing is a program of strangers for a large library. Whatever goes wrong with it there (a crash, a loop,
memory without end) ends such a process and no other.
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
    environment = {name: os.environ[name] for name in PASSED if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [HOUSE, environment.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-P", "-m", module, *arguments, json.dumps(limits)],
        input=given,
        capture_output=True,
        env=environment | {"OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"},
        timeout=limits["waiting"],
        check=False,
    )


def confine(memory: int, seconds: float) -> None:
    """Hold this process to bytes of address space and seconds of a core, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    whole = max(int(seconds), 1)
    bounds = {resource.RLIMIT_AS: memory, resource.RLIMIT_CPU: whole, resource.RLIMIT_CORE: 0}
    for which, most in bounds.items():
        with suppress(OSError, ValueError):  # macOS does not bound address space
            resource.setrlimit(which, (most, most))
