"""Whoever can write to the files of the response cache gets nothing run by that: a row that is no text is no answer."""

import os
import pickle
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest
from pydantic import BaseModel

from aisr.lm.open import open_lm
from aisr.lm.response_cache import tame
from support.loopback import Loopback

RAW, PICKLE = 1, 4  # what diskcache calls the form of a value


class Opens:
    """Pickled, it makes a folder when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> Any:
        return os.mkdir, (self.path,)


@pytest.fixture
def opened(cache_anew: Callable[[], None]) -> Callable[[], None]:
    """Opens the response cache of the test's own folder anew, as another process would."""

    def again() -> None:
        cache_anew()
        tame(dspy.cache)

    again()
    return again


def planted(folder: Path, change: str, *values: object) -> int:
    """Run a statement on all databases of the cache; how many rows it met."""
    met = 0
    for file in folder.rglob("cache.db"):
        connection = sqlite3.connect(file)
        with connection:
            met += connection.execute(change, values).rowcount
        connection.close()
    return met


def in_row(evil: bytes, folder: Path) -> int:
    return planted(folder, "UPDATE Cache SET mode = ?, value = ?", PICKLE, evil)


def in_file(evil: bytes, folder: Path) -> int:
    (folder.parent / "evil").write_bytes(evil)
    return planted(folder, "UPDATE Cache SET mode = ?, value = NULL, filename = '../../evil'", PICKLE)


def in_text(evil: bytes, folder: Path) -> int:
    return planted(folder, "UPDATE Cache SET mode = ?, value = ?", RAW, evil.hex())


def in_key(evil: bytes, folder: Path) -> int:
    met = in_row(evil, folder)
    planted(folder, "INSERT INTO Cache (key, raw, mode, value) VALUES (?, 0, ?, 'x')", evil, RAW)
    return met


@pytest.mark.parametrize("plant", [in_row, in_file, in_text, in_key])
def test_a_planted_row_runs_nothing_and_is_asked_anew(
    plant: Callable[[bytes, Path], int], opened: Callable[[], None], loopback: Loopback, tmp_path: Path
) -> None:
    lm = open_lm("openai/local", api_base=loopback.url).lm
    first = lm("Which label?")
    opened()
    assert plant(pickle.dumps(Opens(tmp_path / "ran")), tmp_path / "cache") == 1
    assert lm("Which label?") == first
    assert len(loopback.asked) == 2
    opened()
    assert lm("Which label?") == first
    assert len(loopback.asked) == 2
    assert not (tmp_path / "ran").exists()


def test_a_planted_row_has_no_file_removed(opened: Callable[[], None], loopback: Loopback, tmp_path: Path) -> None:
    lm = open_lm("openai/local", api_base=loopback.url).lm
    lm("Which label?")
    opened()
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    assert planted(tmp_path / "cache", "UPDATE Cache SET mode = 9, filename = '../../mine.txt'") == 1
    lm("Which label?")
    assert len(loopback.asked) == 2
    opened()
    assert mine.exists()


def test_what_is_stored_comes_back_as_it_was(opened: Callable[[], None]) -> None:
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
    dspy.cache.put({"q": 3}, [[0.25, 0.5]])
    opened()
    assert dspy.cache.get({"q": 1}) == kept
    answer = dspy.cache.get({"q": 2})
    assert answer.choices[0].message.content == "ä\ud800 \x00"
    assert "system_fingerprint" not in answer
    assert dspy.cache.get({"q": 3}) == [[0.25, 0.5]]
