"""`python -m benchmarks.size TASK FILE`: what the commands take, and how that grows with the records.

FILE holds labelled records, three times as many as the task has, say; each command runs on a ninth, a third and all of
them, in a process of its own. Printed are CPU seconds and peak memory, and the exponent of the CPU seconds from a third
to all: 1 grows with the records, 2 with their square. Pictures are found as `aisr check` finds them, beside FILE. What
asks an LM asks a server of this process, which gives the first label to everything.
"""

import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

SHARES = (9, 3, 1)
COMPILE = "compile --task {task} --data {folder} --optimizer knn --budget light --lm openai/x --no-track"
COMMANDS = {
    "check": "check {file} --task {task}",
    "split": "split {file} --task {task} --out {folder}",
    "compile --estimate": COMPILE + " -L price=0,0 --estimate",
    # Where no server is, a compile ends at its first call.
    "compile, before its first call": COMPILE + " --api-base http://127.0.0.1:9/v1 --name none",
    "predict": "predict --task {task} --program {program} --data {file} --out {folder}/predictions.jsonl --lm openai/x "
    "--api-base {server}",
}
ENDS_BY_ERROR = "compile, before its first call"
PROGRAM = COMPILE + " --api-base {server} --name size --max-dev 10 --max-test 1"  # the one that predicts


class Usage(NamedTuple):
    """What a process took: CPU seconds, and peak memory in MB."""

    seconds: float
    memory: float


def measure(words: Sequence[str], code: int = 0) -> Usage:
    """Run the command in a process of its own. Raises SystemExit with its output where it ends by another exit code."""
    environment = {**os.environ, "OPENAI_API_KEY": "none"}
    command = [sys.executable, "-m", "aisr.cli", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as process:
        output = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != code:
        raise SystemExit(output.decode())
    return Usage(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


# --- A server that answers at once


class Handler(BaseHTTPRequestHandler):
    """Gives each request the shortest answer that its schema allows."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fields = request["response_format"]["json_schema"]["schema"]["properties"]
        answer = json.dumps({name: shortest(field) for name, field in fields.items()})
        choice = {"message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Print nothing."""


def shortest(field: Mapping[str, Any]) -> Any:
    """Return the shortest value of a field by its schema, of several labels the first."""
    if "enum" in field:
        return field["enum"][0]
    if field.get("type") == "array":
        return [shortest(field["items"])] * field.get("minItems", 0)
    return "none"


# --- The table


def main(task: str, file: Path) -> None:
    """Print the table of one task."""
    with file.open("rb") as lines:
        count = sum(1 for _ in lines)
    sizes = [count // share for share in SHARES]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    usages: dict[str, list[Usage]] = {name: [] for name in COMMANDS}
    with TemporaryDirectory(dir=file.parent) as temporary:  # beside the pictures
        os.environ["AISR_ARTIFACTS"] = temporary
        os.environ["DSPY_CACHEDIR"] = f"{temporary}/answers"
        program = f"{temporary}/{task}/size"
        names = {"task": task, "program": program, "server": f"http://127.0.0.1:{server.server_port}/v1"}
        for size in sizes:
            names |= {"file": f"{temporary}/{size}.jsonl", "folder": f"{temporary}/{size}"}
            # Not held here: on Linux what a process has when it begins another counts as memory of that one.
            with file.open("rb") as lines, open(names["file"], "wb") as part:
                part.writelines(islice(lines, size))
            for name, words in COMMANDS.items():
                if name == "predict" and not Path(program).exists():
                    measure(PROGRAM.format_map(names).split())
                code = 2 if name == ENDS_BY_ERROR else 0
                usages[name].append(measure(words.format_map(names).split(), code))
    print(f"{'CPU seconds (peak MB), records:':32}", *(f"{size:>16,}" for size in sizes), "  exponent")
    for name, own in usages.items():
        exponent = math.log(own[2].seconds / own[1].seconds) / math.log(sizes[2] / sizes[1])
        cells = (f"{one.seconds:.1f} ({one.memory:,.0f})" for one in own)
        print(f"{name:32}", *(f"{cell:>16}" for cell in cells), f"{exponent:10.2f}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
