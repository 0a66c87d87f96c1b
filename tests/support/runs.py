"""A run of `predict` with a loopback server that is not waited for long, here or in a process of its own."""

import os
from pathlib import Path

from aisr.lm.budget import Ledger, Limits
from aisr.lm.client import OpenLM
from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.lm.rate_limit import RateLimiter
from aisr.predict.predict import Summary, predict
from aisr.programs.task import Task
from aisr.programs.track1.task import TRACK1

WHO = {"task": "any"}


def opened(url: str, threads: int = 1, limits: Limits | None = None, timeout: float = 0.5) -> OpenLM:
    """An LM at a loopback server that does not wait long for anything."""
    lm = open_lm(LMConfig("openai/local", api_base=url, threads=threads, timeout=timeout), Ledger(limits))
    lm.lm.limiter = RateLimiter(threads, first_wait=0.001)
    return lm


def run(task: Task, data: Path, out: Path, lm: OpenLM) -> Summary:
    return predict(task, task.build({}), lm, data, out, WHO)


def predict_in_child(url: str, data: Path, out: Path, cache: Path, timeout: float = 0.5) -> None:
    """What another process does: the run of a command, with a response cache of its own."""
    os.environ["DSPY_CACHEDIR"] = str(cache)
    run(TRACK1, data, out, opened(url, threads=4, timeout=timeout))
