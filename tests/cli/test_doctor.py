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
    said = aisr("doctor", *compiled.lm)
    assert said.code == 0, said.err
    assert f"aisr {version('aisr')}" in said.out
    assert "LM: openai/gpt-4o-mini, at --api-base, with log-probabilities asked for" in said.out
    assert "keys in the environment: OPENAI_API_KEY" in said.out
    assert "mlflow.db answers" in said.out
    assert "a write to it succeeded" in said.out
    assert "GB free" in said.out
    assert "sk-not-for-anybody" not in said.out + said.err
    assert len(compiled.server.requests) == before


def test_what_will_not_work_is_said_and_nothing_is_made(
    aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    said = aisr("doctor", "--lm", "openai/gpt-4o-mini", "--artifacts", tmp_path / "none")
    assert said.code == 1
    assert "cannot be used: --lm openai/gpt-4o-mini needs OPENAI_API_KEY" in said.out
    assert "the first compile makes it" in said.out
    assert not (tmp_path / "none").exists()
