"""What makes long runs cheap changes nothing that is asked or answered."""

import asyncio
from typing import TYPE_CHECKING, Any

import dspy
import pytest

from aisr.lm.adapters import adapter_for, remembering
from aisr.lm.open import open_lm
from aisr.tasks.task import Task
from aisr.tasks.track1 import TRACK1
from support.scripted import TRACKS, examples, scripted

if TYPE_CHECKING:
    from support.loopback import Loopback

PLAIN = {True: dspy.JSONAdapter, False: lambda: dspy.ChatAdapter(use_json_adapter_fallback=False)}


@pytest.mark.parametrize("task", TRACKS)
@pytest.mark.parametrize("schema", [True, False], ids=["json", "chat"])
def test_remembered_prompts_are_those_of_dspy(task: Task, schema: bool) -> None:
    program = task.build({})
    (_, predictor), *_ = program.named_predictors()
    remembered, plain = adapter_for(schema), PLAIN[schema]()
    assert type(remembered) is type(plain)
    base = predictor.signature
    variants = [base, base.with_instructions("Be strict."), base.append("correction", dspy.InputField(), str), base]
    for signature in variants:
        for example in examples(task, program)[:2]:
            given = dict(example.inputs()) | {"correction": "Again.", "shown_ids": "P1, P2"}
            inputs = {name: given[name] for name in signature.input_fields}
            assert remembered.format(signature, [], inputs) == plain.format(signature, [], inputs)
    first = remembered.format_system_message(base)
    base.instructions, old = "Something else.", base.instructions
    try:
        assert remembered.format_system_message(base) == plain.format_system_message(base) != first
    finally:
        base.instructions = old


@pytest.mark.parametrize("task", TRACKS)
def test_remembered_formats_are_those_of_dspy(task: Task) -> None:
    (_, predictor), *_ = task.build({}).named_predictors()
    lm = scripted([]).lm
    schemas = []
    for adapter in (dspy.JSONAdapter(), remembering(dspy.JSONAdapter())):
        for _ in range(2):
            given: dict[str, Any] = {}
            adapter._prepare_response_format(lm, given, predictor.signature)
            schemas.append(given["response_format"].model_json_schema())
    assert all(schema == schemas[0] for schema in schemas)


def test_an_endpoint_serves_coroutines_of_several_loops(loopback: "Loopback") -> None:
    lm = open_lm("openai/local", api_base=loopback.url)
    program, given = TRACK1.build({}), examples(TRACK1, TRACK1.build({}))

    async def ask(example: dspy.Example) -> Any:
        with lm.context():
            said = await asyncio.gather(*(program.judging.acall(**example.inputs()) for _ in range(3)))
        await lm.lm._async_engine_spec.aclose()
        return said

    for example in given[:2]:
        answers = asyncio.run(ask(example))
        assert all(len(answer.sentence_labels) == len(example.sentences) for answer in answers)
