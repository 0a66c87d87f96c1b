"""`await program.acall(...)`: the same answers as a call that waits, and many at a time on one thread."""

import asyncio
import json
import threading
from typing import Any

import dspy
import pytest

from aisr.lm.client import OpenLM
from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.programs.task import Task
from aisr.programs.track1.task import TRACK1
from aisr.programs.track2.task import TRACK2
from support.loopback import HttpRequest, Loopback, judged
from support.scripted import examples


def awaited(program: Any, rows: list[dspy.Example], lm: OpenLM) -> list[dspy.Prediction]:
    """All examples at a time, on one event loop."""

    async def main() -> list[dspy.Prediction]:
        try:
            with lm.context():
                return await asyncio.gather(*(program.acall(**example.inputs()) for example in rows))
        finally:
            await lm.lm.aclose()

    return asyncio.run(main())


PROGRAMS = [
    pytest.param(TRACK1, lambda: TRACK1.build({}), id="track1"),
    pytest.param(TRACK1, lambda: TRACK1.build({"unit": "sentence", "nearest": 2}), id="track1 by sentence"),
    pytest.param(TRACK2, lambda: TRACK2.build({}), id="track2"),
]


@pytest.mark.parametrize("schema", [True, False])
@pytest.mark.parametrize(("task", "build"), PROGRAMS)
def test_awaiting_gives_what_calling_gives(task: Task, build: Any, schema: bool, loopback: Loopback) -> None:
    program = build()
    rows = examples(task, program)
    lm = open_lm(LMConfig("openai/local", api_base=loopback.url, schema=schema))
    predictions = awaited(program, rows, lm)
    bodies = sorted(json.dumps(one.body) for one in loopback.requests)
    loopback.requests.clear()
    with lm.context():
        called = [program(**example.inputs()) for example in rows]
    assert [one.toDict() for one in predictions] == [one.toDict() for one in called]
    assert bodies == sorted(json.dumps(one.body) for one in loopback.requests)


def test_many_records_wait_at_a_time_without_a_thread_each(loopback: Loopback) -> None:
    """The server answers nobody before all twelve have sent a request."""
    together = threading.Barrier(12, timeout=30)
    here: set[int] = set()

    def reply(request: HttpRequest) -> str:
        here.add(threading.active_count())
        together.wait()
        return judged(request)

    loopback.reply = reply
    program = TRACK1.build({})
    before = threading.active_count()
    predictions = awaited(
        program, examples(TRACK1, program), open_lm(LMConfig("openai/local", api_base=loopback.url, threads=12))
    )
    assert len(predictions) == len(loopback.requests) == 12
    # The server's own threads are among them, one a request; a client that used one each would double that.
    assert max(here) < before + 12 + 12
