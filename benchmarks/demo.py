"""`make demo`: tasks from records to a submission; those named, or all.

With the embedded model and the commands that a user would type. Each step is a fresh `aisr` process, so that the
predictions come from what was saved and nothing else. They work in `artifacts/demo/`, with an MLflow store of its own:
no program of the demo becomes the champion of a user's data. What takes time is what the model reads, some 200 tokens a
record; so it gets few records, and the shortest. The no-LM baseline is fitted on all of train. Tasks run at the same
time where there is a core for each; the output of the first one is printed as it comes, and that of the others behind
it.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from aisr.artifact.manifest import FILE, read_manifest
from aisr.artifact.program import load_program
from aisr.base.files import with_interval
from aisr.cli.display import console, note, table
from aisr.cli.options import ARTIFACTS
from aisr.programs.registry import find_task
from aisr.tracking import registry
from aisr.tracking.store import MODEL_SCHEME, open_store

NAME = "demo"
SAMPLE = Path("data/sample")
# How many records of each split the model judges at most, so that two slow cores are done in minutes: in test as many
# as an interval needs that tells something. Of train the others are there for the baseline.
RECORDS = {"train": 6, "dev": 8, "test": 32}

FEW = ["--optimizer", "labeled", "--candidates", "1", "--demos", "1"]
# How each task compiles: few tokens a prompt.
OPTIONS = {
    "track1": ["--max-train", "6"],
    "track2": ["--max-train", "6", "-T", "context_tokens=100"],
    "averitec": ["--max-train", "4", "--max-dev", "2", "--budget", "light", "-T", "questions=0"],
    "context24-figures": ["--max-train", "4", "--max-dev", "2", "-T", "rerank_top=4"],
    "context24-text": ["--max-train", "4", "--max-dev", "2", "-T", "sentences=3"],
}
STEPS = ("compile", "predict", "submit", "score")


def main() -> int:
    """Run the walk for each of them; 0 if every step went well, 2 for a task without a demo."""
    began = time.monotonic()
    tasks = sys.argv[1:] or list(OPTIONS)
    if unknown := [task for task in tasks if task not in OPTIONS]:
        print(f"error: no demo of {unknown[0]!r}; there is one of {', '.join(OPTIONS)}", file=sys.stderr)
        return 2
    root = Path(os.environ.get("AISR_ARTIFACTS", ARTIFACTS)) / NAME
    os.environ["AISR_ARTIFACTS"] = str(root)  # of the commands
    os.environ.pop("MLFLOW_TRACKING_URI", None)  # the team's
    with tempfile.TemporaryDirectory() as place:
        walks = zip(tasks, _walks(tasks, root, Path(place)), strict=True)
        rows = [row for task, done in walks for row in _rows(task, root, done)]
    header = ["task", "program", "test", "gain over uncompiled", "calls", "seconds"]
    table("ranking score on held-out test records", header, rows)
    for task in tasks:
        note(f"artifact   {root / task / NAME}/   submission {_zip(root, task)}")
    note(f"up to {RECORDS['test']} short test records a task, {time.monotonic() - began:.0f} s in all: for trying out")
    console.print(f"open the MLflow UI with  .venv/bin/aisr ui --artifacts {root}", style="bold")
    return 0


class Walked(NamedTuple):
    """What came of a task: the report of its score, and the seconds that it took."""

    report: dict[str, Any]
    seconds: float


class Progress:
    """The number of the step. out: a file for it and the output of the commands; None for the terminal."""

    def __init__(self, done: int, steps: int, out: TextIO | None = None) -> None:
        self._done = done
        self._steps = steps
        self._out = out

    def aisr(self, *words: str) -> None:
        """Run a command."""
        self._done += 1
        self.say(f"[step {self._done} of {self._steps}] $ aisr {shlex.join(words)}")
        done = subprocess.run(
            [sys.executable, "-m", "aisr.cli", *words],
            check=False,
            stdout=self._out,
            stderr=self._out and subprocess.STDOUT,
            env={**os.environ, "COLUMNS": str(console.width)} if self._out else None,
        )
        if done.returncode:
            raise SystemExit(f"aisr {words[0]} ended with exit code {done.returncode}")

    def say(self, text: str) -> None:
        if self._out is None:
            note(text)
        else:
            print(text, file=self._out, flush=True)


def _walks(tasks: Sequence[str], root: Path, place: Path) -> list[Walked]:
    """Walk all tasks: at the same time, each on cores of its own, or one after the other where there are too few cores
    or the system binds no process to some. place: a folder for the output of all but the first."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
    steps = len(tasks) * len(STEPS)
    if not 1 < len(tasks) <= len(cores):
        return [_walk(task, root, Progress(k * len(STEPS), steps)) for k, task in enumerate(tasks)]
    note(f"{' and '.join(tasks)} at the same time; the output of {tasks[0]} comes first")

    def walk(number: int) -> Walked:
        os.sched_setaffinity(0, cores[number :: len(tasks)])  # of this thread, and of the processes that it starts
        if number == 0:
            return _walk(tasks[number], root, Progress(0, steps))
        with open(place / tasks[number], "w", encoding="utf-8") as out:
            return _walk(tasks[number], root, Progress(number * len(STEPS), steps, out))

    with ThreadPoolExecutor(len(tasks)) as pool:
        walks = [pool.submit(walk, number) for number in range(len(tasks))]
        for task, one in zip(tasks, walks, strict=True):
            wait([one])
            if (output := place / task).exists():
                print(output.read_text("utf-8"), end="", flush=True)
        return [one.result() for one in walks]


def shortest(source: Path, target: Path) -> None:
    """The shortest records of each split of a task, those of train before its others, and the test inputs that go with
    its test split."""
    target.mkdir(parents=True, exist_ok=True)
    for split, count in RECORDS.items():
        lines = (source / f"{split}.jsonl").read_bytes().splitlines(keepends=True)
        by_length = sorted(range(len(lines)), key=lambda place: len(lines[place]))
        chosen = sorted(by_length[:count])
        others = sorted(by_length[count:]) if split == "train" else []
        (target / f"{split}.jsonl").write_bytes(b"".join(lines[place] for place in (*chosen, *others)))
    inputs = (source / "test-inputs.jsonl").read_bytes().splitlines(keepends=True)
    (target / "test-inputs.jsonl").write_bytes(b"".join(inputs[place] for place in chosen))  # of test, the last split


def _walk(task: str, root: Path, progress: Progress) -> Walked:
    """compile, predict from the registry, submit, score."""
    began = time.monotonic()
    work = root / "runs" / task
    shortest(SAMPLE / task, work)
    inputs, gold = work / "test-inputs.jsonl", work / "test.jsonl"
    predictions, report = work / "predictions.jsonl", work / "score.json"
    predictions.unlink(missing_ok=True)
    shutil.rmtree(root / task / NAME, ignore_errors=True)
    at = ["--task", task]
    pictures = ["--image-root", str(SAMPLE)] if b'"img_path"' in (work / "test.jsonl").read_bytes() else []
    progress.aisr("compile", *at, *FEW, *OPTIONS[task], "--data", str(work), *pictures, "--name", NAME)
    program = _registered(task, root)
    progress.aisr("predict", *at, "--program", program, "--data", str(inputs), "--out", str(predictions))
    files = ["--data", str(inputs), "--predictions", str(predictions), "--out", str(_zip(root, task))]
    progress.aisr("submit", *at, *files)
    progress.aisr("score", str(gold), str(predictions), *at, "--output", str(report))
    progress.say(f"submission: {_zip(root, task)}\n")
    return Walked(json.loads(report.read_text(encoding="utf-8")), time.monotonic() - began)


def _registered(task: str, root: Path) -> str:
    """The version of what was compiled: the champion may be a better one that was compiled before."""
    loaded = load_program(root / task / NAME)
    version = registry.version_of(open_store(root), NAME, loaded)
    return f"{MODEL_SCHEME}{registry.model_name(loaded.task)}/{version.version}"


def _zip(root: Path, task: str) -> Path:
    name = Path(find_task(task).submission.file)
    packed = name.suffix if name.suffix in (".json", ".csv") else ".zip"
    return root / "runs" / task / f"submission{packed}"


def _rows(task: str, root: Path, walked: Walked) -> list[list[str]]:
    """The no-LM baseline, where the task has one, the uncompiled program and the compiled one."""
    made, report = read_manifest(root / task / NAME / FILE), walked.report
    test = made.scores["test"]
    if abs(report["score"] - test.score) > 1e-12:
        raise SystemExit(f"{task}: {report['score']} after reloading, {test.score} when it was compiled")
    way = f"{made.champion}{' + label weights' if made.has_label_weights else ''}"
    gain = with_interval(*made.gain_on_test) if made.gain_on_test else ""
    programs = {
        "no-LM baseline": (made.scores.get("no_lm_test"), []),
        "uncompiled": (made.scores.get("baseline_test"), []),
        f"compiled: {way}": (test, [gain, str(made.spend["calls"]), f"{walked.seconds:.0f}"]),
    }
    return [
        [task, name, str(score), *(rest or [""] * 3)] for name, (score, rest) in programs.items() if score is not None
    ]


if __name__ == "__main__":
    sys.exit(main())
