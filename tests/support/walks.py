"""The way from a file of records to a compiled program, as a user walks it with commands."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.loopback import Asked, Loopback, serve

Aisr = Callable[..., Any]


def replying(rule: Callable[[Asked], str]) -> Any:
    """A fixture: a loopback server that answers by a rule."""

    @pytest.fixture
    def server() -> Iterator[Loopback]:
        with serve() as running:
            running.reply = rule
            yield running

    return server


def checked_and_split(aisr: Aisr, file: Path, task: str, good: int, out: Path) -> Path:
    """The folder of train, dev and test that a file of so many good records was split into."""
    checked = aisr("check", file, "--task", task)
    assert checked.code == 0, checked.err
    assert f"{good} good records, 0 bad lines" in checked.out
    split = aisr("split", file, "--task", task, "--out", out, "--parts", "2:1:1")
    assert split.code == 0, split.err
    return out


def estimated_and_compiled(aisr: Aisr, *words: Any) -> Any:
    """What a compile said, once its estimate had been asked for."""
    estimated = aisr("compile", *words, "--estimate", "--price", "0.15,0.6")
    assert estimated.code == 0, estimated.err
    assert re.search(r"LM calls, .* prompt .*USD", estimated.out)
    compiled = aisr("compile", *words)
    assert compiled.code == 0, compiled.err
    return compiled
