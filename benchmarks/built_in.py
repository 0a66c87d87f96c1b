"""The built-in model alone and beside a busy process: `python -m benchmarks.built_in`.

Tokens a second, read (a prompt of about 1,800 tokens that nothing is cached of) and written, with OpenMP's threads
waiting as long as is its default, and as briefly as is ours. Each figure is the best of three rounds, which take turns.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack

ROUNDS, READ, WRITTEN = 3, 1800, 60
POLICIES = {"default": {"OMP_WAIT_POLICY": "active"}, "ours": {}}
SPINNING = [sys.executable, "-c", "while True: pass"]


def measure() -> tuple[float, float]:
    """Tokens read and written a second, in this process."""
    from aisr.lm.llama_cpp import load

    model = load(os.cpu_count() or 1)
    model.complete("Ready?", max_tokens=2, temperature=0.0, seed=0)
    began = time.perf_counter()
    found = model.complete(f"{os.getpid()} " + "tram " * READ, max_tokens=1, temperature=0.0, seed=0)
    read = (found.read - found.cached) / (time.perf_counter() - began)
    began = time.perf_counter()
    found = model.complete("Count: one, two, three,", max_tokens=WRITTEN, temperature=0.0, seed=0)
    return read, found.written / (time.perf_counter() - began)


def one(policy: dict[str, str], busy: int) -> tuple[float, float]:
    """The same in a process of its own, beside so many busy ones."""
    with ExitStack() as beside:
        for _ in range(busy):
            process = beside.enter_context(subprocess.Popen(SPINNING))
            beside.callback(process.kill)
        words = [sys.executable, "-m", "benchmarks.built_in", "--measure"]
        done = subprocess.run(words, env={**os.environ, **policy}, check=True, capture_output=True, text=True)
    read, written = json.loads(done.stdout.splitlines()[-1])
    return read, written


def main() -> None:
    if "--measure" in sys.argv:
        print(json.dumps(measure()))
        return
    best: dict[tuple[str, int], tuple[float, float]] = {}
    for _ in range(ROUNDS):
        for name, policy in POLICIES.items():
            for busy in (0, 1):
                found = one(policy, busy)
                known = best.get((name, busy), (0.0, 0.0))
                best[name, busy] = (max(known[0], found[0]), max(known[1], found[1]))
    for (name, busy), (read, written) in best.items():
        where = "beside a busy process" if busy else "alone"
        print(f"threads {name:7} {where:21} {read:6.0f} tokens/s read {written:6.1f} written")


if __name__ == "__main__":
    main()
