"""`make demo LM=embedded`: the walk of `aisr demo` with the built-in LM, for any task of the sample. It reads some 200
tokens a second and judges poorly: few short records.
"""

import argparse
import os
import shutil
from pathlib import Path

from aisr.base.files import SAMPLE
from aisr.cli.demo import walk_all
from aisr.lm.config import EMBEDDED
from aisr.walk import DEMO, Walk

# How many records of each split are judged at most, the shortest.
RECORDS = {"train": 6, "dev": 6, "test": 10}
# How each task compiles: few tokens a prompt.
FEW = "--optimizer labeled --candidates 1 --demos 1 --max-train"
OPTIONS = {
    "track1": f"{FEW} 6",
    "track2": f"{FEW} 6 -T context_tokens=100",
    "averitec": f"{FEW} 4 --max-dev 2 --budget light",
    "context24-figures": f"{FEW} 4 --max-dev 2",
    "context24-text": f"{FEW} 4 --max-dev 2",
}


def main() -> None:
    """Walk the tasks that are named."""
    os.environ.setdefault("TQDM_DISABLE", "1")  # as `aisr` has it before packages read it
    parser = argparse.ArgumentParser(description="Compile, predict, submit and score on the sample, by the built-in LM")
    parser.add_argument("tasks", nargs="+", choices=list(OPTIONS), help="such as: track1 track2")
    root = Path("artifacts") / DEMO
    walks = []
    for task in parser.parse_args().tasks:
        walks.append(Walk(task, EMBEDDED, OPTIONS[task], root))
        write_shortest(SAMPLE / task, walks[-1].data)
    shutil.copytree(SAMPLE / "images", root / "data" / "images", dirs_exist_ok=True)
    walk_all(walks)


def write_shortest(source: Path, target: Path) -> None:
    """Write the shortest records of each split, and the test inputs that go with its test split. The others of train
    stand behind them, for the baseline without an LM."""
    target.mkdir(parents=True, exist_ok=True)
    for split, count in RECORDS.items():
        lines = (source / f"{split}.jsonl").read_bytes().splitlines(keepends=True)
        by_length = sorted(range(len(lines)), key=lambda place: len(lines[place]))
        chosen = sorted(by_length[:count])
        others = sorted(by_length[count:]) if split == "train" else []
        (target / f"{split}.jsonl").write_bytes(b"".join(lines[place] for place in (*chosen, *others)))
    inputs = (source / "test-inputs.jsonl").read_bytes().splitlines(keepends=True)
    (target / "test-inputs.jsonl").write_bytes(b"".join(inputs[place] for place in chosen))  # of test, the last split


if __name__ == "__main__":
    main()
