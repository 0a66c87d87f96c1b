"""Model files of strangers: what does not fit together is refused before it is loaded, and where llama.cpp breaks off
all the same, a request fails with a reason, in a process that lives on."""

import os
from pathlib import Path

import pytest
from dspy.lm15 import Config, InvalidRequestError, Message, Request

from aisr.lm import llama_process
from aisr.lm.embedded import EmbeddedEngine
from aisr.lm.gguf_file import model_file
from aisr.programs.errors import UserError
from support.gguf import TEMPLATE, model

LABELS = {"type": "object", "properties": {"label": {"enum": ["Supported", "Contradiction"]}}}
SPIN = "{% for i in range(10000) %}{% for j in range(10000) %}{% endfor %}{% endfor %}"


def asked(engine: EmbeddedEngine, question: str = "Is it?") -> str:
    config = Config(response_format={"type": "json_schema", "schema": LABELS}, logprobs=3)
    answer = engine.complete(Request(model="m", messages=(Message.user(question),), config=config))
    return str(answer.message.text)


def opened(file: Path) -> EmbeddedEngine:
    return EmbeddedEngine(model_file(file), threads=1)


def test_a_small_file_of_ones_own_answers(tmp_path: Path) -> None:
    assert asked(opened(model(tmp_path / "a.gguf"))) in ('{"label": "Supported"}', '{"label": "Contradiction"}')


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"context": 1}, "it reads 1 tokens at most"),
        ({"blocks": 1_000_000}, "it has 1000000 blocks, and holds 1"),
        ({"blocks": 2**32 - 1}, "it has 4294967295 blocks, and holds 1"),
        ({"words": 200}, "its vocabulary has 200 words, and its weights have 259"),
    ],
)
def test_a_header_that_its_tensors_do_not_bear_out_is_refused(tmp_path: Path, fault: dict[str, int], said: str) -> None:
    with pytest.raises(UserError, match=said):
        model_file(model(tmp_path / "a.gguf", **fault))  # type: ignore[arg-type]


def test_broken_weights_give_no_label(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="gives no probabilities"):
        asked(opened(model(tmp_path / "a.gguf", weight=float("nan"))))


def test_a_chat_template_without_end_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama_process, "LOAD_SECONDS", 1)
    engine = opened(model(tmp_path / "a.gguf", template=SPIN))
    for _ in range(2):  # the second time at once
        with pytest.raises(InvalidRequestError, match=r"cannot be loaded: it takes more than 1 seconds .* endless"):
            asked(engine)


def test_a_template_that_waits_for_a_question_fails_that_one_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aisr.lm.llama_cpp.ASK_SECONDS", 1.0)
    trap = f"{{% if messages[0].content == 'now' %}}{SPIN}{{% endif %}}{TEMPLATE}"
    engine = opened(model(tmp_path / "a.gguf", template=trap))
    before = asked(engine)
    with pytest.raises(InvalidRequestError, match="no answer within 1 seconds"):
        asked(engine, "now")
    assert asked(engine) == before


def test_an_abort_fails_a_request_with_its_reason(tmp_path: Path) -> None:
    """What no check foresees: llama.cpp ends its process by an assertion."""
    file = model_file(model(tmp_path / "a.gguf", context=512))
    bad = model(tmp_path / "b.gguf", blocks=1_000_000)
    engine = EmbeddedEngine(file.__class__(bad, 512, (), "0", file.memory), threads=1)
    with pytest.raises(InvalidRequestError, match=r"cannot be loaded: llama.cpp broke off \(SIGABRT.*GGML_ASSERT"):
        asked(engine)


def test_memory_without_end_ends(tmp_path: Path) -> None:
    file = model_file(model(tmp_path / "a.gguf", context=16_384))
    engine = EmbeddedEngine(file.__class__(file.path, 16_384, (), "0", 120 * 2**20), threads=1)
    with pytest.raises(InvalidRequestError, match="cannot be loaded"):
        asked(engine)


def test_it_goes_on_after_its_process_was_ended_from_outside(tmp_path: Path) -> None:
    engine = opened(model(tmp_path / "a.gguf"))
    before = asked(engine)
    running = engine.model._process._running
    assert running is not None
    os.kill(running._child.pid, 9)
    with pytest.raises(InvalidRequestError, match=r"broke off \(SIGKILL\)"):
        asked(engine)
    assert asked(engine) == before


def test_no_key_is_in_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never")
    engine = opened(model(tmp_path / "a.gguf"))
    asked(engine)
    running = engine.model._process._running
    assert running is not None
    environment = Path(f"/proc/{running._child.pid}/environ")
    if not environment.exists():
        pytest.skip("this system has no /proc")
    assert b"sk-never" not in environment.read_bytes()
