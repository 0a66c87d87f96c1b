"""Records a second against a server of 200 ms latency: `python -m benchmarks.throughput`.

`aisr predict` and the plain thread loop (a pool of threads, OpenAI's client, one request a record, JSON parsed, nothing
checked, nothing resumable) take turns on the same records, the same prompt and the same server; the best round of each
counts, since others may be using the machine. `--profile` prints where the time of ours goes instead.
"""

import argparse
import cProfile
import json
import os
import pstats
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.records import write

ROUND = count()
PARTS = {  # of the work for a record: name, and what the path of its files holds; the first that fits
    "HTTP (DSPy's lm15, socket)": ("lm15/transports", "socket.py"),
    "request and answer (DSPy's lm15)": ("lm15",),
    "response cache": ("response_cache.py", "dspy/clients/cache.py", "text_store.py"),
    "adapter: prompt and parsing (DSPy)": ("dspy/adapters", "dspy/signatures", "pydantic", "json_repair"),
    "the call (rest of DSPy, tenacity)": ("dspy/", "tenacity"),
    "records, programs, decision (ours)": ("/programs/",),
    "prediction: limiter, ledger, file (ours)": ("/aisr/", "/benchmarks/"),
}


def ours(data: Path, out: Path, url: str, threads: int, spec: str = "openai/local") -> float:
    """Seconds of `aisr predict`, from the first byte read to the last written, without the start of the process."""
    from aisr.lm.config import LMConfig
    from aisr.lm.open import open_lm
    from aisr.predict.predict import predict
    from aisr.programs.track1.task import TRACK1

    lm = open_lm(LMConfig(spec, api_base=f"{url}/{next(ROUND)}", logprobs=False, threads=threads))
    program = TRACK1.build({})
    began = time.perf_counter()
    summary = predict(TRACK1, program, lm, data, out, {"task": "track1"})
    seconds = time.perf_counter() - began
    assert (summary.judged, summary.failed) == (summary.records, 0), summary
    return seconds


def deciding(data: Path, out: Path, url: str, threads: int) -> float:
    """The same with a decision model."""
    return ours(data, out, url, threads, "decide:openai/local")


def plain_loop(data: Path, out: Path, url: str, threads: int) -> float:
    """Seconds of the plain loop on the same records."""
    import dspy
    from openai import OpenAI

    from aisr.programs.records import read
    from aisr.programs.track1.task import TRACK1

    client = OpenAI(base_url=f"{url}/{next(ROUND)}", api_key="none", max_retries=0)
    program = TRACK1.build({})
    lock = threading.Lock()
    example = next(iter(read(data, TRACK1.record, "track1")))
    inputs = dict(program.prepare(example).inputs())
    system = dspy.JSONAdapter().format(program.judging.signature, [], inputs)[0]["content"]

    def work(line: str) -> None:
        row = json.loads(line)
        evidence = "\n\n".join(str(item) for item in row["evidence_bundle"])
        sentences = json.dumps([part["sentence"] for part in row["sentence_label"]])
        user = f"[[ ## evidence ## ]]\n{evidence}\n\n[[ ## sentences ## ]]\n{sentences}\n\nRespond with a JSON object."
        answer = client.chat.completions.create(
            model="local",
            messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
            temperature=0.0,
            max_tokens=1024,
            response_format={"type": "json_object"},
        )
        labels = json.loads(answer.choices[0].message.content or "")["sentence_labels"]
        with lock:
            file.write(json.dumps({"id": row["id"], "labels": labels}) + "\n")

    began = time.perf_counter()
    with out.open("w") as file, ThreadPoolExecutor(threads) as pool, data.open() as lines:
        for future in [pool.submit(work, line) for line in lines]:
            future.result()
    return time.perf_counter() - began


@contextmanager
def server(latency: float) -> Iterator[str]:
    """The address of a loopback server in another process."""
    words = [sys.executable, "-m", "benchmarks.loopback_server", str(latency)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=3200)
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--decide", action="store_true", help="a decision model too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server(given.latency) as url:
        os.environ["DSPY_CACHEDIR"] = f"{folder}/cache"
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        data = write(Path(folder) / "records.jsonl", given.records)
        warm = write(Path(folder) / "warm.jsonl", 2 * given.threads)
        ways: dict[str, Callable[..., Any]] = {"aisr predict": ours, "plain loop": plain_loop}
        if given.decide:
            ways["aisr predict, decide:"] = deciding
        if given.profile:
            profile(lambda number: ours(warm if number < 0 else data, Path(folder) / f"{number}", url, 1))
            return
        best, work = dict.fromkeys(ways, float("inf")), dict.fromkeys(ways, float("inf"))
        for number in range(-1, given.rounds):
            for name, way in ways.items():
                out = Path(folder) / f"{name} {number}.jsonl"
                before = time.process_time()
                seconds = way(warm if number < 0 else data, out, url, given.threads)
                if number >= 0:  # the first round loads modules
                    best[name] = min(best[name], seconds)
                    work[name] = min(work[name], (time.process_time() - before) / given.records)
                    print(f"round {number + 1}: {name}: {given.records / seconds:.0f} records/s", flush=True)
        ideal = given.threads / given.latency if given.latency else float("inf")
        for name, seconds in best.items():
            speed = given.records / seconds
            print(
                f"{name}: {speed:.0f} records/s, {100 * speed / ideal:.0f} % of the ideal {ideal:.0f}; "
                f"{1000 * work[name]:.1f} ms of CPU a record"
            )
        print(f"ratio: {best['plain loop'] / best['aisr predict']:.2f}")


def profile(run: Callable[[int], object]) -> None:
    """Where the time of one thread goes: by part, and the twenty dearest functions."""
    run(-1)
    profiler = cProfile.Profile()
    profiler.enable()
    run(0)
    profiler.disable()
    stats = pstats.Stats(profiler)
    parts: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, callers) in stats.stats.items():  # type: ignore[attr-defined]
        if file == "~":  # written in C: it counts for whoever called it
            for (caller, _, _), (_, _, share, _) in callers.items():
                parts[part_of(caller)] += share
        else:
            parts[part_of(file)] += own
    for part, seconds in parts.most_common():
        print(f"{100 * seconds / parts.total():5.1f} % {part}")
    stats.sort_stats("tottime").print_stats(20)


def part_of(file: str) -> str:
    """What a file is there for."""
    return next((name for name, marks in PARTS.items() if any(mark in file for mark in marks)), "Python's library")


if __name__ == "__main__":
    main()
