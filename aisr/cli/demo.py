"""The command that walks the sample: both tracks from labelled records to a scored submission, by recorded answers.

All of it goes to `artifacts/demo/`, with an MLflow store of its own: no program of the demo becomes the champion of a
user's data.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from aisr.base.errors import UserError
from aisr.base.files import SAMPLE
from aisr.cli import options as opt
from aisr.cli.display import console, note, table
from aisr.lm.config import RECORDED

DEMO = "demo"
RECORDED_TASKS = ("track1", "track2")  # whose answers are recorded
COMPILE = "--optimizer knn --budget light"
# The commands of a walk, each in a process of its own: predictions come from what was saved, and from nothing else.
STEPS = (
    "check {0.data}/train.jsonl --task {0.task}",
    f"compile --task {{0.task}} --data {{0.data}} OPTIONS --lm {{0.lm}} --name {DEMO}",
    "predict --task {0.task} --program models:/aisr-{0.task}@champion --data {0.data}/test-inputs.jsonl --lm {0.lm} "
    "--out {0.work}/predictions.jsonl",
    "submit --task {0.task} --data {0.data}/test-inputs.jsonl --predictions {0.work}/predictions.jsonl "
    "--out {0.submission}",
    "score --task {0.task} {0.data}/test.jsonl {0.work}/predictions.jsonl --output {0.work}/score.json",
)


class Walk(NamedTuple):
    """A task, the LM, how it compiles, and the folder that everything goes to, with the records in `data/`."""

    task: str
    lm: str
    options: str
    root: Path

    @property
    def data(self) -> Path:
        return self.root / "data" / self.task

    @property
    def program(self) -> Path:
        return self.root / self.task / DEMO

    @property
    def work(self) -> Path:
        return self.root / "runs" / self.task

    @property
    def submission(self) -> Path:
        from aisr.programs.registry import find_task

        file = self.work / find_task(self.task).submission
        return file.with_suffix(".zip") if file.suffix == ".jsonl" else file


def demo(
    tasks: Annotated[
        list[str] | None, typer.Argument(metavar="[TASK]...", help="track1, track2. Default: both.")
    ] = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Compile, predict, submit and score on the sample, with recorded answers of an LM."""
    for task in tasks or ():
        if task not in RECORDED_TASKS:
            raise UserError(f"{task!r}: expected one of: {', '.join(RECORDED_TASKS)}; answers of these are recorded")
    root = artifacts / DEMO
    shutil.rmtree(root / "data", ignore_errors=True)
    shutil.copytree(SAMPLE, root / "data", ignore=shutil.ignore_patterns("averitec", "context24-*", "hard.jsonl"))
    answers = root / "data" / "recorded"
    walk_all([Walk(task, f"{RECORDED}{answers}/{task}.jsonl.gz", COMPILE, root) for task in tasks or RECORDED_TASKS])


def walk_all(walks: Sequence[Walk]) -> None:
    """Walk the tasks, then print the scores, and where to go on."""
    root = walks[0].root
    os.environ["AISR_ARTIFACTS"] = str(root)  # of the commands
    for ours in ("MLFLOW_TRACKING_URI", "AISR_API_BASE", "AISR_IMAGE_ROOT"):  # a team's store, the user's server
        os.environ.pop(ours, None)
    rows = [row for walk in walks for row in _walk(walk)]
    by_readers = walks[0].lm.startswith(RECORDED)
    title = "official score on held-out test records, all invented"
    header = ["task", "program", "test score", "gain", "answers", "seconds"]
    table(f"{title}, by the answers of readers who played the LM" if by_readers else title, header, rows)
    for walk in walks:
        note(f"the prompt: {walk.program}/PROMPT.md   the submission: {walk.submission}")
        note(f"records of dev with their prompts, demos and answers, for a browser: {walk.program}/report.html")
    command = Path(sys.executable).with_name("aisr")  # with its folder, where the shell does not find it
    found = shutil.which("aisr")
    aisr = "aisr" if found and Path(found).samefile(command) else os.path.relpath(command)
    console.print(f"\nMLflow, with runs, prompts and versions:   {aisr} ui --artifacts {root}", style="bold")
    own = "compile --task track1 --data YOUR_FOLDER --optimizer knn --lm openai/gpt-4o-mini"
    console.print(f"your own records and LM:   {aisr} {own}", style="bold")


def _walk(walk: Walk) -> list[list[str]]:
    """Run the commands of a walk, and return the scores of the no-LM baseline, the uncompiled program and the compiled
    one. Exits with the code of a command that fails, and where the submission has another score than the program had
    in the compile."""
    from aisr.artifact.manifest import FILE, read_manifest

    for folder in (walk.program, walk.work):
        shutil.rmtree(folder, ignore_errors=True)
    began = time.monotonic()
    for step in STEPS:
        words = [word.format(walk) for word in step.replace("OPTIONS", walk.options).split()]
        console.print(f"\n$ aisr {shlex.join(words)}", style="bold")
        if code := subprocess.run([sys.executable, "-m", "aisr.cli", *words], check=False).returncode:
            raise typer.Exit(code)
    seconds = time.monotonic() - began
    score = json.loads((walk.work / "score.json").read_text("utf-8"))["score"]
    manifest = read_manifest(walk.program / FILE)
    test = manifest.scores["test"]
    if abs(score - test.score) > 1e-12:
        raise SystemExit(f"{walk.task}: {score} after reloading, {test.score} when it was compiled")
    compiled = "similar demos" if manifest.options.get("demos_per_record") else manifest.champion
    titles = {"no_lm_test": "no LM: word counts", "baseline_test": "uncompiled", "test": f"compiled: {compiled}"}
    answers = manifest.spend["calls"] + manifest.spend["cached_calls"]
    cells = {"test": [manifest.describe_gain(), str(answers), f"{seconds:.0f}"]}
    return [
        [walk.task, title, manifest.describe_score(name), *cells.get(name, ["", "", ""])]
        for name, title in titles.items()
        if name in manifest.scores
    ]
