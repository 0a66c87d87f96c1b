"""`aisr doctor` and `aisr --version`, as a new user meets them."""

from importlib.metadata import version
from pathlib import Path

import pytest

from support.commands import Aisr
from support.compiled import Compiled


def test_it_says_what_is_there_and_keeps_the_key_to_itself(
    compiled: Compiled, aisr: Aisr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-anybody")
    before = len(compiled.server.requests)
    finished = aisr("doctor", *compiled.lm)
    assert finished.code == 0, finished.err
    assert f"aisr {version('aisr')}" in finished.out
    assert "LM: openai/gpt-4o-mini, at --api-base, with log-probabilities requested" in finished.out
    assert "keys in the environment: OPENAI_API_KEY" in finished.out
    assert "mlflow.db answers" in finished.out
    assert "a write to it succeeded" in finished.out
    assert "GB free" in finished.out
    assert "sk-not-for-anybody" not in finished.out + finished.err
    assert len(compiled.server.requests) == before


def test_what_will_not_work_is_said_and_nothing_is_made(
    aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    finished = aisr("doctor", "--lm", "openai/gpt-4o-mini", "--artifacts", tmp_path / "none")
    assert finished.code == 1
    assert "cannot be used: --lm openai/gpt-4o-mini needs OPENAI_API_KEY" in finished.out
    assert "the first compile makes it" in finished.out
    assert not (tmp_path / "none").exists()


def test_a_cache_that_cannot_be_written_is_said(aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DSPY_CACHEDIR", str(tmp_path / "file"))
    done = aisr("doctor", "--lm", "openai/x", "--api-base", "http://127.0.0.1:9/v1", "--artifacts", tmp_path)
    assert (done.code, "cannot be used" in done.out) == (1, True)
