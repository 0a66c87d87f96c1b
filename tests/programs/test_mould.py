"""A new judge is little: the mould gives it options, both ways to call it, demos and what an optimizer is told."""

import asyncio

import dspy
import pytest
from dspy.lm15 import Request

from aisr.artifact.program_file import parse, program_text
from aisr.lm.client import InThread
from aisr.tasks import all as tasks
from aisr.tasks.all import TASKS
from aisr.tasks.task import Task
from support.scripted import field, has_demos, question, requests, scripted, wording, written
from support.toy_judge import ShareJudge, ShareRecord
from support.toy_task import TOY

HALF = ShareRecord(id="a", text="Half of the pears were ripe.", share=0.5)
TENTH = ShareRecord(id="b", text="A tenth of the lamps were lit.", share=0.1)


def third(request: Request) -> str:
    return written(question(request), {"share": 1 / 3})


def test_it_is_called_and_awaited_alike_and_takes_its_options() -> None:
    program = ShareJudge(digits=1)
    lm = scripted(third)
    with lm.context(), dspy.context(lm=lm.lm.copy(async_engine=InThread(lm.lm.engine))):
        inputs = program.prepare(HALF).inputs()
        assert program(**inputs).share == asyncio.run(program.acall(**inputs)).share == 0.3
    first, second = map(wording, requests(lm))
    assert first == second
    assert field(question(requests(lm)[0]), "sentence") == HALF.text


def test_it_is_shown_the_nearest_of_its_demos() -> None:
    program = ShareJudge(nearest=1)
    program.judging.demos = [row for one in (HALF, TENTH) for row in program.lessons(program.prepare(one))]
    lm = scripted(third)
    with lm.context():
        program(sentence="A tenth of the wells were dry.")
    (asked,) = requests(lm)
    assert has_demos(asked)
    assert TENTH.text in wording(asked)
    assert HALF.text not in wording(asked)


def test_it_is_saved_and_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tasks._TASKS, TOY.name, TOY)
    program = ShareJudge(digits=1, nearest=2)
    program.judging.demos = [program.prepare(HALF)]
    text = program_text(TOY, program)
    loaded = parse(text, "here").program
    assert loaded.options == {"digits": 1, "nearest": 2, "nearest_by": "words"}
    assert program_text(TOY, loaded) == text


@pytest.mark.parametrize("task", [pytest.param(task, id=name) for name, task in TASKS.items()])
def test_every_judge_is_built_from_its_own_options(task: Task) -> None:
    program = task.build({})
    assert set(program.options) <= set(task.option_types)
    assert task.build(program.options).options == program.options
