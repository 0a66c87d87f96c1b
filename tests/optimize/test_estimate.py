"""An estimate runs the command itself: a server on the loopback address counts what the command then asks for."""

from pathlib import Path
from typing import Any

import pytest

from aisr.lm.config import LMConfig, Price
from aisr.lm.open import open_config
from aisr.optimize.estimate import DryRun
from aisr.optimize.run import Plan, compile_program
from aisr.optimize.search import Settings
from aisr.programs.registry import TASKS, find_task
from aisr.programs.text import tokens
from support.corpora import beginning
from support.loopback import Loopback, serve
from support.paths import SAMPLE
from support.runs import SILENT
from support.scripted import written

RECORDS = {"train": 8, "dev": 5, "test": 2}


def plan(folder: Path, task: str, optimizer: str, **options: Any) -> Plan:
    """A compile of a few records of the sample."""
    data = {
        name: beginning(SAMPLE / task / f"{name}.jsonl", count, folder / f"{name}.jsonl")
        for name, count in RECORDS.items()
    }
    settings = Settings(demos=2, candidates=2)
    return Plan(find_task(task), "x", [optimizer], settings, options, data, limits={}, command="aisr compile")


def test_the_estimate_has_the_calls_and_tokens_of_the_compile(loopback: Loopback, tmp_path: Path) -> None:
    """But for the champion on test: all answers of the server are alike, so it stays uncompiled and in the cache."""
    loopback.reply = lambda request: written(request.question, {"label": "Supported", "evidence_ids": []})
    lm = open_config(LMConfig("openai/local", api_base=loopback.url, price=Price(1.0, 10.0)))
    compile_plan, run = plan(tmp_path, "track2", "knn"), DryRun()
    run.compile(compile_plan, lm, lm, SILENT)
    assert loopback.requests == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dev.jsonl", "test.jsonl", "train.jsonl"]
    compile_program(compile_plan, lm, lm, tmp_path, SILENT)
    messages = [message for request in loopback.requests for message in request.body["messages"]]
    read = sum(tokens(str(message["content"])) for message in messages)
    spend = run.ledger.spend
    assert 0 <= spend.calls - len(loopback.requests) <= RECORDS["test"]
    assert 0.9 * read < spend.prompt_tokens < 1.3 * read
    assert spend.usd == pytest.approx((spend.prompt_tokens + 10 * spend.completion_tokens) / 1e6)


@pytest.mark.parametrize(
    ("task", "optimizer"),
    [
        *((task, "labeled") for task in TASKS if (SAMPLE / task).is_dir()),
        *(("track1", optimizer) for optimizer in ("random-search", "mipro", "gepa")),
    ],
)
def test_every_task_and_optimizer_runs_dry(task: str, optimizer: str, loopback: Loopback, tmp_path: Path) -> None:
    """The teacher has its own price: a dollar a token, where the LM is free."""
    run = DryRun()
    with serve() as school:
        lm = open_config(LMConfig("openai/local", api_base=loopback.url, price=Price(0.0, 0.0)))
        teacher = open_config(LMConfig("openai/school", api_base=school.url, price=Price(1e6, 1e6)))
        made = run.compile(plan(tmp_path, task, optimizer), lm, teacher, SILENT)
        assert loopback.requests == school.requests == []
    assert run.ledger.spend.calls > 4
    assert bool(run.ledger.spend.usd) == (optimizer != "labeled")  # the others ask a teacher
    assert made.test
    assert made.test.failures == {}
