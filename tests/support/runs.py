"""Small compiles with a scripted LM; runs of `predict` with a loopback server that is not waited for long: here, in a
process of their own, or as the words of a command."""

import os
from pathlib import Path
from typing import Any

from aisr.artifact.manifest import save_files
from aisr.artifact.program import program_text
from aisr.judging.predict import PredictionSummary, predict
from aisr.lm.budget import Ledger, Limits
from aisr.lm.client import OpenLM
from aisr.lm.config import LMConfig
from aisr.lm.open import open_config
from aisr.optimize.run import Callbacks, Plan
from aisr.optimize.search import Settings
from aisr.programs.program import Program
from aisr.programs.task import Task
from aisr.programs.track1 import TRACK1
from support.scripted import claim

WHO = {"task": "any"}
SILENT = Callbacks()


def opened(
    url: str | None,
    threads: int = 1,
    limits: Limits | None = None,
    timeout: float = 0.5,
    model: str = "openai/local",
    **config: Any,
) -> OpenLM:
    """An LM at a loopback server that was reached before, and does not wait long for anything."""
    lm = open_config(LMConfig(model, api_base=url, threads=threads, timeout=timeout, **config), Ledger(limits))
    lm.contact.first_wait = 0.001
    lm.contact.succeed()
    return lm


def run(task: Task, data: Path, out: Path, lm: OpenLM) -> PredictionSummary:
    return predict(task, task.build({}), lm, data, out, WHO)


def predict_in_child(url: str, data: Path, out: Path, cache: Path, timeout: float = 0.5) -> None:
    """What another process does: the run of a command, with a response cache of its own."""
    os.environ["DSPY_CACHEDIR"] = str(cache)
    run(TRACK1, data, out, opened(url, threads=4, timeout=timeout))


def save_program(folder: Path, task: Task, program: Program | None = None) -> Path:
    """A program's folder. Default: the uncompiled program."""
    save_files(folder, {"program.json": program_text(task, program or task.build({}))})
    return folder


def predict_words(task: Task, program: Path, data: Path, out: Path, url: str) -> list[object]:
    """`aisr predict` with a loopback server."""
    at = ["--task", task.name, "--program", program, "--data", data, "--out", out, "--artifacts", out.parent]
    return ["predict", *at, "--lm", "openai/local", "--api-base", url]


def plan(folder: Path, **changes: Any) -> Plan:
    """A compile of eight records a split, written below `folder`."""
    for name in ("train", "dev", "test"):
        records = [claim("Supported", "Contradiction", number=k + 10 * len(name)) for k in range(8)]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.jsonl").write_text("".join(record.model_dump_json() + "\n" for record in records))
    data = {name: folder / f"{name}.jsonl" for name in ("train", "dev", "test")}
    defaults = {"optimizers": ["labeled"], "settings": Settings(demos=2, candidates=3), "options": {}, "limits": {}}
    return Plan(task=TRACK1, name="x", data=data, command="aisr compile", **{**defaults, **changes})
