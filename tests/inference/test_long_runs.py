"""What makes long runs cheap changes nothing that is asked or answered."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dspy
import pytest
from dspy.clients.cache import Cache

from aisr.lm.adapters import SIGNATURES, adapter_for, remembering
from aisr.lm.open import open_lm
from aisr.lm.response_cache import REMEMBERED, tame
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


def test_no_more_signatures_are_remembered_than_that() -> None:
    adapter = adapter_for(True)
    base = TRACK1.build({}).judging.signature
    for number in range(2 * SIGNATURES):
        signature = base.with_instructions(f"Number {number}.")
        assert f"Number {number}." in adapter.format_system_message(signature)


def cache_in(folder: Path) -> Cache:
    cache = Cache(True, True, str(folder))
    tame(cache)
    tame(cache)  # a second time changes nothing
    return cache


def test_a_tamed_cache_answers_as_before_and_keeps_little_in_memory(tmp_path: Path) -> None:
    cache = cache_in(tmp_path)
    requests = [{"messages": f"question {number}"} for number in range(REMEMBERED + 50)]
    for number, request in enumerate(requests):
        cache.put(request, {"answer": number})
    assert len(cache.memory_cache) == REMEMBERED
    assert [cache.get(request) for request in requests[::97]] == [{"answer": k} for k in range(len(requests))[::97]]
    assert cache.get({"messages": "never asked"}) is None
    key = cache.cache_key(requests[0])
    assert key in cache
    cache.disk_cache.delete(key)
    assert key not in cache.disk_cache
    again = cache_in(tmp_path)
    assert again.get(requests[1]) == {"answer": 1}


def test_trouble_with_the_cache_reaches_whoever_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = cache_in(tmp_path)
    cache.disk_cache.set("broken", lambda: None)  # what cannot be stored is an answer less to find
    assert cache.disk_cache.get("broken") is None
    cache.disk_cache.set("key", "answer")
    store = cache.disk_cache._store
    monkeypatch.setattr(store, "get", lambda key: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cache.disk_cache.get("key")
    assert cache.disk_cache.get("never stored") is None  # which takes no look at the databases
    monkeypatch.undo()
    assert cache.disk_cache.get("key") == "answer"  # and the next one is answered


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
