"""DSPy's cache in the user's own folder: answers are there for the next process, and a cache that cannot be written is
said so."""

import json
from pathlib import Path

import pytest

from aisr.programs.track1 import TRACK1
from support import processes, runs
from support.commands import Aisr
from support.corpora import write
from support.loopback import Loopback
from support.scripted import claim


@pytest.fixture
def words(tmp_path: Path, loopback: Loopback) -> list[object]:
    """`aisr predict` of three records."""
    rows = [claim("Supported", number=number).model_dump(mode="json") for number in range(3)]
    program = runs.save_program(tmp_path / "mine", TRACK1)
    data = write(tmp_path / "in.jsonl", rows)
    return runs.predict_words(TRACK1, program, data, tmp_path / "out.jsonl", loopback.url)


@pytest.mark.slow
def test_another_process_asks_for_no_answer_twice_and_the_cache_is_at_home(
    words: list[object], loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DSPY_CACHEDIR")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for number in range(2):
        done = processes.run(processes.several([[*words, "--out", tmp_path / f"{number}.jsonl"]]))
        assert json.loads(done.stdout.splitlines()[-1]) == [0], done.stderr
    assert len(loopback.requests) == 3
    assert (tmp_path / "home" / ".dspy_cache").is_dir()
    assert not (tmp_path / ".cache").exists()


def test_a_cache_that_cannot_be_written_is_a_warning_with_what_to_do(
    aisr: Aisr, words: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("aisr.lm.open.DISK_CACHE_DIR", str(tmp_path / "file" / "cache"))
    done = aisr(*words)
    assert done.code == 0, done.err
    assert "cannot be written" in caplog.text
    assert "will pay for the same answers again. Make room there" in caplog.text
