"""DSPy's response cache as text: what is planted in its file runs nothing, and what is stored comes back."""

import pickle
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import dspy
import pytest
from pydantic import BaseModel

from aisr.lm.open import open_lm
from aisr.lm.response_cache import REMEMBERED, AnswerCache
from support.loopback import Loopback
from support.trap import Trap


def planted(folder: Path, value: object) -> int:
    """Write a value into each row; how many there were."""
    with closing(sqlite3.connect(folder / "kept.db")) as rows, rows:
        return rows.execute("UPDATE kept SET text = ?", (value,)).rowcount


@pytest.mark.parametrize("form", ["a pickle", "a pickle as text", "no JSON", "deep JSON"])
def test_a_planted_row_runs_nothing_and_is_asked_anew(
    form: str, cache_anew: Callable[[], None], loopback: Loopback, tmp_path: Path
) -> None:
    evil = pickle.dumps(Trap(tmp_path / "ran"))
    values = {"a pickle": evil, "a pickle as text": evil.hex(), "no JSON": "[", "deep JSON": "[" * 100_000}
    lm = open_lm("openai/local", api_base=loopback.url).lm
    first = lm("Which label?")
    cache_anew()
    assert planted(tmp_path / "cache", values[form]) == 1
    for _ in range(2):
        assert lm("Which label?") == first
        assert len(loopback.asked) == 2
        cache_anew()
    assert not (tmp_path / "ran").exists()


@pytest.mark.usefixtures("cache_anew")
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
    requests = [{"messages": f"question {number}"} for number in range(REMEMBERED + 50)]
    for number, request in enumerate(requests):
        cache.put(request, {"answer": number})
    assert len(cache.memory_cache) == REMEMBERED
    for one in (cache, beside):
        assert [one.get(request) for request in requests[::97]] == [{"answer": k} for k in range(len(requests))[::97]]
        one.disk_cache.close()
