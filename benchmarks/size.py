"""`python -m benchmarks.size TASK FILE`: what the commands that ask no LM take, and how that grows with the records.

FILE holds labelled records, three times as many as the task has, say; each command runs on a ninth, a third and all of
them, in a process of its own. Printed are CPU seconds and peak memory, and the exponent of the CPU seconds from a third
to all: 1 grows with the records, 2 with their square. Pictures are found as `aisr check` finds them, beside FILE.
"""

import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

SHARES = (9, 3, 1)
COMMANDS = {
    "check": "check {file} --task {task}",
    "split": "split {file} --task {task} --out {folder}",
    "compile --estimate": "compile --task {task} --data {folder} --lm openai/gpt-4o-mini -L price=0,0 --estimate",
}


class Usage(NamedTuple):
    """What a process took: CPU seconds, and peak memory in MB."""

    seconds: float
    memory: float


def measure(words: Sequence[str]) -> Usage:
    """Run the command in a process of its own. Raises SystemExit with its output where it fails."""
    environment = {**os.environ, "OPENAI_API_KEY": "none"}
    command = [sys.executable, "-m", "aisr.cli", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as process:
        output = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(output.decode())
    return Usage(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main(task: str, file: Path) -> None:
    """Print the table of one task."""
    lines = file.read_bytes().splitlines(keepends=True)
    sizes = [len(lines) // share for share in SHARES]
    print(f"{'CPU seconds (peak MB), records:':32}", *(f"{size:>16,}" for size in sizes), "  exponent")
    usages: dict[str, list[Usage]] = {name: [] for name in COMMANDS}
    with TemporaryDirectory(dir=file.parent) as temporary:  # beside the pictures
        for size in sizes:
            part, folder = Path(temporary) / f"{size}.jsonl", Path(temporary) / str(size)
            part.write_bytes(b"".join(lines[:size]))
            for name, words in COMMANDS.items():
                usages[name].append(measure(words.format(file=part, task=task, folder=folder).split()))
    for name, own in usages.items():
        exponent = math.log(own[2].seconds / own[1].seconds) / math.log(sizes[2] / sizes[1])
        cells = (f"{one.seconds:.1f} ({one.memory:,.0f})" for one in own)
        print(f"{name:32}", *(f"{cell:>16}" for cell in cells), f"{exponent:10.2f}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
