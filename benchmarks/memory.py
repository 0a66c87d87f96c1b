"""Memory over a long prediction: `python -m benchmarks.memory`. 100,000 Track 1 records through a loopback server in
another process; prints the resident memory as it goes, and its growth since the first 2,000 records."""

import argparse
import os
import tempfile
import time
from pathlib import Path

from benchmarks.records import write
from benchmarks.throughput import server

SETTLED = 2_000  # records after which threads, connections and modules are all there


def resident() -> float:
    """Resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=64)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server(0.0) as url:
        os.environ["DSPY_CACHEDIR"] = f"{folder}/cache"
        from aisr.lm.config import LMConfig
        from aisr.lm.open import open_lm
        from aisr.predict.predict import predict
        from aisr.programs.track1.task import TRACK1

        data = write(Path(folder) / "records.jsonl", given.records)
        lm = open_lm(LMConfig("openai/local", api_base=url, logprobs=False, threads=given.threads))
        sizes: list[float] = []
        began = time.monotonic()

        def done() -> None:
            sizes.append(resident())
            if len(sizes) % max(given.records // 20, 1) == 0:
                speed = len(sizes) / (time.monotonic() - began)
                print(f"{len(sizes)} records: {sizes[-1]:.0f} MB, {speed:.0f} records/s", flush=True)

        out = Path(folder) / "out.jsonl"
        summary = predict(TRACK1, TRACK1.build({}), lm, data, out, {"task": "track1"}, done)
        growth = max([*sizes[SETTLED:], resident()]) - sizes[min(SETTLED, len(sizes) - 1)]
        print(f"{summary.judged} judged, {summary.failed} failed; growth after {SETTLED} records: {growth:.0f} MB")


if __name__ == "__main__":
    main()
