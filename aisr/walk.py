"""A walk through the commands, as a user would type them: from labelled records to a scored submission, each command in
a process of its own, so that predictions come from what was saved, and from nothing else. What all of them import is
imported once."""

import json
import multiprocessing
import os
import runpy
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from aisr.artifact.manifest import FILE, read_manifest
from aisr.base.errors import UserError
from aisr.programs.registry import find_task

DEMO = "demo"  # the name of the program, and of the folder below the artifacts
# The commands, as fields of a `Walk` fill them in. Programs go below AISR_ARTIFACTS, which is its `root`.
STEPS = (
    "check {0.data}/train.jsonl --task {0.task}",
    f"compile --task {{0.task}} --data {{0.data}} OPTIONS --lm {{0.lm}} --name {DEMO}",
    "predict --task {0.task} --program models:/aisr-{0.task}@champion --data {0.data}/test-inputs.jsonl --lm {0.lm} "
    "--out {0.work}/predictions.jsonl",
    "submit --task {0.task} --data {0.data}/test-inputs.jsonl --predictions {0.work}/predictions.jsonl "
    "--out {0.submission}",
    "score --task {0.task} {0.data}/test.jsonl {0.work}/predictions.jsonl --output {0.work}/score.json",
)


# What the commands import, which takes seconds: one process imports it, and those of the commands are forks of that.
IMPORTED = ("aisr.workflow", "aisr.evaluation", "mlflow.pyfunc", "mlflow.genai", "sklearn.linear_model")


class StepFailed(Exception):
    """A command that failed; it said why. code: its exit code."""

    def __init__(self, code: int) -> None:
        self.code = code


def run_apart(words: Sequence[str]) -> int:
    """Run `aisr` with these words in a process of its own, and return its exit code."""
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(list(IMPORTED))
    process = forks.Process(target=_run, args=(words, dict(os.environ)))
    process.start()
    process.join()
    return process.exitcode or 0


def _run(words: Sequence[str], environment: Mapping[str, str]) -> None:
    """Be `python -m aisr.cli` with these words."""
    os.environ.update(environment)  # the process that is forked has that of its own start
    sys.argv[1:] = words
    runpy.run_module("aisr.cli", run_name="__main__", alter_sys=True)


class Walk(NamedTuple):
    """A task, the LM, the options of its compile, and the folder that everything goes to, with the records in
    `data/`."""

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
        file = self.work / find_task(self.task).submission
        return file.with_suffix(".zip") if file.suffix == ".jsonl" else file

    def run(self, announce: Callable[[str], None]) -> float:
        """Run the commands, each announced as it is typed, and return their seconds. Raises `StepFailed`, and
        `UserError` where the submission has another score than the program had in the compile."""
        for folder in (self.program, self.work):
            shutil.rmtree(folder, ignore_errors=True)
        began = time.monotonic()
        for step in STEPS:
            words = [word.format(self) for word in step.replace("OPTIONS", self.options).split()]
            announce(f"aisr {shlex.join(words)}")
            if code := run_apart(words):
                raise StepFailed(code)
        score = json.loads((self.work / "score.json").read_text("utf-8"))["score"]
        compiled = read_manifest(self.program / FILE).scores["test"].score
        if abs(score - compiled) > 1e-12:
            raise UserError(f"{self.task}: {score} after reloading, {compiled} when it was compiled")
        return time.monotonic() - began

    def scores(self) -> list[list[str]]:
        """Return rows of a table: task, program and score on test, of the no-LM baseline, the uncompiled and the
        compiled program; of the last also the gain, and the answers that its compile took."""
        manifest = read_manifest(self.program / FILE)
        compiled = "similar demos" if manifest.options.get("demos_per_record") else manifest.champion
        titles = {"no_lm_test": "no LM: word counts", "baseline_test": "uncompiled", "test": f"compiled: {compiled}"}
        answers = manifest.spend["calls"] + manifest.spend["cached_calls"]
        cells = {"test": [manifest.describe_gain(), str(answers)]}
        return [
            [self.task, title, manifest.describe_score(name), *cells.get(name, ["", ""])]
            for name, title in titles.items()
            if name in manifest.scores
        ]
