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
from typing import Any, NoReturn

from aisr import UserError

ROOT = str(Path(__file__).parents[1])
# The only variables passed on: whoever breaks out of the library should find no key there.
PASSED = ("LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "PYTHONPATH", "SYSTEMROOT")
REFUSED = 3  # the exit code of a process that tells why
OUT_OF_TIME = (-24, -9)  # ended by SIGXCPU, or by SIGKILL where its soft and hard limits are one


def run(module: str, arguments: list[str], limits: dict[str, Any]) -> bytes:
    """The output of a module of ours, run with the arguments and the limits as JSON. Raises UserError with the reason
    where it refuses its file, breaks, or takes more than its limits."""
    try:
        process = subprocess.run(
            # -P: nothing of the current folder is imported there
            [sys.executable, "-P", "-m", module, *arguments, json.dumps(limits)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment() | {"OPENBLAS_NUM_THREADS": "1"},
            timeout=limits["waiting"],
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UserError(f"takes more than {limits['waiting']:g} seconds") from error
    if process.returncode == REFUSED:
        raise UserError(process.stderr.decode().strip())
    if process.returncode in OUT_OF_TIME:
        raise UserError(f"takes more than {limits['seconds']:g} seconds of a core")
    if process.returncode and b"ModuleNotFoundError" in process.stderr:
        raise UserError("PDFs need pypdfium2 and pillow; `pip install 'aisr-papers[pdf]'` brings them")
    if process.returncode:
        raise UserError(f"broken, or takes over {limits['memory'] >> 20} MiB of memory")
    return process.stdout


def refuse(reason: str) -> NoReturn:
    """End this process, which tells the one that runs it why its file is not read."""
    print(reason, file=sys.stderr)
    sys.exit(REFUSED)


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
