"""Records a second against a server of 200 ms latency: `python -m benchmarks.throughput`.

`aisr predict` and the plain thread loop (a pool of threads, OpenAI's client, one request a record, JSON parsed, nothing
checked, nothing resumable) take turns on the same Track 1 records, the same prompt and the same server; the best round
of each counts, since others may be using the machine. `--profile` prints instead how our time is distributed;
`--memory` the resident memory over 100,000 records without latency, and its growth since the first 2,000.
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

SAMPLE = Path(__file__).parents[1] / "data" / "sample" / "track1" / "train.jsonl"
SETTLED = 2_000  # records after which threads, connections and modules are loaded
ROUND = count()
PARTS = {  # of the work for a record: name, and what the path of its files holds; the first that fits
    "HTTP (DSPy's lm15, socket)": ("lm15/transports", "socket.py"),
    "request and answer (DSPy's lm15)": ("lm15",),
    "response cache": ("response_cache.py", "dspy/clients/cache.py", "text_store.py"),
    "adapter: prompt and parsing (DSPy)": ("dspy/adapters", "dspy/signatures", "pydantic", "json_repair"),
    "the call (rest of DSPy, tenacity)": ("dspy/", "tenacity"),
    "records, programs (ours)": ("/programs/",),
    "prediction: limiter, ledger, file (ours)": ("/aisr/", "/benchmarks/"),
}


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Records of the sample over and over, each with a number of its own in its text, without gold labels."""
    sample = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    for number in range(count):
        row = sample[number % len(sample)]
        sentences = [{"sentence": part["sentence"]} for part in row["sentence_label"]]
        sentences[0]["sentence"] += f" (Record {number}.)"
        text = " ".join(part["sentence"] for part in sentences)
        yield {**row, "id": f"track1-{number + 1:06d}", "claim_text": text, "sentence_label": sentences}


def write(path: Path, count: int) -> Path:
    """A file of `count` records."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(count))
    return path


def ours(data: Path, out: Path, url: str, threads: int, spec: str = "openai/local") -> float:
    """Seconds of `aisr predict`, from the first byte read to the last written, without the start of the process."""
    from aisr.lm.config import LMConfig
    from aisr.lm.open import open_lm
    from aisr.predict.predict import predict
    from aisr.programs.track1 import TRACK1

    lm = open_lm(LMConfig(spec, api_base=f"{url}/{next(ROUND)}", logprobs=False, threads=threads))
    program = TRACK1.build({})
    began = time.perf_counter()
    summary = predict(TRACK1, program, lm, data, out, {"task": "track1"})
    seconds = time.perf_counter() - began
    assert (summary.judged, summary.failed) == (summary.records, 0), summary
    return seconds


def plain_loop(data: Path, out: Path, url: str, threads: int) -> float:
    """Seconds of the plain loop on the same records."""
    import dspy
    from openai import OpenAI

    from aisr.base.jsonl import read
    from aisr.programs.track1 import TRACK1

    client = OpenAI(base_url=f"{url}/{next(ROUND)}", api_key="none", max_retries=0)
    program = TRACK1.build({})
    lock = threading.Lock()
    example = next(iter(read(data, TRACK1.record, "track1")))
    inputs = dict(program.prepare(example).inputs())
    system = dspy.JSONAdapter().format(program.main_predictor.signature, [], inputs)[0]["content"]

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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, help="default: 3200; with --memory 100000")
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--memory", action="store_true")
    options = parser.parse_args()
    latency = 0.0 if options.memory else options.latency
    with tempfile.TemporaryDirectory() as name, server(latency) as url:
        folder = Path(name)
        os.environ["DSPY_CACHEDIR"] = f"{folder}/cache"
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        records = options.records or (100_000 if options.memory else 3200)
        data = write(folder / "records.jsonl", records)
        if options.memory:
            memory(data, folder / "out.jsonl", url, options.threads, records)
            return
        warm = write(folder / "warm.jsonl", 2 * options.threads)
        if options.profile:
            profile(lambda number: ours(warm if number < 0 else data, folder / f"{number}", url, 1))
            return
        ways: dict[str, Callable[..., float]] = {"aisr predict": ours, "plain loop": plain_loop}
        best, work = dict.fromkeys(ways, float("inf")), dict.fromkeys(ways, float("inf"))
        for number in range(-1, options.rounds):
            for name, way in ways.items():
                out = folder / f"{name} {number}.jsonl"
                before = time.process_time()
                seconds = way(warm if number < 0 else data, out, url, options.threads)
                if number >= 0:  # the first round loads modules
                    best[name] = min(best[name], seconds)
                    work[name] = min(work[name], (time.process_time() - before) / records)
                    print(f"round {number + 1}: {name}: {records / seconds:.0f} records/s", flush=True)
        ideal = options.threads / latency if latency else float("inf")
        for name, seconds in best.items():
            speed = records / seconds
            print(
                f"{name}: {speed:.0f} records/s, {100 * speed / ideal:.0f} % of the ideal {ideal:.0f}; "
                f"{1000 * work[name]:.1f} ms of CPU a record"
            )
        print(f"ratio: {best['plain loop'] / best['aisr predict']:.2f}")


def memory(data: Path, out: Path, url: str, threads: int, records: int) -> None:
    """The resident memory as records are predicted."""
    from aisr.lm.config import LMConfig
    from aisr.lm.open import open_lm
    from aisr.predict.predict import predict
    from aisr.programs.track1 import TRACK1

    lm = open_lm(LMConfig("openai/local", api_base=url, logprobs=False, threads=threads))
    sizes: list[float] = []
    began = time.monotonic()

    def done() -> None:
        sizes.append(resident())
        if len(sizes) % max(records // 20, 1) == 0:
            speed = len(sizes) / (time.monotonic() - began)
            print(f"{len(sizes)} records: {sizes[-1]:.0f} MB, {speed:.0f} records/s", flush=True)

    summary = predict(TRACK1, TRACK1.build({}), lm, data, out, {"task": "track1"}, done)
    growth = max([*sizes[SETTLED:], resident()]) - sizes[min(SETTLED, len(sizes) - 1)]
    print(f"{summary.judged} judged, {summary.failed} failed; growth after {SETTLED} records: {growth:.0f} MB")


def resident() -> float:
    """Resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


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
