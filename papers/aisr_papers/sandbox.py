"""Child processes that read the files of strangers: without keys, and within limits.

A PDF or a drawing is a program of strangers for a large library. Whatever goes wrong there (a crash, a loop, memory
without end) ends such a process and no other.
"""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = str(Path(__file__).parents[1])
# The only variables passed on: whoever breaks out of the library should find no key there.
PASSED = ("LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "PYTHONPATH", "SYSTEMROOT")
OUT_OF_TIME = (-24, -9)  # ended by SIGXCPU, or by SIGKILL where its soft and hard limits are one


def run(module: str, arguments: list[str], limits: dict[str, Any]) -> subprocess.CompletedProcess[bytes]:
    """Run a module of ours with the arguments and the limits as JSON; the finished process with its output. Raises
    subprocess.TimeoutExpired after `limits["waiting"]` seconds."""
    return subprocess.run(
        # -P: nothing of the current folder is imported there
        [sys.executable, "-P", "-m", module, *arguments, json.dumps(limits)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment() | {"OPENBLAS_NUM_THREADS": "1"},
        timeout=limits["waiting"],
        check=False,
    )


def environment() -> dict[str, str]:
    """The environment of such a process: where Python and our modules are, and no key."""
    passed = {name: os.environ[name] for name in PASSED if name in os.environ}
    return passed | {
        "PYTHONPATH": os.pathsep.join(filter(None, [ROOT, passed.get("PYTHONPATH")])),
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
