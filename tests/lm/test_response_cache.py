"""DSPy's response cache as text: what is planted in its file runs nothing, and what is stored comes back."""

import pickle
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import dspy
import pytest
from pydantic import BaseModel

from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.lm.response_cache import MEMORY_ANSWERS, AnswerCache, Answers
from support.faults import small_files
from support.loopback import Loopback
from support.trap import Trap


@pytest.mark.parametrize("form", ["a pickle", "a pickle as text", "no JSON", "deep JSON"])
def test_a_planted_row_runs_nothing_and_is_asked_anew(
    form: str, cache_anew: Callable[[], None], loopback: Loopback, tmp_path: Path
) -> None:
    evil = pickle.dumps(Trap(tmp_path / "ran"))
    values = {"a pickle": evil, "a pickle as text": evil.hex(), "no JSON": "[", "deep JSON": "[" * 100_000}
    lm = open_lm(LMConfig("openai/local", api_base=loopback.url)).lm
    first = lm("Which label?")
    cache_anew()
    with closing(sqlite3.connect(tmp_path / "cache" / "kept.db")) as rows, rows:
        assert rows.execute("UPDATE kept SET text = ?", (values[form],)).rowcount == 1
    for _ in range(2):
        assert lm("Which label?") == first
        assert len(loopback.requests) == 2
        cache_anew()
    assert not (tmp_path / "ran").exists()


def test_what_is_stored_comes_back_as_it_was(cache_anew: Callable[[], None]) -> None:
    class Choice(BaseModel):
        message: dict[str, str]

    class Answer(BaseModel, extra="allow"):
        model: str
        choices: list[Choice]

    message = {"content": "ä\ud800 \x00"}
    litellms = Answer.model_validate({"model": "x", "choices": [{"message": message}], "system_fingerprint": "unused"})
    kept = {"list": [[0.1, -1e-300], [None, True]], "text": "ä\ud800 \x00", "inf": float("-inf")}
    dspy.cache.put({"q": 1}, kept)
    dspy.cache.put({"q": 2}, litellms)
    cache_anew()
    assert dspy.cache.get({"q": 1}) == kept
    answer = dspy.cache.get({"q": 2})
    assert answer.choices[0].message.content == "ä\ud800 \x00"
    assert "system_fingerprint" not in answer
    assert dspy.cache.get({"q": 3}) is None


def test_little_stays_in_memory_and_another_process_finds_it_all(tmp_path: Path) -> None:
    cache, beside = AnswerCache(tmp_path), AnswerCache(tmp_path)
    requests = [{"messages": f"question {number}"} for number in range(MEMORY_ANSWERS + 50)]
    for number, request in enumerate(requests):
        cache.put(request, {"answer": number})
    assert len(cache.memory_cache) == MEMORY_ANSWERS
    for one in (cache, beside):
        assert [one.get(request) for request in requests[::97]] == [{"answer": k} for k in range(len(requests))[::97]]
        one.disk_cache.close()


def damage(file: Path, begin: int) -> None:
    content = bytearray(file.read_bytes())
    content[begin:] = b"x" * len(content[begin:])
    file.write_bytes(content)


def ask(url: str, count: int, *, first: int = 0) -> None:
    """So many different questions, one after the other."""
    lm = open_lm(LMConfig("openai/local", api_base=url)).lm
    for number in range(first, first + count):
        assert lm(f"Which label has sentence {number}?")


def test_a_cache_that_is_full_says_so_once_with_what_to_do(
    cache_anew: Callable[[], None], loopback: Loopback, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    with small_files(40_000):
        ask(loopback.url, 60)
    (message,) = [record.getMessage() for record in caplog.records if record.name == "aisr"]
    assert message.startswith(f"the response cache in {tmp_path / 'cache'} cannot be written (")
    assert "will pay for the same answers again. Make room there" in message
    cache_anew()
    ask(loopback.url, 1, first=100)
    assert len(loopback.requests) == 61


def test_a_damaged_cache_is_put_aside_and_answers_are_kept_again(
    cache_anew: Callable[[], None], loopback: Loopback, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    ask(loopback.url, 20)
    dspy.cache.disk_cache.close()
    file = tmp_path / "cache" / "kept.db"
    for begin in (4096, 0):  # its pages; its head as well
        damage(file, begin)
        loopback.requests.clear()
        caplog.clear()
        cache_anew()
        ask(loopback.url, 20)
        (message,) = [record.getMessage() for record in caplog.records if record.name == "aisr"]
        assert "kept.db is damaged" in message
        assert "put aside as kept.db.damaged" in message
        assert file.with_name("kept.db.damaged").exists()
        cache_anew()
        ask(loopback.url, 20)
        assert len(loopback.requests) == 20


def test_two_processes_put_a_damaged_cache_aside_once(tmp_path: Path) -> None:
    first = Answers(tmp_path)
    for number in range(200):
        first.set(str(number), {"answer": "y" * 200})
    first.close()
    damage(tmp_path / "kept.db", 4096)
    both = [Answers(tmp_path), Answers(tmp_path)]
    for number, cache in enumerate(both):
        cache.set(f"new {number}", {"answer": number})
    for cache in (*both, Answers(tmp_path)):
        assert [cache.get(f"new {number}") for number in (0, 1)] == [{"answer": 0}, {"answer": 1}]
        cache.close()
